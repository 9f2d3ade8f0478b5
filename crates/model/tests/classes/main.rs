//! Classes of records whose rounds are written by hand or drawn.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod accuracy;
mod notes;
mod random_matrix;
mod rules;
mod thesis;
