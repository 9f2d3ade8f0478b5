//! Parts of a machine that can be the cause of what several cells of the pairs matrix
//! show, and the cells that each of them holds.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;

use crate::twin_cell::TwinCell;

/// A part of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum Place {
    /// A memory node, whoever accesses it.
    Memory {
        #[serde(rename = "memory_node")]
        node: u32,
    },
    /// The cores of an initiator, whatever they access.
    Initiator { initiator: u32 },
    /// One group of CPUs of several in its initiator, whatever it accesses.
    CpuGroup {
        /// Its number among its kind.
        #[serde(rename = "cpu_group")]
        index: u32,
        initiator: u32,
    },
    /// All pairs of two packages, both ways.
    PackageLink {
        /// The lower package.
        #[serde(rename = "from_package")]
        first: u32,
        /// The higher package.
        #[serde(rename = "to_package")]
        second: u32,
    },
    /// What one package asks of the memory of another.
    PackageToPackage {
        /// The package of the cores.
        #[serde(rename = "from_package")]
        from: u32,
        /// The package of the memory.
        #[serde(rename = "to_package")]
        to: u32,
    },
    /// What one initiator asks of the memory of another package.
    InitiatorToPackage {
        initiator: u32,
        /// The package of the memory.
        #[serde(rename = "to_package")]
        to: u32,
    },
    /// What one initiator asks of one memory node that is not its own.
    Path {
        initiator: u32,
        #[serde(rename = "memory_node")]
        node: u32,
    },
    /// What an initiator asks of its own memory, where others reach more of that memory and it reaches others'.
    OwnPath {
        initiator: u32,
        #[serde(rename = "memory_node")]
        node: u32,
    },
}

impl Place {
    /// Every place that holds a cell; `several` says whether its initiator has several
    /// groups of CPUs.
    fn around(cell: &TwinCell, several: bool) -> Vec<Self> {
        let TwinCell { cpu_group: index, initiator, node, .. } = *cell;
        let mut places = vec![Self::Memory { node }, Self::Initiator { initiator }];
        if several {
            places.push(Self::CpuGroup { index, initiator });
        }
        if let Some((from, to)) = cell.initiator_package.zip(cell.node_package)
            && from != to
        {
            places.push(Self::PackageLink { first: from.min(to), second: from.max(to) });
            places.push(Self::PackageToPackage { from, to });
            places.push(Self::InitiatorToPackage { initiator, to });
        }
        places.push(match cell.local {
            true => Self::OwnPath { initiator, node },
            false => Self::Path { initiator, node },
        });
        places
    }
}

/// Every place of a machine with its cells, by their index.
#[derive(Debug)]
pub(crate) struct Parts {
    /// In the order of [`Place`].
    pub(crate) places: Vec<(Place, Vec<usize>)>,
}

impl Parts {
    pub(crate) fn new(cells: &[TwinCell]) -> Self {
        let cpu_groups: BTreeSet<(u32, u32)> =
            cells.iter().map(|cell| (cell.initiator, cell.cpu_group)).collect();
        let mut count: HashMap<u32, usize> = HashMap::new();
        for (initiator, _) in &cpu_groups {
            *count.entry(*initiator).or_default() += 1;
        }
        let mut of: HashMap<Place, Vec<usize>> = HashMap::new();
        for (index, cell) in cells.iter().enumerate() {
            for place in Place::around(cell, count[&cell.initiator] > 1) {
                of.entry(place).or_default().push(index);
            }
        }
        let mut places: Vec<(Place, Vec<usize>)> = of.into_iter().collect();
        places.sort_unstable_by_key(|(place, _)| *place);
        Self { places }
    }

    /// The cells of a place; none for one that the record does not know.
    pub(crate) fn cells(&self, place: Place) -> &[usize] {
        self.places
            .binary_search_by_key(&place, |(place, _)| *place)
            .map_or(&[], |index| &self.places[index].1)
    }
}
