//! Whether guests are wanted.

use std::env;

/// Whether the tests leave guests out: `NEARFAR_WITHOUT_GUESTS` is neither empty nor 0.
#[must_use]
pub fn guests_are_left_out() -> bool {
    env::var_os("NEARFAR_WITHOUT_GUESTS").is_some_and(|value| !value.is_empty() && value != "0")
}
