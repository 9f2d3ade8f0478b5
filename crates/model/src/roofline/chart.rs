//! The chart of an initiator: its ceilings, its roofs, and where they meet.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use nearfar_machine::{CpuSet, Machine};
use nearfar_record::{CaseSummary, Estimate, Roof, RoofPurpose};
use nearfar_units::{BytesPerSecond, FlopsPerSecond};
use serde::Serialize;

use super::conclusions::{ProgramExpectation, RooflineAdvice, advice, expectations};
use super::validation::{RoofValidation, validations};
use super::workload_points::PhasePoint;
use crate::roofs::RoofFigures;

/// The roofs of an initiator, and the points that they are validated by.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Chart {
    pub initiator: u32,
    /// Its CPUs; none where the machine has no such initiator.
    pub cpus: CpuSet,
    /// Its node with CPUs, on which pages come to lie that its threads touch first; null for a
    /// initiator without one.
    pub cpu_node: Option<u32>,
    /// The initiator whose caches and arithmetic stand here, because its own were not measured and
    /// that one has as many threads; null where they are its own, or nobody's.
    pub within_of: Option<u32>,
    /// The arithmetic that points and corners are held against: the highest of double precision, and
    /// where there is none the highest; null without any.
    pub ceiling: Option<String>,
    /// Roofs of arithmetic, the highest first.
    pub ceilings: Vec<Ceiling>,
    /// Roofs of bandwidth: caches, local and remote nodes, interleaved, contended, all local,
    /// congested.
    pub roofs: Vec<BandwidthRoof>,
    /// Points below the roofs, by roof; those of `within_of` where it has none itself.
    pub validations: Vec<RoofValidation>,
    /// Phases of workloads that ran on this initiator by as many threads, in the order of the plan.
    pub workloads: Vec<PhasePoint>,
    /// What figures of memory must differ by to be told apart, a fraction of them.
    pub least_difference: f64,
    /// What programs can expect.
    pub programs: Vec<ProgramExpectation>,
    /// What to do.
    pub advice: Vec<RooflineAdvice>,
}

/// A roof of arithmetic.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ceiling {
    /// The arithmetic by its name: `fma_dp`.
    pub kernel: String,
    /// The variant that is best at it.
    pub variant: String,
    /// Threads of the initiator.
    pub threads: u32,
    /// All threads together.
    #[serde(rename = "gflop_per_s")]
    pub flops: Estimate<FlopsPerSecond>,
}

/// A roof of bandwidth.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BandwidthRoof {
    /// What limits.
    pub roof: Roof,
    /// Whether the node is the initiator's own; null for a roof that is not one node's.
    pub is_local: Option<bool>,
    /// How memory is accessed, by the kernel's or mix's name: `load`.
    pub kernel: String,
    /// The variant that is best at it.
    pub variant: String,
    /// Threads of the initiator.
    pub threads: u32,
    /// Useful bytes of all threads together.
    #[serde(rename = "gb_per_s")]
    pub bandwidth: Estimate<BytesPerSecond>,
    /// Whether points of known intensity are so far off the roof that it predicts nothing.
    pub is_refuted: bool,
    /// Where it meets each ceiling, in their order.
    pub ridges: Vec<Ridge>,
    /// The roof as a line below the ceiling; empty without one.
    pub corners: Vec<Corner>,
}

/// Where a roof of bandwidth meets a ceiling.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ridge {
    /// The arithmetic.
    pub ceiling: String,
    /// Below it bandwidth limits, above it arithmetic.
    #[serde(rename = "flops_per_byte")]
    pub intensity: f64,
}

/// A corner of a roof's line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Corner {
    #[serde(rename = "flops_per_byte")]
    pub intensity: f64,
    /// What is attainable there.
    #[serde(rename = "gflop_per_s")]
    pub flops: FlopsPerSecond,
}

/// Figures that differ by less are not told apart, however small the error of the points.
pub(super) const LEAST_RESOLUTION: f64 = 0.05;

impl Ceiling {
    pub fn is_double(&self) -> bool {
        self.kernel.ends_with("_dp")
    }
}

impl BandwidthRoof {
    pub(super) const LOADS: &str = "load";

    /// Whether memory is only read: verdicts go by such roofs, as most accesses of most programs
    /// are loads, and they are measured everywhere.
    pub fn is_of_loads(&self) -> bool {
        self.kernel == Self::LOADS
    }

    pub fn ridge(&self, ceiling: &str) -> Option<f64> {
        Some(self.ridges.iter().find(|ridge| ridge.ceiling == ceiling)?.intensity)
    }
}

impl Chart {
    /// A chart for each initiator that has a roof.
    pub(super) fn all(machine: &Machine, figures: &[RoofFigures]) -> Vec<Self> {
        let initiators = machine.initiators();
        let mut of_initiator: BTreeMap<u32, Vec<&RoofFigures>> = BTreeMap::new();
        for of in figures {
            of_initiator.entry(of.place.initiator).or_default().push(of);
        }
        let known = |index| initiators.iter().find(|initiator| initiator.index == index);
        let mut charts: Vec<Self> = of_initiator
            .iter()
            .map(|(&initiator, of)| Self {
                initiator,
                cpus: known(initiator).map_or_else(CpuSet::new, |known| known.cpus.clone()),
                cpu_node: known(initiator).and_then(|known| known.cpu_node),
                ceilings: ceilings(of),
                roofs: bandwidth_roofs(of),
                validations: validations(of),
                ..Self::default()
            })
            .collect();
        let mut whole: HashMap<u32, Self> = HashMap::new();
        for chart in charts.iter().filter(|chart| !chart.ceilings.is_empty()) {
            if let Some(threads) = chart.threads() {
                whole.entry(threads).or_insert_with(|| chart.within());
            }
        }
        for chart in &mut charts {
            if let Some(other) = chart.threads().and_then(|threads| whole.get(&threads)) {
                chart.take_what_is_within(other);
            }
            chart.conclude(machine);
        }
        charts.retain(|chart| !chart.ceilings.is_empty() || !chart.roofs.is_empty());
        charts
    }

    /// The ceiling that points are held against.
    pub fn ceiling(&self) -> Option<&Ceiling> {
        self.ceilings.iter().find(|ceiling| ceiling.is_double()).or(self.ceilings.first())
    }

    /// What a roof and the ceiling allow at an intensity, FLOP/s; without a ceiling the roof alone.
    pub fn attainable(&self, intensity: f64, bandwidth: f64) -> f64 {
        let most = self.ceiling().map_or(f64::INFINITY, |ceiling| ceiling.flops.value.0);
        (intensity * bandwidth).min(most)
    }

    /// The intensities that a drawing of all roofs needs: a quarter of the first ridge to four
    /// times the last, as powers of two; `None` without a ridge.
    pub fn intensities(&self) -> Option<(f64, f64)> {
        let own = self.ceiling()?;
        let ridges = self.roofs.iter().flat_map(|roof| &roof.ridges);
        let of_own: Vec<f64> = ridges
            .filter(|ridge| ridge.ceiling == own.kernel)
            .map(|ridge| ridge.intensity)
            .collect();
        let least = of_own.iter().copied().min_by(f64::total_cmp)?;
        let most = of_own.iter().copied().max_by(f64::total_cmp)?;
        Some((least.log2().floor().exp2() / 4.0, most.log2().ceil().exp2() * 4.0))
    }

    /// A roof as corners of a line below the ceiling; empty without a ceiling.
    fn corners(&self, roof: &BandwidthRoof) -> Vec<Corner> {
        let (Some(ceiling), Some((from, to))) = (self.ceiling(), self.intensities()) else {
            return Vec::new();
        };
        let (bandwidth, most) = (roof.bandwidth.value.0, ceiling.flops.value);
        let corner = |intensity, flops| Corner { intensity, flops };
        let first = corner(from, FlopsPerSecond(from * bandwidth));
        vec![first, corner(most.0 / bandwidth, most), corner(to, most)]
    }

    /// Its own points, by their position.
    pub fn own_validations(&self) -> impl Iterator<Item = (usize, &RoofValidation)> + Clone {
        self.validations.iter().enumerate().filter(|(_, of)| of.initiator == self.initiator)
    }

    /// The points that tell how far a roof can be trusted: its own, else those below memory that
    /// are farthest off. For arithmetic those that are nearest: the points of every roof end at the
    /// ceiling, and the least disturbed tell of it. `None` without points.
    pub fn validation_of(&self, roof: Roof) -> Option<&RoofValidation> {
        let known = || self.validations.iter().filter_map(|of| Some((of, of.errors?.relative_rms)));
        if roof == Roof::Compute {
            return known().min_by(|one, other| one.1.total_cmp(&other.1)).map(|(of, _)| of);
        }
        let worst = |is_wanted: &dyn Fn(&RoofValidation) -> bool| {
            let wanted = known().filter(|(of, _)| is_wanted(of));
            wanted.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(of, _)| of)
        };
        // Node 0 of another initiator is another roof; its cache is like this one's.
        let is_its = |of: &RoofValidation| {
            of.roof == roof && (is_cache(roof) || of.initiator == self.initiator)
        };
        let is_memory = |of: &RoofValidation| of.roof != Roof::Compute && !is_cache(of.roof);
        worst(&is_its).or_else(|| worst(&is_memory))
    }

    /// How far points below a roof are from what it predicts: the true relative RMS of those of
    /// [`Chart::validation_of`]; `None` without points.
    pub fn error_of(&self, roof: Roof) -> Option<f64> {
        Some(self.validation_of(roof)?.errors?.relative_rms)
    }

    /// Whether those points are so far off that the roof predicts nothing of any program.
    pub fn is_refuted(&self, roof: Roof) -> bool {
        let errors = self.validation_of(roof).and_then(|of| of.errors);
        errors.is_some_and(|errors| errors.refutes)
    }

    /// What two figures must differ by to be told apart: twice the error of the roof's points, at
    /// least 5 %.
    pub fn resolution(&self, roof: Roof) -> f64 {
        self.error_of(roof).map_or(LEAST_RESOLUTION, |error| (2.0 * error).max(LEAST_RESOLUTION))
    }

    /// How many initiators contend where the most do.
    pub fn most_contending(&self) -> Option<u32> {
        let count = |roof: &BandwidthRoof| match roof.roof {
            Roof::Contended { initiators, .. } => Some(initiators),
            _ => None,
        };
        self.roofs.iter().filter_map(count).max()
    }

    pub(super) fn threads(&self) -> Option<u32> {
        self.roofs.iter().map(|roof| roof.threads).max()
    }

    /// What initiators that are like this one can borrow.
    fn within(&self) -> Self {
        let caches = self.roofs.iter().filter(|roof| is_cache(roof.roof));
        Self {
            ceilings: self.ceilings.clone(),
            roofs: caches.take(MOST_OF_A_SORT).cloned().collect(),
            validations: self.validations.iter().take(MOST_OF_A_SORT).cloned().collect(),
            initiator: self.initiator,
            ..Self::default()
        }
    }

    /// Plans measure caches and arithmetic once for initiators that are alike.
    fn take_what_is_within(&mut self, other: &Self) {
        if !self.ceilings.is_empty() || self.roofs.iter().any(|roof| is_cache(roof.roof)) {
            return;
        }
        self.roofs.splice(..0, other.roofs.iter().cloned());
        self.ceilings.clone_from(&other.ceilings);
        self.validations.clone_from(&other.validations);
        self.within_of = Some(other.initiator);
    }

    fn conclude(&mut self, machine: &Machine) {
        for roof in &mut self.roofs {
            let ridge = |ceiling: &Ceiling| {
                let intensity = ceiling.flops.value.0 / roof.bandwidth.value.0;
                let ceiling = ceiling.kernel.clone();
                intensity.is_normal().then_some(Ridge { ceiling, intensity })
            };
            roof.ridges = self.ceilings.iter().filter_map(ridge).collect();
        }
        let of_roof = |roof: &BandwidthRoof| (self.is_refuted(roof.roof), self.corners(roof));
        let found: Vec<(bool, Vec<Corner>)> = self.roofs.iter().map(of_roof).collect();
        for (roof, (is_refuted, corners)) in self.roofs.iter_mut().zip(found) {
            (roof.is_refuted, roof.corners) = (is_refuted, corners);
        }
        let local = self.roofs.iter().find(|roof| roof.is_local == Some(true));
        let nearest = local.or(self.roofs.first()).map(|roof| roof.roof);
        self.least_difference = nearest.map_or(0.0, |roof| self.resolution(roof));
        self.ceiling = self.ceiling().map(|ceiling| ceiling.kernel.clone());
        self.programs = expectations(self);
        self.advice = advice(self, machine.nodes.len());
    }
}

/// More roofs of a sort than this are no plan of ours; a stranger's record can hold any number.
const MOST_OF_A_SORT: usize = 64;

fn is_cache(roof: Roof) -> bool {
    matches!(roof, Roof::Cache { .. })
}

/// A figure of a roof that something can be divided by.
fn usable<'a>(of: &RoofFigures, summary: Option<&'a CaseSummary>) -> Option<&'a CaseSummary> {
    let is_usable = |it: &&CaseSummary| it.sum.median.is_normal() && it.sum.median > 0.0;
    summary.filter(is_usable).filter(|_| of.place.purpose == RoofPurpose::Roof)
}

fn ceilings(figures: &[&RoofFigures]) -> Vec<Ceiling> {
    let all = figures.iter().filter(|of| of.place.roof == Roof::Compute).filter_map(|of| {
        let summary = usable(of, of.flops.as_ref())?;
        Some(Ceiling {
            kernel: of.place.kernel.clone(),
            variant: of.place.variant.clone(),
            threads: of.place.threads,
            flops: Estimate::of_rounds(&summary.sum, &of.case.id),
        })
    });
    let mut ceilings = best_of_each(all, |it| it.kernel.clone(), |it| it.flops.value.0);
    ceilings.sort_by(|one, other| other.flops.value.0.total_cmp(&one.flops.value.0));
    ceilings.truncate(MOST_OF_A_SORT);
    ceilings
}

/// In the order of the figures, of each roof and kernel the best variant.
fn bandwidth_roofs(figures: &[&RoofFigures]) -> Vec<BandwidthRoof> {
    let all = figures.iter().filter(|of| of.place.roof != Roof::Compute).filter_map(|of| {
        let summary = usable(of, of.bandwidth.as_ref())?;
        Some(BandwidthRoof {
            roof: of.place.roof,
            is_local: of.is_local,
            kernel: of.place.kernel.clone(),
            variant: of.place.variant.clone(),
            threads: of.place.threads,
            bandwidth: Estimate::of_rounds(&summary.sum, &of.case.id),
            is_refuted: false,
            ridges: Vec::new(),
            corners: Vec::new(),
        })
    });
    best_of_each(all, |it| (it.roof, it.kernel.clone()), |it| it.bandwidth.value.0)
}

/// Of those with the same key the first of the highest, where the first of all stands.
fn best_of_each<T, Key: Eq + Hash>(
    all: impl Iterator<Item = T>,
    key: impl Fn(&T) -> Key,
    value: impl Fn(&T) -> f64,
) -> Vec<T> {
    let (mut best, mut known) = (Vec::new(), HashMap::new());
    for new in all {
        let position = *known.entry(key(&new)).or_insert(best.len());
        match best.get_mut(position) {
            Some(old) if value(old) >= value(&new) => {}
            Some(old) => *old = new,
            None => best.push(new),
        }
    }
    best
}
