//! What a machine is called in a run: files are named by it, so that it holds nothing that means something in a
//! path.

use std::fmt;
use std::str::FromStr;

use nearfar_units::excerpt;
use serde::{Deserialize, Serialize};

/// Letters, digits, `.`, `-` and `_`, at most 200, the first of them a letter or a digit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline, with = "String"))]
#[serde(try_from = "String", into = "String")]
pub struct MachineName(String);

/// Why a name is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{}' names no machine: a name has letters, digits, '.', '-' and '_', at most 200 of them, and begins \
     with a letter or a digit",
    excerpt(.0)
)]
pub struct MachineNameError(String);

/// Where launchers say on which of their machines a process runs, the surest first: emulated machines and
/// containers share or hide the host's name.
const NAMED_BY: [&str; 3] = ["SLURMD_NODENAME", "NODE_NAME", "PMIX_HOSTNAME"];

impl MachineName {
    pub(crate) fn of_target() -> Self {
        Self("target".into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of this machine: the one that was given, else the launcher's, else the host's.
    ///
    /// # Errors
    /// Where the first of them that is there is no name.
    pub fn find(
        given: Option<&str>,
        variable: impl Fn(&str) -> Option<String>,
        host: &str,
    ) -> Result<Self, MachineNameError> {
        let of_launcher =
            || NAMED_BY.into_iter().find_map(|name| variable(name).filter(|it| !it.is_empty()));
        let name = given.map(String::from).or_else(of_launcher);
        name.unwrap_or_else(|| host.into()).parse()
    }
}

impl FromStr for MachineName {
    type Err = MachineNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_sound = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        let is_name = begins && text.len() <= 200 && text.chars().all(is_sound);
        if is_name { Ok(Self(text.into())) } else { Err(MachineNameError(text.into())) }
    }
}

impl TryFrom<String> for MachineName {
    type Error = MachineNameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<MachineName> for String {
    fn from(name: MachineName) -> Self {
        name.0
    }
}

impl fmt::Display for MachineName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launcher<'a>(set: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into())
    }

    #[test]
    fn a_launcher_is_believed_before_the_host() {
        let slurm = [("PMIX_HOSTNAME", "vm"), ("SLURMD_NODENAME", "n3")];
        let name = |given, set| MachineName::find(given, launcher(set), "vm").unwrap().to_string();
        assert_eq!(name(None, &slurm), "n3");
        assert_eq!(name(Some("n4"), &slurm), "n4");
        assert_eq!(name(None, &[("NODE_NAME", "")]), "vm");
    }

    #[test]
    fn no_name_leads_out_of_its_folder() {
        for text in ["", ".", "..", "../n1", "a/b", "n1~2", "-x", "n 1", &"n".repeat(201)] {
            assert!(text.parse::<MachineName>().is_err(), "{text}");
        }
        assert_eq!("gpu-7.cluster_a".parse::<MachineName>().unwrap().as_str(), "gpu-7.cluster_a");
    }
}
