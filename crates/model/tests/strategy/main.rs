//! Which strategy to expect to win.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]
#![expect(clippy::float_cmp, reason = "equal inputs give equal figures")]

#[path = "../latency/handmade_record.rs"]
mod handmade_record;
mod handmade_roofs;
mod properties;
mod times;
