//! What was seen in one window, for the record: what actors did, and what disturbed them.

use std::path::Path;
use std::time::Duration;

use nearfar_machine::CpuSet;
use nearfar_record::{
    ActorSample, Case, Disturbance, Exchange, ThreadSample, TrafficMethod, WithoutCopy,
    disturbances_of_threads, is_disturbing,
};
use nearfar_sys::{steal_time, throttled};

use super::loops::ActorLoop;
use super::window::Windows;
use super::worker::Walk;
use crate::executor::{
    Placement, RanLoop, chase_sample, compute_sample, exchange_sample, message_sample,
    transfer_sample,
};

/// The sample of an actor whose threads walked so, in the window of this number. `stores` is what
/// ordinary stores do on the machine.
pub(super) fn actor_sample(
    actor_loop: &ActorLoop<'_>,
    walks: &[Walk],
    placement: &Placement,
    stores: TrafficMethod,
    (windows, index): (Windows, u32),
) -> ActorSample {
    let threads = || walks.iter().map(|walk| thread_sample(walk, windows, index));
    let moved = |access: u64| {
        threads().map(move |thread| ThreadSample {
            useful_bytes: thread.useful_bytes / access * access,
            ..thread
        })
    };
    // A chase and a transfer have one thread.
    let only = || moved(size_of::<f64>() as u64).next().unwrap_or(ThreadSample::quiet(None, 0, 0));
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
            let threads = moved(ran.kernel.step_bytes())
                .map(|thread| ThreadSample { flops: ran.flops(thread.useful_bytes), ..thread });
            ran.sample(threads.collect(), placement.clone())
        }
        ActorLoop::Chase { .. } => chase_sample(only(), placement.clone()),
        ActorLoop::Exchange(exchange) => {
            let threads = moved(Exchange::HAND_OVER_BYTES).collect();
            exchange_sample(exchange.by, threads, placement.clone())
        }
        ActorLoop::Compute(compute_loop) => {
            let (name, variant) = (compute_loop.name(), compute_loop.variant().to_string());
            let threads = threads().map(|thread| ThreadSample {
                flops: thread.useful_bytes,
                useful_bytes: 0,
                ..thread
            });
            compute_sample(&name, &variant, compute_loop.unroll(), threads.collect())
        }
        ActorLoop::Transfer { actor, .. } => {
            transfer_sample(actor, only(), walks[0].span(index).copies(), placement.clone())
        }
        ActorLoop::Messages { actor, .. } => {
            let spans = || walks.iter().map(|walk| walk.span(index));
            let without_copy = spans().map(|span| span.without_copy()).try_fold(
                WithoutCopy::default(),
                |sum, of_thread| {
                    let of_thread = of_thread?;
                    Some(WithoutCopy {
                        sends: sum.sends + of_thread.sends,
                        copied: sum.copied + of_thread.copied,
                    })
                },
            );
            let seen = (spans().map(|span| span.copies().0).sum(), without_copy);
            let threads = moved(size_of::<f64>() as u64).collect();
            message_sample(actor, threads, seen, placement.clone())
        }
    }
}

/// What a thread did in the window, all of it by its own count as bytes.
fn thread_sample(walk: &Walk, windows: Windows, index: u32) -> ThreadSample {
    let span = walk.span(index);
    let (open, close) = (&span.open, &span.close);
    let (before, after) = (&open.usage, &close.usage);
    ThreadSample {
        cpu_before: open.cpu,
        cpu_after: close.cpu,
        useful_bytes: {
            let [open, close] = windows.span(index);
            walk.log.done_between(open, close)
        },
        flops: 0,
        passes: close.passes,
        core_ghz: walk.core_ghz,
        involuntary_switches: after
            .involuntary_switches
            .saturating_sub(before.involuntary_switches),
        off_cpu_ns: span.off_cpu(),
        minor_faults: after.minor_faults.saturating_sub(before.minor_faults),
    }
}

/// CPU time that others took from a case, while it ran.
pub(super) struct Taken {
    stolen: Option<Duration>,
    throttled: Option<Duration>,
}

impl Taken {
    pub fn read(cpus: &CpuSet) -> Self {
        let root = Path::new("/");
        Self { stolen: steal_time(root, cpus), throttled: throttled(root) }
    }

    pub fn since(&self, before: &Self) -> Vec<Disturbance> {
        let grown = |now: Option<Duration>, then: Option<Duration>| {
            let grown = now?.saturating_sub(then?);
            u64::try_from(grown.as_micros()).ok().filter(|&microseconds| microseconds > 0)
        };
        let stolen = grown(self.stolen, before.stolen)
            .map(|microseconds| Disturbance::Stolen { microseconds });
        let throttled = grown(self.throttled, before.throttled)
            .map(|microseconds| Disturbance::Throttled { microseconds });
        stolen.into_iter().chain(throttled).collect()
    }
}

/// What disturbed one window: what the threads noted, and a clock that they contradict.
pub(super) fn disturbances_of(
    case: &Case,
    actors: &[ActorSample],
    length_ns: u64,
    clock_lag_ns: u64,
) -> Vec<Disturbance> {
    let mut found = disturbances_of_threads(case, actors, length_ns);
    if is_disturbing(clock_lag_ns, length_ns) {
        found.push(Disturbance::Clock { microseconds: clock_lag_ns / 1000 });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearfar_kernels::Variant;

    #[cfg(target_arch = "x86_64")]
    use super::super::compute::ComputeLoop;
    use super::super::layout::tests::stream;
    use super::super::memory_loop::MemoryLoop;
    use crate::kernel_name::MemoryKernel;

    fn sample(actor_loop: &ActorLoop<'_>) -> ActorSample {
        let windows = Windows { open: 1000, length: 1000, count: 0, last: None };
        let stores = TrafficMethod::EvasionPossible;
        actor_sample(actor_loop, &[], &Placement::default(), stores, (windows, 0))
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
