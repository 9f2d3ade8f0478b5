//! The sharing model as `model` prints it.

use nearfar_model::{
    AboveLone, GridPlace, Law, LawFit, LoneCurve, LonePoint, Residual, SharedCell, SharedGrid,
    Shares, Sharing, Support, UnfittedGrid, measuring_command,
};
use nearfar_record::{Experiment, Record, Suite};
use serde::Serialize;

use super::measured::MeasuredView;
use super::model_sharing_splits::{RankingView, giga};

/// Local and remote threads on one memory node (saad2022); `model RECORD sharing --json` prints
/// it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharingModelView {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    /// Grids with laws, by node, clusters, kernel and variant.
    pub grids: Vec<SharedGridView>,
    /// Grids without.
    pub unfitted: Vec<UnfittedGridView>,
    /// The command that measures more cells of the grids.
    pub more_cells: String,
}

/// A grid with its laws.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedGridView {
    #[serde(flatten)]
    pub place: GridPlaceView,
    /// Both groups alone, the local one first, by threads.
    pub lone: Vec<LoneView>,
    /// Both laws, the one that is reported first.
    pub laws: Vec<LawView>,
    /// Cells, by local and then by remote threads.
    pub cells: Vec<SharedCellView>,
    /// What equation 4 of the paper cannot give.
    pub above_lone: AboveLoneView,
    /// What both groups lose beside each other, or null.
    pub fairness: Option<FairnessView>,
    /// The best splits of so many processes.
    pub rankings: Vec<RankingView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GridPlaceView {
    /// The node whose memory both groups use.
    pub memory_node: u32,
    pub local_cluster: u32,
    pub remote_cluster: u32,
    pub kernel: String,
    /// Instruction-set variant.
    pub variant: String,
}

/// A grid of which too little was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnfittedGridView {
    #[serde(flatten)]
    pub place: GridPlaceView,
    /// Why it has no law.
    pub why: String,
}

/// A group alone, measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoneView {
    /// `local` or `remote`.
    pub group: &'static str,
    pub threads: u32,
    /// All threads together.
    pub sum_gb_per_s: f64,
    pub sum_interval_gb_per_s: [f64; 2],
    /// Threads x the slowest thread.
    pub paced_gb_per_s: f64,
    /// Whether `pairs` measured it.
    pub from_pairs: bool,
}

/// A law fitted to the mixed cells.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LawView {
    /// Its name.
    pub law: &'static str,
    /// a of the pressure law, or null.
    pub a: Option<f64>,
    /// b of the pressure law, or null.
    pub b: Option<f64>,
    /// K of the saturation law, or null.
    pub limit_gb_per_s: Option<f64>,
    /// p of the saturation law, or null.
    pub sharpness: Option<f64>,
    /// k of the saturation law, or null.
    pub remote_weight: Option<f64>,
    /// Mixed cells that it was fitted to.
    pub cells: usize,
    /// On those cells.
    pub inside: ResidualView,
    /// On cells that were left out of the fit, or null.
    pub left_out: Option<ResidualView>,
}

/// Root mean squares of relative errors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResidualView {
    pub total: f64,
    /// Of local and remote groups.
    pub group: f64,
    /// Of both.
    pub all: f64,
}

/// A cell: what was measured of it, and what the laws say.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedCellView {
    /// n.
    pub local_threads: u32,
    /// m.
    pub remote_threads: u32,
    /// What was measured, or null.
    pub measured: Option<MeasuredSharesView>,
    /// By the law that is reported, or null.
    pub predicted: Option<SharesView>,
    /// By the other law, or null.
    pub by_other_law: Option<SharesView>,
    /// predicted / measured - 1 of the total, or null.
    pub total_error: Option<f64>,
    /// The same of the local group, or null.
    pub local_error: Option<f64>,
    /// The same of the remote group, or null.
    pub remote_error: Option<f64>,
    /// Whether it was measured, lies between fitted cells, or beyond.
    pub support: &'static str,
    /// Where the lone figures are from.
    pub lone_support: &'static str,
    /// The most by which the laws differ, or null.
    pub law_difference: Option<f64>,
    /// Whether it should be measured.
    pub worth_measuring: bool,
    /// Why a cell of the plan was not measured, or null.
    pub why_absent: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeasuredSharesView {
    /// Both groups.
    pub total_gb_per_s: f64,
    pub total_interval_gb_per_s: [f64; 2],
    /// Threads x the slowest of all.
    pub paced_gb_per_s: f64,
    /// The local group.
    pub local_gb_per_s: f64,
    /// The remote group.
    pub remote_gb_per_s: f64,
    /// Remote / total, or null where nothing moved.
    pub beta: Option<f64>,
}

/// What a law says of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharesView {
    /// Both groups.
    pub total_gb_per_s: f64,
    /// Where it lies, or null.
    pub total_interval_gb_per_s: Option<[f64; 2]>,
    /// The local group.
    pub local_gb_per_s: f64,
    /// The remote group.
    pub remote_gb_per_s: f64,
    /// Remote / total.
    pub beta: f64,
}

/// What equation 4 of the paper cannot give.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AboveLoneView {
    /// Mixed cells with both lone figures measured.
    pub cells: usize,
    /// Those with a total above both.
    pub above: usize,
    /// n where it is furthest above, or null.
    pub local_threads: Option<u32>,
    /// m there, or null.
    pub remote_threads: Option<u32>,
    /// total / larger lone figure - 1 there, or null.
    pub excess: Option<f64>,
}

/// What both groups lose beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FairnessView {
    /// Mixed cells with both lone figures measured.
    pub cells: usize,
    /// Mean loss of the local group.
    pub local_loss: f64,
    /// In the cell with the most threads.
    pub local_loss_under_full_load: f64,
    /// More with each thread, or null.
    pub local_slope: Option<f64>,
    /// Mean loss of the remote group.
    pub remote_loss: f64,
    /// In the cell with the most threads.
    pub remote_loss_under_full_load: f64,
    /// More with each thread, or null.
    pub remote_slope: Option<f64>,
}

impl SharingModelView {
    /// The view of a record's model.
    #[must_use]
    pub fn new(record: &Record, model: &Sharing) -> Self {
        let unfitted = |UnfittedGrid { place, why }: &UnfittedGrid| UnfittedGridView {
            place: GridPlaceView::new(place),
            why: why.clone(),
        };
        Self {
            schema: "nearfar.sharing/1",
            measured: MeasuredView::new(record),
            grids: model.grids.iter().map(SharedGridView::new).collect(),
            unfitted: model.unfitted.iter().map(unfitted).collect(),
            more_cells: more_cells(record),
        }
    }
}

impl SharedGridView {
    fn new(grid: &SharedGrid) -> Self {
        let lone = [("local", &grid.local), ("remote", &grid.remote)];
        let points = |(group, curve): (&'static str, &LoneCurve)| {
            curve.points().iter().map(|point| LoneView::new(group, point)).collect::<Vec<_>>()
        };
        let fairness = grid.fairness().map(|fairness| FairnessView {
            cells: fairness.cells,
            local_loss: fairness.local.mean,
            local_loss_under_full_load: fairness.local.under_full_load,
            local_slope: fairness.local.slope,
            remote_loss: fairness.remote.mean,
            remote_loss_under_full_load: fairness.remote.under_full_load,
            remote_slope: fairness.remote.slope,
        });
        let rankings = grid.rankings();
        Self {
            place: GridPlaceView::new(&grid.place),
            lone: lone.into_iter().flat_map(points).collect(),
            laws: [&grid.fit, &grid.other].map(LawView::new).into(),
            cells: grid.cells().iter().map(|cell| SharedCellView::new(grid, cell)).collect(),
            above_lone: AboveLoneView::new(grid.above_lone()),
            fairness,
            rankings: rankings.iter().map(|ranking| RankingView::best_of(grid, ranking)).collect(),
        }
    }
}

impl GridPlaceView {
    /// The view of a grid's place.
    pub(crate) fn new(place: &GridPlace) -> Self {
        let GridPlace { memory_node, local_cluster, remote_cluster, kernel, variant } =
            place.clone();
        Self { memory_node, local_cluster, remote_cluster, kernel, variant }
    }
}

impl LoneView {
    fn new(group: &'static str, point: &LonePoint) -> Self {
        Self {
            group,
            threads: point.threads,
            sum_gb_per_s: point.sum.median / 1e9,
            sum_interval_gb_per_s: giga(point.sum.interval),
            paced_gb_per_s: point.paced.median / 1e9,
            from_pairs: point.from_pairs,
        }
    }
}

impl LawView {
    /// The view of a fitted law.
    pub(crate) fn new(fit: &LawFit) -> Self {
        let (a, b, limit, sharpness, remote_weight) = match fit.law {
            Law::Pressure { a, b } => (Some(a), Some(b), None, None, None),
            Law::Saturation { limit, sharpness, remote_weight } => {
                (None, None, Some(limit / 1e9), Some(sharpness), Some(remote_weight))
            }
        };
        Self {
            law: fit.law.name().as_str(),
            a,
            b,
            limit_gb_per_s: limit,
            sharpness,
            remote_weight,
            cells: fit.cells,
            inside: ResidualView::new(&fit.inside),
            left_out: fit.left_out.as_ref().map(ResidualView::new),
        }
    }
}

impl ResidualView {
    fn new(residual: &Residual) -> Self {
        Self { total: residual.total, group: residual.group, all: residual.all }
    }
}

impl SharedCellView {
    fn new(grid: &SharedGrid, cell: &SharedCell) -> Self {
        let measured = cell.measured.as_ref().zip(cell.shares());
        let room = grid.room(cell, |residual| residual.total);
        let ratio = |of: fn(&Shares) -> f64| {
            let (predicted, (_, measured)) = (cell.predicted?, measured?);
            Some(of(&predicted) / of(&measured) - 1.0).filter(|error| error.is_finite())
        };
        Self {
            local_threads: cell.local_threads,
            remote_threads: cell.remote_threads,
            measured: measured.map(|(cell, shares)| MeasuredSharesView {
                total_gb_per_s: cell.total.sum.median / 1e9,
                total_interval_gb_per_s: giga(cell.total.sum.interval),
                paced_gb_per_s: cell.total.paced.median / 1e9,
                local_gb_per_s: shares.local / 1e9,
                remote_gb_per_s: shares.remote / 1e9,
                beta: Some(shares.beta()).filter(|beta| beta.is_finite()),
            }),
            predicted: cell.predicted.map(|shares| SharesView::new(shares, room)),
            by_other_law: cell.by_other_law.map(|shares| SharesView::new(shares, None)),
            total_error: ratio(|shares| shares.total()),
            local_error: ratio(|shares| shares.local),
            remote_error: ratio(|shares| shares.remote),
            support: support_word(cell.support),
            lone_support: support_word(cell.lone_support),
            law_difference: cell.law_difference(),
            worth_measuring: cell.is_worth_measuring(),
            why_absent: cell.why_absent.clone(),
        }
    }
}

impl SharesView {
    fn new(shares: Shares, room: Option<f64>) -> Self {
        let total = shares.total();
        let around = |room: f64| giga((total * (1.0 - room).max(0.0), total * (1.0 + room)));
        Self {
            total_gb_per_s: total / 1e9,
            total_interval_gb_per_s: room.map(around),
            local_gb_per_s: shares.local / 1e9,
            remote_gb_per_s: shares.remote / 1e9,
            beta: shares.beta(),
        }
    }
}

impl AboveLoneView {
    fn new(found: AboveLone) -> Self {
        Self {
            cells: found.cells,
            above: found.above,
            local_threads: found.largest.map(|(n, ..)| n),
            remote_threads: found.largest.map(|(_, m, _)| m),
            excess: found.largest.map(|(.., excess)| excess),
        }
    }
}

/// The command that measures more cells of a record's grids.
pub(crate) fn more_cells(record: &Record) -> String {
    measuring_command(record, &[Experiment::Sharing], Suite::Full)
}

/// The word for where a figure comes from.
pub(crate) fn support_word(support: Support) -> &'static str {
    match support {
        Support::Measured => "measured",
        Support::Interpolated => "interpolated",
        Support::Extrapolated => "extrapolated",
    }
}
