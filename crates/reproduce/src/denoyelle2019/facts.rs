//! SKELETON

use serde::Deserialize;

use super::KEY;
use crate::error::ReproduceError;

/// What `papers/denoyelle2019.json` holds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Facts {
    /// The paper's key.
    pub key: String,
    /// Author, title, place and year.
    pub title: String,
}

/// The paper's numbers.
///
/// # Errors
/// When the file is not of the form that the program knows.
pub fn facts() -> Result<Facts, ReproduceError> {
    Facts::parse(include_str!("../../../../papers/denoyelle2019.json"))
}

impl Facts {
    /// Reads a file's text.
    ///
    /// # Errors
    /// As [`facts`].
    pub fn parse(text: &str) -> Result<Self, ReproduceError> {
        serde_json::from_str(text)
            .map_err(|source| ReproduceError::Facts { key: KEY.into(), source })
    }
}
