//! A record as `show` prints it.

use std::collections::BTreeMap;

use nearfar_machine::{CpuSet, TheoreticalMaximum};
use nearfar_model::{Cell, ClassRule, Figure, Pairs, classes, pairs, weigh_evidence};
use nearfar_record::{Absence, Absent, Executor, Record, Suite, Warning};
use serde::Serialize;

use crate::classes::ClassesView;
use crate::sealing::SealingView;

/// A record in figures; `show --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShowView {
    /// `nearfar.show/1`
    pub schema: &'static str,
    /// Host that was measured.
    pub host: String,
    /// When measuring began, UTC.
    pub started: String,
    /// Whether a machine was measured or simulated.
    pub executor: Executor,
    /// Whether the record is as it was written.
    pub sealing: SealingView,
    /// How much was measured.
    pub suite: Suite,
    /// The CPU's name, or null.
    pub cpu: Option<String>,
    /// Kernel release, or null.
    pub kernel_release: Option<String>,
    /// Seconds that was measured, by all runs of the program that ended in order; null
    /// when none did.
    pub seconds: Option<f64>,
    /// Whether the program was killed while measuring.
    pub unfinished: bool,
    /// Samples in the record.
    pub samples: usize,
    /// Samples that something disturbed.
    pub disturbed: usize,
    /// Samples by the method that proved where their pages were.
    pub proven_by: BTreeMap<&'static str, usize>,
    /// Smallest share of an actor's pages that were on the node asked for, or null.
    pub least_placed: Option<f64>,
    /// Share of the memory that huge pages backed, or null.
    pub huge_page_share: Option<f64>,
    /// The matrix, cell by cell.
    pub pairs: Vec<CellView>,
    /// Classes of the pairs, for the map; `None` with fewer than two pairs. `model --json`
    /// prints them, `show --json` does not: the matrix is what was measured, classes are what a model
    /// makes of it.
    #[serde(skip)]
    pub classes: Option<ClassesView>,
    /// What was not asked for or does not apply.
    pub omitted: Vec<AbsentView>,
    /// What the machine refused.
    pub refused: Vec<AbsentView>,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
}

/// One initiator on one node with one kernel and one number of threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellView {
    /// `cluster`, `l3` or `core`.
    pub initiator: String,
    /// The initiator's number.
    pub index: u32,
    /// Its cluster.
    pub cluster: u32,
    /// The lowest node with CPUs of that cluster, or null.
    pub cpu_node: Option<u32>,
    /// Its CPUs.
    pub cpus: CpuSet,
    /// The node that is accessed.
    pub memory_node: u32,
    /// Kernel.
    pub kernel: String,
    /// Threads.
    pub threads: u32,
    /// Whether this is the thread count with the highest sum.
    pub peak: bool,
    /// Figures by variant, the best first; empty when refused.
    pub figures: Vec<FigureView>,
    /// Refusals, at most one for each run of the program and variant; empty when it was not refused.
    pub refused: Vec<AbsentView>,
}

/// Figures of one variant, useful GB/s.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FigureView {
    /// The case, by its id in the record.
    pub case: String,
    /// Instruction-set variant.
    pub variant: String,
    /// All threads together, median over rounds.
    pub sum_gb_per_s: f64,
    /// Its interval.
    pub sum_interval_gb_per_s: [f64; 2],
    /// Threads x the slowest thread, median over rounds.
    pub paced_gb_per_s: f64,
    /// Its interval.
    pub paced_interval_gb_per_s: [f64; 2],
    /// How often such an interval holds the true median, a fraction.
    pub confidence: f64,
    /// Rounds that count.
    pub rounds: usize,
    /// Samples in all.
    pub samples: usize,
    /// Samples that were left out because something disturbed them.
    pub disturbed: usize,
    /// Whether all samples were disturbed, and so none was left out.
    pub only_disturbed: bool,
    /// (largest - smallest) / median of the round values, or null where the median is 0.
    pub spread_between_rounds: Option<f64>,
    /// The same of the windows within a round, or null with one window a round or
    /// where the median is 0.
    pub spread_within_rounds: Option<f64>,
    /// Working set / caches involved, or null.
    pub llc_multiple: Option<f64>,
}

/// Something that was not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AbsentView {
    /// The case or group of cases.
    pub case: String,
    /// For programs.
    pub code: &'static str,
    /// For people.
    pub reason: String,
    /// The round in which it was refused, or null.
    pub round: Option<u32>,
}

impl ShowView {
    /// The view of a record.
    #[must_use]
    pub fn new(record: &Record) -> Self {
        let matrix = pairs(record);
        let evidence = weigh_evidence(record);
        let absent = |wanted: Absence| {
            record
                .absent
                .iter()
                .filter(move |absent| absent.absence == wanted)
                .map(absent_view)
                .collect()
        };
        let header = &record.header;
        Self {
            schema: "nearfar.show/1",
            host: header.host.clone(),
            started: header.started.clone(),
            executor: header.executor,
            sealing: SealingView::new(&record.sealing),
            suite: header.inputs.suite,
            cpu: header.environment.cpu.model_name.clone(),
            kernel_release: header.environment.kernel_release.clone(),
            seconds: (record.seconds > 0.0).then_some(record.seconds),
            unfinished: record.finished.is_none(),
            samples: evidence.samples,
            disturbed: evidence.disturbed,
            proven_by: evidence
                .proven_by
                .into_iter()
                .map(|(method, samples)| (method.as_str(), samples))
                .collect(),
            least_placed: evidence.least_placed,
            huge_page_share: evidence.huge_page_share,
            pairs: matrix.cells().filter_map(|cell| cell_view(&matrix, cell)).collect(),
            classes: classes_view(record),
            omitted: absent(Absence::Omitted),
            refused: absent(Absence::Refused),
            warnings: record.warnings.clone(),
        }
    }
}

fn classes_view(record: &Record) -> Option<ClassesView> {
    let classes = classes(record, &ClassRule::default()).ok()?;
    let pairs = classes.sets.iter().flat_map(|set| &set.classes).flat_map(|class| &class.pairs);
    let gamma = TheoreticalMaximum::of_memory(&record.header.machine);
    (pairs.count() > 1).then(|| ClassesView::new(record, &classes, &gamma))
}

fn cell_view(
    matrix: &Pairs,
    (index, memory_node, kernel, threads, cell): (u32, u32, &str, u32, &Cell),
) -> Option<CellView> {
    let row = matrix.initiators.iter().find(|row| row.index == index)?;
    let peak = matrix.peak(index, memory_node, kernel).map(|(threads, _)| threads);
    Some(CellView {
        initiator: row.kind.clone(),
        index,
        cluster: row.cluster,
        cpu_node: row.cpu_node,
        cpus: row.cpus.clone(),
        memory_node,
        kernel: kernel.into(),
        threads,
        peak: peak == Some(threads),
        figures: cell.figures.iter().map(figure_view).collect(),
        refused: cell.refused.iter().map(absent_view).collect(),
    })
}

fn figure_view(figure: &Figure) -> FigureView {
    let summary = &figure.summary;
    let gb = |bytes_per_s: f64| bytes_per_s / 1e9;
    FigureView {
        case: figure.case.clone(),
        variant: figure.variant.clone(),
        sum_gb_per_s: gb(summary.sum.median),
        sum_interval_gb_per_s: [gb(summary.sum.interval.0), gb(summary.sum.interval.1)],
        paced_gb_per_s: gb(summary.paced.median),
        paced_interval_gb_per_s: [gb(summary.paced.interval.0), gb(summary.paced.interval.1)],
        confidence: summary.sum.confidence,
        rounds: summary.sum.count,
        samples: summary.samples,
        disturbed: summary.disturbed,
        only_disturbed: summary.only_disturbed,
        spread_between_rounds: finite(summary.spread_between_rounds),
        spread_within_rounds: summary.spread_within_rounds.and_then(finite),
        llc_multiple: figure.llc_multiple,
    }
}

/// A fraction of a median that is 0 is no number, and JSON has no word for it.
fn finite(fraction: f64) -> Option<f64> {
    fraction.is_finite().then_some(fraction)
}

fn absent_view(absent: &Absent) -> AbsentView {
    AbsentView {
        case: absent.case.clone(),
        code: absent.reason.code.as_str(),
        reason: absent.reason.text.clone(),
        round: absent.round,
    }
}
