//! Quantities with their units, and the one grammar that reads and prints them.
//!
//! | quantity | type | in text | printed |
//! | --- | --- | --- | --- |
//! | capacity | [`Bytes`] | `4096`, `8MiB`, `1.5GiB` (powers of 1024) and `kB`, `MB`, `GB` (powers of 1000) | KiB, MiB, GiB |
//! | bandwidth | [`BytesPerSecond`] | `12.8GB/s` | GB/s = 1e9 bytes/s |
//! | time | [`std::time::Duration`] by [`parse_duration`] | `5ms`, `90s`, `5m`, `1h30m` | by [`format_duration`] |
//! | share | [`f64`] by [`parse_share`] | `70%`, `0.7` | |
//! | list | numbers by [`parse_numbers`] | `0-3,8` | |
//!
//! A number without a unit is accepted for bytes only: a time without one would
//! be a guess.

mod bandwidth;
mod bytes;
mod excerpt;
mod list;
mod number;
mod quantity;
mod share;
mod shell;
mod suggestion;
mod time;
mod word;

pub use bytes::Bytes;
pub use excerpt::{excerpt, excerpt_of};
pub use list::parse_numbers;
pub use number::{QuantityError, format_significant};
pub use quantity::{
    BytesPerSecond, FlopsPerSecond, Nanoseconds, PerSecond, Quantity, Ratio, Seconds, Unit,
    serialize_gb_per_s,
};
pub use share::{parse_ratio, parse_share};
pub use shell::{shell_path, shell_word};
pub use suggestion::{did_you_mean, nearest_name};
pub use time::{format_duration, nanoseconds, parse_duration};
pub use word::{from_word, words_of};
