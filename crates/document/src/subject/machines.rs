//! The simulated machines that are built in, as `--simulate list` prints them.

use serde::Serialize;

use crate::answer::{Answer, Part, Shown};

/// The simulated machines that are built in; `characterize` and `topo` with `--simulate list
/// --json` print it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineList {
    pub schema: &'static str,
    /// One entry for each.
    pub machines: Vec<MachineTitle>,
}

/// A simulated machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineTitle {
    /// The word for it in arguments.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
}

impl MachineList {
    /// The view of these machines: name and title of each.
    pub fn new(machines: Vec<(String, String)>) -> Self {
        let machines = machines.into_iter().map(|(name, title)| MachineTitle { name, title });
        Self { schema: "nearfar.machines/1", machines: machines.collect() }
    }

    /// For people.
    pub fn answer(&self) -> Answer {
        let widest = self.machines.iter().map(|machine| machine.name.len()).max().unwrap_or(0);
        let line = |it: &MachineTitle| Part::words(format!("{:widest$}  ", it.name), &it.title);
        Answer::default().and_all(Shown::Always, self.machines.iter().map(line))
    }
}
