//! Files of simulated machines as damage or malice makes them.

// What the fuzz target asks.
#[path = "../../../fuzz/src/machine_file/answers.rs"]
mod answers;

use nearfar_flow::{builtin_machines, parse_machine, read_machine};

const SMALL: &str = r#"
name = "small"
title = "two nodes of two cores"
node = [
    { cores = 2, package = 0, memory = "8 GiB" },
    { cores = 2, package = 1 },
    { number = 5, kind = "hbm", near = [0, 1], memory = "1GB", memory_side_cache = "16 MiB" },
]

[[bandwidth]]
one_thread = 4

[[bandwidth]]
relation = "local"
one_thread = 10
all_threads = 15.5
"#;

/// A file with every table, so that there is something of each to damage.
const EVERY_TABLE: &str = include_str!("../../../fuzz/corpus/machine_file/every_table");

/// One change as damage or malice would make it.
fn mutate(text: &str, random: &mut fastrand::Rng) -> String {
    const NUMBERS: [&str; 14] = [
        "0",
        "-1",
        "1e308",
        "-0.0",
        "nan",
        "inf",
        "-inf",
        "1e-308",
        "4294967296",
        "65536",
        "255",
        "99999999999999999999",
        "0.5",
        "\"x\"",
    ];
    let mut bytes = text.as_bytes().to_vec();
    let at = random.usize(0..bytes.len());
    match random.u32(0..7) {
        0 => bytes[at] = random.u8(..),
        1 => drop(bytes.remove(at)),
        2 => bytes.insert(at, b"[]{}=,\"'\n#.-_01 \\"[random.usize(0..17)]),
        3 => {
            let end = (at + random.usize(1..80)).min(bytes.len());
            bytes.drain(at..end);
        }
        4 => {
            let mut lines: Vec<&str> = text.lines().collect();
            let line = lines[random.usize(0..lines.len())];
            lines.insert(random.usize(0..lines.len()), line);
            return lines.join("\n");
        }
        _ => {
            // A number somewhere becomes another.
            let is_digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
            if let Some(first) = bytes[at..].iter().position(u8::is_ascii_digit) {
                let first = at + first;
                let length = bytes[first..].iter().take_while(|byte| is_digit(byte)).count();
                let number = NUMBERS[random.usize(0..NUMBERS.len())];
                bytes.splice(first..first + length, number.bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn damaged_files_are_refused_or_give_sound_machines() {
    let mut random = fastrand::Rng::with_seed(20);
    let texts: Vec<String> = builtin_machines()
        .unwrap()
        .iter()
        .map(|(name, _)| read_machine(name).unwrap().text)
        .chain([SMALL.to_string(), EVERY_TABLE.to_string()])
        .collect();
    let (mut read, mut refused) = (0, 0);
    for round in 0..6000 {
        let mut text = texts[round % texts.len()].clone();
        for _ in 0..random.usize(1..=4) {
            text = mutate(&text, &mut random);
        }
        match parse_machine("damaged.toml", &text) {
            Err(error) => {
                refused += 1;
                let message = error.to_string();
                assert!(!message.chars().any(char::is_control), "{message:?}");
            }
            Ok(machine) => {
                read += 1;
                assert!(machine.machine.check().is_empty());
                answers::assert_sound(&machine, &mut |below| random.u32(0..below)).unwrap();
            }
        }
    }
    assert!(read > 500 && refused > 2000, "{read} read, {refused} refused");
}
