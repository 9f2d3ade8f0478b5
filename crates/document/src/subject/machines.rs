//! The simulated machines that are built in, as `--simulate list` prints them, and where the figures of one
//! are from.

use std::collections::{BTreeMap, BTreeSet};

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
    /// Where its figures are from.
    pub origin: FigureOrigin,
    /// The publications of its figures.
    pub sources: Vec<FigureSource>,
    /// Keys of its file that no source gives, wholly or in part, with why they are as they are.
    pub assumed: BTreeMap<String, String>,
    /// What was published of the machine and cannot be simulated.
    pub left_out: Vec<String>,
}

/// Where the figures of a simulated machine are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FigureOrigin {
    /// From publications that its file names for each.
    Published,
    /// Partly from a paper's tables.
    Paper,
    /// Nobody measured them.
    Ours,
}

/// A publication.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FigureSource {
    pub title: String,
    pub url: Option<String>,
    /// Keys of the file that it gives.
    pub of: BTreeSet<String>,
}

impl MachineList {
    pub fn new(machines: Vec<MachineTitle>) -> Self {
        Self { schema: "nearfar.machines/1", machines }
    }

    /// For people.
    pub fn answer(&self) -> Answer {
        let of = |origin| self.machines.iter().filter(move |machine| machine.origin == origin);
        let widest = of(FigureOrigin::Published).map(|machine| machine.name.len()).max();
        let widest = widest.unwrap_or(0);
        let line = |it: &MachineTitle| Part::words(format!("  {:widest$}  ", it.name), &it.title);
        let names = |origin| {
            let names: Vec<&str> = of(origin).map(|machine| machine.name.as_str()).collect();
            names.join(", ")
        };
        Answer::saying("Of published figures (each with its source):")
            .and_all(Shown::Always, of(FigureOrigin::Published).map(line))
            .and(
                Shown::Always,
                Part::words("Of papers' tables, the rest ours: ", names(FigureOrigin::Paper)),
            )
            .and(Shown::Always, Part::words("Ours: ", names(FigureOrigin::Ours)))
            .and_next([(
                "nearfar topo --simulate NAME",
                "what it is, its sources, what was assumed",
            )])
    }
}

impl MachineTitle {
    /// Where its figures are from.
    pub(super) fn parts(&self) -> Vec<(Shown, Part)> {
        let mut parts = vec![(Shown::Always, Part::words("", format!("{}.", self.title)))];
        let whose = match self.origin {
            FigureOrigin::Published => None,
            FigureOrigin::Paper => Some("Figures: partly of a paper's tables, the rest ours."),
            FigureOrigin::Ours => Some("Figures: ours; nobody measured them."),
        };
        parts.extend(whose.map(|whose| (Shown::Always, Part::words("", whose))));
        for source in &self.sources {
            parts.push((Shown::Always, Part::words("Source: ", &source.title)));
            let url = source.url.as_ref().map(|url| Part::words("        ", url));
            parts.extend(url.map(|url| (Shown::Full, url)));
        }
        let keys: Vec<&str> = self.assumed.keys().map(String::as_str).collect();
        if !keys.is_empty() {
            let words = format!("{} (why: --full)", keys.join(", "));
            parts.push((Shown::First, Part::words("Assumed: ", words)));
        }
        for (key, why) in &self.assumed {
            parts.push((Shown::Full, Part::words("Assumed: ", format!("{key}: {why}"))));
        }
        for what in &self.left_out {
            parts.push((Shown::Always, Part::words("Not simulated: ", what)));
        }
        parts
    }
}
