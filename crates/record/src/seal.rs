//! Seals: what shows that a line of a record is not the one that was written.
//!
//! A line's seal is the FNV-1a hash of its text, begun from the seal of the line before
//! it. It shows accidents and careless edits; it is no proof against forgery, because
//! anybody can make the seals again.

use std::fmt;
use std::hash::Hasher;
use std::str::FromStr;

use nearfar_machine::Fnv1a;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// What stands between a line's content and its seal.
const BEFORE: &[u8] = b",\"seal\":\"";

/// What stands after it.
const AFTER: &[u8] = b"\"}\n";

const DIGITS: usize = 16;

/// How many lines are named that are not as they were written.
const NAMED: usize = 5;

/// The seal of one line: 16 hexadecimal digits, the line's last field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(with = "String", extend("pattern" = "^[0-9a-f]{16}$"))
)]
pub struct Seal(u64);

impl Seal {
    /// The seal of a line whose text up to its seal's comma is `content`; `previous` is
    /// the seal of the line before it, null for the first.
    pub fn of(previous: Option<Self>, content: &[u8]) -> Self {
        let mut hash = previous.map_or_else(Fnv1a::default, |Self(seal)| Fnv1a::after(seal));
        hash.write(content);
        Self(hash.finish())
    }
}

impl fmt::Display for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for Seal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != DIGITS || !text.bytes().all(is_digit) {
            return Err("a seal is 16 hexadecimal digits".into());
        }
        u64::from_str_radix(text, 16).map(Self).map_err(|error| error.to_string())
    }
}

impl Serialize for Seal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Seal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// Puts the seal into a line's JSON, an object without line feed, and ends the line.
pub(crate) fn seal_line(previous: Option<Seal>, mut object: Vec<u8>) -> (Vec<u8>, Seal) {
    object.pop();
    let seal = Seal::of(previous, &object);
    object.extend_from_slice(BEFORE);
    object.extend_from_slice(seal.to_string().as_bytes());
    object.extend_from_slice(AFTER);
    (object, seal)
}

/// What the seals of a whole record say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sealing {
    /// Every line is the one that was written.
    Fits,
    /// Lines were changed, removed, added or moved since they were written.
    Edited {
        /// The first lines that do not fit, from 1. Where lines were removed, the one
        /// after them.
        lines: Vec<u64>,
        /// How many do not fit.
        count: u64,
    },
    /// No line has a seal: an older program, or somebody, wrote it without.
    Unsealed,
}

impl Sealing {
    /// What to tell the reader of the figures; `None` where all is as it was written.
    pub fn finding(&self) -> Option<String> {
        match self {
            Self::Fits => None,
            Self::Unsealed => Some(
                "the record is not sealed: whether it was changed since it was measured is not \
                 known"
                    .into(),
            ),
            Self::Edited { lines, count } => {
                let named: Vec<String> = lines.iter().map(u64::to_string).collect();
                let more = count.saturating_sub(lines.len() as u64);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let noun = if *count == 1 { "line" } else { "lines" };
                Some(format!(
                    "the record was changed after it was measured, at {noun} {}{more}: its \
                     figures are those of whoever changed it",
                    named.join(", ")
                ))
            }
        }
    }
}

/// Holds the seals of a record's lines, as they are read, against the lines.
#[derive(Debug, Default)]
pub(crate) struct SealCheck {
    previous: Option<Seal>,
    lines: u64,
    sealed: u64,
    misfits: Vec<u64>,
    misfit_count: u64,
}

impl SealCheck {
    /// Takes the next whole line, with its line feed.
    pub fn take(&mut self, text: &[u8], stated: Option<Seal>) {
        self.lines += 1;
        let content = stated.and_then(|seal| content_before(text, seal));
        let fits = match (stated, content) {
            (Some(seal), Some(content)) => Seal::of(self.previous, content) == seal,
            _ => false,
        };
        self.sealed += u64::from(stated.is_some());
        if !fits {
            self.misfit_count += 1;
            if self.misfits.len() < NAMED {
                self.misfits.push(self.lines);
            }
        }
        // The seal that stands there, so that one changed line is one that does not fit.
        let unsealed = || Some(Seal::of(self.previous, text.strip_suffix(b"}\n")?));
        self.previous = stated.or_else(unsealed);
    }

    /// The seal that the next line goes on from.
    pub fn last(&self) -> Option<Seal> {
        self.previous
    }

    pub fn sealing(self) -> Sealing {
        match (self.sealed, self.misfit_count) {
            (0, _) => Sealing::Unsealed,
            (_, 0) => Sealing::Fits,
            (_, count) => Sealing::Edited { lines: self.misfits, count },
        }
    }
}

/// The text of a line up to its seal's comma, if the seal stands where the writer puts it.
fn content_before(text: &[u8], seal: Seal) -> Option<&[u8]> {
    let rest = text.strip_suffix(AFTER)?.strip_suffix(seal.to_string().as_bytes())?;
    rest.strip_suffix(BEFORE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked out by another program from the page on the format: FNV-1a of the first
    /// content, and that of the second begun from it.
    #[test]
    fn a_seal_is_the_hash_that_the_format_describes() {
        let (first, seal) = seal_line(None, br#"{"a":1}"#.to_vec());
        assert_eq!(first, format!("{{\"a\":1,\"seal\":\"{seal}\"}}\n").into_bytes());
        assert_eq!(seal.to_string(), "c0cb48a96902d276");
        let (_, seal) = seal_line(Some(seal), br#"{"b":2}"#.to_vec());
        assert_eq!(seal.to_string(), "5510cda207428447");
    }

    #[test]
    fn a_seal_is_sixteen_lowercase_digits() {
        for wrong in ["", "0", "00000000000000g0", "+000000000000001", "ABCDEF0123456789"] {
            assert!(wrong.parse::<Seal>().is_err(), "{wrong}");
        }
        let seal: Seal = "0123456789abcdef".parse().unwrap();
        assert_eq!(seal.to_string(), "0123456789abcdef");
    }
}
