//! How figures are rounded and written, once for all views.

use nearfar_units::format_significant;

/// GB/s (1e9 bytes/s) with three digits.
pub(crate) fn gb_per_s(bytes_per_s: f64) -> String {
    format_significant(bytes_per_s / 1e9, 3)
}

/// A fraction as a whole percentage.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a percentage for people")]
    let fraction = part as f64 / whole as f64;
    if whole == 0 { "none".into() } else { format!("{:.0} %", fraction * 100.0) }
}
