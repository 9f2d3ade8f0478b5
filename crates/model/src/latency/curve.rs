//! Time of an access beside more and more traffic.

use std::collections::{BTreeMap, HashMap};

use nearfar_machine::Machine;
use nearfar_record::{ChaseWalk, Estimate, LatencyCoordinates, Outcome, Pages};
use nearfar_units::{BytesPerSecond, Nanoseconds, Ratio};
use serde::Serialize;

use super::family::CurveFamily;
use super::knee::{LatencyKnee, LoadedPoint};
use crate::chases::ChaseFigures;

/// An initiator on a node beside one kind of traffic.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadedCurve {
    /// The initiator of the chase and of the threads beside it.
    pub initiator: u32,
    /// The node that all access.
    pub memory_node: u32,
    /// Whether the node is one of the initiator's own.
    pub is_local: bool,
    /// Kernel of the threads beside the chase.
    pub kernel: String,
    /// Its instruction-set variant.
    pub variant: String,
    /// How many they are.
    pub threads: u32,
    /// Reads / all bytes that cross to the memory for them; the interval is of what stores may read
    /// first. Null where it is not known.
    pub read_share: Option<Estimate<Ratio>>,
    /// Time of the same access without them; null where it was not measured.
    #[serde(rename = "idle_ns")]
    pub idle: Option<Estimate<Nanoseconds>>,
    /// From the least load to the most, those that have figures.
    pub points: Vec<LoadedPoint>,
    /// Points of the plan without figures.
    pub missing: usize,
    /// Where the curve bends.
    pub knee: Outcome<LatencyKnee>,
    /// What may cross beside accesses that take 1.5 times the idle ones.
    #[serde(rename = "usable_gb_per_s")]
    pub usable: Outcome<Estimate<BytesPerSecond>>,
}

impl LoadedCurve {
    /// Time of an access at its longest / the idle one; `None` without either.
    pub fn most_rise(&self) -> Option<f64> {
        let most = self.points.iter().map(|point| point.time.value.0).max_by(f64::total_cmp)?;
        Some(most / self.idle.as_ref()?.value.0)
    }

    /// The longest that an access can have taken by the intervals / the idle one; `None` without
    /// either.
    pub fn highest_rise(&self) -> Option<f64> {
        let most = self.points.iter().map(|point| point.time.ends()[1].0).max_by(f64::total_cmp)?;
        Some(most / self.idle.as_ref()?.value.0)
    }

    /// The most that crossed for the threads; `None` without points.
    pub fn most_traffic(&self) -> Option<BytesPerSecond> {
        let traffic = self.points.iter().map(|point| point.traffic.value);
        traffic.max_by(|one, other| one.0.total_cmp(&other.0))
    }
}

/// What distinguishes the accesses of curves, and those without load.
type Access = (u32, u32, u64, Pages, ChaseWalk);

fn access(place: &LatencyCoordinates) -> Access {
    (place.initiator, place.memory_node, place.working_set_bytes, place.pages, place.walk)
}

/// The loaded curves of a record and their families. Chases come from the longest pause to the shortest.
pub(super) fn curves(
    machine: &Machine,
    all: &[ChaseFigures],
) -> (Vec<LoadedCurve>, Vec<CurveFamily>) {
    let initiators = machine.initiators();
    let mut idle: HashMap<Access, &Estimate<Nanoseconds>> = HashMap::new();
    let mut loaded: BTreeMap<(Access, &str, &str, u32), Vec<&ChaseFigures>> = BTreeMap::new();
    for chase in all {
        let access = access(&chase.place);
        match (&chase.place.load, &chase.time) {
            (None, Some(time)) if time.time.is_positive() => {
                idle.insert(access, &time.time);
            }
            (None, _) => {}
            (Some(load), _) => {
                let key = (access, load.kernel.as_str(), load.variant.as_str(), load.threads);
                loaded.entry(key).or_default().push(chase);
            }
        }
    }
    let curves = loaded.into_iter().map(|((access, kernel, variant, threads), chases)| {
        let (initiator, memory_node, ..) = access;
        let idle = idle.get(&access).copied();
        let points: Vec<LoadedPoint> = chases.iter().filter_map(|chase| point(chase)).collect();
        let curve = LoadedCurve {
            initiator,
            memory_node,
            is_local: chases.iter().any(|chase| chase.is_local(&initiators)),
            kernel: kernel.into(),
            variant: variant.into(),
            threads,
            read_share: read_share(&chases),
            idle: idle.cloned(),
            missing: chases.len() - points.len(),
            knee: unknown(),
            usable: unknown(),
            points,
        };
        (access, curve)
    });
    let (accesses, mut curves): (Vec<Access>, Vec<LoadedCurve>) = curves.unzip();
    let mut families: BTreeMap<Access, Vec<&mut LoadedCurve>> = BTreeMap::new();
    for (access, curve) in accesses.into_iter().zip(&mut curves) {
        families.entry(access).or_default().push(curve);
    }
    let families = families.into_values().filter_map(|mut of| CurveFamily::of(&mut of)).collect();
    (curves, families)
}

/// What the family of a curve has not told yet.
fn unknown<T>() -> Outcome<T> {
    Outcome::Unknown { unknown: "no family holds it".into() }
}

/// Reads / all bytes that cross: what is not written.
fn read_share(chases: &[&ChaseFigures]) -> Option<Estimate<Ratio>> {
    let load = chases.first()?.place.load.as_ref()?;
    let written = f64::from(load.stores) / f64::from(load.loads + load.stores);
    let crossing = chases.iter().filter_map(|chase| chase.crossing);
    let [least, most] =
        crossing.reduce(|[low, high], [least, most]| [low.min(least), high.max(most)])?;
    let ends = [least, most].map(|crossing| 1.0 - written / crossing);
    // NaN of an old record, which does not say what the kernel loads and stores, is in no range.
    let is_share = |end: &f64| (0.0..=1.0).contains(end);
    let cases = chases.iter().map(|chase| chase.case.id.clone()).collect();
    ends.iter()
        .all(is_share)
        .then(|| Estimate::computed(f64::midpoint(ends[0], ends[1]), (ends[0], ends[1]), cases))
}

fn point(chase: &ChaseFigures) -> Option<LoadedPoint> {
    Some(LoadedPoint {
        pause_cycles: chase.place.load.as_ref()?.pause_cycles,
        time: chase.time.as_ref().map(|time| &time.time).filter(|it| it.is_positive())?.clone(),
        traffic: Some(traffic(chase)?).filter(Estimate::is_positive)?,
    })
}

/// What crosses to the memory for the threads beside a chase.
fn traffic(chase: &ChaseFigures) -> Option<Estimate<BytesPerSecond>> {
    let [least, most] = chase.crossing?;
    let useful = Estimate::<BytesPerSecond>::of_rounds(&chase.load.as_ref()?.sum, &chase.case.id);
    let [low, high] = useful.ends();
    Some(Estimate {
        value: useful.value * f64::midpoint(least, most),
        interval: Some([low * least, high * most]),
        ..useful
    })
}
