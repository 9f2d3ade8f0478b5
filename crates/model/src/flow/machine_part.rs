//! The parts of a machine that streams share, by the names of what they are parts of.

use nearfar_flow::Part;
use nearfar_machine::MemoryKind;
use serde::Serialize;

use super::case::{FlowLayout, LinkEnds};

/// A part of a machine that can be full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MachinePart {
    /// From the CPUs of an initiator to a node.
    Path {
        initiator: u32,
        memory_node: u32,
    },
    Controller {
        memory_node: u32,
    },
    /// What the CPUs of an initiator can have on the way.
    Issue {
        initiator: u32,
    },
    /// From the CPUs of a package to the memory of another.
    Link {
        from_package: u32,
        to_package: u32,
    },
    /// From one of several initiators of a package to the memory of another.
    InitiatorLink {
        initiator: u32,
        to_package: u32,
    },
    /// What all memory of a kind in a package carries together.
    Channels {
        package: u32,
        memory_kind: MemoryKind,
    },
}

impl FlowLayout {
    /// `None` for a part that the machine has not.
    pub fn part(&self, part: Part) -> Option<MachinePart> {
        let node = |column: usize| self.nodes.get(column).copied();
        let number = |initiator: usize| u32::try_from(initiator).ok();
        Some(match part {
            Part::Path { initiator, column } => {
                MachinePart::Path { initiator: number(initiator)?, memory_node: node(column)? }
            }
            Part::Controller { column } => MachinePart::Controller { memory_node: node(column)? },
            Part::Issue { initiator } => MachinePart::Issue { initiator: number(initiator)? },
            Part::Link { index } => match self.links.get(index)?.ends {
                LinkEnds::Packages { from, to } => {
                    MachinePart::Link { from_package: from, to_package: to }
                }
                LinkEnds::InitiatorToPackage { initiator, to } => {
                    MachinePart::InitiatorLink { initiator, to_package: to }
                }
                LinkEnds::Channels { package, kind } => {
                    MachinePart::Channels { package, memory_kind: kind }
                }
            },
        })
    }
}
