//! What a machine is in a line, what is known of it, and what to do next.

use nearfar_machine::Machine;
use nearfar_record::{Header, Suite};

use super::figures::count;
use super::machine::Topology;
use crate::answer::{Answer, Part, Shown};

/// What `nearfar` alone tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Overview {
    machine: String,
    nodes: String,
    /// The newest record: when it was begun, how much was measured, its path.
    newest: Option<(String, Suite, String)>,
}

impl Overview {
    /// Of the machine that it runs on, and this host's newest record and its path.
    pub fn new(machine: &Machine, newest: Option<(&Header, &str)>) -> Self {
        let of_record = |(header, path): (&Header, &str)| {
            (header.started.clone(), header.inputs.suite, path.to_string())
        };
        Self {
            machine: Topology::new(machine).title(None),
            nodes: count(machine.nodes.len(), "memory node"),
            newest: newest.map(of_record),
        }
    }

    /// For people.
    pub fn answer(&self) -> Answer {
        let first = Answer::saying(format!("{}, {}", self.machine, self.nodes));
        let Some((started, suite, path)) = &self.newest else {
            return first.and_says("not measured yet").and_next([
                ("nearfar doctor", "what would disturb a measurement here"),
                ("nearfar characterize", "measures this machine, in seconds"),
                ("nearfar --help", "all commands"),
            ]);
        };
        let record = format!("{} suite, {started}: {path}", suite.as_str());
        first.and(Shown::Always, Part::words("measured  ", record)).and_next([
            ("nearfar show", "its bandwidth and latency"),
            ("nearfar advise", "where to put a program"),
            ("nearfar report -o FILE.html", "the whole picture as a page"),
            ("nearfar --help", "all commands"),
        ])
    }
}
