//! The chase beside a plain loop of dependent loads, written here and over the same nodes in the
//! same order.
//!
//! The chase loads from the address that the load before gave. The plain loop has no unsafe code,
//! so that it loads from the beginning of an array plus an index, which takes many CPUs one cycle
//! more (Intel from Sandy Bridge to Skylake: five instead of four in the nearest cache). That
//! cycle is allowed for.

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use anyhow::{Context, ensure};
use nearfar_kernels::{Chase, Laying, add_in_sequence};
use nearfar_stats::{median, ratio_of_medians};
use nearfar_sys::{Mapping, PageRequest};
use nearfar_units::Bytes;

use crate::options::Options;
use crate::surroundings::{Surroundings, on_cpu};

/// Both sides agree within this fraction.
const TOLERANCE: f64 = 0.03;

/// How long a run lasts, roughly: this many nanoseconds.
const RUN_NS: f64 = 100e6;

/// Nodes that are left only when all were visited: those of 64 pages of 4 KiB.
const NODES_PER_GROUP: usize = 64 * 4096 / Chase::NODE_BYTES;

/// Of the order, and of the resampling.
const SEED: u64 = 1;

/// Elements of a node.
const NODE: usize = Chase::NODE_BYTES / size_of::<f64>();

/// Runs both loops in turns over several sizes; gives the number of sizes at which they differ.
///
/// # Errors
/// When memory is refused, a chase goes astray, or nothing can be written.
pub fn compare(
    surroundings: &Surroundings,
    options: &Options,
    out: &mut (impl Write + Send),
) -> anyhow::Result<usize> {
    on_cpu(surroundings.one.cpus[0], || {
        writeln!(
            out,
            "\n{:<10} {:>9} {:>9} {:>6} {:>15}",
            "chase", "ours ns", "plain ns", "ratio", "95 % interval"
        )?;
        let mut missed = 0;
        for size in [16 << 10, 512 << 10, 16 << 20, 512 << 20] {
            missed += usize::from(!compare_size(size, options.rounds, out)?);
        }
        writeln!(
            out,
            "Both loops are over the same lines in the same order, in huge pages where Linux gives \
             them.\nJudged: ok unless the interval lies beyond 1 +- {TOLERANCE} as a whole. Below, \
             it may lie lower\nby one cycle of the plain loop's time, which many CPUs take for its \
             index."
        )?;
        Ok(missed)
    })
}

fn compare_size(bytes: usize, rounds: u32, out: &mut impl Write) -> anyhow::Result<bool> {
    let mut mapping = Mapping::new(bytes, PageRequest::Transparent)?;
    let memory = mapping.as_f64_mut();
    let memory = memory.get_mut(..bytes / size_of::<f64>()).context("a smaller mapping")?;
    memory.fill(1.5);
    let (mut ours, mut plain) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        for ours_now in [round % 2 == 0, round % 2 != 0] {
            if ours_now {
                ours.push(run_ours(memory)?);
            } else {
                plain.push(run_plain(memory)?);
            }
        }
    }
    let estimate = ratio_of_medians(&ours, &plain, SEED).context("no round was run")?;
    let (low, high) = estimate.interval;
    let plain_ns = median(&plain).context("no round was run")?;
    // Where no loop tells the cycle, nothing is allowed for.
    let index = cycle_ns().map_or(0.0, |cycle| cycle / plain_ns);
    let agree = low <= 1.0 + TOLERANCE && high >= 1.0 - TOLERANCE - index;
    writeln!(
        out,
        "{:<10} {:>9.3} {:>9.3} {:>6.3} {:>15}  {}",
        Bytes(bytes as u64).to_string(),
        median(&ours).unwrap_or(f64::NAN),
        plain_ns,
        estimate.ratio,
        format!("{low:.3} - {high:.3}"),
        if agree { "ok" } else { "DIFFERS" }
    )?;
    Ok(agree)
}

/// Times a loop that goes on for this many accesses: once round without a clock, then as long as a
/// run lasts. Gives nanoseconds per access.
fn time(nodes: usize, mut go_on: impl FnMut(u64)) -> f64 {
    let started = Instant::now();
    go_on(nodes.max(100_000) as u64);
    let first = started.elapsed().as_secs_f64() * 1e9 / nodes.max(100_000) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, small")]
    let accesses = (RUN_NS / first) as u64 / 64 * 64;
    let started = Instant::now();
    go_on(accesses);
    started.elapsed().as_secs_f64() * 1e9 / accesses as f64
}

/// Nanoseconds of one cycle of this core; `None` where there is no loop that tells.
fn cycle_ns() -> Option<f64> {
    let started = Instant::now();
    let additions = add_in_sequence(30_000_000)?;
    Some(started.elapsed().as_secs_f64() * 1e9 / additions as f64)
}

fn run_ours(memory: &mut [f64]) -> anyhow::Result<f64> {
    let mut chase = Chase::new(memory, NODES_PER_GROUP, SEED, Laying::Plain);
    let nodes = chase.cycle().nodes();
    let ns = time(nodes, |accesses| chase.run(accesses));
    ensure!(chase.is_on_course(), "the chase went astray");
    Ok(ns)
}

fn run_plain(memory: &mut [f64]) -> anyhow::Result<f64> {
    let order: Vec<usize> = {
        let chase = Chase::new(memory, NODES_PER_GROUP, SEED, Laying::Plain);
        chase.cycle().order().collect()
    };
    // In each node the element where the next one is.
    let next = order.iter().skip(1).chain(order.first());
    for (&node, &next) in order.iter().zip(next) {
        memory[node * NODE] = f64::from_bits((next * NODE) as u64);
    }
    let mut place = order.first().context("no nodes")? * NODE;
    let ns = time(order.len(), |accesses| {
        for _ in 0..accesses {
            #[expect(clippy::cast_possible_truncation, reason = "an index of this memory")]
            let next = memory[place].to_bits() as usize;
            place = next;
        }
        black_box(place);
    });
    Ok(ns)
}
