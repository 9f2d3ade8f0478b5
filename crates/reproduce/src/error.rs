//! Why a paper could not be computed again. That a value differs is no error but
//! a row of its own.

use std::error::Error;

/// Why a paper could not be computed again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReproduceError {
    #[error("there is no paper '{key}'; there are: {known}")]
    UnknownPaper { key: String, known: String },
    #[error("papers/{key}.json is not of the form that the program knows; correct the file")]
    Facts { key: String, source: serde_json::Error },
    #[error("papers/{key}.json contradicts itself: {what}; correct the file")]
    Contradiction { key: String, what: String },
    #[error("{what} cannot be computed")]
    Refused { what: String, source: Box<dyn Error + Send + Sync> },
}

pub(crate) fn contradiction(key: &str, what: impl Into<String>) -> ReproduceError {
    ReproduceError::Contradiction { key: key.into(), what: what.into() }
}

/// The error of a table, equation or machine that something refuses.
pub(crate) fn refused<E: Error + Send + Sync + 'static>(
    what: impl Into<String>,
) -> impl FnOnce(E) -> ReproduceError {
    |source| ReproduceError::Refused { what: what.into(), source: Box::new(source) }
}
