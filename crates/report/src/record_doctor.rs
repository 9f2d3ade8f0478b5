//! Which part of a machine falls short of its twins, by a record of it.

use nearfar_machine::TheoreticalMaximum;
use nearfar_model::{
    FEWEST_ROUNDS, FLOOR, MemoryLimit, NotCompared, Place, Shortfall, Twins, memory_limit, twins,
};
use nearfar_record::{Check, Executor, Record, Standing};
use nearfar_units::BytesPerSecond;
use serde::Serialize;

use crate::record_doctor_text::{remedy, shortfall_words};

/// A record looked over; `doctor RECORD --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordDoctorView {
    /// `nearfar.record-doctor/1`
    pub schema: &'static str,
    /// Host that was measured.
    pub host: String,
    /// When measuring began, UTC.
    pub started: String,
    /// Whether a machine was measured or simulated.
    pub executor: Executor,
    /// Cells of the pairs matrix that were compared with their twins.
    pub cells_compared: usize,
    /// Groups of twins.
    pub groups: usize,
    /// Relative standard deviation of a cell's rounds, or null.
    pub noise: Option<f64>,
    /// Cells that fall short alone, too few for a finding.
    pub cells_alone: usize,
    /// Parts that fall short, the one that explains most cells first.
    pub findings: Vec<ShortfallView>,
    /// The findings and what else was looked at, in words.
    pub checks: Vec<Check>,
}

/// A part of the machine that falls short of its twins.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShortfallView {
    /// The part; two where the figures cannot tell which.
    pub parts: Vec<PartView>,
    /// Cell / median of its twins, median over the cells that fall short.
    pub ratio: f64,
    /// Its interval.
    pub ratio_interval: [f64; 2],
    /// Cells that fall short.
    pub cells: usize,
    /// Cells of the part that were compared.
    pub cells_of_part: usize,
    /// Twins of the cells that fall short, the fewest that one has.
    pub fewest_twins: usize,
    /// Of a memory node: its size / median of the other nodes of its kind, or null.
    pub memory_share: Option<f64>,
    /// Kernels with which it shows.
    pub kernels: Vec<String>,
    /// Numbers of threads with which it shows.
    pub threads: Vec<u32>,
}

/// A part of a machine. What does not say which part it is is null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PartView {
    /// `memory`, `cluster`, `initiator`, `package_link`, `package_to_package`,
    /// `cluster_to_package` or `path`.
    pub part: &'static str,
    /// The cluster, or null.
    pub cluster: Option<u32>,
    /// The initiator, or null.
    pub initiator: Option<u32>,
    /// The memory node, or null.
    pub memory_node: Option<u32>,
    /// The package of the cores, or null.
    pub from_package: Option<u32>,
    /// The package of the memory, or null.
    pub to_package: Option<u32>,
}

impl RecordDoctorView {
    /// Looks a record over. `gamma` is what a memory node can carry at most, or why it
    /// is not known.
    #[must_use]
    pub fn new(record: &Record, gamma: Result<TheoreticalMaximum, String>) -> Self {
        let twins = twins(record);
        let kind = record.header.inputs.initiator;
        let mut checks: Vec<Check> = twins
            .findings
            .iter()
            .map(|finding| Check {
                check: "twins".into(),
                standing: Standing::Failed,
                finding: shortfall_words(finding, kind),
                remedy: Some(remedy(finding)),
            })
            .collect();
        checks.extend(comparison_check(record, &twins));
        checks.push(limit_check(record, gamma));
        Self {
            schema: "nearfar.record-doctor/1",
            host: record.header.host.clone(),
            started: record.header.started.clone(),
            executor: record.header.executor,
            cells_compared: twins.compared,
            groups: twins.groups,
            noise: twins.noise,
            cells_alone: twins.alone,
            findings: twins.findings.iter().map(ShortfallView::new).collect(),
            checks,
        }
    }

    /// Whether a part falls short, or a figure is above its maximum.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.checks.iter().any(|check| check.standing == Standing::Failed)
    }
}

impl ShortfallView {
    fn new(finding: &Shortfall) -> Self {
        let parts = [Some(finding.place), finding.or_place];
        Self {
            parts: parts.into_iter().flatten().map(PartView::new).collect(),
            ratio: finding.ratio,
            ratio_interval: [finding.interval.0, finding.interval.1],
            cells: finding.cells,
            cells_of_part: finding.of,
            fewest_twins: finding.fewest_twins,
            memory_share: finding.memory_share,
            kernels: finding.kernels.iter().cloned().collect(),
            threads: finding.threads.iter().copied().collect(),
        }
    }
}

impl PartView {
    fn new(place: Place) -> Self {
        let none = Self {
            part: "",
            cluster: None,
            initiator: None,
            memory_node: None,
            from_package: None,
            to_package: None,
        };
        match place {
            Place::Memory { node } => Self { part: "memory", memory_node: Some(node), ..none },
            Place::Cluster { cluster } => Self { part: "cluster", cluster: Some(cluster), ..none },
            Place::Initiator { index, cluster } => {
                Self { part: "initiator", cluster: Some(cluster), initiator: Some(index), ..none }
            }
            Place::PackageLink { first, second } => Self {
                part: "package_link",
                from_package: Some(first),
                to_package: Some(second),
                ..none
            },
            Place::PackageToPackage { from, to } => Self {
                part: "package_to_package",
                from_package: Some(from),
                to_package: Some(to),
                ..none
            },
            Place::ClusterToPackage { cluster, to } => Self {
                part: "cluster_to_package",
                cluster: Some(cluster),
                to_package: Some(to),
                ..none
            },
            Place::Path { cluster, node } => {
                Self { part: "path", cluster: Some(cluster), memory_node: Some(node), ..none }
            }
        }
    }
}

/// What was compared where nothing was found, or why nothing could be.
fn comparison_check(record: &Record, twins: &Twins) -> Option<Check> {
    let check =
        |standing, finding, remedy| Check { check: "twins".into(), standing, finding, remedy };
    if twins.compared == 0 {
        let (why, remedy) = nothing_to_compare(record, twins);
        let finding = format!("nothing to compare with: {why}");
        return Some(check(Standing::Unknown, finding, Some(remedy)));
    }
    if !twins.findings.is_empty() {
        return None;
    }
    let mut finding = format!(
        "{} cells in {} groups of twins were compared; no part of the machine falls short by more \
         than {:.0} %",
        twins.compared,
        twins.groups,
        FLOOR * 100.0
    );
    if twins.alone > 0 {
        finding += &format!(" ({} single cells do, as noise can make them)", twins.alone);
    }
    Some(check(Standing::Fine, finding, None))
}

fn nothing_to_compare(record: &Record, twins: &Twins) -> (String, String) {
    let measure = "measure with `nearfar characterize --only pairs`";
    let Some((most, cells)) = twins.not_compared.iter().max_by_key(|(_, cells)| **cells) else {
        return ("the record holds no cells of pairs".into(), measure.into());
    };
    match most {
        NotCompared::FewRounds => (
            format!("{cells} cells have fewer than {FEWEST_ROUNDS} undisturbed rounds"),
            format!("{measure} and more --samples, on a quiet machine"),
        ),
        NotCompared::NoFigure => (
            format!("{cells} cells have no figure: they were refused or moved no bytes"),
            "see why with `nearfar show`".into(),
        ),
        NotCompared::NoTwin if record.header.machine.nodes.len() < 2 => (
            "the machine has one memory node, and no cell has a twin".into(),
            "compare with a record of a machine of the same kind".into(),
        ),
        NotCompared::NoTwin => (
            "no two cells are at the same distance from memory of the same kind".into(),
            "compare with a record of a machine of the same kind".into(),
        ),
    }
}

/// Nothing may exceed what the memory can carry.
fn limit_check(record: &Record, gamma: Result<TheoreticalMaximum, String>) -> Check {
    let limit =
        gamma.and_then(|maximum| memory_limit(record, maximum).map_err(|why| why.to_string()));
    let check = |standing, finding, remedy| Check {
        check: "theoretical_maximum".into(),
        standing,
        finding,
        remedy,
    };
    match limit {
        Err(why) => check(
            Standing::Unknown,
            format!("figures are not held against what the memory can carry at most: {why}"),
            None,
        ),
        Ok(limit) if limit.above.is_empty() => check(
            Standing::Fine,
            format!(
                "no figure is above what a memory node can carry ({}, {}); the highest of {} cells \
                 is at {:.0} % of it",
                limit.maximum.name,
                BytesPerSecond(limit.maximum.bytes_per_s),
                limit.cells,
                limit.highest_share * 100.0
            ),
            None,
        ),
        Ok(limit) => check(Standing::Failed, above_words(&limit), Some(above_remedy(&limit))),
    }
}

fn above_words(limit: &MemoryLimit) -> String {
    let highest = limit.above.first().map_or_else(String::new, |cell| {
        format!(": {} moves {} at least", cell.case, BytesPerSecond(cell.traffic_bytes_per_s))
    });
    format!(
        "{} of {} cells are above what a memory node can carry ({}, {}){highest}",
        limit.above.len(),
        limit.cells,
        limit.maximum.name,
        BytesPerSecond(limit.maximum.bytes_per_s)
    )
}

fn above_remedy(limit: &MemoryLimit) -> String {
    /// Working sets below this multiple of the caches may be served by them.
    const ENOUGH: f64 = 4.0;
    let cached =
        limit.above.iter().all(|cell| cell.llc_multiple.is_none_or(|multiple| multiple < ENOUGH));
    if cached {
        "the working sets are below 4 x the caches, or the caches are not known: measure with a \
         larger --working-set"
            .into()
    } else {
        "the maximum is too low, or pages were not where they should be: check --gamma and the \
         memory modules (`nearfar topo`), and the proofs (`nearfar show`)"
            .into()
    }
}
