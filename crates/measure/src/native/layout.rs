//! Where a case's arrays lie in the pools, and which thread has which slices.

use std::collections::BTreeMap;
use std::ops::Range;

use nearfar_kernels::{Kernel, Pattern, TimedLoop, find};
use nearfar_machine::{CpuSet, MemoryPolicy};
use nearfar_record::{Actor, Case, Pages, Pinning, Stream as StreamActor};

use super::pool::Pool;
use super::stream::{Source, Stream};
use crate::experiment::slice_stride;

/// What two cases must share to share memory.
pub(super) type PoolKey = (MemoryPolicy, Pages);

/// A stream of a case, ready to run.
pub(super) struct Prepared<'a> {
    pub actor: &'a StreamActor,
    pub timed_loop: TimedLoop,
    pub key: PoolKey,
    /// First element of its arrays in the pool.
    pub base: usize,
    /// Elements of one thread's slice of one array.
    pub slice: usize,
    /// Elements from one slice to the next.
    pub stride: usize,
}

impl Prepared<'_> {
    pub fn threads(&self) -> usize {
        self.actor.threads as usize
    }

    /// Elements of one array, all threads, with what lies between slices.
    pub fn array(&self) -> usize {
        self.stride * self.threads()
    }

    /// The destination comes before the sources: the CPU's prefetchers run on past
    /// what is read, and lines of a destination that they fetch would have to go again
    /// before a non-temporal store (13 % less for triad_nt on a set of 24 KiB).
    pub fn destination(&self) -> Range<usize> {
        self.base..self.base + self.array() * self.timed_loop.kernel().stores() as usize
    }

    pub fn sources(&self) -> Range<usize> {
        let start = self.destination().end;
        start..start + self.array() * self.timed_loop.kernel().loads() as usize
    }
}

/// One thread's slices.
pub(super) struct Job<'a> {
    pub cpus: CpuSet,
    pub stream: Stream<'a>,
}

/// Bytes that a case needs of each pool.
pub(super) fn pool_needs(case: &Case) -> BTreeMap<PoolKey, u64> {
    let mut needs = BTreeMap::new();
    for Actor::Stream(actor) in &case.actors {
        *needs.entry(pool_key(actor)).or_default() +=
            (pool_elements(actor) * size_of::<f64>()) as u64;
    }
    needs
}

/// Elements of a stream's slices, and from one slice to the next.
pub(super) fn slice_elements(actor: &StreamActor, kernel: &Kernel) -> (usize, usize) {
    let slices = kernel.arrays() as u64 * u64::from(actor.threads);
    let slice_bytes = actor.working_set_bytes / slices.max(1);
    let elements = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX) / size_of::<f64>();
    (elements(slice_bytes), elements(slice_stride(slice_bytes)))
}

/// Elements of a pool that a stream takes up; none for a kernel that does not exist.
pub(super) fn pool_elements(actor: &StreamActor) -> usize {
    find(&actor.kernel).map_or(0, |kernel| {
        slice_elements(actor, kernel).1 * kernel.arrays() * actor.threads as usize
    })
}

pub(super) fn pool_key(actor: &StreamActor) -> PoolKey {
    (actor.binding.memory.clone(), actor.pages)
}

/// Cuts the pools into the threads' slices: for each stream its arrays one after
/// the other, each array cut into one slice per thread.
pub(super) fn cut_slices<'a>(
    pools: &'a mut BTreeMap<PoolKey, Pool>,
    streams: &[Prepared<'_>],
    pattern: &'a Pattern,
) -> Vec<(usize, Job<'a>)> {
    let mut jobs = Vec::new();
    for (key, pool) in pools {
        let mut rest = pool.elements_mut();
        // Streams of one pool lie one after the other in the order of the case.
        for (actor, stream) in streams.iter().enumerate().filter(|(_, stream)| stream.key == *key) {
            let kernel = stream.timed_loop.kernel();
            let mut destinations: Vec<Option<&mut [f64]>> = (0..stream.threads())
                .map(|_| {
                    (kernel.stores() > 0).then(|| take(&mut rest, stream.slice, stream.stride))
                })
                .collect();
            let mut sources: Vec<Vec<Source<'a>>> =
                (0..stream.threads()).map(|_| Vec::new()).collect();
            for array in 0..kernel.loads() as usize {
                for (thread, taken) in sources.iter_mut().enumerate() {
                    let offset = array * stream.array() + thread * stream.stride;
                    let first = stream.sources().start + offset;
                    let elements = &*take(&mut rest, stream.slice, stream.stride);
                    taken.push(Source { elements, first_index: first as u64 });
                }
            }
            for (thread, (destination, sources)) in destinations.drain(..).zip(sources).enumerate()
            {
                let stream_of_thread =
                    Stream::new(stream.timed_loop, pattern, destination, sources);
                let cpus = thread_cpus(stream.actor, thread);
                jobs.push((actor, Job { cpus, stream: stream_of_thread }));
            }
        }
    }
    jobs
}

/// The next slice, and past what lies between it and the one after.
pub(super) fn take<'a>(rest: &mut &'a mut [f64], slice: usize, stride: usize) -> &'a mut [f64] {
    let (taken, left) = std::mem::take(rest).split_at_mut(stride);
    *rest = left;
    &mut taken[..slice]
}

pub(super) fn thread_cpus(actor: &StreamActor, thread: usize) -> CpuSet {
    match (actor.pinning, actor.thread_cpus.get(thread)) {
        (Pinning::OnePerCore | Pinning::OnePerPu, Some(&cpu)) => CpuSet::single(cpu),
        _ => actor.binding.cpus.clone(),
    }
}
