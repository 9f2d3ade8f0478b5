//! What programs get by where their data is, and what their profiles say of that.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod data_access;
mod mapping;
mod profiles;
