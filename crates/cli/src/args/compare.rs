//! What the user typed after `compare`.

use std::path::PathBuf;

use clap::Args;
use nearfar_model::PRACTICAL_FLOOR;

#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The first record, for instance from before a change; - is standard input
    pub a: PathBuf,
    /// The second record, for instance from after it; - is standard input
    pub b: PathBuf,
    /// A difference that does not matter in practice: 2%, 0.02
    #[arg(long, value_name = "PERCENT", default_value_t = Floor(PRACTICAL_FLOOR), value_parser = parse_floor)]
    pub floor: Floor,
    /// Also write it as a document, in the form of the name's ending: .html, .md, .tex, .json
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print JSON (docs/schema/nearfar.compare-2.json)
    #[arg(long)]
    pub json: bool,
}

/// A fraction, written in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor(pub f64);

impl std::fmt::Display for Floor {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}%", self.0 * 100.0)
    }
}

fn parse_floor(text: &str) -> Result<Floor, String> {
    let (number, unit) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text.trim(), 1.0),
    };
    let fraction = number.parse::<f64>().ok().map(|value| value / unit);
    let fraction = fraction.filter(|fraction| (0.0..0.5).contains(fraction));
    fraction.map(Floor).ok_or_else(|| {
        "it is a percentage (2%) or a fraction (0.02), from 0 to below 50%".to_string()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_are_percentages_or_fractions() {
        for (text, fraction) in [("2%", 0.02), ("0.5 %", 0.005), ("0.03", 0.03), ("0", 0.0)] {
            assert_eq!(parse_floor(text), Ok(Floor(fraction)), "{text}");
        }
        for text in ["", "%", "2", "50%", "-1%", "NaN", "inf%", "2%%", "two"] {
            assert!(parse_floor(text).is_err(), "{text}");
        }
        assert_eq!(parse_floor(&Floor(PRACTICAL_FLOOR).to_string()), Ok(Floor(PRACTICAL_FLOOR)));
    }
}
