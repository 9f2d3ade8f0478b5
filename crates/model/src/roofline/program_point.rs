//! Where a program lies below the roofs of a cluster, and what that says.

use nearfar_record::Roof;

use super::chart::{BandwidthRoof, Chart};

/// A program by its intensity and what it reaches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProgramPoint {
    /// FLOPs per byte that the cores request; above 0.
    pub intensity: f64,
    /// FLOP/s of the threads of one cluster, above 0; `None` where that is not known.
    pub flops: Option<f64>,
}

/// A program below the roofs of a cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Placement<'a> {
    pub point: ProgramPoint,
    /// Each roof in the order of the chart.
    pub roofs: Vec<UnderRoof<'a>>,
    /// FLOP/s of the ceiling; `None` without one.
    pub ceiling: Option<f64>,
    /// Position of the lowest roof above the point; `None` without one.
    pub lowest_above: Option<usize>,
    /// What its place says; `None` where what it reaches is not known.
    pub standing: Option<Standing>,
}

/// One roof above or below a program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnderRoof<'a> {
    pub roof: &'a BandwidthRoof,
    /// FLOP/s that it and the ceiling allow at the intensity.
    pub attainable: f64,
    /// Whether bandwidth limits there, not arithmetic.
    pub is_memory_bound: bool,
    /// What the program reaches / attainable; `None` where that is not known.
    pub ratio: Option<f64>,
    /// Whether the program reaches what this roof allows, within [`Chart::resolution`], and the
    /// roof is one that a verdict goes by: of loads, and of nodes that several clusters use that
    /// of most clusters. Never one that is refuted.
    pub is_near: bool,
    /// Whether points refute the roof ([`Chart::is_refuted`]).
    pub is_refuted: bool,
}

/// What the place of a program says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// At the ceiling: arithmetic limits.
    AtCeiling,
    /// At roofs, by position, the nearest first: one of them limits.
    AtRoofs(Vec<usize>),
    /// Above all roofs that it is held against: they do not hold for it.
    AboveAll,
    /// Between two neighbouring roofs, by position: below neither limits.
    Between {
        /// The next roof above; `None` where the ceiling is.
        above: Option<usize>,
        /// The next one below.
        below: usize,
    },
    /// Below every roof: no bandwidth limits.
    BelowAll,
    /// At or beside a roof that points refute, by position, `None` for the ceiling: what limits
    /// cannot be told.
    Refuted(Option<usize>),
}

impl Chart {
    /// Where a program lies below the roofs.
    pub fn place(&self, point: ProgramPoint) -> Placement<'_> {
        let ceiling = self.ceiling().map(|ceiling| ceiling.flops.median);
        let roofs: Vec<UnderRoof<'_>> =
            self.roofs.iter().map(|roof| self.under(roof, point)).collect();
        let lowest_above = point.flops.and_then(|flops| {
            let above = roofs.iter().enumerate().filter(|(_, under)| under.attainable >= flops);
            let lowest = above.min_by(|one, other| one.1.attainable.total_cmp(&other.1.attainable));
            lowest.map(|(position, _)| position)
        });
        let standing = point.flops.and_then(|flops| self.standing(flops, &roofs, ceiling));
        Placement { point, roofs, ceiling, lowest_above, standing }
    }

    fn under<'a>(&self, roof: &'a BandwidthRoof, point: ProgramPoint) -> UnderRoof<'a> {
        let attainable = self.attainable(point.intensity, roof.bandwidth.median);
        let most = self.ceiling().map_or(f64::INFINITY, |ceiling| ceiling.flops.median);
        let is_memory_bound = point.intensity * roof.bandwidth.median < most;
        let ratio = point.flops.map(|flops| flops / attainable).filter(|ratio| ratio.is_finite());
        let under = UnderRoof {
            roof,
            attainable,
            is_memory_bound,
            ratio,
            is_near: false,
            is_refuted: self.is_refuted(roof.roof),
        };
        UnderRoof { is_near: self.is_within(&under) && !under.is_refuted, ..under }
    }

    /// Whether a program reaches what a roof allows, as far as the roof's points can tell.
    fn is_within(&self, under: &UnderRoof<'_>) -> bool {
        let room = self.resolution(under.roof.roof);
        under.is_memory_bound
            && self.decides(under.roof)
            && under.ratio.is_some_and(|ratio| (ratio - 1.0).abs() <= room)
    }

    /// Whether a verdict goes by this roof.
    fn decides(&self, roof: &BandwidthRoof) -> bool {
        let is_lone = matches!(
            roof.roof,
            Roof::Cache { .. } | Roof::Memory { .. } | Roof::Interleaved { .. }
        );
        roof.is_of_loads() && (is_lone || self.is_of_all_clusters(roof))
    }

    /// `None` where there is nothing to hold the point against.
    fn standing(
        &self,
        flops: f64,
        roofs: &[UnderRoof<'_>],
        ceiling: Option<f64>,
    ) -> Option<Standing> {
        let off = |attainable: f64| (flops / attainable).ln().abs();
        let by_bandwidth: Vec<(usize, &UnderRoof<'_>)> = roofs
            .iter()
            .enumerate()
            .filter(|(_, under)| self.decides(under.roof) && under.is_memory_bound)
            .collect();
        let mut near: Vec<(usize, f64)> = by_bandwidth
            .iter()
            .filter(|(_, under)| self.is_within(under))
            .map(|(position, under)| (*position, off(under.attainable)))
            .collect();
        near.sort_by(|one, other| one.1.total_cmp(&other.1));
        let near: Vec<usize> = near.into_iter().map(|(position, _)| position).collect();
        let is_refuted =
            |position: usize| roofs.get(position).is_some_and(|under| under.is_refuted);
        if let Some(&refuted) = near.iter().find(|position| is_refuted(**position)) {
            return Some(Standing::Refuted(Some(refuted)));
        }
        if !near.is_empty() {
            return Some(Standing::AtRoofs(near));
        }
        let is_ceiling_refuted = ceiling.is_some() && self.is_refuted(Roof::Compute);
        if let Some(most) = ceiling {
            let room = self.resolution(Roof::Compute);
            if !is_ceiling_refuted && (flops / most - 1.0).abs() <= room {
                return Some(Standing::AtCeiling);
            }
        }
        let next = |is_wanted: &dyn Fn(f64) -> bool| {
            let side = by_bandwidth.iter().filter(|(_, under)| is_wanted(under.attainable));
            let nearest =
                side.min_by(|one, other| off(one.1.attainable).total_cmp(&off(other.1.attainable)));
            nearest.map(|(position, _)| *position)
        };
        let (above, below) = (next(&|it| it > flops), next(&|it| it <= flops));
        if let Some(refuted) = below.into_iter().chain(above).find(|it| is_refuted(*it)) {
            return Some(Standing::Refuted(Some(refuted)));
        }
        if above.is_none() && is_ceiling_refuted {
            return Some(Standing::Refuted(None));
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

impl Placement<'_> {
    /// What the program would reach on the cluster's own memory: alone where the roof that it is
    /// at is one of a cluster alone, beside others where all clusters are at work. The roof's
    /// position and that / what it reaches now - 1; `None` where it is not known, is the roof that
    /// the program is at, is refuted, or the gain is not above what the model can tell apart.
    pub fn gain(&self, chart: &Chart, at: usize) -> Option<(usize, f64)> {
        let from = self.roofs.get(at)?.roof;
        let is_wanted = |roof: &BandwidthRoof| match (from.roof, roof.roof) {
            (Roof::Memory { .. } | Roof::Interleaved { .. }, Roof::Memory { .. }) => {
                roof.is_local == Some(true)
            }
            (Roof::Contended { .. } | Roof::Congested { .. }, Roof::AllLocal { .. }) => true,
            _ => false,
        };
        let own = self
            .roofs
            .iter()
            .enumerate()
            .filter(|(_, under)| under.roof.kernel == from.kernel && is_wanted(under.roof));
        let (position, best) =
            own.max_by(|one, other| one.1.attainable.total_cmp(&other.1.attainable))?;
        let gain = best.attainable / self.point.flops? - 1.0;
        let is_told = gain.is_finite() && gain > chart.resolution(best.roof.roof);
        (is_told && position != at && !best.is_refuted).then_some((position, gain))
    }

    /// Roofs of loads from interleaved pages, by the cluster alone where the roof at a position is of
    /// one alone, else by all clusters, which allow more than that roof does, by more than the model
    /// can tell apart; refuted ones are left out.
    pub fn better_interleaved(&self, chart: &Chart, at: usize) -> Vec<&UnderRoof<'_>> {
        let Some(now) = self.roofs.get(at) else { return Vec::new() };
        let is_better = |under: &&UnderRoof<'_>| {
            let least = now.attainable * (1.0 + chart.resolution(under.roof.roof));
            let is_interleaved = match now.roof.roof {
                Roof::Memory { .. } => matches!(under.roof.roof, Roof::Interleaved { .. }),
                Roof::Contended { .. } => matches!(under.roof.roof, Roof::Congested { .. }),
                _ => false,
            };
            let is_told = under.roof.is_of_loads() && !under.is_refuted;
            is_interleaved && is_told && under.attainable > least
        };
        self.roofs.iter().filter(is_better).collect()
    }
}
