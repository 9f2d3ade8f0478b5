//! A pool of memory: one mapping whose pages are placed by a policy, filled with the pattern, and
//! shared by the cases of a round one after the other.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use nearfar_kernels::Pattern;
use nearfar_machine::{CpuSet, Machine, MemoryPolicy};
use nearfar_record::{PageSizes, Pages, Reason, ReasonCode};
use nearfar_sys::{
    AddressRange, HUGE_PAGE_BYTES, Mapping, PageRequest, achieved_page_sizes, available_memory,
    bind_range, node_free_bytes, pin_thread,
};
use nearfar_units::Bytes;

use super::dealt_pages::{Split, dealt_bytes};
use super::proof::recorded;
use super::turn::Turn;

/// Threads that touch together take parts of whole huge pages.
const HUGE_PAGE_ELEMENTS: usize = HUGE_PAGE_BYTES / size_of::<f64>();

/// Memory that is left to the rest of the program and the system.
const SPARE_BYTES: u64 = 256 << 20;

/// Memory filled with the pattern except where a kernel wrote.
#[derive(Debug)]
pub(super) struct Pool {
    mapping: Mapping,
    pub pages: Pages,
    /// Element ranges that a kernel has written, in no order; none meets another.
    overwritten: Vec<Range<usize>>,
    /// Sizes of its pages when all of it was filled; `None` as long as it is not.
    pub page_sizes: Option<PageSizes>,
}

/// What a pool is made for.
#[derive(Debug, Clone, Copy)]
pub(super) struct PoolRequest<'a> {
    pub policy: &'a MemoryPolicy,
    pub pages: Pages,
    pub bytes: u64,
    /// CPUs whose threads touch the pages, and on whose node the page tables come to lie.
    pub cpus: &'a CpuSet,
    pub machine: &'a Machine,
    /// Whether the nodes' own figures of their memory can be believed.
    pub node_memory_is_known: bool,
    /// What it is filled with.
    pub pattern: &'a Pattern,
}

impl Pool {
    /// Maps memory, and touches it so that pages come to lie where the policy says.
    ///
    /// # Errors
    /// When there is no room, or the kernel refuses.
    pub fn map(request: PoolRequest<'_>) -> Result<Self, Reason> {
        let mut pool = Self::reserve(request)?;
        let bound = match request.policy {
            // It has it since it was mapped, or goes without.
            MemoryPolicy::FirstTouch => Ok(()),
            policy => bind_range(&pool.mapping, policy),
        };
        match bound {
            Ok(()) => pool.fill_all(request)?,
            Err(refusal) => {
                let range = 0..pool.elements_mut().len();
                let weights = weights_of(request.policy);
                pool.fill_from_nodes(&[Split { range, weights }], request)
                    .map_err(|no_way| no_way.unwrap_or_else(|| denied(refusal)))?;
            }
        }
        Ok(pool)
    }

    /// Maps memory without touching it.
    ///
    /// # Errors
    /// When there is no room, or the policy is one that may kill the program.
    pub fn reserve(request: PoolRequest<'_>) -> Result<Self, Reason> {
        if let MemoryPolicy::Bind(_) = request.policy {
            return Err(Reason {
                code: ReasonCode::Denied,
                text: format!(
                    "mem={} is not measured: where a node runs full the kernel kills the program; \
                     preferred: and interleave: spill, and the pages are proven",
                    request.policy
                ),
            });
        }
        check_room(request)?;
        let bytes = usize::try_from(request.bytes).map_err(|_| Reason {
            code: ReasonCode::NoRoom,
            text: format!("{} bytes exceed the address space", request.bytes),
        })?;
        let asked = match request.pages {
            Pages::Small => PageRequest::Small,
            Pages::Transparent => PageRequest::Transparent,
            Pages::Huge => PageRequest::Huge2M,
        };
        let mapping = Mapping::new(bytes, asked).map_err(denied)?;
        if *request.policy == MemoryPolicy::FirstTouch {
            // Without it pages come to lie the same, but NUMA balancing may move them: the proof decides.
            bind_range(&mapping, request.policy).ok();
        }
        Ok(Self { mapping, pages: request.pages, overwritten: Vec::new(), page_sizes: None })
    }

    /// Writes the pattern from the nodes where pages are to lie: by threads on the CPUs of each.
    ///
    /// # Errors
    /// `None` where a node has no CPU that may be used; else why a thread failed.
    pub fn fill_from_nodes(
        &mut self,
        splits: &[Split],
        request: PoolRequest<'_>,
    ) -> Result<(), Option<Reason>> {
        let dealt = dealt_bytes(self.pages) / size_of::<f64>();
        let mut of_nodes: BTreeMap<u32, Vec<(usize, &mut [f64])>> = BTreeMap::new();
        let (mut rest, mut at) = (self.mapping.as_f64_mut(), 0);
        for split in splits {
            let turn = Turn::new(&split.weights);
            rest = rest.split_at_mut(split.range.start.saturating_sub(at)).1;
            let (elements, beyond) = rest.split_at_mut(split.range.len());
            (rest, at) = (beyond, split.range.end);
            for (number, page) in elements.chunks_mut(dealt).enumerate() {
                let first = split.range.start + number * dealt;
                of_nodes.entry(turn.node_of(number)).or_default().push((first, page));
            }
        }
        let mut parts = Vec::new();
        for (node, pages) in of_nodes {
            let cpus = node_cpus(node, request.machine).ok_or(None)?;
            let share = pages.len().div_ceil(cpus.len());
            let mut pages = pages.into_iter();
            parts.extend(cpus.iter().map(|cpu| (cpu, pages.by_ref().take(share).collect())));
        }
        fill_by_threads(parts, request.pattern).map_err(Some)?;
        self.page_sizes = Some(recorded(achieved_page_sizes(&self.mapping).ok()));
        Ok(())
    }

    /// Writes the pattern everywhere by one thread on each of the CPUs.
    ///
    /// # Errors
    /// When a thread cannot be started or pinned.
    pub fn fill_all(&mut self, request: PoolRequest<'_>) -> Result<(), Reason> {
        let all = 0..self.elements_mut().len();
        self.fill(all, request.cpus, request.pattern)?;
        self.page_sizes = Some(recorded(achieved_page_sizes(&self.mapping).ok()));
        Ok(())
    }

    /// Bytes in base pages, at most.
    pub fn base_page_bytes(&self) -> u64 {
        let huge = self.page_sizes.and_then(|sizes| sizes.huge_bytes);
        self.bytes().saturating_sub(huge.unwrap_or(0))
    }

    pub fn bytes(&self) -> u64 {
        self.mapping.bytes() as u64
    }

    pub fn elements_mut(&mut self) -> &mut [f64] {
        self.mapping.as_f64_mut()
    }

    /// Addresses of these elements.
    pub fn addresses(&self, range: &Range<usize>) -> AddressRange {
        let element = size_of::<f64>();
        AddressRange::from(&self.mapping).part(range.start * element, range.len() * element)
    }

    /// Addresses of the whole mapping.
    pub fn mapping(&self) -> AddressRange {
        (&self.mapping).into()
    }

    /// Notes that a kernel writes this range.
    pub fn overwrite(&mut self, range: Range<usize>) {
        let mut merged = range;
        self.overwritten.retain(|written| {
            let meets = written.start <= merged.end && merged.start <= written.end;
            if meets {
                merged = written.start.min(merged.start)..written.end.max(merged.end);
            }
            !meets
        });
        self.overwritten.push(merged);
    }

    /// Writes the pattern again wherever a kernel wrote in this range.
    ///
    /// # Errors
    /// When a thread cannot be started or pinned.
    pub fn restore(
        &mut self,
        range: &Range<usize>,
        cpus: &CpuSet,
        pattern: &Pattern,
    ) -> Result<(), Reason> {
        let (mut kept, mut restored) = (Vec::new(), Vec::new());
        for written in std::mem::take(&mut self.overwritten) {
            let start = written.start.max(range.start);
            let end = written.end.min(range.end);
            if start >= end {
                kept.push(written);
                continue;
            }
            restored.push(start..end);
            kept.extend(
                [written.start..start, end..written.end].into_iter().filter(|r| !r.is_empty()),
            );
        }
        self.overwritten = kept;
        restored.into_iter().try_for_each(|range| self.fill(range, cpus, pattern))
    }

    /// Writes the pattern by one thread on each of these CPUs.
    fn fill(
        &mut self,
        range: Range<usize>,
        cpus: &CpuSet,
        pattern: &Pattern,
    ) -> Result<(), Reason> {
        let share = range.len().div_ceil(cpus.len().max(1));
        let share = share.next_multiple_of(HUGE_PAGE_ELEMENTS);
        let first = range.start;
        let chunks = self.mapping.as_f64_mut()[range].chunks_mut(share).enumerate();
        let parts = chunks
            .zip(cpus.iter())
            .map(|((part, chunk), cpu)| (cpu, vec![(first + part * share, chunk)]));
        fill_by_threads(parts.collect(), pattern)
    }
}

/// Whether there is room for memory before it is taken.
///
/// # Errors
/// When the machine, the control group or a node of the policy has less than is needed.
fn check_room(request: PoolRequest<'_>) -> Result<(), Reason> {
    let root = Path::new("/");
    let needed = request.bytes;
    if let Some(available) = available_memory(root)
        && needed + SPARE_BYTES > available
    {
        let needs = format!(
            "{} ({} of it kept free for the system)",
            Bytes(needed + SPARE_BYTES),
            Bytes(SPARE_BYTES)
        );
        return Err(no_room(&needs, "the machine or the control group", available));
    }
    // Pages that find no free ones on their node go to another before the page cache gives some back;
    // where there is no other, it does.
    let is_alone = request.machine.nodes.len() == 1;
    if is_alone || !request.node_memory_is_known {
        return Ok(());
    }
    let weights = weights_of(request.policy);
    let all = weights.values().copied().map(u64::from).sum::<u64>().max(1);
    for (&node, &weight) in &weights {
        let share = needed / all * u64::from(weight);
        if let Some(free) = node_free_bytes(root, node).filter(|&free| share > free) {
            return Err(no_room(&Bytes(share).to_string(), &format!("node {node}"), free));
        }
    }
    Ok(())
}

fn no_room(needs: &str, place: &str, available: u64) -> Reason {
    Reason {
        code: ReasonCode::NoRoom,
        text: format!(
            "the arrays need {needs}, {place} has {} free; free some (the page cache counts as used: echo 1 \
             >/proc/sys/vm/drop_caches) or give a smaller --working-set",
            Bytes(available)
        ),
    }
}

/// Elements and the number of the first.
type Part<'a> = (usize, &'a mut [f64]);

/// Writes the pattern by a thread on each of these CPUs.
fn fill_by_threads(parts: Vec<(u32, Vec<Part<'_>>)>, pattern: &Pattern) -> Result<(), Reason> {
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (cpu, parts) in parts {
            let fill = move || {
                pin_thread(&CpuSet::single(cpu)).map_err(denied)?;
                parts.into_iter().for_each(|(first, part)| pattern.fill(part, first as u64));
                Ok(())
            };
            threads.push(std::thread::Builder::new().spawn_scoped(scope, fill).map_err(no_thread)?);
        }
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })
}

/// CPUs of a node that the process may use.
pub(super) fn node_cpus(node: u32, machine: &Machine) -> Option<CpuSet> {
    let cpus = machine.node(node)?.cpus.intersection(&machine.allowed_cpus);
    (!cpus.is_empty()).then_some(cpus)
}

/// The same weight for each of a policy's nodes, or its own.
pub(super) fn weights_of(policy: &MemoryPolicy) -> BTreeMap<u32, u32> {
    let alike = || policy.nodes().unwrap_or_default().iter().map(|node| (node, 1)).collect();
    policy.interleave_weights().unwrap_or_else(alike)
}

pub(super) fn denied(refusal: nearfar_sys::Refusal) -> Reason {
    Reason { code: ReasonCode::Denied, text: refusal.to_string() }
}

/// What to do where threads cannot be started.
pub(crate) const LET_THREADS_START: &str = "raise the limit on processes (ulimit -u, pids.max of the control group, \
                                            --pids-limit of the container) or on memory (ulimit -v)";

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
pub(super) fn no_thread(error: std::io::Error) -> Reason {
    Reason {
        code: ReasonCode::Threads,
        text: format!("a thread cannot be started: {error}; {LET_THREADS_START}"),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn live() -> (Machine, Pattern) {
        (nearfar_topology::read_live(Path::new("/")).unwrap(), Pattern::new(3))
    }

    pub fn holds_pattern(pool: &mut Pool, pattern: &Pattern, range: Range<usize>) -> bool {
        let value = |index: usize| pattern.value(index as u64).to_bits();
        range.clone().all(|index| pool.elements_mut()[index].to_bits() == value(index))
    }

    pub fn request<'a>(
        policy: &'a MemoryPolicy,
        pages: Pages,
        bytes: u64,
        (machine, pattern): (&'a Machine, &'a Pattern),
    ) -> PoolRequest<'a> {
        let cpus = &machine.allowed_cpus;
        PoolRequest { policy, pages, bytes, cpus, machine, node_memory_is_known: false, pattern }
    }

    /// Writes to a pool as a kernel would and restores parts of it.
    #[test]
    fn what_was_overwritten_is_restored_where_it_is_needed() {
        let (machine, pattern) = live();
        let cpus = machine.allowed_cpus.clone();
        let node = machine.allowed_nodes.first().unwrap();
        let policy = MemoryPolicy::Preferred(node);
        let request = request(&policy, Pages::Small, 8 << 20, (&machine, &pattern));
        let mut pool = Pool::map(request).unwrap();
        let holds_pattern =
            |pool: &mut Pool, range: Range<usize>| holds_pattern(pool, &pattern, range);
        assert!(holds_pattern(&mut pool, 0..1 << 20));
        for range in [1000..5000, 20_000..30_000] {
            pool.elements_mut()[range.clone()].fill(-7.0);
            pool.overwrite(range);
        }
        pool.restore(&(3000..25_000), &cpus, &pattern).unwrap();
        assert!(holds_pattern(&mut pool, 3000..25_000));
        assert!(!holds_pattern(&mut pool, 1000..3000), "restored more than was asked for");
        pool.restore(&(0..1 << 20), &cpus, &pattern).unwrap();
        assert!(holds_pattern(&mut pool, 0..1 << 20));
        assert!(pool.overwritten.is_empty());
    }

    /// What many cases wrote is restored once.
    #[test]
    fn ranges_that_meet_are_one() {
        let (machine, pattern) = live();
        let node = machine.allowed_nodes.first().unwrap();
        let policy = MemoryPolicy::Preferred(node);
        let request = request(&policy, Pages::Small, 1 << 20, (&machine, &pattern));
        let mut pool = Pool::map(request).unwrap();
        for (range, expected) in [
            (10..20, &[(10, 20)][..]),
            (10..20, &[(10, 20)]),
            (12..18, &[(10, 20)]),
            (40..50, &[(10, 20), (40, 50)]),
            (50..60, &[(10, 20), (40, 60)]),
            (5..11, &[(5, 20), (40, 60)]),
            (70..80, &[(5, 20), (40, 60), (70, 80)]),
            (19..45, &[(5, 60), (70, 80)]),
            (0..100, &[(0, 100)]),
        ] {
            pool.overwrite(range);
            let mut noted: Vec<(usize, usize)> =
                pool.overwritten.iter().map(|range| (range.start, range.end)).collect();
            noted.sort_unstable();
            assert_eq!(noted, expected);
        }
    }
}
