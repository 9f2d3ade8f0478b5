//! How figures are rounded and written, once for all views.

use nearfar_record::Executor;
use nearfar_units::format_significant;

/// A fraction in percent: two decimals below 1 %, one below 10 %, else none.
pub(crate) fn percent_words(fraction: f64) -> String {
    let percent = 100.0 * fraction;
    let decimals = match percent.abs() {
        size if size < 1.0 => 2,
        size if size < 10.0 => 1,
        _ => 0,
    };
    format!("{} %", rounded(percent, decimals))
}

/// `1 core`, `2 cores`, `2 processes`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let plural = if noun.ends_with('s') { "es" } else { "s" };
    format!("{number} {noun}{}", if number == 1 { "" } else { plural })
}

/// With its first letter as a sentence begins.
pub(crate) fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// A number to at most this many significant digits, without zeros at its end.
pub(crate) fn significant(value: f64, digits: u32) -> String {
    let text = format_significant(value, digits);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

/// A number to this many decimals, a half away from zero, without zeros at its end.
pub(crate) fn rounded(value: f64, decimals: i32) -> String {
    let scale = 10_f64.powi(decimals);
    // Zero has no sign.
    ((value * scale).round() / scale + 0.0).to_string()
}

/// What tells computed figures from measured ones; `None` for the latter.
pub(crate) fn simulated_line(executor: Executor) -> Option<&'static str> {
    match executor {
        Executor::Native => None,
        Executor::Simulated => Some("SIMULATED: these figures were computed, not measured"),
    }
}

pub(crate) fn gib(bytes: f64) -> String {
    format!("{} GiB", significant(bytes / f64::from(1 << 30), 3))
}

/// What follows the name of data, or of a placement, that is too large for a node.
pub(crate) fn no_room_words(node: u32, needed_bytes: f64, usable_bytes: f64) -> String {
    let (needed, usable) = (gib(needed_bytes), gib(usable_bytes));
    format!("does not fit: {needed} for node {node}, which has {usable} for programs.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits_keep_small_numbers() {
        assert_eq!(significant(0.000_012_346, 4), "0.00001235");
        assert_eq!(significant(0.5, 4), "0.5");
        assert_eq!(significant(120.0, 4), "120");
        assert_eq!(significant(0.0, 4), "0");
    }

    #[test]
    fn more_than_one_is_plural() {
        assert_eq!(["core", "process"].map(|it| count(1, it)), ["1 core", "1 process"]);
        assert_eq!(["core", "process"].map(|it| count(0, it)), ["0 cores", "0 processes"]);
    }

    #[test]
    fn percentages_have_the_digits_that_say_something() {
        assert_eq!(percent_words(0.003_16), "0.32 %");
        assert_eq!(percent_words(-0.0316), "-3.2 %");
        assert_eq!(percent_words(1.314), "131 %");
        assert_eq!(percent_words(0.0), "0 %");
    }

    #[test]
    fn halves_round_away_from_zero_and_zeros_are_left_out() {
        assert_eq!(rounded(0.125, 2), "0.13");
        assert_eq!(rounded(7.000_000_000_000_001, 2), "7");
        assert_eq!(rounded(1.0 / 3.0, 4), "0.3333");
        assert_eq!(rounded(0.0, 4), "0");
    }
}
