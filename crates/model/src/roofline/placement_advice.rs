//! What follows from the place of a program below the roofs.

use nearfar_record::Roof;
use serde::Serialize;

use super::chart::Chart;
use super::conclusions::{IntensityKind, ProgramPoint};
use super::program_point::{Standing, UnderRoof};

/// What to do with a program on an initiator. Roofs are named by their positions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum PlacementAdvice {
    /// Measure roofs: none of memory is known here.
    MeasureRoofs,
    /// Say what the program reaches: by its loads from memory it attains at most what the best of its
    /// roofs allows.
    SayWhatItReaches {
        best: usize,
        /// The lowest of several; null with one.
        worst: Option<usize>,
        /// What the best allows / what the worst does; null with one.
        factor: Option<f64>,
    },
    /// Compute better, not place better: no memory limits what it attains at most.
    OnlyCompute { best: usize, worst: Option<usize>, factor: Option<f64> },
    /// Compute better: it is at the ceiling.
    ReduceArithmetic,
    /// Find out where its pages are and what else runs: it is at roofs of several sorts.
    FindPages,
    /// Do more with what a cache gives it.
    ReuseCache { at: AtRoofs },
    /// Leave its pages, which are as near as they can be.
    LeavePages { at: AtRoofs },
    /// Interleave its pages, which are as near as they can be: their node is the limit.
    Interleave { at: AtRoofs, over: Vec<usize> },
    /// Move its pages to a node of the initiator.
    MovePages {
        at: AtRoofs,
        to: usize,
        /// What it would reach there / what it reaches - 1.
        gain: f64,
    },
    /// Put each initiator's pages on its own memory.
    KeepPagesApart {
        at: AtRoofs,
        to: usize,
        /// What it would reach so / what it reaches - 1.
        gain: f64,
        /// Whether that comes about where each thread first touches what it will use.
        is_first_touch: bool,
        /// What interleaving would give instead.
        interleaved: Vec<usize>,
    },
    /// Leave its pages: nothing that was measured promises more than the model can tell apart.
    LeavePlacement { at: AtRoofs },
    /// Measure again: so wide a band counts as at these roofs.
    MeasureAgain {
        /// How far from a roof, a fraction of it.
        within: f64,
    },
    /// Count other bytes or threads: it is above every roof.
    CountRequestedBytes,
    /// Look into the profile: it is above every roof of memory.
    CheckCounters,
    /// Look elsewhere before moving pages: it is between two roofs.
    LookElsewhere {
        /// Null for the ceiling.
        above: Option<usize>,
        below: usize,
    },
    /// Look elsewhere: it is below every roof.
    LookBeyondBandwidth,
    /// Measure again: points refute the roof at or beside which it is.
    DistrustRoof {
        /// Null for the ceiling.
        roof: Option<usize>,
        /// The points that do; null without any.
        by: Option<RefutingPoints>,
    },
}

/// The roofs of a sort that a program is at.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AtRoofs {
    pub sort: RoofSort,
    /// The nearest first.
    pub roofs: Vec<usize>,
    /// What the program reaches / what the nearest allows.
    pub ratio: f64,
}

/// Sorts of roofs that call for the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RoofSort {
    Cache,
    /// Of the initiator's own memory.
    Own,
    /// Of a remote node.
    Far,
    Interleaved,
    Contended,
    Congested,
}

/// Points that refute a roof.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RefutingPoints {
    /// The roof that they are below.
    pub roof: Roof,
    pub is_local: Option<bool>,
    pub relative_rms: f64,
    /// The mix of the one that is farthest off.
    pub worst_kernel: String,
    /// Measured / attainable of that one.
    pub worst_ratio: f64,
}

impl RoofSort {
    fn of(under: &UnderRoof) -> Self {
        match under.roof {
            Roof::Compute | Roof::Cache { .. } => Self::Cache,
            Roof::Memory { .. } if under.is_local != Some(true) => Self::Far,
            Roof::Memory { .. } | Roof::AllLocal { .. } => Self::Own,
            Roof::Interleaved { .. } => Self::Interleaved,
            Roof::Contended { .. } => Self::Contended,
            Roof::Congested { .. } => Self::Congested,
        }
    }
}

/// Where more than this counts as at a roof, that is told.
const ROUGH: f64 = 0.2;

pub(super) fn advice(
    chart: &Chart,
    point: ProgramPoint,
    roofs: &[UnderRoof],
    standing: Option<&Standing>,
) -> Vec<PlacementAdvice> {
    let place = Place { chart, point, roofs };
    let is_operational = point.kind == IntensityKind::Operational;
    match standing {
        None => vec![place.prospects()],
        Some(Standing::AtRoofs { roofs }) => place.at_roofs(roofs),
        Some(Standing::AtCeiling) => vec![PlacementAdvice::ReduceArithmetic],
        // What is read from memory is no bandwidth of a cache.
        Some(Standing::AboveAll | Standing::Between { above: None, .. }) if is_operational => {
            vec![PlacementAdvice::CheckCounters]
        }
        Some(Standing::AboveAll) => vec![PlacementAdvice::CountRequestedBytes],
        Some(&Standing::Between { above, below }) => {
            vec![PlacementAdvice::LookElsewhere { above, below }]
        }
        Some(Standing::BelowAll) => vec![PlacementAdvice::LookBeyondBandwidth],
        Some(&Standing::Refuted { roof }) => vec![place.refuted(roof)],
    }
}

struct Place<'a> {
    chart: &'a Chart,
    point: ProgramPoint,
    roofs: &'a [UnderRoof],
}

impl Place<'_> {
    /// What it attains at most by where its pages are.
    fn prospects(&self) -> PlacementAdvice {
        let roofs = || self.roofs.iter().enumerate();
        let mut of_memory: Vec<(usize, &UnderRoof)> = roofs()
            .filter(|(_, it)| it.is_of_loads() && !matches!(it.roof, Roof::Cache { .. }))
            .collect();
        let attainable = |under: &UnderRoof| under.attainable.0;
        of_memory.sort_by(|one, other| attainable(other.1).total_cmp(&attainable(one.1)));
        let (Some(&(best, highest)), Some(&(last, lowest))) = (of_memory.first(), of_memory.last())
        else {
            return PlacementAdvice::MeasureRoofs;
        };
        let is_of_memory = |roof: Roof| of_memory.iter().any(|(_, memory)| memory.roof == roof);
        let refuted = roofs().find(|(_, it)| it.is_refuted && is_of_memory(it.roof));
        if let Some((refuted, _)) = refuted {
            return self.refuted(Some(refuted));
        }
        let has_several = of_memory.len() > 1;
        let worst = has_several.then_some(last);
        let factor = has_several.then(|| highest.attainable / lowest.attainable);
        if of_memory.iter().any(|(_, under)| under.is_memory_bound) {
            PlacementAdvice::SayWhatItReaches { best, worst, factor }
        } else {
            PlacementAdvice::OnlyCompute { best, worst, factor }
        }
    }

    /// What each sort of roof that it is at calls for.
    fn at_roofs(&self, near: &[usize]) -> Vec<PlacementAdvice> {
        let mut sorts: Vec<AtRoofs> = Vec::new();
        for &position in near {
            let Some(under) = self.roofs.get(position) else { continue };
            let (sort, Some(ratio)) = (RoofSort::of(under), under.ratio) else { continue };
            match sorts.iter_mut().find(|known| known.sort == sort) {
                Some(known) => known.roofs.push(position),
                None => sorts.push(AtRoofs { sort, roofs: vec![position], ratio }),
            }
        }
        let nearest = near.first().and_then(|&position| self.roofs.get(position));
        let within = nearest.map(|under| self.chart.resolution(under.roof));
        let rough = within.filter(|within| *within > ROUGH);
        let several = (sorts.len() > 1).then_some(PlacementAdvice::FindPages);
        let of_sorts = sorts.into_iter().filter_map(|at| self.at_sort(at));
        let again = rough.map(|within| PlacementAdvice::MeasureAgain { within });
        several.into_iter().chain(of_sorts).chain(again).collect()
    }

    fn at_sort(&self, at: AtRoofs) -> Option<PlacementAdvice> {
        let nearest = *at.roofs.first()?;
        let interleaved = self.better_interleaved(nearest);
        Some(match (at.sort, self.gain(nearest)) {
            (RoofSort::Cache, _) => PlacementAdvice::ReuseCache { at },
            (RoofSort::Own, None) if interleaved.is_empty() => PlacementAdvice::LeavePages { at },
            (RoofSort::Own, None) => PlacementAdvice::Interleave { at, over: interleaved },
            (RoofSort::Own | RoofSort::Far | RoofSort::Interleaved, Some((to, gain))) => {
                PlacementAdvice::MovePages { at, to, gain }
            }
            (RoofSort::Contended | RoofSort::Congested, Some((to, gain))) => {
                let own = self.roofs.get(to)?.roof;
                let is_first_touch = self.chart.is_first_touch(own);
                PlacementAdvice::KeepPagesApart { at, to, gain, is_first_touch, interleaved }
            }
            (_, None) => PlacementAdvice::LeavePlacement { at },
        })
    }

    /// What the program would reach on the initiator's own memory: alone where the roof that it is
    /// at is one of an initiator alone, beside others where all initiators are at work. The roof's
    /// position and that / what it reaches now - 1; `None` where it is not known, is the roof that
    /// the program is at, is refuted, or the gain is not above what the model can tell apart.
    fn gain(&self, at: usize) -> Option<(usize, f64)> {
        let from = self.roofs.get(at)?;
        let is_wanted = |under: &UnderRoof| match (from.roof, under.roof) {
            (Roof::Memory { .. } | Roof::Interleaved { .. }, Roof::Memory { .. }) => {
                under.is_local == Some(true)
            }
            (Roof::Contended { .. } | Roof::Congested { .. }, Roof::AllLocal { .. }) => true,
            _ => false,
        };
        let roofs = self.roofs.iter().enumerate();
        let own = roofs.filter(|(_, under)| under.kernel == from.kernel && is_wanted(under));
        let attainable = |under: &UnderRoof| under.attainable.0;
        let (position, best) =
            own.max_by(|one, other| attainable(one.1).total_cmp(&attainable(other.1)))?;
        let gain = best.attainable / self.point.flops? - 1.0;
        let is_told = gain.is_finite() && gain > self.chart.resolution(best.roof);
        (is_told && position != at && !best.is_refuted).then_some((position, gain))
    }

    /// Roofs of loads from interleaved pages, by the initiator alone where the roof at a position is of
    /// one alone, else by all initiators, which allow more than that roof does, by more than the model
    /// can tell apart; refuted ones are left out.
    fn better_interleaved(&self, at: usize) -> Vec<usize> {
        let Some(now) = self.roofs.get(at) else { return Vec::new() };
        let is_better = |(_, under): &(usize, &UnderRoof)| {
            let least = now.attainable.0 * (1.0 + self.chart.resolution(under.roof));
            let is_interleaved = match now.roof {
                Roof::Memory { .. } => matches!(under.roof, Roof::Interleaved { .. }),
                Roof::Contended { .. } => matches!(under.roof, Roof::Congested { .. }),
                _ => false,
            };
            let is_told = under.is_of_loads() && !under.is_refuted;
            is_interleaved && is_told && under.attainable.0 > least
        };
        self.roofs.iter().enumerate().filter(is_better).map(|(position, _)| position).collect()
    }

    /// That nothing can be told beside a roof.
    fn refuted(&self, roof: Option<usize>) -> PlacementAdvice {
        let under = roof.and_then(|position| self.roofs.get(position));
        let of = self.chart.validation_of(under.map_or(Roof::Compute, |under| under.roof));
        let by = of.and_then(|of| {
            let (worst, errors) = of.worst()?;
            Some(RefutingPoints {
                roof: of.roof,
                is_local: of.is_local,
                relative_rms: errors.relative_rms,
                worst_kernel: worst.kernel.clone(),
                worst_ratio: worst.ratio,
            })
        });
        PlacementAdvice::DistrustRoof { roof, by }
    }
}
