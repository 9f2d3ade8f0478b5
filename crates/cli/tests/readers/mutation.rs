//! Random damage to an input. Input number n of a reader is the same in every run with the
//! same seed: the first ones are the corpus itself.

use std::hash::Hasher;
use std::ops::Range;

use nearfar_machine::Fnv1a;

use crate::corpus::Input;

/// The longest input that is made, bytes.
const LONGEST: usize = 64 << 10;
/// The longest piece that is doubled, bytes: beyond it inputs only grow.
const LONGEST_PIECE: usize = 1 << 10;

const NUMBERS: [&str; 24] = [
    "0",
    "1",
    "-1",
    "00",
    "2",
    "255",
    "256",
    "1023",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967294",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "1e-320",
    "0.1",
    "nan",
    "99999999999999999999999999999999999999999",
];

const PIECES: [&[u8]; 24] = [
    b"\0",
    b"\r\n",
    b"\n",
    b"\n\n",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xc3\x28",
    b"\x1b[2J",
    "\u{202e}".as_bytes(),
    "\u{2028}".as_bytes(),
    b"\"",
    b"'",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"{",
    b"}",
    b"[",
    b"]",
    b"<",
    b">",
    b"&",
    b"null",
    b"..",
];

/// What is repeated to nest deeply, or to be long.
const NESTS: [&[u8]; 8] = [b"[", b"{\"a\":", b"(", b"<object>", b"[[", b"a.", b"x", b"9"];

/// Makes the inputs of one reader.
pub struct Mutator {
    seed: u64,
    corpus: Vec<Input>,
    /// Words of the corpus, to be put in each other's place.
    words: Vec<Vec<u8>>,
}

impl Mutator {
    pub fn new(seed: u64, reader: &str, corpus: Vec<Input>) -> Self {
        let mut hash = Fnv1a::default();
        hash.write(reader.as_bytes());
        hash.write_u64(seed);
        let mut words: Vec<Vec<u8>> = corpus
            .iter()
            .flat_map(|input| {
                words(&input.bytes).into_iter().map(|word| input.bytes[word].to_vec())
            })
            .filter(|word| word.len() <= 64)
            .collect();
        words.sort();
        words.dedup();
        Self { seed: hash.finish(), corpus, words }
    }

    /// Input number `index`.
    pub fn input(&self, index: u64) -> Vec<u8> {
        let position = usize::try_from(index).unwrap_or(usize::MAX);
        if let Some(input) = self.corpus.get(position) {
            return input.bytes.clone();
        }
        let mut random = fastrand::Rng::with_seed(self.seed.wrapping_add(scattered(index)));
        let mut bytes = self.corpus[random.usize(..self.corpus.len())].bytes.clone();
        // Mostly little damage: what is damaged much is refused at once.
        for _ in 0..=random.u32(0..4).min(random.u32(0..4)) {
            self.damage(&mut bytes, &mut random);
        }
        bytes.truncate(LONGEST);
        bytes
    }

    fn damage(&self, bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
        match random.u32(0..22) {
            0 => bytes.truncate(place(bytes, random)),
            1 => flip_bit(bytes, random),
            2 => set_byte(bytes, random),
            3 => replace(bytes, random, piece),
            4 => drop(bytes.drain(range(bytes, random))),
            5 => double(bytes, random),
            6..=9 => replace_number(bytes, random),
            10..=13 => self.replace_word(bytes, random),
            14 => swap_words(bytes, random),
            15 => drop_line(bytes, random),
            16 => repeat_line(bytes, random),
            17 => swap_lines(bytes, random),
            18 => self.splice(bytes, random),
            19 if random.u32(0..8) == 0 => nest(bytes, random),
            20 => move_number(bytes, random),
            _ => insert(bytes, random),
        }
    }

    fn replace_word(&self, bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
        if let (Some(word), false) = (word_near(bytes, random), self.words.is_empty()) {
            let other = &self.words[random.usize(..self.words.len())];
            bytes.splice(word, other.iter().copied());
        }
    }

    /// The begin of this input and the end of another.
    fn splice(&self, bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
        let other = &self.corpus[random.usize(..self.corpus.len())].bytes;
        bytes.truncate(place(bytes, random));
        bytes.extend_from_slice(&other[place(other, random)..]);
    }
}

/// Neighbouring numbers far apart (splitmix64), for generators that are seeded with them.
fn scattered(index: u64) -> u64 {
    let mut mixed = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn place(bytes: &[u8], random: &mut fastrand::Rng) -> usize {
    random.usize(..=bytes.len())
}

fn range(bytes: &[u8], random: &mut fastrand::Rng) -> Range<usize> {
    let start = place(bytes, random);
    // Short ones as often as long ones.
    let most = (bytes.len() - start).min(1 << random.u32(0..11));
    start..start + random.usize(..=most)
}

fn piece(random: &mut fastrand::Rng) -> &'static [u8] {
    PIECES[random.usize(..PIECES.len())]
}

fn number(random: &mut fastrand::Rng) -> &'static [u8] {
    NUMBERS[random.usize(..NUMBERS.len())].as_bytes()
}

fn replace(
    bytes: &mut Vec<u8>,
    random: &mut fastrand::Rng,
    with: impl Fn(&mut fastrand::Rng) -> &'static [u8],
) {
    let range = range(bytes, random);
    bytes.splice(range, with(random).iter().copied());
}

fn insert(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
    let place = place(bytes, random);
    let inserted = if random.bool() { piece(random) } else { number(random) };
    bytes.splice(place..place, inserted.iter().copied());
}

fn flip_bit(bytes: &mut [u8], random: &mut fastrand::Rng) {
    if !bytes.is_empty() {
        bytes[random.usize(..bytes.len())] ^= 1 << random.u32(0..8);
    }
}

fn set_byte(bytes: &mut [u8], random: &mut fastrand::Rng) {
    if !bytes.is_empty() {
        bytes[random.usize(..bytes.len())] = random.u8(..);
    }
}

fn double(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
    let range = range(bytes, random);
    let range = range.start..range.end.min(range.start + LONGEST_PIECE);
    let copy = bytes[range.clone()].to_vec();
    for _ in 0..=random.u32(0..8) {
        bytes.splice(range.end..range.end, copy.iter().copied());
    }
}

fn nest(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
    let place = place(bytes, random);
    let nest = NESTS[random.usize(..NESTS.len())].repeat(1 << random.u32(4..13));
    bytes.splice(place..place, nest);
}

/// Runs of letters, digits and what stands within names and numbers.
fn words(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = (at..bytes.len()).find(|&at| in_word(bytes[at])) {
        at = (start..bytes.len()).find(|&at| !in_word(bytes[at])).unwrap_or(bytes.len());
        found.push(start..at);
    }
    found
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// The first run of such bytes at or behind a random place, or behind the begin.
fn run_near(
    bytes: &[u8],
    random: &mut fastrand::Rng,
    is_part: impl Fn(u8) -> bool,
) -> Option<Range<usize>> {
    let from = place(bytes, random);
    let start = (from..bytes.len()).chain(0..from).find(|&at| is_part(bytes[at]))?;
    let length = bytes[start..].iter().take_while(|&&byte| is_part(byte)).count();
    Some(start..start + length)
}

fn word_near(bytes: &[u8], random: &mut fastrand::Rng) -> Option<Range<usize>> {
    run_near(bytes, random, in_word)
}

fn number_near(bytes: &[u8], random: &mut fastrand::Rng) -> Option<Range<usize>> {
    run_near(bytes, random, |byte| byte.is_ascii_digit())
}

fn replace_number(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
    if let Some(range) = number_near(bytes, random) {
        bytes.splice(range, number(random).iter().copied());
    }
}

/// A number one more or one less: where limits are.
fn move_number(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
    let Some(range) = number_near(bytes, random) else { return };
    let digits = std::str::from_utf8(&bytes[range.clone()]).unwrap_or_default();
    if let Ok(number) = digits.parse::<u64>() {
        let moved = if random.bool() { number.saturating_add(1) } else { number.saturating_sub(1) };
        bytes.splice(range, moved.to_string().into_bytes());
    }
}

fn swap_words(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
    let (Some(one), Some(other)) = (word_near(bytes, random), word_near(bytes, random)) else {
        return;
    };
    let (first, second) = if one.start < other.start { (one, other) } else { (other, one) };
    if first.end <= second.start {
        let (head, tail) = (bytes[first.clone()].to_vec(), bytes[second.clone()].to_vec());
        bytes.splice(second, head);
        bytes.splice(first, tail);
    }
}

/// A line with its end.
fn line_near(bytes: &[u8], random: &mut fastrand::Rng) -> Range<usize> {
    let at = place(bytes, random);
    let start = bytes[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let end = bytes[at..].iter().position(|&byte| byte == b'\n');
    start..end.map_or(bytes.len(), |end| at + end + 1)
}

fn drop_line(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
    drop(bytes.drain(line_near(bytes, random)));
}

fn repeat_line(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
    let line = bytes[line_near(bytes, random)].to_vec();
    let at = line_near(bytes, random).start;
    for _ in 0..=random.u32(0..4) {
        bytes.splice(at..at, line.iter().copied());
    }
}

fn swap_lines(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
    let moved = line_near(bytes, random);
    let line: Vec<u8> = bytes.drain(moved).collect();
    let at = line_near(bytes, random).start;
    bytes.splice(at..at, line);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutator(seed: u64) -> Mutator {
        let input = |name: &str, bytes: &[u8]| Input { name: name.into(), bytes: bytes.to_vec() };
        Mutator::new(seed, "x", vec![input("a", b"node:2 core:4\n12 B\n"), input("b", b"")])
    }

    #[test]
    fn an_input_follows_from_seed_and_number() {
        let (one, same, other) = (mutator(1), mutator(1), mutator(2));
        let differing = (0..1000).filter(|&index| one.input(index) != other.input(index));
        assert!(differing.count() > 500);
        for index in 0..1000 {
            assert_eq!(one.input(index), same.input(index));
        }
        let inputs: std::collections::BTreeSet<Vec<u8>> =
            (0..10_000).map(|index| one.input(index)).collect();
        // The corpus has 18 bytes: much damage comes to the same.
        assert!(inputs.len() > 2500, "{} different inputs of 10,000", inputs.len());
        assert_eq!(one.input(0), b"node:2 core:4\n12 B\n");
    }

    #[test]
    fn words_are_those_of_the_corpus() {
        let words = mutator(1).words;
        let expected: [&[u8]; 6] = [b"12", b"2", b"4", b"B", b"core", b"node"];
        assert_eq!(words, expected);
    }
}
