//! Whether a run's result is right.

pub use nearfar_record::ResultCheck as Check;

#[cfg(test)]
pub use nearfar_record::are_verified as is_verified;
