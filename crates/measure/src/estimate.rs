//! How long a plan takes at most, from a short look at the machine.

use std::collections::BTreeMap;
use std::time::Duration;

use nearfar_machine::Machine;
use nearfar_record::{Actor, Case, Coordinates, Inputs};

use crate::executor::Rates;

/// What a plan will take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Cases.
    pub cases: usize,
    /// Rounds at most.
    pub rounds: u32,
    /// One round over all cases, at most.
    pub round: Duration,
    /// All rounds, at most.
    pub total: Duration,
    /// Most memory that is mapped at a time.
    pub buffers_bytes: u64,
}

/// A case runs threads, proves pages and reads files beside moving data.
const FIXED_PER_CASE: Duration = Duration::from_millis(12);

/// Seconds to ask for the node of a page, and to look at one element of it.
const PER_PAGE: f64 = 250e-9;

/// Passes over the working set before the window: one by the kernel, and part of
/// one to write again what another kernel has overwritten.
const PASSES: f64 = 1.4;

/// The bound over the expected: neighbours on a shared machine, and the kernels
/// that are slower than the one that was looked at.
const MARGIN: f64 = 1.1;

/// How much slower a remote node may be where the firmware gives no distance.
const UNKNOWN_REMOTE_SLOWDOWN: f64 = 2.0;

/// How much slower than local memory a case's node may be: its distance over the
/// local one, at least 1.
fn slowdown(case: &Case, machine: &Machine) -> f64 {
    let of_place = |place: &Coordinates| {
        let Coordinates::Pairs { cpu_node, memory_node, .. } = place;
        if *cpu_node == Some(*memory_node) {
            return 1.0;
        }
        let distance = cpu_node.and_then(|from| machine.distance(from, *memory_node));
        #[expect(clippy::cast_precision_loss, reason = "distances are below 256")]
        let ratio = distance.map_or(UNKNOWN_REMOTE_SLOWDOWN, |distance| distance as f64 / 10.0);
        ratio.max(UNKNOWN_REMOTE_SLOWDOWN)
    };
    case.coordinates.iter().map(of_place).fold(1.0, f64::max)
}

/// Time at most for all rounds over these cases.
#[must_use]
pub fn estimate(
    cases: &[Case],
    rounds: u32,
    inputs: &Inputs,
    machine: &Machine,
    rates: Rates,
) -> Estimate {
    let mut seconds = 0.0;
    let mut pools: BTreeMap<String, u64> = BTreeMap::new();
    for case in cases {
        let slowdown = slowdown(case, machine);
        for Actor::Stream(stream) in &case.actors {
            let pool = pools.entry(stream.binding.memory.to_string()).or_default();
            *pool = (*pool).max(stream.working_set_bytes);
            let bytes = as_float(stream.working_set_bytes);
            // Threads of one node share its memory; two threads are counted as the
            // gain that any machine gives.
            let speedup = f64::from(stream.threads.min(2)) / slowdown;
            seconds += PASSES * bytes / (rates.stream * speedup);
            seconds += bytes / 4096.0 * PER_PAGE;
            let window = Duration::from_nanos(inputs.window_ns).as_secs_f64();
            let by_caches = stream
                .llc_multiple
                .map_or(0.0, |multiple| 2.0 * bytes / multiple / (rates.stream * speedup));
            seconds += f64::from(inputs.windows_per_round) * window.max(by_caches);
        }
        seconds += FIXED_PER_CASE.as_secs_f64();
    }
    let touched: u64 = pools.values().sum();
    seconds += as_float(touched) / rates.touch;
    let round = Duration::from_secs_f64(seconds * MARGIN);
    let first = Duration::from_secs_f64(as_float(touched) / rates.first_touch.min(rates.touch));
    let total = if cases.is_empty() { Duration::ZERO } else { first + round * rounds };
    Estimate { cases: cases.len(), rounds, round, total, buffers_bytes: touched }
}

#[expect(clippy::cast_precision_loss, reason = "bytes of a working set are far below 2^53")]
fn as_float(bytes: u64) -> f64 {
    bytes as f64
}
