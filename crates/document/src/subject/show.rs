//! A record as `show` prints it.

use std::collections::BTreeMap;

use nearfar_model::{ClassRule, Classes, RecordFigures, classes};
use nearfar_record::{Absence, Experiment, Record, Suite, Warning};
use serde::Serialize;

use super::measured::MeasuredView;
use super::show_devices::{TransferView, transfer_views};
use super::show_figure::AbsentView;
use super::show_hybrid::{HybridView, hybrid_views};
use super::show_latency::{LatencyView, latency_views};
use super::show_links::{LinkView, link_views};
use super::show_mixes::{MixView, mix_views};
use super::show_pairs::{CellView, cell_views};
use super::show_roofs::{RoofView, roof_views};
use super::show_scaling::{ScalingView, WidestRuns, scaling_views};
use super::show_sharing::{SharingView, sharing_views};

/// A record in figures; `show --json` prints it. Each experiment is a list of its cases, empty
/// where the record holds none.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShowView {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    /// How much was measured.
    pub suite: Suite,
    /// The experiments that were asked for, in their order.
    pub experiments: Vec<Experiment>,
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
    /// Samples of cases that touch memory.
    pub samples_on_memory: usize,
    /// Of these, the ones whose pages were all proven, by the weakest method that did.
    pub proven_by: BTreeMap<&'static str, usize>,
    /// Smallest share of an actor's pages that were on the node asked for, or null.
    pub least_placed: Option<f64>,
    /// Of pages dealt out over nodes, the most that a node's share was off the one asked for, or
    /// null.
    pub worst_share_deviation: Option<f64>,
    /// Share of the memory that huge pages backed, or null.
    pub huge_page_share: Option<f64>,
    /// The matrix, cell by cell.
    pub pairs: Vec<CellView>,
    /// Classes of the pairs, for the map; null with fewer than two pairs. `model --json`
    /// prints them, `show --json` does not: the matrix is what was measured, classes are what a model
    /// makes of it.
    #[serde(skip)]
    pub classes: Option<Classes>,
    /// Runs by thread count and affinity.
    pub scaling: Vec<ScalingView>,
    /// Of each kernel the runs that spread most, for the histogram; `--json` prints every run.
    #[serde(skip)]
    pub widest_runs: Vec<WidestRuns>,
    /// Local and remote threads on one node.
    pub sharing: Vec<SharingView>,
    /// Packages on the memory of others.
    pub links: Vec<LinkView>,
    /// Roofs, and points below them.
    pub roofs: Vec<RoofView>,
    /// Fast and slow memory.
    pub hybrid: Vec<HybridView>,
    /// Random sets of streams.
    pub mixes: Vec<MixView>,
    /// Times of an access.
    pub latency: Vec<LatencyView>,
    /// Copies between memory and devices.
    pub devices: Vec<TransferView>,
    /// Cases of programs; `sensitivity --from` shows their runs.
    pub placed_programs: usize,
    /// What was not asked for or does not apply.
    pub omitted: Vec<AbsentView>,
    /// What the machine refused.
    pub refused: Vec<AbsentView>,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
}

impl ShowView {
    pub fn new(record: &Record) -> Self {
        Self::of(&RecordFigures::new(record))
    }

    /// The view of a record whose figures are sorted already.
    pub fn of(figures: &RecordFigures<'_>) -> Self {
        let record = figures.record();
        let (scaling, widest_runs) = scaling_views(figures);
        let evidence = figures.evidence();
        let absent = |wanted: Absence| {
            record
                .absent
                .iter()
                .filter(move |absent| absent.absence == wanted)
                .map(AbsentView::new)
                .collect()
        };
        let header = &record.header;
        Self {
            schema: "nearfar.show/2",
            measured: MeasuredView::new(record),
            suite: header.inputs.suite,
            experiments: header.inputs.experiments.clone(),
            cpu: header.environment.cpu.model_name.clone(),
            kernel_release: header.environment.kernel_release.clone(),
            seconds: (record.seconds > 0.0).then_some(record.seconds),
            unfinished: record.finished.is_none(),
            samples: evidence.samples,
            disturbed: evidence.disturbed,
            samples_on_memory: evidence.on_memory,
            proven_by: evidence
                .proven_by
                .iter()
                .map(|(method, &samples)| (method.as_str(), samples))
                .collect(),
            least_placed: evidence.least_placed,
            worst_share_deviation: evidence.worst_share,
            huge_page_share: evidence.huge_page_share,
            pairs: cell_views(figures.pairs()),
            classes: classes_of_pairs(figures),
            scaling,
            widest_runs,
            sharing: sharing_views(figures),
            links: link_views(figures),
            roofs: roof_views(figures),
            hybrid: hybrid_views(figures),
            mixes: mix_views(figures),
            latency: latency_views(figures),
            devices: transfer_views(figures),
            placed_programs: record.cases.iter().filter(|case| case.command().is_some()).count(),
            omitted: absent(Absence::Omitted),
            refused: absent(Absence::Refused),
            warnings: record.warnings.clone(),
        }
    }
}

fn classes_of_pairs(figures: &RecordFigures<'_>) -> Option<Classes> {
    let classes = classes(figures, &ClassRule::default()).ok()?;
    let all = classes.sets.iter().flat_map(|set| &set.classes);
    (all.map(|class| class.pairs.len()).sum::<usize>() > 1).then_some(classes)
}
