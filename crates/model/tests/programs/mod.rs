//! What programs get by where their data is, and what their profiles say of that.

mod data_access;
mod mapping;
mod profiles;
