//! What the values of a machine file may be, and what is said when they are not.

use std::fmt::Display;
use std::ops::RangeInclusive;

use nearfar_units::Bytes;

pub(crate) const GIGA: f64 = 1e9;

/// A key whose value is not allowed; the file's name is put before it later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadKey {
    /// The key, as in `bandwidth[2].one_thread`.
    pub key: String,
    /// The rest of the sentence that begins with the key.
    pub why: String,
}

impl BadKey {
    pub fn new(key: impl Into<String>, why: impl Into<String>) -> Self {
        Self { key: key.into(), why: why.into() }
    }
}

/// Rates in GB/s: from a thousandth, less than any link, to 100 TB/s, more than any node.
pub(crate) const GB_PER_S: RangeInclusive<f64> = 1e-3..=1e5;
/// Shares and fractions of which 0 means "never".
pub(crate) const FRACTION: RangeInclusive<f64> = 0.0..=1.0;
/// A kernel's rate against the triad's.
pub(crate) const FACTORS: RangeInclusive<f64> = 0.01..=100.0;
/// What remains of something that is not gone.
pub(crate) const REMAINDER: RangeInclusive<f64> = 0.01..=1.0;

/// The most entries of each repeated table: with the limits on nodes it bounds the
/// time that a hostile file can take.
pub(crate) const MOST_ENTRIES: usize = 1024;

/// The number, when it is allowed.
pub(crate) fn number<Number: PartialOrd + Display>(
    key: &str,
    value: Number,
    allowed: &RangeInclusive<Number>,
) -> Result<Number, BadKey> {
    // A NaN is in no range.
    if allowed.contains(&value) {
        Ok(value)
    } else {
        let (low, high) = (allowed.start(), allowed.end());
        Err(BadKey::new(key, format!("is {value}; allowed is {low} to {high}")))
    }
}

/// The bytes/s of an entry's `gb_per_s`, when it is allowed.
pub(crate) fn gb_per_s(key: &str, value: f64) -> Result<f64, BadKey> {
    Ok(number(&format!("{key}.gb_per_s"), value, &GB_PER_S)? * GIGA)
}

/// A size in memory; 0 is none.
pub(crate) fn bytes(key: &str, text: Option<&str>) -> Result<Option<u64>, BadKey> {
    text.map(|text| match text.parse::<Bytes>() {
        Ok(Bytes(0)) => Err(BadKey::new(key, "is 0; leave it out where it is not known")),
        Ok(Bytes(size)) => Ok(size),
        Err(error) => {
            let why = format!("cannot be read: {}", error.to_string().escape_debug());
            Err(BadKey::new(key, why))
        }
    })
    .transpose()
}

/// A name that stands in file names, tables and the identifiers of cases.
pub(crate) fn name(key: &str, value: &str) -> Result<(), BadKey> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if (1..=64).contains(&value.len()) && value.chars().all(plain) {
        Ok(())
    } else {
        let shown = shortened(value);
        let why = format!("is {shown:?}; a name has 1 to 64 letters, digits, '-', '_' or '.'");
        Err(BadKey::new(key, why))
    }
}

/// A line of text for people.
pub(crate) fn line(key: &str, value: &str) -> Result<(), BadKey> {
    if (1..=200).contains(&value.chars().count()) && !value.chars().any(char::is_control) {
        Ok(())
    } else {
        let shown = shortened(value);
        let why = format!("is {shown:?}; it has 1 to 200 characters and no control characters");
        Err(BadKey::new(key, why))
    }
}

/// The entries of a repeated table with their keys, when there are not too many.
pub(crate) fn entries<'l, T>(
    name: &str,
    list: &'l [T],
) -> Result<impl Iterator<Item = (String, &'l T)>, BadKey> {
    at_most(name, list.len(), MOST_ENTRIES)?;
    Ok(list.iter().enumerate().map(move |(index, entry)| (format!("{name}[{index}]"), entry)))
}

pub(crate) fn at_most(key: &str, entries: usize, most: usize) -> Result<(), BadKey> {
    if entries <= most {
        Ok(())
    } else {
        Err(BadKey::new(key, format!("has {entries} entries; at most {most}")))
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}
