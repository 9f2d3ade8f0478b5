//! What of a placement could not be had.

use std::fmt;

use nearfar_sys::Refusal;
use serde::Serialize;

/// A part of what was asked for that the program runs without.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Loss {
    pub what: String,
    /// Why it was not given.
    pub reason: String,
    /// What can be done about it; null where the reason holds it.
    pub remedy: Option<String>,
}

impl Loss {
    /// What the kernel refused.
    pub(crate) fn refused(what: impl Into<String>, refusal: &Refusal) -> Self {
        Self {
            what: what.into(),
            reason: refusal.cause(),
            remedy: refusal.remedy().map(Into::into),
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.what, self.reason)?;
        self.remedy.as_ref().map_or(Ok(()), |remedy| write!(out, "; {remedy}"))
    }
}
