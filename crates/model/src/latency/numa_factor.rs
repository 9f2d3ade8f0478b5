//! The NUMA factor of each initiator and node, and what the firmware says of it.

use std::collections::HashMap;

use nearfar_machine::Machine;
use nearfar_record::{Estimate, Outcome};
use nearfar_units::{Nanoseconds, Ratio};
use serde::Serialize;

use crate::chases::{AccessTime, ChaseFigures};

/// An initiator on a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NumaFactor {
    /// The case, by its id.
    pub case: String,
    /// The initiator of the chase.
    pub initiator: u32,
    /// The lowest node with CPUs of that initiator.
    pub cpu_node: Option<u32>,
    /// The node that is accessed.
    pub memory_node: u32,
    /// Whether the node is one of the initiator's own.
    pub is_local: bool,
    /// Of an idle access; null where it was not measured.
    #[serde(rename = "latency")]
    pub time: Option<AccessTime>,
    /// Whether caches answered a part of the accesses, so that memory alone takes longer.
    pub is_short: bool,
    /// That time / the least of the initiator's own nodes; the interval is what those of both leave
    /// room for.
    #[serde(rename = "numa_factor")]
    pub factor: Outcome<Estimate<Ratio>>,
    /// The firmware's distance / 10, which by the ACPI's convention is such a factor, or null.
    #[serde(rename = "firmware_factor")]
    pub firmware: Option<f64>,
    /// That / the measured one - 1, or null.
    pub firmware_error: Option<f64>,
    /// Whether what the firmware says is not so; null where that cannot be told.
    pub is_firmware_wrong: Option<bool>,
}

/// The NUMA factors of all remote nodes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FactorSpan {
    pub least: Ratio,
    pub most: Estimate<Ratio>,
    /// Initiator of the pair with the most.
    pub worst_initiator: u32,
    pub worst_memory_node: u32,
    /// Whether that pair is worse than every other by more than noise and than what is worth moving data
    /// for.
    pub has_worst: bool,
    /// Pairs of an initiator and a remote node that have a factor.
    pub pairs: usize,
}

/// A firmware's factor that is further from the measured one than this fraction, and outside of
/// its interval, is contradicted. Firmware counts in tenths of a local access, and most vendors in
/// hops: a smaller difference is no lie.
pub const FIRMWARE_ROOM: f64 = 0.2;

/// What the firmware says / the measured factor - 1, and whether it is contradicted.
fn judge_firmware(firmware: Option<f64>, factor: Option<&Estimate<Ratio>>) -> Option<(f64, bool)> {
    let (firmware, factor) = (firmware?, factor?);
    let error = Some(firmware / factor.value.0 - 1.0).filter(|error| error.is_finite())?;
    let [low, high] = factor.ends();
    Some((error, error.abs() > FIRMWARE_ROOM && !(low.0..=high.0).contains(&firmware)))
}

/// The factor of each cell of the idle matrix.
pub(super) fn numa_factors(machine: &Machine, matrix: &[&ChaseFigures]) -> Vec<NumaFactor> {
    let initiators = machine.initiators();
    let is_own = |chase: &ChaseFigures| chase.is_local(&initiators);
    // Of each initiator the fastest chase on a node of its own.
    let mut own: HashMap<u32, Timed<'_>> = HashMap::new();
    for timed in matrix.iter().filter(|chase| is_own(chase)).filter_map(|chase| timed(chase)) {
        let fastest = own.entry(timed.0.place.initiator).or_insert(timed);
        if timed.1.value < fastest.1.value {
            *fastest = timed;
        }
    }
    let of = |chase: &&ChaseFigures| {
        numa_factor(machine, chase, is_own(chase), own.get(&chase.place.initiator).copied())
    };
    matrix.iter().map(of).collect()
}

fn numa_factor(
    machine: &Machine,
    chase: &ChaseFigures,
    is_local: bool,
    own: Option<Timed<'_>>,
) -> NumaFactor {
    let place = &chase.place;
    let factor = match (timed(chase), own) {
        (None, _) => Err("its accesses have no time".into()),
        (_, None) => Err(format!("no node of initiator {}'s own has a time", place.initiator)),
        (Some(timed), Some(own)) => ratio(timed, own),
    };
    let firmware = place
        .cpu_node
        .and_then(|node| machine.distance(node, place.memory_node))
        .and_then(firmware_factor);
    let judged = judge_firmware(firmware, factor.as_ref().ok());
    NumaFactor {
        case: chase.case.id.clone(),
        initiator: place.initiator,
        cpu_node: place.cpu_node,
        memory_node: place.memory_node,
        is_local,
        time: chase.time.clone(),
        is_short: chase.is_short(),
        factor: factor.into(),
        firmware,
        firmware_error: judged.map(|(error, _)| error),
        is_firmware_wrong: judged.map(|(_, is_wrong)| is_wrong),
    }
}

/// A chase and its time, which can be divided by.
type Timed<'a> = (&'a ChaseFigures, &'a Estimate<Nanoseconds>);

fn timed(chase: &ChaseFigures) -> Option<Timed<'_>> {
    let time = &chase.time.as_ref()?.time;
    time.is_positive().then_some((chase, time))
}

fn ratio((chase, time): Timed<'_>, (own, local): Timed<'_>) -> Result<Estimate<Ratio>, String> {
    if chase.case.id == own.case.id {
        return Ok(Estimate::computed(1.0, (1.0, 1.0), vec![own.case.id.clone()]));
    }
    let how = |chase: &ChaseFigures| (chase.place.pages, chase.place.walk);
    if how(chase) != how(own) {
        return Err("its chase walks in another way, or on other pages, than the local one".into());
    }
    let ([least, most], [local_least, local_most]) = (time.ends(), local.ends());
    let ends = (least / local_most, most / local_least);
    let cases = vec![chase.case.id.clone(), own.case.id.clone()];
    Ok(Estimate::computed(time.value / local.value, ends, cases))
}

/// The distances of firmware are counted in tenths of a local access; 0 and 255 mean that it does
/// not know.
fn firmware_factor(distance: u64) -> Option<f64> {
    let known = u8::try_from(distance).ok().filter(|distance| (1..255).contains(distance));
    known.map(|distance| f64::from(distance) / 10.0)
}

/// A difference below this fraction of an access is not worth moving data for: the rule of gains.
pub(super) const WORTH: f64 = 0.05;

/// Whether the farthest of all is farther than every other by more than noise and than what is worth
/// moving data for.
fn has_worst(remote: &[(&NumaFactor, &Estimate<Ratio>)], most: &Estimate<Ratio>) -> bool {
    let is_less = |it: &Estimate<Ratio>| {
        it.ends()[1].0 < most.ends()[0].0 && it.value.0 * (1.0 + WORTH) < most.value.0
    };
    remote.len() > 1 && remote.iter().filter(|(_, it)| !is_less(it)).count() == 1
}

/// The factors of remote nodes together.
pub(super) fn span(machine: &Machine, factors: &[NumaFactor]) -> Result<FactorSpan, String> {
    let remote: Vec<(&NumaFactor, &Estimate<Ratio>)> = factors
        .iter()
        .filter(|pair| !pair.is_local)
        .filter_map(|pair| Some((pair, pair.factor.found()?)))
        .collect();
    let value = |(_, factor): &&(&NumaFactor, &Estimate<Ratio>)| factor.value.0;
    let least = remote.iter().min_by(|one, other| value(one).total_cmp(&value(other)));
    let most = remote.iter().max_by(|one, other| value(one).total_cmp(&value(other)));
    match (least, most) {
        (Some(&(_, least)), Some(&(worst, most))) => Ok(FactorSpan {
            least: least.value,
            most: most.clone(),
            worst_initiator: worst.initiator,
            worst_memory_node: worst.memory_node,
            has_worst: has_worst(&remote, most),
            pairs: remote.len(),
        }),
        _ if machine.nodes.len() == 1 => Err("one node: nothing is remote".into()),
        _ if factors.iter().all(|pair| pair.is_local) => {
            Err("every node that was measured is local to the initiator that accessed it".into())
        }
        _ => Err("no remote node has a time beside a local one".into()),
    }
}
