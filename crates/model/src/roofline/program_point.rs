//! Where a program lies below the roofs of an initiator, and what that says.

use std::collections::HashSet;
use std::mem::{Discriminant, discriminant};

use nearfar_machine::CpuSet;
use nearfar_record::{Estimate, Roof};
use nearfar_units::{BytesPerSecond, FlopsPerSecond};
use serde::Serialize;

use super::chart::{BandwidthRoof, Chart};
use super::conclusions::ProgramPoint;
use super::hybrid_roof::{HybridRoof, ProgramShares};
use super::placement_advice::{PlacementAdvice, advice};

/// A program below the roofs of an initiator.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Placement {
    pub initiator: u32,
    pub cpus: CpuSet,
    /// The ceiling; null without one.
    #[serde(rename = "ceiling_gflop_per_s")]
    pub ceiling: Option<FlopsPerSecond>,
    /// Each roof in the order of the chart.
    pub roofs: Vec<UnderRoof>,
    /// Roofs of the program over two memories; empty where its shares were not given.
    pub hybrid_roofs: Vec<HybridRoof>,
    /// Position of the lowest roof above the program; null without one.
    pub lowest_above: Option<usize>,
    /// What its place says; null where what it reaches is not known.
    pub standing: Option<Standing>,
    /// Whether it stands to the roofs as on the first initiator, whatever their nodes.
    pub is_like_first: bool,
    /// What to do; something at least.
    pub advice: Vec<PlacementAdvice>,
}

/// One roof above or below a program.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnderRoof {
    pub roof: Roof,
    /// Whether the node is the initiator's own; null for a roof that is not one node's.
    pub is_local: Option<bool>,
    /// How memory is accessed.
    pub kernel: String,
    /// Useful bytes of all threads of the initiator.
    #[serde(rename = "gb_per_s")]
    pub bandwidth: Estimate<BytesPerSecond>,
    /// What it and the ceiling allow at the intensity.
    #[serde(rename = "attainable_gflop_per_s")]
    pub attainable: FlopsPerSecond,
    /// Whether bandwidth limits there, not arithmetic.
    pub is_memory_bound: bool,
    /// What the program reaches / attainable; null where that is not known.
    pub ratio: Option<f64>,
    /// Whether the program reaches what this roof allows, as far as the model can tell apart, and the
    /// roof is one that a verdict goes by: of loads, and of nodes that several initiators use that
    /// of most initiators. Never one that is refuted.
    pub is_near: bool,
    /// Whether points of known intensity are so far off the roof that it predicts nothing.
    pub is_refuted: bool,
}

/// What the place of a program says. Roofs are named by their positions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Standing {
    /// Arithmetic limits.
    AtCeiling,
    /// One of these limits, the nearest first.
    AtRoofs { roofs: Vec<usize> },
    /// Above all roofs that it is held against: they do not hold for it.
    AboveAll,
    /// Between two neighbouring roofs: below neither limits.
    Between {
        /// The next roof above; null where the ceiling is.
        above: Option<usize>,
        /// The next one below.
        below: usize,
    },
    /// Below every roof: no bandwidth limits.
    BelowAll,
    /// At or beside a roof that points refute: what limits cannot be told.
    Refuted {
        /// Null for the ceiling.
        roof: Option<usize>,
    },
}

impl UnderRoof {
    pub fn is_of_loads(&self) -> bool {
        self.kernel == BandwidthRoof::LOADS
    }
}

impl Chart {
    /// Where a program lies below the roofs, and below its own over two memories where its shares are
    /// known.
    pub fn place(&self, point: ProgramPoint, shares: Option<ProgramShares<'_>>) -> Placement {
        let roofs: Vec<UnderRoof> = self.roofs.iter().map(|roof| self.under(roof, point)).collect();
        let lowest_above = point.flops.and_then(|flops| {
            let above = roofs.iter().enumerate().filter(|(_, under)| under.attainable >= flops);
            let attainable = |under: &UnderRoof| under.attainable.0;
            let lowest =
                above.min_by(|one, other| attainable(one.1).total_cmp(&attainable(other.1)));
            lowest.map(|(position, _)| position)
        });
        let standing = point.flops.and_then(|flops| self.standing(flops.0, &roofs));
        Placement {
            initiator: self.initiator,
            cpus: self.cpus.clone(),
            ceiling: self.ceiling().map(|ceiling| ceiling.flops.value),
            hybrid_roofs: shares.map_or_else(Vec::new, |it| self.hybrid_roofs(point, it)),
            lowest_above,
            is_like_first: true,
            advice: advice(self, point, &roofs, standing.as_ref()),
            standing,
            roofs,
        }
    }

    fn under(&self, of: &BandwidthRoof, point: ProgramPoint) -> UnderRoof {
        let bandwidth = of.bandwidth.value.0;
        let attainable = self.attainable(point.intensity, bandwidth);
        let most = self.ceiling().map_or(f64::INFINITY, |ceiling| ceiling.flops.value.0);
        let ratio = point.flops.map(|flops| flops.0 / attainable).filter(|it| it.is_finite());
        let under = UnderRoof {
            roof: of.roof,
            is_local: of.is_local,
            kernel: of.kernel.clone(),
            bandwidth: of.bandwidth.clone(),
            attainable: attainable.into(),
            is_memory_bound: point.intensity * bandwidth < most,
            ratio,
            is_near: false,
            is_refuted: of.is_refuted,
        };
        UnderRoof { is_near: self.is_within(&under) && !under.is_refuted, ..under }
    }

    /// Whether a program reaches what a roof allows, as far as the roof's points can tell.
    fn is_within(&self, under: &UnderRoof) -> bool {
        let room = self.resolution(under.roof);
        under.is_memory_bound
            && self.decides(under)
            && under.ratio.is_some_and(|ratio| (ratio - 1.0).abs() <= room)
    }

    /// Whether a verdict goes by this roof.
    fn decides(&self, under: &UnderRoof) -> bool {
        let is_lone = matches!(
            under.roof,
            Roof::Cache { .. } | Roof::Memory { .. } | Roof::Interleaved { .. }
        );
        under.is_of_loads() && (is_lone || self.is_of_all_initiators(under.roof))
    }

    /// `None` where there is nothing to hold the point against.
    fn standing(&self, flops: f64, roofs: &[UnderRoof]) -> Option<Standing> {
        let ceiling = self.ceiling().map(|ceiling| ceiling.flops.value.0);
        let off = |under: &UnderRoof| (flops / under.attainable.0).ln().abs();
        let by_bandwidth: Vec<(usize, &UnderRoof)> = roofs
            .iter()
            .enumerate()
            .filter(|(_, under)| self.decides(under) && under.is_memory_bound)
            .collect();
        let mut near: Vec<(usize, f64)> = by_bandwidth
            .iter()
            .filter(|(_, under)| self.is_within(under))
            .map(|(position, under)| (*position, off(under)))
            .collect();
        near.sort_by(|one, other| one.1.total_cmp(&other.1));
        let near: Vec<usize> = near.into_iter().map(|(position, _)| position).collect();
        let is_refuted =
            |position: usize| roofs.get(position).is_some_and(|under| under.is_refuted);
        if let Some(&refuted) = near.iter().find(|position| is_refuted(**position)) {
            return Some(Standing::Refuted { roof: Some(refuted) });
        }
        if !near.is_empty() {
            return Some(Standing::AtRoofs { roofs: near });
        }
        let is_ceiling_refuted = ceiling.is_some() && self.is_refuted(Roof::Compute);
        if let Some(most) = ceiling {
            let room = self.resolution(Roof::Compute);
            if !is_ceiling_refuted && (flops / most - 1.0).abs() <= room {
                return Some(Standing::AtCeiling);
            }
        }
        let next = |is_wanted: &dyn Fn(f64) -> bool| {
            let side = by_bandwidth.iter().filter(|(_, under)| is_wanted(under.attainable.0));
            let nearest = side.min_by(|one, other| off(one.1).total_cmp(&off(other.1)));
            nearest.map(|(position, _)| *position)
        };
        let (above, below) = (next(&|it| it > flops), next(&|it| it <= flops));
        if let Some(refuted) = below.into_iter().chain(above).find(|it| is_refuted(*it)) {
            return Some(Standing::Refuted { roof: Some(refuted) });
        }
        if above.is_none() && is_ceiling_refuted {
            return Some(Standing::Refuted { roof: None });
        }
        let is_below_ceiling = ceiling.is_some_and(|most| flops < most);
        match (above, below) {
            (None, _) if !is_below_ceiling => {
                (ceiling.is_some() || below.is_some()).then_some(Standing::AboveAll)
            }
            (above, Some(below)) => Some(Standing::Between { above, below }),
            (_, None) => Some(Standing::BelowAll),
        }
    }
}

impl Placement {
    /// Whether a program stands to the roofs here as it does there, whatever their nodes.
    pub(super) fn stands_like(&self, other: &Self) -> bool {
        let kind = |it: &Self| it.standing.as_ref().map(discriminant);
        kind(self) == kind(other) && self.near_sorts() == other.near_sorts()
    }

    fn near_sorts(&self) -> HashSet<(Discriminant<Roof>, Option<bool>)> {
        let near = self.roofs.iter().filter(|under| under.is_near);
        near.map(|under| (discriminant(&under.roof), under.is_local)).collect()
    }
}
