//! Which strategy to expect to win.

#![expect(clippy::float_cmp, reason = "equal inputs give equal figures")]

mod properties;
mod times;
