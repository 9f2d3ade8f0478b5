//! What an actor did in one window, for the record.

use nearfar_record::{ActorSample, ThreadSample, TrafficMethod};

use super::loops::ActorLoop;
use super::window::Windows;
use super::worker::Walk;
use crate::executor::{Placement, RanLoop, chase_sample, compute_sample, transfer_sample};

/// Bytes and operations of one thread in a window.
#[derive(Debug, Clone, Copy)]
struct Counts {
    useful_bytes: u64,
    flops: u64,
}

/// The sample of an actor whose threads walked so, in the window of this number. `stores` is what
/// ordinary stores do on the machine.
pub(super) fn actor_sample(
    actor_loop: &ActorLoop<'_>,
    walks: &[Walk],
    placement: &Placement,
    stores: TrafficMethod,
    (windows, index): (Windows, u32),
) -> ActorSample {
    let threads = |counts: &dyn Fn(u64) -> Counts| -> Vec<ThreadSample> {
        walks.iter().map(|walk| thread_sample(walk, windows, index, counts)).collect()
    };
    match actor_loop {
        ActorLoop::Stream { memory_loop, .. } => {
            // What ran says what it was, not what was planned.
            let (name, variant) = (memory_loop.name(), memory_loop.variant().to_string());
            let ran = RanLoop {
                name: &name,
                kernel: memory_loop.kernel(),
                variant: &variant,
                unroll: memory_loop.unroll(),
                stores,
            };
            let step_bytes = ran.kernel.step_bytes();
            let threads = threads(&|done| {
                let useful_bytes = done / step_bytes * step_bytes;
                Counts { useful_bytes, flops: ran.flops(useful_bytes) }
            });
            ran.sample(threads, placement.clone())
        }
        ActorLoop::Chase { .. } => {
            let access = size_of::<f64>() as u64;
            let counts = |done| Counts { useful_bytes: done / access * access, flops: 0 };
            // It has one thread.
            chase_sample(thread_sample(&walks[0], windows, index, &counts), placement.clone())
        }
        ActorLoop::Compute(compute_loop) => {
            let threads = threads(&|done| Counts { useful_bytes: 0, flops: done });
            let (name, variant) = (compute_loop.name(), compute_loop.variant().to_string());
            compute_sample(&name, &variant, compute_loop.unroll(), threads)
        }
        ActorLoop::Transfer { actor, .. } => {
            let access = size_of::<f64>() as u64;
            let counts = |done| Counts { useful_bytes: done / access * access, flops: 0 };
            // It has one thread.
            let thread = thread_sample(&walks[0], windows, index, &counts);
            transfer_sample(actor, thread, walks[0].span(index).copies(), placement.clone())
        }
    }
}

/// What a thread did in the window. `counts` makes bytes and operations of what was done by the
/// thread's own count.
fn thread_sample(
    walk: &Walk,
    windows: Windows,
    index: u32,
    counts: &dyn Fn(u64) -> Counts,
) -> ThreadSample {
    let Counts { useful_bytes, flops } =
        counts(walk.log.done_between(windows.edge(index), windows.edge(index + 1)));
    let span = walk.span(index);
    let (open, close) = (&span.open, &span.close);
    ThreadSample {
        cpu_before: open.cpu,
        cpu_after: close.cpu,
        useful_bytes,
        flops,
        passes: close.passes,
        core_ghz: walk.core_ghz,
        involuntary_switches: close
            .usage
            .involuntary_switches
            .saturating_sub(open.usage.involuntary_switches),
        off_cpu_ns: span.off_cpu(),
        minor_faults: close.usage.minor_faults.saturating_sub(open.usage.minor_faults),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearfar_kernels::Variant;
    use nearfar_record::PageSizes;

    #[cfg(target_arch = "x86_64")]
    use super::super::compute::ComputeLoop;
    use super::super::layout::tests::stream;
    use super::super::memory_loop::MemoryLoop;
    use crate::kernel_name::MemoryKernel;

    fn sample(actor_loop: &ActorLoop<'_>) -> ActorSample {
        let windows = Windows { open: 1000, length: 1000, count: 0 };
        let placement = Placement {
            proof: None,
            write_proof: None,
            page_sizes: PageSizes { huge_bytes: None, resident_bytes: None },
        };
        let stores = TrafficMethod::EvasionPossible;
        actor_sample(actor_loop, &[], &placement, stores, (windows, 0))
    }

    /// A sample tells what ran: a reader finds it where it is not what was planned.
    #[test]
    fn a_loop_that_was_not_planned_is_told() {
        let actor = &stream("triad", "preferred:0", 1, 4096);
        for variant in Variant::available() {
            let kernel = MemoryKernel::named("copy").unwrap();
            let Ok(memory_loop) = MemoryLoop::of(kernel, &variant.to_string()) else { continue };
            let sample = sample(&ActorLoop::Stream { actor, memory_loop });
            assert_eq!((sample.kernel, sample.variant), ("copy".into(), variant.to_string()));
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn arithmetic_tells_what_ran() {
        let compute_loop = ComputeLoop::of("mul_add_sp", "sse2").unwrap();
        let sample = sample(&ActorLoop::Compute(compute_loop));
        assert_eq!((sample.kernel.as_str(), sample.variant.as_str()), ("mul_add_sp", "sse2"));
    }
}
