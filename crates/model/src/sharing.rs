//! What n threads near a memory node and m threads of another initiator get of it, how fairly, and
//! how many processes to put where.
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | n, m | local, remote threads | 1 |
//! | L0, R0 | what n local, m remote threads move alone | useful bytes/s |
//! | Lmax, Rmax | the most that lone local, lone remote threads reach | useful bytes/s |
//! | bL | what one local thread moves alone | useful bytes/s |
//! | beta | remote / total: the sharing factor | 1 |
//! | a, b; K, p, k | parameters of the laws (`sharing/law.rs`) | 1; K in useful bytes/s |
//!
//! Both laws are fitted to the mixed cells of each grid; the one that predicts better what is
//! left out is reported. Lone figures are the measured ones.
//!
//! Source: saad2022, equations 1 to 4 and its tables; the laws are ours. Equation 4, total = (1 -
//! beta) L0 + beta R0 with beta from 0 to 1, gives nothing above both lone figures, and all 16
//! mixed cells of the paper's table lie there.
//! Holds when: two groups share one node, and the grid holds cells near those that are asked for.
//! Fails when: more than two initiators share it, or threads of a group differ from each other.
//! Pinned by: `crates/model/tests/sharing`, `crates/reproduce/tests/wrong_numbers.rs`, the bench
//! `accuracy sharing`.

mod cell;
mod fairness;
mod law;
mod lone_curve;
mod question;
mod splits;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use nearfar_machine::GroupBy;
use nearfar_record::{
    Absence, Coordinates, Estimate, Experiment, Grid, Inputs, Part, Record, SharingCoordinates,
    Stage, Suite,
};
use serde::Serialize;

use self::cell::around;
pub use self::cell::{MeasuredCell, SharedCell};
pub use self::fairness::{Fairness, Loss, WhoLosesMore};
use self::law::{FittedCell, LawName, Loads, fit_law};
pub use self::law::{Law, LawFit, Residual, Shares};
pub use self::lone_curve::{INTERPOLATION_ERROR, LoneCurve, LonePoint, Support, WIDEST_GAP};
pub use self::question::{SplitAnswer, SplitAnswers, SplitQuestion};
pub use self::splits::{ProcessSplit, SplitRanking, SplitVerdict, WorkSharing};
use crate::inapplicable::{Inapplicable, measuring_command};
use crate::record_figures::{CaseFigures, RecordFigures};
use crate::sharing_grid::{SharingCell, sharing_grid};

/// Where the laws differ by more than this in a cell that was not measured, it is worth measuring.
pub const WORTH_MEASURING: f64 = 0.05;

/// A law that is off by more than this where a cell is left out of its fit (root mean square over totals
/// and groups) predicts nothing: of two groups that get a half each it could say that one gets a third
/// and the other two, so that it does not tell who gets more.
pub const MOST_LAW_ERROR: f64 = 1.0 / 3.0;

/// Grids with more cells than this are shown by what was measured alone.
const MOST_CELLS: usize = 4096;

/// Local and remote threads on one memory node (saad2022); `model RECORD sharing --json` prints
/// it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sharing {
    /// Grids with laws, by node, initiators, kernel and variant.
    pub grids: Vec<SharedGrid>,
    /// Grids without, and why.
    pub unfitted: Vec<UnfittedGrid>,
    /// The command that measures more cells of the grids; null where all were asked for.
    pub more_cells: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GridPlace {
    /// The node whose memory both groups use.
    pub memory_node: u32,
    pub local_initiator: u32,
    pub remote_initiator: u32,
    /// Kernel by its name.
    pub kernel: String,
    /// Instruction-set variant by its name.
    pub variant: String,
}

/// A grid of which too little was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnfittedGrid {
    #[serde(flatten)]
    pub place: GridPlace,
    /// Why it has no law, without a full stop.
    pub why: String,
}

/// A grid with its laws.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedGrid {
    #[serde(flatten)]
    pub place: GridPlace,
    /// The local group alone.
    pub local: LoneCurve,
    /// The remote group alone.
    pub remote: LoneCurve,
    /// The law that predicts better what is left out of its fit; without such a comparison the
    /// pressure law.
    pub fit: LawFit,
    pub other: LawFit,
    /// Whether the law is near enough to predict cells that were not measured: off by at most a third
    /// where a cell is left out of its fit, or that is not known.
    pub is_predictive: bool,
    /// The cells of the plan, and those between them by a full grid's counts of threads, by local
    /// and then by remote threads.
    pub cells: Vec<SharedCell>,
    /// What equation 4 of the paper cannot give.
    pub above_lone: AboveLone,
    /// What both groups lose beside each other; null without a mixed cell whose lone figures were
    /// measured.
    pub fairness: Option<Fairness>,
    /// The best splits of as many processes as the local initiator holds, and of the counts of
    /// threads of a full grid below, two at least; for both ways to share work.
    pub rankings: Vec<SplitRanking>,
    #[serde(skip)]
    measured: BTreeMap<(u32, u32), MeasuredCell>,
    /// Why cells of the plan have no figures.
    #[serde(skip)]
    absent: BTreeMap<(u32, u32), String>,
    /// Counts of threads of the cells that were fitted: least and most, local and remote.
    #[serde(skip)]
    fitted_span: [(u32, u32); 2],
}

/// What equation 4 of the paper cannot say of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AboveLone {
    /// Mixed cells whose two lone figures were measured too.
    pub cells: usize,
    /// Those of which the total is above both.
    pub above: usize,
    /// Where it is furthest above.
    pub largest: Option<Excess>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Excess {
    /// n.
    pub local_threads: u32,
    /// m.
    pub remote_threads: u32,
    /// total / larger lone figure - 1.
    pub excess: f64,
}

/// Whether a record was asked for every cell that a grid can have.
fn is_wholly_planned(record: &Record) -> bool {
    let is_whole =
        |it: &Inputs| it.grid == Grid::Full && it.experiments.contains(&Experiment::Sharing);
    record.all_inputs().any(is_whole)
}

/// The model of a record.
///
/// # Errors
/// Where no grid holds lone figures of both groups and a cell in which both run.
pub fn sharing(figures: &RecordFigures<'_>) -> Result<Sharing, Inapplicable> {
    let cells = sharing_grid(figures);
    if cells.iter().all(|cell| cell.total.is_none()) {
        return Err(Inapplicable::without(figures.record(), Experiment::Sharing));
    }
    let lone = LonePairs::new(figures);
    let mut by_place: BTreeMap<GridPlace, Vec<&SharingCell>> = BTreeMap::new();
    for cell in &cells {
        by_place.entry(GridPlace::of(&cell.place)).or_default().push(cell);
    }
    let more_cells = (!is_wholly_planned(figures.record()))
        .then(|| measuring_command(figures.record(), &[Experiment::Sharing], Suite::Full));
    let mut model = Sharing { grids: Vec::new(), unfitted: Vec::new(), more_cells };
    for (place, cells) in by_place {
        match SharedGrid::fitted(place.clone(), cells, &lone) {
            Ok(grid) => model.grids.push(grid),
            Err(why) => model.unfitted.push(UnfittedGrid { place, why }),
        }
    }
    match model.unfitted.first() {
        Some(UnfittedGrid { why, .. }) if model.grids.is_empty() => {
            let needed = [Experiment::Pairs, Experiment::Sharing];
            Err(Inapplicable::until_measured(figures.record(), &needed, Suite::Full, why.clone()))
        }
        _ => Ok(model),
    }
}

impl GridPlace {
    /// The grid of a cell.
    pub fn of(place: &SharingCoordinates) -> Self {
        Self {
            memory_node: place.memory_node,
            local_initiator: place.local_initiator,
            remote_initiator: place.remote_initiator,
            kernel: place.kernel.clone(),
            variant: place.variant.clone(),
        }
    }
}

/// Initiator, node, kernel and variant of a case of `pairs`.
type PairKey<'a> = (u32, u32, &'a str, &'a str);

/// Cases of `pairs`, which are those of a lone group by other counts of threads.
struct LonePairs<'a>(HashMap<PairKey<'a>, Vec<(u32, CaseFigures<'a>)>>);

impl<'a> LonePairs<'a> {
    fn new(figures: &'a RecordFigures<'_>) -> Self {
        let mut cases: HashMap<PairKey<'a>, Vec<(u32, CaseFigures<'a>)>> = HashMap::new();
        for (pair, case) in figures.places(Coordinates::as_pair) {
            if pair.group_by == GroupBy::Memory && pair.stage == Stage::Matrix {
                let key = (pair.initiator, pair.memory_node, &*pair.kernel, &*pair.variant);
                cases.entry(key).or_default().push((pair.threads, case));
            }
        }
        Self(cases)
    }

    /// A lone group's points: those of its grid, and at other counts those of `pairs`.
    fn curve(
        &self,
        place: &GridPlace,
        initiator: u32,
        own: Vec<LonePoint>,
        planned: u32,
    ) -> Option<LoneCurve> {
        let known: BTreeSet<u32> = own.iter().map(|point| point.threads).collect();
        let key = (initiator, place.memory_node, &*place.kernel, &*place.variant);
        let cases = self.0.get(&key).map_or(&[][..], Vec::as_slice);
        let others = cases.iter().filter(|(threads, _)| !known.contains(threads));
        let more = others.filter_map(|(threads, case)| {
            let (found, id) = (case.bandwidth(Part::Case)?, case.planned().id);
            let [sum, paced] = [found.sum, found.paced].map(|it| Estimate::of_rounds(&it, &id));
            Some(LonePoint { threads: *threads, sum, paced, from_pairs: true })
        });
        LoneCurve::new(own.into_iter().chain(more), planned)
    }
}

impl SharedGrid {
    fn fitted(
        place: GridPlace,
        cells: Vec<&SharingCell>,
        lone: &LonePairs<'_>,
    ) -> Result<Self, String> {
        let planned = |of: fn(&SharingCoordinates) -> u32| {
            cells.iter().map(|cell| of(&cell.place)).max().unwrap_or(0)
        };
        let most = [planned(|it| it.local_threads), planned(|it| it.remote_threads)];
        let mut measured: BTreeMap<(u32, u32), MeasuredCell> = BTreeMap::new();
        let mut absent = BTreeMap::new();
        for cell in cells {
            let at = (cell.place.local_threads, cell.place.remote_threads);
            match MeasuredCell::of(cell) {
                Some(found) => {
                    measured.entry(at).or_insert(found);
                }
                None => absent.extend(why_absent(cell).map(|why| (at, why))),
            }
        }
        let points = |is_local: bool| {
            let alone =
                measured.iter().filter(|((n, m), _)| if is_local { *m == 0 } else { *n == 0 });
            let point = alone.map(|(&(n, m), cell)| LonePoint {
                threads: n + m,
                sum: cell.total.clone(),
                paced: cell.paced.clone(),
                from_pairs: false,
            });
            point.collect::<Vec<_>>()
        };
        let none = |side| format!("no figure of the {side} threads alone");
        let local = lone.curve(&place, place.local_initiator, points(true), most[0]);
        let local = local.ok_or_else(|| none("local"))?;
        let remote = lone.curve(&place, place.remote_initiator, points(false), most[1]);
        let remote = remote.ok_or_else(|| none("remote"))?;

        let mixed: Vec<((u32, u32), FittedCell, Support)> = measured
            .iter()
            .filter_map(|(&(n, m), cell)| {
                let (loads, support) = loads(&local, &remote, n, m)?;
                Some(((n, m), FittedCell { loads, measured: cell.shares()? }, support))
            })
            .collect();
        // Where a lone figure is not measured itself, a law is blamed for what the curve misses.
        let sound = mixed.iter().filter(|(.., support)| *support == Support::Measured).count();
        let is_fitted = |(at, _, support): &&((u32, u32), FittedCell, Support)| {
            let is_known = local.room(at.0).and(remote.room(at.1)).is_some();
            is_known && (sound < 2 || *support == Support::Measured)
        };
        let fitted: Vec<_> = mixed.iter().filter(is_fitted).collect();
        let span = |of: fn(&(u32, u32)) -> u32| {
            let counts = || fitted.iter().map(|(at, ..)| of(at));
            counts().min().zip(counts().max())
        };
        let (Some(locals), Some(remotes)) = (span(|at| at.0), span(|at| at.1)) else {
            return Err(if mixed.is_empty() {
                "no figure of local and remote threads side by side".into()
            } else {
                "no figure near enough of what the threads side by side move alone".into()
            });
        };
        let cells: Vec<FittedCell> = fitted.iter().map(|(_, cell, _)| *cell).collect();
        let scale = local.best() + remote.best() / 2.0;
        let fits = LawName::ALL.map(|name| fit_law(name, scale, &cells));
        let [Some(pressure), Some(saturation)] = fits else {
            return Err("no law can be fitted to these figures".into());
        };
        let is_better = match (pressure.left_out, saturation.left_out) {
            (Some(pressure), Some(saturation)) => saturation.all < pressure.all,
            _ => false,
        };
        let (fit, other) = if is_better { (saturation, pressure) } else { (pressure, saturation) };
        let mut grid = Self {
            place,
            local,
            remote,
            is_predictive: fit.left_out.is_none_or(|off| off.all <= MOST_LAW_ERROR),
            fit,
            other,
            cells: Vec::new(),
            above_lone: AboveLone { cells: 0, above: 0, largest: None },
            fairness: None,
            rankings: Vec::new(),
            measured,
            absent,
            fitted_span: [locals, remotes],
        };
        grid.cells = grid.cells_of_plan();
        grid.above_lone = grid.cells_above_lone();
        grid.fairness = grid.fairness_of_cells();
        grid.rankings = grid.best_splits();
        Ok(grid)
    }

    /// What is known of n local beside m remote threads; `None` without any thread.
    pub fn cell(&self, n: u32, m: u32) -> Option<SharedCell> {
        if (n, m) == (0, 0) {
            return None;
        }
        let measured = self.measured.get(&(n, m)).cloned();
        let (one, two) = (self.local.at(n), self.remote.at(m));
        let lone_support = one.1.max(two.1);
        let beyond = [(n, self.fitted_span[0]), (m, self.fitted_span[1])]
            .iter()
            .any(|(count, (least, most))| !(least..=most).contains(&count));
        let (predicted, by_other_law, support) = match loads(&self.local, &self.remote, n, m) {
            Some((loads, _)) => {
                let between = if beyond { Support::Extrapolated } else { Support::Interpolated };
                let [first, second] = [self.fit, self.other].map(|fit| fit.law.shares(&loads));
                (Some(first), Some(second), lone_support.max(between))
            }
            None => {
                let alone = Shares { local: one.0.into(), remote: two.0.into() };
                (measured.is_none().then_some(alone), None, lone_support)
            }
        };
        let support = if measured.is_some() { Support::Measured } else { support };
        let is_told = self.is_predictive || by_other_law.is_none();
        let (predicted, by_other_law) =
            if is_told { (predicted, by_other_law) } else { (None, None) };
        let why_absent = self.absent.get(&(n, m)).filter(|_| measured.is_none()).cloned();
        let (local_threads, remote_threads) = (n, m);
        let law_difference = predicted.zip(by_other_law).map(|(one, two)| one.difference(two));
        let is_far_apart = law_difference.is_some_and(|it| it > WORTH_MEASURING);
        let is_worth_measuring = measured.is_none() && is_far_apart;
        let total_error = predicted.zip(measured.as_ref()).and_then(|(predicted, measured)| {
            Some(predicted.total() / measured.sums().total() - 1.0)
                .filter(|error| error.is_finite())
        });
        let mut cell = SharedCell {
            local_threads,
            remote_threads,
            measured,
            predicted,
            predicted_total: None,
            by_other_law,
            total_error,
            support,
            lone_support,
            law_difference,
            is_worth_measuring,
            why_absent,
        };
        let room = self.room(&cell, |residual| residual.total);
        cell.predicted_total = predicted.map(|it| around(it.total().0, room));
        Some(cell)
    }

    fn cells_of_plan(&self) -> Vec<SharedCell> {
        let mut places: BTreeSet<(u32, u32)> = self.measured.keys().copied().collect();
        places.extend(self.absent.keys());
        let [locals, remotes] = [
            counts(&self.local, places.iter().map(|place| place.0)),
            counts(&self.remote, places.iter().map(|place| place.1)),
        ];
        if locals.len() * remotes.len() <= MOST_CELLS {
            places.extend(locals.iter().flat_map(|&n| remotes.iter().map(move |&m| (n, m))));
        }
        let is_known = |cell: &SharedCell| cell.shares().is_some() || cell.why_absent.is_some();
        places.into_iter().filter_map(|(n, m)| self.cell(n, m)).filter(is_known).collect()
    }

    /// How far a prediction of a cell can be off, a fraction: twice what the law is off where it
    /// is left out, and what its lone figures can be off. `None` where one is not known.
    pub fn room(&self, cell: &SharedCell, of_law: fn(&Residual) -> f64) -> Option<f64> {
        let (of_local, of_remote) =
            (self.local.room(cell.local_threads)?, self.remote.room(cell.remote_threads)?);
        let of_lone = of_local.max(of_remote);
        if cell.by_other_law.is_none() {
            return Some(of_lone);
        }
        Some(2.0 * of_law(self.fit.left_out.as_ref()?) + of_lone)
    }

    /// Whether totals lie where equation 4 has none.
    fn cells_above_lone(&self) -> AboveLone {
        let mut found = AboveLone { cells: 0, above: 0, largest: None };
        for (&(n, m), cell) in self.measured.iter().filter(|((n, m), _)| *n > 0 && *m > 0) {
            let (Some(local), Some(remote)) = (self.local.measured(n), self.remote.measured(m))
            else {
                continue;
            };
            let excess = cell.total.value.0 / local.sum.value.0.max(remote.sum.value.0) - 1.0;
            found.cells += 1;
            found.above += usize::from(excess > 0.0);
            if excess > found.largest.map_or(0.0, |largest| largest.excess) {
                found.largest = Some(Excess { local_threads: n, remote_threads: m, excess });
            }
        }
        found
    }
}

/// What a law reads of n local beside m remote threads, and where the lone figures come from;
/// `None` where one group is empty.
fn loads(local: &LoneCurve, remote: &LoneCurve, n: u32, m: u32) -> Option<(Loads, Support)> {
    if n == 0 || m == 0 {
        return None;
    }
    let ((one, of_one), (two, of_two)) = (local.at(n), remote.at(m));
    let (local_best, remote_best) = (local.best(), remote.best());
    let loads = Loads {
        local: one,
        remote: two,
        local_part: one / local_best,
        remote_part: two / remote_best,
        queue: f64::from(n) * local.of_one() / local_best,
    };
    Some((loads, of_one.max(of_two)))
}

/// Why a cell has no figures: a refusal before what was left out.
fn why_absent(cell: &SharingCell) -> Option<String> {
    let first = |kind| cell.case.absences(kind).next().map(|absent| absent.reason.text.clone());
    first(Absence::Refused).or_else(|| first(Absence::Omitted))
}

/// Counts of threads of a full grid, those of the plan among them.
fn counts(curve: &LoneCurve, planned: impl Iterator<Item = u32>) -> BTreeSet<u32> {
    /// Smaller initiators have every count.
    const EVERY_COUNT_UP_TO: u32 = 4;
    let most = curve.most_threads;
    let every = 0..=if most <= EVERY_COUNT_UP_TO { most } else { 0 };
    let powers = std::iter::successors(Some(1_u32), |count| count.checked_mul(2));
    let powers = powers.take_while(|&count| count < most);
    planned.chain(every).chain(powers).chain([most]).collect()
}
