//! What programs get whose accesses are shared out over classes, and processes that are mapped to places.

use nearfar_machine::GroupBy;
use nearfar_model::{
    AccessAnswer, AccessPrediction, AlphaKind, ClassAlphas, MappedProcesses, MappingPlace,
    PlaceKind, ProgramAccess,
};
use nearfar_record::Record;
use nearfar_units::BytesPerSecond;
use serde::Serialize;

use super::classes::{alpha_figure, maximum_words, rate};
use super::figures::significant;
use super::origin::Origin;
use super::pair_words::cpu_group;
use super::who::Who;
use crate::answer::Answer;
use crate::document::Section;
use crate::figure::Unit;
use crate::table::{Cell, Column, Table};

/// Rows of the first screen.
const FIRST_ROWS: usize = 20;

/// What programs get whose accesses are shared out over classes; `predict --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PredictedAccesses {
    pub schema: &'static str,
    /// The record that the alphas are of; nothing where they were given.
    #[serde(flatten)]
    pub measured: Option<Origin>,
    #[serde(flatten)]
    pub result: AccessPrediction,
}

impl PredictedAccesses {
    /// A prediction by the alphas of a record, or by given ones.
    pub fn new(record: Option<&Record>, result: AccessPrediction) -> Self {
        let measured = record.map(Origin::new);
        Self { schema: "nearfar.predict/2", measured, result }
    }

    /// For people.
    pub fn answer(&self) -> Answer {
        let AccessPrediction { alphas, answer } = &self.result;
        let who = self.measured.as_ref().map_or_else(Who::default, |it| it.who.clone());
        let mut table = match answer {
            AccessAnswer::Programs(programs) => program_table(programs, alphas),
            AccessAnswer::Processes(processes) => process_table(processes, alphas, &who),
        };
        if let (AlphaKind::Relative, Err(why)) = (alphas.alphas_are, alphas.gamma.as_result()) {
            table.notes.insert(0, format!("The theoretical maximum is unknown: {why}."));
        }
        let section =
            Section::new("predict", "What programs get", alpha_words(alphas), vec![table]);
        let origin = self.measured.as_ref().map(|it| it.answer().and_gap()).unwrap_or_default();
        origin.and_section(section, FIRST_ROWS)
    }
}

fn alpha_words(of: &ClassAlphas) -> String {
    let alphas: Vec<String> = of.alphas.iter().map(|&alpha| alpha_figure(alpha).text).collect();
    // Given alphas may stand in any order.
    let order = if of.alphas.is_sorted_by(|a, b| a >= b) { ", the fastest first" } else { "" };
    let kind = match of.alphas_are {
        AlphaKind::Given => "given",
        AlphaKind::Absolute => "absolute",
        AlphaKind::Relative => "RELATIVE to class 0",
    };
    let unit = match (of.gamma.found(), of.unit) {
        (Some(gamma), _) => format!(", of {}", maximum_words(gamma)),
        (None, Some(unit)) => format!(" ({})", rate(unit.0).words()),
        (None, None) => String::new(),
    };
    format!("alpha by class{order}: {}; {kind}{unit}", alphas.join(", "))
}

fn share_words(shares: &[f64]) -> Cell {
    let shares: Vec<String> = shares.iter().map(|&share| significant(share, 4)).collect();
    Cell::text(shares.join(", "))
}

fn alpha_cell(alpha: f64) -> Cell {
    Cell::Figure(alpha_figure(alpha))
}

/// Figures in bytes/s; nothing where what an alpha of 1 stands for is not known.
fn rates<const COUNT: usize>(of: [Option<BytesPerSecond>; COUNT]) -> impl Iterator<Item = Cell> {
    of.into_iter().flatten().map(|it| Cell::Figure(rate(it.0)))
}

/// Headings of these; none as above.
fn rate_columns<const COUNT: usize>(
    alphas: &ClassAlphas,
    names: [&'static str; COUNT],
) -> impl Iterator<Item = Column> {
    let is_known = alphas.unit.is_some();
    names.into_iter().filter(move |_| is_known).map(|name| Column::of(name, Unit::GbPerS))
}

fn program_table(programs: &[ProgramAccess], alphas: &ClassAlphas) -> Table {
    let row = |program: &ProgramAccess| {
        let access = &program.access;
        let parts = [access.d, access.d_serial, access.d_overlap].map(alpha_cell);
        let in_unit =
            rates([program.d_gb_per_s, program.d_serial_gb_per_s, program.d_overlap_gb_per_s]);
        std::iter::once(share_words(&access.shares)).chain(parts).chain(in_unit).collect()
    };
    let names = ["D", "serial", "overlap"];
    let parts = names.map(|name| Column::of(name, Unit::One));
    let columns = std::iter::once(Column::words("shares")).chain(parts);
    Table::new(
        "What programs get, by the shares of their accesses",
        columns.chain(rate_columns(alphas, names)),
        programs.iter().map(row),
    )
    .with_notes(vec![
        "D = sum(alpha x share), the paper's figure (braithwaite2012, eq. 4.6).".into(),
        "By time, serial: 1 / sum(share / alpha), one access after the other; overlap: 1 / \
             max(share / alpha), accesses to all classes at once."
            .into(),
    ])
}

fn process_table(processes: &MappedProcesses, alphas: &ClassAlphas, who: &Who) -> Table {
    let (kind, places) = (processes.reach.places_are, &processes.reach.places);
    let rows = processes.outcomes.iter().map(|outcome| {
        let mapping = &outcome.mapping;
        let example = mapping.example.iter().filter_map(|&place| places.get(place));
        let example: Vec<String> = example.map(|place| place_words(place, kind, who)).collect();
        let in_unit = rates([outcome.slowest_lone_gb_per_s, outcome.sum_lone_gb_per_s]);
        [Cell::text(mapping.count), share_words(&mapping.shares)]
            .into_iter()
            .chain([mapping.slowest_alpha, mapping.d].map(alpha_cell))
            .chain(in_unit)
            .chain([Cell::text(example.join(", "))])
            .collect()
    });
    let place = match kind {
        PlaceKind::Positions => "place, by its position in --reach,",
        PlaceKind::MemoryNodes => "memory node with the data",
        PlaceKind::CpuGroups(GroupBy::Memory) => "CPUs (and their node)",
        PlaceKind::CpuGroups(GroupBy::L3) => "L3 domain (and its node)",
        PlaceKind::CpuGroups(GroupBy::Core) => "core (and its node)",
    };
    let mut notes = vec![
        format!(
            "Example: the {place} of each process, in one of the mappings with these shares."
        ),
        "Slowest: alpha of the process that gets least; all run at the same time, so that with equal \
         work it decides the time."
            .into(),
        "D = sum(alpha x share), the paper's figure (braithwaite2012, eq. 4.17), the mean of the \
         processes."
            .into(),
    ];
    notes.extend(alphas.unit.map(|_| {
        "Alone: the slowest process, and the sum of all, each as if it ran alone; contention is not \
         in it."
            .into()
    }));
    let columns = [
        Column::words("mappings"),
        Column::words("shares"),
        Column::of("slowest", Unit::One),
        Column::of("D", Unit::One),
    ];
    let alone = rate_columns(alphas, ["slowest alone", "sum alone"]);
    Table::new(
        "What processes get that run at the same time, by their mapping to places",
        columns.into_iter().chain(alone).chain([Column::words("example")]),
        rows,
    )
    .with_notes(notes)
}

/// `CPUs 0-3 (node 8)`, `node 3`, or the position.
fn place_words(place: &MappingPlace, kind: PlaceKind, who: &Who) -> String {
    match (kind, place.cpu_node) {
        (PlaceKind::Positions, _) => place.index.to_string(),
        (PlaceKind::MemoryNodes, _) => format!("node {}", place.index),
        (PlaceKind::CpuGroups(kind), Some(node)) => {
            format!("{} (node {node})", cpu_group(kind, place.index, who))
        }
        (PlaceKind::CpuGroups(kind), None) => cpu_group(kind, place.index, who),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;
    use nearfar_model::{Reach, Target};

    use super::*;
    use crate::answer::Room;

    const ALL: Room = Room { width: 100, full: true };

    fn programs(alphas: &[f64], shares: &[&[f64]]) -> String {
        let shares: Vec<Vec<f64>> = shares.iter().map(|shares| shares.to_vec()).collect();
        let prediction = ClassAlphas::given(alphas.into(), None).programs(&shares).unwrap();
        PredictedAccesses::new(None, prediction).answer().text(ALL)
    }

    /// Two processes on places 0 and 3, whose initiator's nodes are 8 and 9.
    fn processes(places_are: PlaceKind, unit: Option<f64>) -> String {
        let unit = unit.map(BytesPerSecond);
        let alphas = ClassAlphas { unit, ..ClassAlphas::given(vec![0.5, 0.3], None) };
        let target = Target { class_from: vec![Some(0), Some(1)] };
        let places =
            [(0, 8), (3, 9)].map(|(index, node)| MappingPlace { index, cpu_node: Some(node) });
        let targets = vec![target.clone(), target];
        let reach = Reach { places_are, places: places.into(), targets };
        PredictedAccesses::new(None, alphas.processes(reach).unwrap()).answer().text(ALL)
    }

    #[test]
    fn predictions_are_worded_as_in_their_golden_file() {
        let texts = [
            programs(&[0.5449, 0.3281, 0.1816], &[&[0.5, 0.25, 0.25], &[1.0, 0.0, 0.0]]),
            // In another order than the fastest first.
            programs(&[0.2, 0.5], &[&[0.5, 0.5]]),
            // Shares as they count: (1e-5 + 2 x 2e-6) / 3; 3 / (1e5 + 1e6); 1.5 x 2e-6, all nearly.
            programs(&[1e-5, 2e-6], &[&[0.333, 0.6665]]),
            processes(PlaceKind::CpuGroups(GroupBy::Memory), Some(10e9)),
            processes(PlaceKind::Positions, None),
        ];
        expect_file!["../../tests/golden/predict.txt"].assert_eq(&texts.join("\n"));
    }
}
