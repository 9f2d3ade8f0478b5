//! What the kernels say they do, beside what the CPU's counters saw: floating-point
//! operations, exactly, and lines filled into the first-level cache from memory.

use std::hint::black_box;
use std::io::{self, Write};

use nearfar_kernels::{
    CATALOG, Constants, FlopOperation, Flops, Kernel, Mix, Operands, Pattern, Precision, TimedLoop,
    Variant,
};
use nearfar_record::{Cpu, Environment};
use nearfar_sys::{Mapping, PageRequest};
use perf_event::Builder;
use perf_event::events::Raw;

use crate::cell::Level;
use crate::surroundings::{Surroundings, on_cpu};

/// Counted fills may differ from the declared lines by this fraction.
const FILL_TOLERANCE: f64 = 0.05;

/// A counter of fills is believed when it counts a plain walk within this fraction.
const WALK_TOLERANCE: f64 = 0.02;

/// Additions of the known loop.
const ADDITIONS: u64 = 1_000_000;

/// Elements of a cache line.
const LINE: usize = 8;

/// The events of one kind of CPU, as event | umask << 8.
struct Events {
    source: &'static str,
    /// Their sum over the weights is the number of floating-point operations on f64.
    flops: Vec<(u64, u64)>,
    /// Lines that came into the first-level data cache, for whatever reason.
    fills: Result<u64, &'static str>,
}

impl Events {
    /// Of this CPU, or why none are known.
    fn of(cpu: &Cpu) -> Result<Self, String> {
        let event = |code: u64, umask: u64| code | umask << 8;
        match (cpu.vendor.as_deref(), cpu.family, cpu.model) {
            // PMCx003 counts operations, a fused multiply-add as two. Zen and Zen+ have
            // bits of their own for f64; all bits together count nothing on Zen 5.
            (Some("AuthenticAMD"), Some(family @ (0x17 | 0x19 | 0x1a)), model) => Ok(Self {
                source: "PMCx003 and PMCx044; AMD's Processor Programming References, Linux \
                         tools/perf/pmu-events/arch/x86/amdzen*",
                flops: match (family, model) {
                    (0x17, Some(..0x30)) => vec![(event(0x03, 0xf0), 1)],
                    _ => vec![(event(0x03, 0x0f), 1)],
                },
                fills: match family {
                    0x17 => Err("Zen 1 and 2 have no event for all fills"),
                    _ => Ok(event(0x44, 0xff)),
                },
            }),
            // FP_ARITH_INST_RETIRED counts instructions by width, a fused multiply-add
            // twice. L1D.REPLACEMENT counts lines that come into the first-level cache.
            (Some("GenuineIntel"), Some(6), _) => Ok(Self {
                source: "FP_ARITH_INST_RETIRED (0xC7) and L1D.REPLACEMENT (0x51/0x01); Intel SDM vol. \
                         3B, performance monitoring events",
                flops: [(0x01, 1), (0x04, 2), (0x10, 4), (0x40, 8)]
                    .map(|(umask, lanes)| (event(0xc7, umask), lanes))
                    .to_vec(),
                fills: Ok(event(0x51, 0x01)),
            }),
            _ => Err("no events are known for this CPU".into()),
        }
    }

    fn count_flops(&self, mut work: impl FnMut()) -> io::Result<u64> {
        self.flops.iter().map(|&(event, weight)| Ok(weight * count(event, &mut work)?)).sum()
    }
}

/// Counts one event in this thread's user mode while `work` runs.
fn count(event: u64, mut work: impl FnMut()) -> io::Result<u64> {
    let mut counter =
        Builder::new(Raw::new(event)).exclude_kernel(true).exclude_hv(true).build()?;
    counter.enable()?;
    work();
    counter.disable()?;
    let counted = counter.read_count_and_time()?;
    if counted.time_running == 0 || counted.time_running < counted.time_enabled {
        return Err(io::Error::other("other users of the counters took their turns"));
    }
    Ok(counted.count)
}

/// Checks every kernel in every variant; gives the number of figures that disagree.
/// Without counters that is one line.
///
/// # Errors
/// When nothing can be written.
pub fn check(surroundings: &Surroundings, out: &mut (impl Write + Send)) -> anyhow::Result<usize> {
    let cpu = surroundings.one.cpus[0];
    let events = Events::of(&surroundings.environment.cpu);
    let usable = events.and_then(|events| match events.count_flops(|| ()) {
        Ok(_) => Ok(events),
        Err(error) => Err(why_refused(&error, &surroundings.environment)),
    });
    let events = match usable {
        Ok(events) => events,
        Err(reason) => {
            writeln!(out, "\ncounters not available: {reason}")?;
            return Ok(0);
        }
    };
    let set = Level::Memory.working_set(surroundings, &[cpu]).map_err(anyhow::Error::msg)?;
    let mut arrays = Mapping::new(usize::try_from(set.wanted)?, PageRequest::Transparent)?;
    on_cpu(cpu, || {
        Pattern::new(1).fill(arrays.as_f64_mut(), 0);
        check_kernels(&events, arrays.as_f64_mut(), out)
    })
}

fn why_refused(error: &io::Error, environment: &Environment) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            format!("the kernel offers no CPU counters, as in most virtual machines ({error})")
        }
        io::ErrorKind::PermissionDenied => {
            let level = environment.perf_event_paranoid;
            let level = level.map_or_else(|| "not known".into(), |level| level.to_string());
            format!(
                "{error}; kernel.perf_event_paranoid is {level}, and must be at most 2, or the process \
                 needs CAP_PERFMON"
            )
        }
        _ => error.to_string(),
    }
}

fn check_kernels(
    events: &Events,
    arrays: &mut [f64],
    out: &mut impl Write,
) -> anyhow::Result<usize> {
    writeln!(out, "\ncounters: {}", events.source)?;
    writeln!(out, "A counter is believed only if it first counts a loop of known work.")?;
    let flops_believed = believe_flops(events, out)?;
    let fill_event = believe_fills(events, arrays, out)?;
    let mut disagree = 0;
    for kernel in &CATALOG {
        for variant in kernel.variants() {
            let timed_loop = kernel.in_variant(variant)?;
            if flops_believed {
                disagree += usize::from(!check_flops(events, timed_loop, arrays, out)?);
            }
            if let Some(event) = fill_event {
                disagree += usize::from(!check_fills(event, timed_loop, arrays, out)?);
            }
        }
    }
    if flops_believed {
        disagree += check_generated(events, arrays, out)?;
    }
    Ok(disagree)
}

/// Generated arithmetic, and generated mixes that compute; gives how many disagree. Two lengths
/// are compared, so that what a call does once drops out.
fn check_generated(
    events: &Events,
    arrays: &mut [f64],
    out: &mut impl Write,
) -> anyhow::Result<usize> {
    const TURNS: usize = 1000;
    const STEPS: usize = 4096;
    let mut disagree = 0;
    for variant in Variant::available() {
        for operation in FlopOperation::ALL {
            let flops = Flops { operation, precision: Precision::Double };
            let Ok(generated) = flops.generate(variant) else { continue };
            let count = |turns| {
                events.count_flops(|| {
                    black_box(generated.run(turns));
                })
            };
            let counted = i128::from(count(3 * TURNS)?) - i128::from(count(TURNS)?);
            let declared = i128::from(generated.flops(2 * TURNS as u64));
            disagree += usize::from(!agrees(&flops.to_string(), variant, counted, declared, out)?);
        }
        for text in ["1l_1add", "4l_1fma", "2l1s_4fma", "1l_64fma"] {
            let mix: Mix = text.parse()?;
            let Ok(generated) = mix.generate(variant) else { continue };
            let (source, rest) = arrays.split_at_mut(STEPS * mix.loads() as usize);
            let destination = &mut rest[..STEPS * mix.stores() as usize];
            let constants = Constants::for_pass(0);
            let mut count = |repeats| {
                events.count_flops(|| {
                    black_box(generated.run(destination, source, &constants, repeats));
                })
            };
            let counted = i128::from(count(3)?) - i128::from(count(1)?);
            let declared = i128::from(2 * u64::from(mix.flops()) * STEPS as u64);
            disagree += usize::from(!agrees(text, variant, counted, declared, out)?);
        }
    }
    Ok(disagree)
}

fn agrees(
    name: &str,
    variant: Variant,
    counted: i128,
    declared: i128,
    out: &mut impl Write,
) -> io::Result<bool> {
    let agree = counted == declared;
    let word = if agree { "ok" } else { "DISAGREE" };
    writeln!(out, "{name:<12} {variant:<8} FLOPs {counted} of {declared} {word}")?;
    Ok(agree)
}

/// Counts additions one by one, each of which the compiler must make.
fn believe_flops(events: &Events, out: &mut impl Write) -> anyhow::Result<bool> {
    let counted = events.count_flops(|| {
        let mut sum = 0.0;
        for _ in 0..ADDITIONS {
            sum += black_box(1.0);
        }
        black_box(sum);
    })?;
    let believed = counted == ADDITIONS;
    let word = if believed { "believed" } else { "NOT believed, left out" };
    writeln!(out, "FLOPs: {ADDITIONS} scalar additions counted as {counted}: {word}")?;
    Ok(believed)
}

/// Counts a walk that reads one element of every line, from memory.
fn believe_fills(
    events: &Events,
    arrays: &[f64],
    out: &mut impl Write,
) -> anyhow::Result<Option<u64>> {
    let event = match events.fills {
        Ok(event) => event,
        Err(reason) => {
            writeln!(out, "fills: left out: {reason}")?;
            return Ok(None);
        }
    };
    let counted = count(event, || {
        for element in arrays.iter().step_by(LINE) {
            black_box(*element);
        }
    })?;
    let lines = arrays.len().div_ceil(LINE);
    let believed = (counted as f64 / lines as f64 - 1.0).abs() <= WALK_TOLERANCE;
    let word = if believed { "believed" } else { "NOT believed, left out" };
    writeln!(out, "fills: a walk over {lines} lines counted as {counted}: {word}")?;
    Ok(believed.then_some(event))
}

/// Compares three passes with one, so that what a call does once (a reduction adds
/// up its partial results) drops out.
fn check_flops(
    events: &Events,
    timed_loop: TimedLoop,
    arrays: &mut [f64],
    out: &mut impl Write,
) -> io::Result<bool> {
    const ELEMENTS: usize = 8192;
    let kernel = timed_loop.kernel();
    let constants = Constants::for_pass(0);
    let mut passes = |repeats| {
        events.count_flops(|| {
            black_box(timed_loop.run(operands(kernel, arrays, ELEMENTS), &constants, repeats));
        })
    };
    let counted = i128::from(passes(3)?) - i128::from(passes(1)?);
    let declared = i128::from(2 * u64::from(kernel.flops()) * ELEMENTS as u64);
    agrees(kernel.name, timed_loop.variant(), counted, declared, out)
}

/// Compares the fills of one pass over memory with the lines that it declares: all
/// that it loads, and those that ordinary stores make the cache read or claim first.
fn check_fills(
    event: u64,
    timed_loop: TimedLoop,
    arrays: &mut [f64],
    out: &mut impl Write,
) -> io::Result<bool> {
    let kernel = timed_loop.kernel();
    let elements = arrays.len() / kernel.arrays() / LINE * LINE;
    let constants = Constants::for_pass(0);
    let counted = count(event, || {
        black_box(timed_loop.run(operands(kernel, arrays, elements), &constants, 1));
    })?;
    let allocated = if kernel.write_allocates() { kernel.stores() } else { 0 };
    let lines_per_array = (elements / LINE) as f64;
    let declared = f64::from(kernel.loads() + allocated);
    let filled = counted as f64 / lines_per_array;
    // Non-temporal stores alone declare none: they are held against the lines written.
    let agree = (filled - declared).abs() <= FILL_TOLERANCE * declared.max(1.0);
    let word = if agree { "ok" } else { "DISAGREE" };
    let (name, variant) = (kernel.name, timed_loop.variant());
    let fills = format!("fills per line of an array {filled:.3} of {declared} {word}");
    writeln!(out, "{name:<12} {variant:<8} {fills}")?;
    Ok(agree)
}

/// The kernel's arrays out of one: sources first.
fn operands<'a>(kernel: &Kernel, arrays: &'a mut [f64], elements: usize) -> Operands<'a> {
    let mut parts = arrays.chunks_exact_mut(elements);
    let mut next = || parts.next().unwrap_or_default();
    match (kernel.loads(), kernel.stores()) {
        (1, 0) => Operands::load(next()),
        (2, 0) => Operands::dot(next(), next()),
        (0, _) => Operands::store(next()),
        (1, _) => {
            let b = next();
            Operands::map(next(), b)
        }
        _ => {
            let (b, c) = (next(), next());
            Operands::zip(next(), b, c)
        }
    }
}
