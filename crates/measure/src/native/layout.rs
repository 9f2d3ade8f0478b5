//! Where a case's arrays lie in the pools, and where its threads run.

use std::collections::BTreeMap;
use std::ops::Range;

use nearfar_machine::{Binding, CpuSet, MemoryPolicy, NodeSet};
use nearfar_record::{Actor, Case, Exchange, Messages, Pages, Pinning, Stream};

use nearfar_sys::HUGE_PAGE_BYTES;

use super::dealt_pages::{dealt_page_size, interleaved_page_size};
use crate::experiment::slice_stride;
use crate::kernel_name::MemoryKernel;

/// Arrays begin at base pages, and those whose slices are whole huge pages at these.
const PAGE_ELEMENTS: usize = 4096 / size_of::<f64>();
const HUGE_PAGE_ELEMENTS: usize = HUGE_PAGE_BYTES / size_of::<f64>();

/// What two arrays must share to share memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PoolKey {
    /// The policy by which the kernel places pages as they are touched.
    Policy(MemoryPolicy, Pages),
    /// Pages that are dealt out over these nodes by our own hand, anew for each split.
    Dealt {
        nodes: NodeSet,
        pages: Pages,
        /// Whether they are of arrays that are written and have a policy of their own.
        written: bool,
    },
}

impl PoolKey {
    /// For arrays of which a thread has slices of at least this many bytes.
    fn new(policy: &MemoryPolicy, pages: Pages, written: bool, slice_bytes: u64) -> Self {
        match policy {
            MemoryPolicy::Weighted(weights) => Self::Dealt {
                nodes: weights.keys().copied().collect(),
                pages: dealt_page_size(pages, weights.len(), slice_bytes),
                written,
            },
            MemoryPolicy::Interleave(nodes) => {
                Self::Policy(policy.clone(), interleaved_page_size(pages, nodes.len(), slice_bytes))
            }
            MemoryPolicy::FirstTouch | MemoryPolicy::Bind(_) | MemoryPolicy::Preferred(_) => {
                Self::Policy(policy.clone(), pages)
            }
        }
    }

    pub fn pages(&self) -> Pages {
        match self {
            Self::Policy(_, pages) | Self::Dealt { pages, .. } => *pages,
        }
    }

    /// Whether the threads themselves touch the pages, in memory of their own.
    pub fn is_first_touch(&self) -> bool {
        matches!(self, Self::Policy(MemoryPolicy::FirstTouch, _))
    }
}

/// One array: a slice for each thread, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Array {
    pub key: PoolKey,
    /// First element in the pool.
    pub start: usize,
    /// Elements of one slice.
    pub slice: usize,
    /// Elements from one slice to the next.
    pub stride: usize,
    threads: usize,
}

impl Array {
    /// Elements of the pool that it takes up, with what lies between slices.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.stride * self.threads
    }
}

/// Arrays of one policy that lie one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Area {
    pub key: PoolKey,
    pub range: Range<usize>,
    pub policy: MemoryPolicy,
    /// Whether it is the written array's alone.
    pub is_written: bool,
}

/// Where an actor's arrays lie in the pools, and where its threads run.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// Of each thread: one CPU where it is pinned, else all of the binding's.
    pub cpus: Vec<CpuSet>,
    /// CPUs whose threads touch pages that the actor needs first.
    pub touching_cpus: CpuSet,
    pub destination: Option<Array>,
    pub sources: Vec<Array>,
    pub areas: Vec<Area>,
    /// Whether its one array is one slice of each thread, which it has whole: a chase's, a
    /// transfer's, that of messages.
    pub is_whole: bool,
    /// Whether its one array is a line that its threads hand to each other.
    pub is_shared: bool,
}

/// Where what is laid out in each pool so far ends.
type PoolEnds = BTreeMap<PoolKey, usize>;

/// Lays the actors of a case out, in their order. A stream of a kernel that does not exist gets
/// no arrays.
pub(super) fn lay_out(case: &Case) -> Vec<Layout> {
    let mut ends = PoolEnds::new();
    let lay_out = |actor: &Actor| match actor {
        Actor::Stream(stream) => Layout::of_stream(stream, &mut ends),
        Actor::Chase(chase) => {
            let bytes = chase.working_set_bytes;
            Layout::whole(&chase.binding, chase.thread_cpu, bytes, chase.pages, &mut ends)
        }
        Actor::Exchange(exchange) => Layout::shared(exchange, &mut ends),
        Actor::Compute(compute) => Layout::without_arrays(&compute.thread_cpus, &compute.cpus),
        Actor::Transfer(transfer) if transfer.peer.is_some() => {
            Layout::without_arrays(&[transfer.thread_cpu], &transfer.binding.cpus)
        }
        Actor::Transfer(transfer) => {
            let (cpu, bytes) = (transfer.thread_cpu, transfer.memory_bytes());
            Layout::whole(&transfer.binding, cpu, bytes, transfer.pages, &mut ends)
        }
        Actor::Messages(messages) => Layout::of_messages(messages, &mut ends),
        Actor::Command(command) => Layout::without_arrays(&[], &command.binding.cpus),
        Actor::Workload(workload) => Layout::without_arrays(&[], &workload.cpus),
    };
    case.actors.iter().map(lay_out).collect()
}

/// Bytes that actors need of each pool.
pub(super) fn pool_needs(layouts: &[Layout]) -> BTreeMap<PoolKey, u64> {
    let mut needs = BTreeMap::new();
    for array in layouts.iter().flat_map(Layout::arrays) {
        let most: &mut u64 = needs.entry(array.key.clone()).or_default();
        *most = (*most).max((array.range().end * size_of::<f64>()) as u64);
    }
    needs
}

impl Layout {
    /// The destination comes before the sources: the CPU's prefetchers run on past what is read,
    /// and lines of a destination that they fetch would have to go again before a non-temporal
    /// store (13 % less for triad_nt on a set of 24 KiB).
    fn of_stream(stream: &Stream, ends: &mut PoolEnds) -> Self {
        let threads = stream.threads as usize;
        let kernel = MemoryKernel::named(&stream.kernel).ok();
        let widths = kernel.as_ref().map(MemoryKernel::array_widths).unwrap_or_default();
        let units = widths.iter().copied().map(u64::from).sum::<u64>() * u64::from(stream.threads);
        let steps = elements(stream.working_set_bytes / units.max(1));

        let smallest = widths.iter().min().copied().unwrap_or(1);
        let smallest = (steps * smallest as usize * size_of::<f64>()) as u64;
        let read = &stream.binding.memory;
        let written = stream.write_memory.as_ref();
        let read_key = PoolKey::new(read, stream.pages, false, smallest);
        let write_key = match written {
            Some(policy) => PoolKey::new(policy, stream.pages, true, smallest),
            None => read_key.clone(),
        };
        let mut take =
            |width: &u32, key: &PoolKey| take_array(key, steps * *width as usize, threads, ends);
        let stores = kernel.is_some_and(|kernel| kernel.stores() > 0);
        let (stored, loaded) = widths.split_at(usize::from(stores).min(widths.len()));
        let destination = stored.first().map(|width| take(width, &write_key));
        let sources: Vec<Array> = loaded.iter().map(|width| take(width, &read_key)).collect();

        let with_sources = written.is_none().then_some(&destination).into_iter().flatten();
        let mut areas: Vec<Area> =
            area_of(with_sources.chain(&sources), read, false).into_iter().collect();
        if let Some(policy) = written {
            areas.extend(area_of(&destination, policy, true));
        }
        let cpus_of = |thread| thread_cpus(stream, thread);
        Self {
            cpus: (0..threads).map(cpus_of).collect(),
            touching_cpus: stream.binding.cpus.clone(),
            destination,
            sources,
            areas,
            is_whole: false,
            is_shared: false,
        }
    }

    /// One slice of one thread: of a chase, which writes it once to lay its walk; of a transfer, whose
    /// device may write it.
    fn whole(
        binding: &Binding,
        thread_cpu: u32,
        bytes: u64,
        pages: Pages,
        ends: &mut PoolEnds,
    ) -> Self {
        let policy = &binding.memory;
        let key = PoolKey::new(policy, pages, false, bytes);
        let memory = take_array(&key, elements(bytes), 1, ends);
        Self {
            areas: area_of([&memory], policy, false).into_iter().collect(),
            destination: Some(memory),
            is_whole: true,
            ..Self::without_arrays(&[thread_cpu], &binding.cpus)
        }
    }

    /// A slice for each thread, which it sends from or receives into.
    fn of_messages(messages: &Messages, ends: &mut PoolEnds) -> Self {
        let Messages { binding, thread_cpus, buffer_bytes, pages, .. } = messages;
        let key = PoolKey::new(&binding.memory, *pages, false, *buffer_bytes);
        let memory = take_array(&key, elements(*buffer_bytes), thread_cpus.len(), ends);
        Self {
            areas: area_of([&memory], &binding.memory, false).into_iter().collect(),
            destination: Some(memory),
            is_whole: true,
            ..Self::without_arrays(thread_cpus, &binding.cpus)
        }
    }

    /// One page of two threads.
    fn shared(exchange: &Exchange, ends: &mut PoolEnds) -> Self {
        let Exchange { binding, thread_cpus, pages, .. } = exchange;
        let cpu = thread_cpus.first().copied().unwrap_or_default();
        let whole = Self::whole(binding, cpu, Exchange::PAGE_BYTES, *pages, ends);
        Self {
            cpus: thread_cpus.iter().map(|&cpu| CpuSet::single(cpu)).collect(),
            is_whole: false,
            is_shared: true,
            ..whole
        }
    }

    fn without_arrays(thread_cpus: &[u32], cpus: &CpuSet) -> Self {
        Self {
            cpus: thread_cpus.iter().map(|&cpu| CpuSet::single(cpu)).collect(),
            touching_cpus: cpus.clone(),
            destination: None,
            sources: Vec::new(),
            areas: Vec::new(),
            is_shared: false,
            is_whole: false,
        }
    }

    /// Its arrays, in the order in which they lie.
    pub fn arrays(&self) -> impl Iterator<Item = &Array> {
        self.destination.iter().chain(&self.sources)
    }
}

fn elements(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX) / size_of::<f64>()
}

/// Takes the next elements of a pool for an array.
fn take_array(key: &PoolKey, slice: usize, threads: usize, ends: &mut PoolEnds) -> Array {
    let stride = match key.is_first_touch() {
        // Nobody would touch what lies between slices.
        true => slice,
        false => elements(slice_stride((slice * size_of::<f64>()) as u64)),
    };
    let is_whole = slice > 0 && slice.is_multiple_of(HUGE_PAGE_ELEMENTS);
    // Nobody would touch what lies before an array that begins later.
    let page = match is_whole && !key.is_first_touch() {
        true => HUGE_PAGE_ELEMENTS,
        false => PAGE_ELEMENTS,
    };
    let end = ends.entry(key.clone()).or_default();
    let start = end.next_multiple_of(page);
    let array = Array { key: key.clone(), start, slice, stride, threads };
    *end = array.range().end;
    array
}

/// The area of arrays that lie one after the other in one pool; `None` where there are none.
fn area_of<'a>(
    arrays: impl IntoIterator<Item = &'a Array>,
    policy: &MemoryPolicy,
    is_written: bool,
) -> Option<Area> {
    let mut arrays = arrays.into_iter();
    let first = arrays.next()?;
    let range = arrays.fold(first.range(), |range, array| range.start..array.range().end);
    Some(Area { key: first.key.clone(), range, policy: policy.clone(), is_written })
}

fn thread_cpus(stream: &Stream, thread: usize) -> CpuSet {
    match (stream.pinning, stream.thread_cpus.get(thread)) {
        (Pinning::OnePerCore | Pinning::OnePerPu, Some(&cpu)) => CpuSet::single(cpu),
        _ => stream.binding.cpus.clone(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use nearfar_record::Chase;

    /// A stream of threads on CPU 0.
    pub fn stream(kernel: &str, memory: &str, threads: u32, bytes: u64) -> Stream {
        Stream {
            kernel: kernel.into(),
            variant: "portable".into(),
            binding: format!("cpus=0 mem={memory}").parse().unwrap(),
            write_memory: None,
            threads,
            pinning: Pinning::Unbound,
            thread_cpus: Vec::new(),
            working_set_bytes: bytes,
            llc_multiple: None,
            pages: Pages::Small,
            pause_cycles: 0,
        }
    }

    pub fn chase(memory: &str, bytes: u64) -> Actor {
        Actor::Chase(Chase {
            binding: format!("cpus=0 mem={memory}").parse().unwrap(),
            thread_cpu: 0,
            working_set_bytes: bytes,
            llc_multiple: None,
            group_bytes: bytes,
            pages: Pages::Small,
        })
    }

    pub fn case(actors: Vec<Actor>) -> Case {
        Case { id: "a case".into(), coordinates: Vec::new(), actors }
    }

    const KIB: u64 = 1 << 10;

    #[test]
    fn a_written_array_of_another_policy_lies_in_another_pool() {
        let hybrid = Stream {
            write_memory: Some("weighted:0=1,1=4".parse().unwrap()),
            ..stream("2l1s", "weighted:0=3,1=1", 1, 3 * 64 * KIB)
        };
        let planned = case(vec![Actor::Stream(hybrid.clone())]);
        let layouts = lay_out(&planned);
        let [read, written] = layouts[0].areas.as_slice() else { panic!("{layouts:?}") };
        assert!(written.is_written && !read.is_written);
        assert_eq!((read.range.start, written.range.start), (0, 0));
        assert!(read.range.len() >= 2 * 8192 && written.range.len() >= 8192);
        assert_eq!(pool_needs(&layouts).len(), 2);
        // Another split of the same nodes has the same pools, as long as pages are as large.
        let other = Stream { binding: "cpus=0 mem=weighted:0=7,1=9".parse().unwrap(), ..hybrid };
        let others = lay_out(&case(vec![Actor::Stream(other)]));
        assert_eq!(pool_needs(&others), pool_needs(&layouts));
    }

    #[test]
    fn streams_of_one_policy_lie_in_one_pool() {
        let triad = Actor::Stream(stream("triad", "preferred:0", 2, 6 * 64 * KIB));
        let together = case(vec![triad.clone(), chase("preferred:0", 32 * KIB), triad]);
        let layouts = lay_out(&together);
        let ends: Vec<_> = layouts.iter().map(|layout| layout.areas[0].range.clone()).collect();
        assert!(ends.windows(2).all(|pair| pair[0].end <= pair[1].start), "{ends:?}");
        assert!(ends.iter().all(|range| range.start % PAGE_ELEMENTS == 0), "{ends:?}");
        let needs: Vec<u64> = pool_needs(&layouts).into_values().collect();
        assert_eq!(needs, [(ends[2].end * 8) as u64]);
    }

    #[test]
    fn large_slices_are_whole_huge_pages() {
        let small = Actor::Stream(stream("load", "preferred:0", 1, 64 * KIB));
        let large = Actor::Stream(stream("triad", "preferred:0", 2, 6 * 4096 * KIB));
        let layouts = lay_out(&case(vec![small, large]));
        for array in layouts[1].arrays() {
            assert_eq!(array.start % HUGE_PAGE_ELEMENTS, 0);
            assert_eq!((array.slice, array.stride), (4096 * 128, 4096 * 128));
        }
    }
}
