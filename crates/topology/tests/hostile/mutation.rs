//! Random damage to a sound file.

/// The text with one kind of damage, chosen at random.
pub fn mutate(text: &str, random: &mut fastrand::Rng) -> Vec<u8> {
    match random.u32(0..11) {
        0 => text.as_bytes()[..random.usize(0..text.len())].to_vec(),
        1 => flip_bytes(text, random),
        2..=4 => swap_values(text, random),
        5..=8 => replace_value(text, random),
        9 => drop_line(text, random),
        _ => repeat_line(text, random),
    }
}

fn flip_bytes(text: &str, random: &mut fastrand::Rng) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..random.usize(1..8) {
        let place = random.usize(0..bytes.len());
        bytes[place] = if random.bool() { random.u8(b'0'..=b'9') } else { random.u8(..) };
    }
    bytes
}

/// Places of all attribute values, without their quotes.
fn values(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("=\"").map(|at| from + at + 2) {
        let Some(length) = text[start..].find('"') else {
            break;
        };
        found.push(start..start + length);
        from = start + length + 1;
    }
    found
}

fn swap_values(text: &str, random: &mut fastrand::Rng) -> Vec<u8> {
    let places = values(text);
    let (mut one, mut other) = (random.usize(0..places.len()), random.usize(0..places.len()));
    if one == other {
        return text.as_bytes().to_vec();
    }
    if one > other {
        std::mem::swap(&mut one, &mut other);
    }
    let (one, other) = (places[one].clone(), places[other].clone());
    [
        &text[..one.start],
        &text[other.clone()],
        &text[one.end..other.start],
        &text[one],
        &text[other.end..],
    ]
    .concat()
    .into_bytes()
}

fn replace_value(text: &str, random: &mut fastrand::Rng) -> Vec<u8> {
    const NUMBERS: [&str; 16] = [
        "0",
        "-1",
        "1",
        "65535",
        "65536",
        "2147483647",
        "2147483648",
        "4294967294",
        "4294967295",
        "4294967296",
        "9223372036854775808",
        "18446744073709551615",
        "0xf...f",
        "0x80000000,0x0",
        "NUMANode",
        "",
    ];
    let places = values(text);
    let mut out = text.to_owned();
    // From the back, so that the places before stay valid.
    let mut chosen: Vec<usize> =
        (0..random.usize(1..4)).map(|_| random.usize(0..places.len())).collect();
    chosen.sort_unstable();
    chosen.dedup();
    for index in chosen.into_iter().rev() {
        out.replace_range(places[index].clone(), NUMBERS[random.usize(0..NUMBERS.len())]);
    }
    out.into_bytes()
}

fn drop_line(text: &str, random: &mut fastrand::Rng) -> Vec<u8> {
    let lines: Vec<&str> = text.lines().collect();
    let dropped = random.usize(0..lines.len());
    let kept = lines.iter().enumerate().filter(|(index, _)| *index != dropped);
    kept.map(|(_, line)| *line).collect::<Vec<_>>().join("\n").into_bytes()
}

fn repeat_line(text: &str, random: &mut fastrand::Rng) -> Vec<u8> {
    let mut lines: Vec<&str> = text.lines().collect();
    let line = lines[random.usize(0..lines.len())];
    for _ in 0..random.usize(1..200) {
        lines.insert(random.usize(0..=lines.len()), line);
    }
    lines.join("\n").into_bytes()
}
