//! Parts of a machine that several cells have in common, so that a small loss of a memory or of a link is seen in
//! all cells that use it: eight cells tell three times as much as one.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::kind::MachineKind;

/// What may be slow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MachinePart {
    /// The machine as a whole, by all cells of a series.
    Machine,
    /// The memory of the node of this number.
    Memory(u32),
    /// The CPUs of the initiator of this number.
    Initiator(u32),
    /// What lies between two packages, both ways.
    Link(u32, u32),
    /// One cell by itself, by its case.
    Cell(String),
}

/// Sorts of parts, each of which may ask for its own share of machines to be measured again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PartSort {
    Machine,
    Memory,
    Initiator,
    Link,
    Cell,
}

impl MachinePart {
    pub(crate) fn sort(&self) -> PartSort {
        match self {
            Self::Machine => PartSort::Machine,
            Self::Memory(_) => PartSort::Memory,
            Self::Initiator(_) => PartSort::Initiator,
            Self::Link(..) => PartSort::Link,
            Self::Cell(_) => PartSort::Cell,
        }
    }
}

/// Where a cell stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellPlace<'a> {
    /// Id of its case.
    pub case: &'a str,
    pub from: Option<u32>,
    pub to: Option<u32>,
}

/// A part as one series of cells shows it.
#[derive(Debug, Clone)]
pub(crate) struct PartTest {
    pub part: MachinePart,
    /// Position of the series.
    pub series: usize,
    /// Positions of the cells that use it.
    pub inside: Vec<usize>,
}

/// Cells that differ in who accesses which memory and in nothing else.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    /// Their id without places: `pairs/triad/avx2/t16`.
    pub name: String,
    pub cells: Vec<usize>,
}

/// The series of cells.
pub(crate) fn series(cells: &[CellPlace<'_>]) -> Vec<Series> {
    let is_place = |part: &&str| {
        ["initiator", "node"].into_iter().any(|place| {
            part.strip_prefix(place)
                .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|it| it.is_ascii_digit()))
        })
    };
    let mut series: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (position, cell) in cells.iter().enumerate() {
        let name: Vec<&str> = cell.case.split('/').filter(|part| !is_place(part)).collect();
        series.entry(name.join("/")).or_default().push(position);
    }
    series.into_iter().map(|(name, cells)| Series { name, cells }).collect()
}

/// All parts that these cells can tell of.
pub(crate) fn part_tests(
    cells: &[CellPlace<'_>],
    series: &[Series],
    kind: &MachineKind,
) -> Vec<PartTest> {
    let package_of =
        |initiator: u32| kind.initiators.get(usize::try_from(initiator).ok()?)?.package;
    let package_at = |node: u32| kind.nodes.iter().find(|it| it.node == node)?.package;
    let mut tests = Vec::new();
    for (position, one) in series.iter().enumerate() {
        let mut inside: BTreeMap<MachinePart, Vec<usize>> = BTreeMap::new();
        for &cell in &one.cells {
            let CellPlace { from, to, .. } = cells[cell];
            let memory = to.map(MachinePart::Memory);
            let initiator = from.map(MachinePart::Initiator);
            let ends = from.and_then(package_of).zip(to.and_then(package_at));
            let link = ends.filter(|(from, to)| from != to);
            let link = link.map(|(from, to)| MachinePart::Link(from.min(to), from.max(to)));
            for part in [memory, initiator, link].into_iter().flatten() {
                inside.entry(part).or_default().push(cell);
            }
        }
        // A part is told from the rest by two cells on either side at the least.
        inside.retain(|_, inside| inside.len() >= 2 && inside.len() + 2 <= one.cells.len());
        inside.insert(MachinePart::Machine, one.cells.clone());
        if one.cells.len() > 2 {
            inside.extend(
                one.cells
                    .iter()
                    .map(|&cell| (MachinePart::Cell(cells[cell].case.into()), vec![cell])),
            );
        }
        tests.extend(inside.into_iter().map(|(part, inside)| PartTest {
            part,
            series: position,
            inside,
        }));
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_differ_in_places_alone_are_a_series() {
        let cells = [
            "pairs/initiator0/node0/load/avx2/t1",
            "pairs/initiator1/node0/load/avx2/t1",
            "roofs/x",
        ];
        let cells = cells.map(|case| CellPlace { case, from: None, to: None });
        let found: Vec<(String, Vec<usize>)> =
            series(&cells).into_iter().map(|it| (it.name, it.cells)).collect();
        assert_eq!(found, [("pairs/load/avx2/t1".into(), vec![0, 1]), ("roofs/x".into(), vec![2])]);
    }
}
