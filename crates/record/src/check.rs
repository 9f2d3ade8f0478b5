//! What was found when the machine was looked over before measuring.

use serde::{Deserialize, Serialize};

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Nothing to do.
    Fine,
    /// Figures can be disturbed or limited.
    Warning,
    /// Something cannot be measured.
    Failed,
    /// Not known here.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// What was looked at, for programs.
    pub check: String,
    /// How it came out.
    pub standing: Standing,
    pub finding: String,
    /// What to do about it; null when nothing needs to be done.
    pub remedy: Option<String>,
}

/// Before the names of checks of what the kernel allows.
const CALL: &str = "call.";

impl Check {
    /// What a check of a call of the kernel, or of a file that it answers by, is named.
    pub fn name_of_call(call: &str) -> String {
        format!("{CALL}{}", call.replace(|c: char| !c.is_ascii_alphanumeric(), "_"))
    }

    pub fn is_of_call(&self) -> bool {
        self.check.starts_with(CALL)
    }
}
