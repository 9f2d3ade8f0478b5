//! Time of an access beside more and more traffic.

use std::collections::{BTreeMap, HashMap};

use nearfar_machine::Machine;
use nearfar_record::{ChaseWalk, Estimate, LatencyCoordinates, Outcome, Pages};
use nearfar_units::{BytesPerSecond, Nanoseconds};
use serde::Serialize;

use super::knee::{LatencyKnee, LoadedPoint, UsableBandwidth, knee, usable};
use super::queue::{LatencyQueue, queue};
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
    /// Time of the same access without them; null where it was not measured.
    #[serde(rename = "idle_ns")]
    pub idle: Option<Estimate<Nanoseconds>>,
    /// From the least load to the most, those that have figures.
    pub points: Vec<LoadedPoint>,
    /// Points of the plan without figures.
    pub missing: usize,
    /// Where the curve bends.
    pub knee: Outcome<LatencyKnee>,
    /// What may be moved beside accesses that take 1.5 times the idle ones.
    pub usable: Outcome<UsableBandwidth>,
    /// The law of a queue that is fitted to it.
    pub queue: Outcome<LatencyQueue>,
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

    /// The most that the threads moved; `None` without points.
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

/// The loaded curves of a record. Chases come from the longest pause to the shortest.
pub(super) fn curves(machine: &Machine, all: &[ChaseFigures]) -> Vec<LoadedCurve> {
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
        let path = idle.ok_or("the same access without load has no time".to_string());
        LoadedCurve {
            initiator,
            memory_node,
            is_local: chases.iter().any(|chase| chase.is_local(&initiators)),
            kernel: kernel.into(),
            variant: variant.into(),
            threads,
            idle: idle.cloned(),
            missing: chases.len() - points.len(),
            knee: path.clone().and_then(|idle| knee(idle, &points)).into(),
            usable: path.clone().and_then(|idle| usable(idle, &points)).into(),
            queue: path.and_then(|idle| queue(idle, &points)).into(),
            points,
        }
    });
    curves.collect()
}

fn point(chase: &ChaseFigures) -> Option<LoadedPoint> {
    Some(LoadedPoint {
        pause_cycles: chase.place.load.as_ref()?.pause_cycles,
        time: chase.time.as_ref().map(|time| &time.time).filter(|it| it.is_positive())?.clone(),
        traffic: Some(Estimate::of_rounds(&chase.load.as_ref()?.sum, &chase.case.id))
            .filter(Estimate::is_positive)?,
    })
}
