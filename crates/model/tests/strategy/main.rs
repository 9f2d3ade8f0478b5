//! Which strategy to expect to win.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]
#![expect(clippy::float_cmp, reason = "equal inputs give equal figures")]

mod properties;
mod times;
