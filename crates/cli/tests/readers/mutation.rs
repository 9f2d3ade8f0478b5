//! Random damage to the inputs of a corpus: the same for the same number.

use std::ops::Range;

use fastrand::Rng;

/// The longest input that is made, bytes.
const LONGEST: usize = 64 << 10;

/// Numbers at limits, and what formats give a meaning to.
const PIECES: [&str; 32] = [
    "0",
    "-1",
    "00",
    "255",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "1e-320",
    "nan",
    "\0",
    "\r\n",
    "\n\n",
    "\u{feff}",
    "\u{1b}[2J",
    "\u{202e}",
    "\"",
    "'",
    "\\",
    "\\ud800",
    "{",
    "}",
    "[",
    "<",
    ">",
    "&",
    "null",
    "..",
];

/// What is repeated to nest deeply, or to be long.
const NESTS: [&str; 7] = ["[", "{\"a\":", "(", "<object>", "a.", "x", "9"];

/// Makes the inputs of one reader.
pub struct Mutator {
    corpus: Vec<Vec<u8>>,
    /// Words of the corpus, to be put in each other's place.
    words: Vec<Vec<u8>>,
}

impl Mutator {
    pub fn new(corpus: Vec<Vec<u8>>) -> Self {
        let of_input = |input: &Vec<u8>| -> Vec<Vec<u8>> {
            input.split(|&byte| !in_word(byte)).map(<[u8]>::to_vec).collect()
        };
        let mut words: Vec<Vec<u8>> = corpus.iter().flat_map(of_input).collect();
        words.retain(|word| word.len() <= 64);
        words.sort();
        words.dedup();
        Self { corpus, words }
    }

    pub fn input(&self, number: u64) -> Vec<u8> {
        let random = &mut Rng::with_seed(number);
        let mut bytes = self.any(&self.corpus, random).clone();
        // Mostly little damage: what is damaged much is refused at once.
        for _ in 0..=random.u32(0..4).min(random.u32(0..4)) {
            self.damage(&mut bytes, random);
        }
        bytes.truncate(LONGEST);
        bytes
    }

    fn any<'a, T>(&self, all: &'a [T], random: &mut Rng) -> &'a T {
        &all[random.usize(..all.len())]
    }

    fn damage(&self, bytes: &mut Vec<u8>, random: &mut Rng) {
        let digits = |byte: u8| byte.is_ascii_digit();
        let in_line = |byte: u8| byte != b'\n';
        let at = place(bytes, random);
        let put: Vec<u8> = match random.u32(0..15) {
            0 => return bytes.truncate(at),
            1 if at < bytes.len() => return bytes[at] ^= 1 << random.u32(0..8),
            2 => self.any(&NESTS, random).repeat(1 << random.u32(4..10)).into(),
            3 => {
                let other = self.any(&self.corpus, random);
                bytes.truncate(at);
                return bytes.extend(&other[place(other, random)..]);
            }
            4 => bytes[run_near(bytes, random, in_line)].to_vec(),
            5 => return drop(bytes.drain(run_near(bytes, random, in_line))),
            6..=8 => {
                let run = run_near(bytes, random, in_word);
                return drop(bytes.splice(run, self.any(&self.words, random).clone()));
            }
            9..=11 => {
                let run = run_near(bytes, random, digits);
                return drop(bytes.splice(run, self.any(&PIECES, random).bytes()));
            }
            // One more or one less: where limits are.
            12 => {
                let run = run_near(bytes, random, digits);
                let number = String::from_utf8_lossy(&bytes[run.clone()]).parse().unwrap_or(1_u64);
                let moved =
                    if random.bool() { number.saturating_add(1) } else { number.saturating_sub(1) };
                return drop(bytes.splice(run, moved.to_string().into_bytes()));
            }
            _ => self.any(&PIECES, random).as_bytes().to_vec(),
        };
        bytes.splice(at..at, put);
    }
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

fn place(bytes: &[u8], random: &mut Rng) -> usize {
    random.usize(..=bytes.len())
}

/// The first run of such bytes at or behind a random place, or behind the begin.
fn run_near(bytes: &[u8], random: &mut Rng, is_part: impl Fn(u8) -> bool) -> Range<usize> {
    let from = place(bytes, random);
    let start = (from..bytes.len()).chain(0..from).find(|&at| is_part(bytes[at]));
    let Some(start) = start else { return from..from };
    let length = bytes[start..].iter().take_while(|&&byte| is_part(byte)).count();
    start..start + length
}
