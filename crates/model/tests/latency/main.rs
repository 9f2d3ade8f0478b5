//! Times of an access: NUMA factors, levels, loaded curves.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod any_record;
mod curves;
mod factors;
