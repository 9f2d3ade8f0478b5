//! The memory of a round: one mapping per policy and page size, mapped afresh,
//! touched, and shared by the round's cases one after the other.

use std::ops::Range;
use std::path::Path;

use nearfar_kernels::Pattern;
use nearfar_machine::{CpuSet, Machine, MemoryPolicy};
use nearfar_record::{
    PLACED_FRACTION, PageNodes, PageSizes, Pages, ProofMethod, Reason, ReasonCode,
};
use nearfar_sys::{
    Mapping, PageRequest, achieved_page_sizes, available_memory, bind_range, node_free_bytes,
    pin_thread, prove_first,
};

/// Memory that is left to the rest of the program and the system.
const SPARE_BYTES: u64 = 256 << 20;

/// Threads that touch together take parts of whole huge pages.
const HUGE_PAGE_ELEMENTS: usize = (2 << 20) / size_of::<f64>();

/// Memory with one policy, filled with the pattern except where a kernel wrote.
#[derive(Debug)]
pub(super) struct Pool {
    mapping: Mapping,
    policy: MemoryPolicy,
    /// Element ranges that a kernel has written, in no order.
    overwritten: Vec<Range<usize>>,
    page_sizes: PageSizes,
}

/// What a pool is made for.
#[derive(Debug, Clone, Copy)]
pub(super) struct PoolRequest<'a> {
    pub policy: &'a MemoryPolicy,
    pub pages: Pages,
    pub bytes: u64,
    /// CPUs whose threads touch the pages, and on whose node the page tables come to lie.
    pub cpus: &'a CpuSet,
}

impl Pool {
    /// Maps, places and touches memory.
    ///
    /// # Errors
    /// When there is no room, or the kernel refuses.
    pub fn map(
        request: PoolRequest<'_>,
        machine: &Machine,
        node_memory_is_known: bool,
        pattern: &Pattern,
    ) -> Result<Self, Reason> {
        check_room(request, node_memory_is_known)?;
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
        let touchers = match bind_range(&mapping, request.policy) {
            Ok(()) => request.cpus.clone(),
            // A thread on the node itself still places pages there by touching first.
            Err(refusal) => first_touchers(request.policy, machine)
                .ok_or_else(|| Reason { code: ReasonCode::Denied, text: refusal.to_string() })?,
        };
        let mut pool = Self {
            mapping,
            policy: request.policy.clone(),
            overwritten: Vec::new(),
            page_sizes: PageSizes { huge_bytes: None, resident_bytes: None },
        };
        let elements = pool.mapping.as_f64().len();
        pool.fill(0..elements, &touchers, pattern)?;
        if let Ok(sizes) = achieved_page_sizes(&pool.mapping) {
            pool.page_sizes = PageSizes {
                huge_bytes: Some(sizes.huge_bytes),
                resident_bytes: Some(sizes.resident_bytes),
            };
        }
        Ok(pool)
    }

    pub fn bytes(&self) -> u64 {
        self.mapping.bytes() as u64
    }

    pub fn page_sizes(&self) -> PageSizes {
        self.page_sizes
    }

    pub fn elements_mut(&mut self) -> &mut [f64] {
        self.mapping.as_f64_mut()
    }

    /// Notes that a kernel writes this range.
    pub fn overwrite(&mut self, range: Range<usize>) {
        self.overwritten.push(range);
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
        let elements = &mut self.mapping.as_f64_mut()[range];
        std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for ((part, chunk), cpu) in elements.chunks_mut(share).enumerate().zip(cpus.iter()) {
                let fill = move || {
                    pin_thread(&CpuSet::single(cpu)).map_err(denied)?;
                    pattern.fill(chunk, (first + part * share) as u64);
                    Ok(())
                };
                threads.push(
                    std::thread::Builder::new().spawn_scoped(scope, fill).map_err(no_thread)?,
                );
            }
            threads.into_iter().try_for_each(|thread| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        })
    }

    /// Asks where the pages of the first `bytes` are.
    ///
    /// # Errors
    /// When nothing can tell, or they are not where the policy says.
    pub fn prove(&self, bytes: usize, machine: &Machine) -> Result<PageNodes, Reason> {
        let found = prove_first(bytes, &self.mapping, &machine.allowed_nodes)
            .map_err(|refusal| Reason { code: ReasonCode::Unproven, text: refusal.to_string() })?;
        let nodes = PageNodes {
            method: match found.method {
                nearfar_sys::ProofMethod::MovePages => ProofMethod::MovePages,
                nearfar_sys::ProofMethod::GetMempolicy => ProofMethod::GetMempolicy,
                nearfar_sys::ProofMethod::NumaMaps => ProofMethod::NumaMaps,
                nearfar_sys::ProofMethod::OneAllowedNode => ProofMethod::OneAllowedNode,
            },
            page_bytes: found.page_bytes,
            pages: found.nodes,
            unknown: found.absent + found.unknown,
        };
        match self.policy.nodes() {
            Some(asked) => check_placement(&nodes, &asked, &self.policy)?,
            None => check_placement(&nodes, &machine.allowed_nodes, &self.policy)?,
        }
        Ok(nodes)
    }
}

/// Whether enough of the pages are on the nodes that were asked for.
fn check_placement(
    found: &PageNodes,
    asked: &nearfar_machine::NodeSet,
    policy: &MemoryPolicy,
) -> Result<(), Reason> {
    let fraction: f64 = asked.iter().map(|node| found.fraction_on(node)).sum();
    if fraction >= PLACED_FRACTION {
        return Ok(());
    }
    let counts: Vec<String> =
        found.pages.iter().map(|(node, pages)| format!("node {node}: {pages}")).collect();
    Err(Reason {
        code: ReasonCode::Misplaced,
        text: format!(
            "{:.1} % of the pages are where '{policy}' puts them ({}, not known: {}): the node may be \
             full, its use forbidden meanwhile (cpuset), or the kernel migrates pages (sysctl \
             kernel.numa_balancing)",
            fraction * 100.0,
            counts.join(", "),
            found.unknown
        ),
    })
}

fn check_room(request: PoolRequest<'_>, node_memory_is_known: bool) -> Result<(), Reason> {
    let root = Path::new("/");
    let needed = request.bytes;
    if let Some(available) = available_memory(root).least_bytes()
        && needed + SPARE_BYTES > available
    {
        return Err(no_room(needed, "the machine or the control group", available));
    }
    let node = match (request.policy, node_memory_is_known) {
        (MemoryPolicy::Preferred(node), true) => *node,
        _ => return Ok(()),
    };
    match node_free_bytes(root, node) {
        Some(free) if needed > free => Err(no_room(needed, &format!("node {node}"), free)),
        _ => Ok(()),
    }
}

fn no_room(needed: u64, place: &str, available: u64) -> Reason {
    use nearfar_units::Bytes;
    Reason {
        code: ReasonCode::NoRoom,
        text: format!(
            "the arrays need {}, {place} has {} free; free some (the page cache counts as used: echo 1 \
             >/proc/sys/vm/drop_caches) or give a smaller --working-set",
            Bytes(needed),
            Bytes(available)
        ),
    }
}

/// CPUs that belong to the policy's node, where the process may use them.
fn first_touchers(policy: &MemoryPolicy, machine: &Machine) -> Option<CpuSet> {
    let MemoryPolicy::Preferred(node) = policy else {
        return None;
    };
    let cpus = machine.node(*node)?.cpus.intersection(&machine.allowed_cpus);
    (!cpus.is_empty()).then_some(cpus)
}

pub(super) fn denied(refusal: nearfar_sys::Refusal) -> Reason {
    Reason { code: ReasonCode::Denied, text: refusal.to_string() }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
pub(super) fn no_thread(error: std::io::Error) -> Reason {
    Reason {
        code: ReasonCode::Threads,
        text: format!(
            "a thread cannot be started: {error}; raise the limit on processes (ulimit -u, pids.max of the \
             control group, --pids-limit of the container) or on memory (ulimit -v)"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn pages(counts: &[(u32, u64)], unknown: u64) -> PageNodes {
        PageNodes {
            method: ProofMethod::MovePages,
            page_bytes: 4096,
            pages: counts.iter().copied().collect::<BTreeMap<_, _>>(),
            unknown,
        }
    }

    #[test]
    fn one_page_in_a_thousand_may_stray_and_no_more() {
        let asked = nearfar_machine::NodeSet::single(1);
        let policy = MemoryPolicy::Preferred(1);
        let check = |counts: &[(u32, u64)], unknown| {
            check_placement(&pages(counts, unknown), &asked, &policy)
        };
        check(&[(1, 1000)], 0).unwrap();
        check(&[(0, 1), (1, 999)], 0).unwrap();
        for (counts, unknown) in [
            (&[(0, 2), (1, 998)][..], 0),
            (&[(1, 998)][..], 2),
            (&[(0, 1000)][..], 0),
            (&[][..], 0),
        ] {
            let reason = check(counts, unknown).unwrap_err();
            assert_eq!(reason.code, ReasonCode::Misplaced);
            assert!(reason.text.contains("preferred:1"), "{}", reason.text);
        }
    }

    /// Writes to a pool as a kernel would and restores parts of it.
    #[test]
    fn what_was_overwritten_is_restored_where_it_is_needed() {
        let machine = nearfar_topology::read_live(Path::new("/")).unwrap();
        let pattern = Pattern::new(3);
        let cpus = machine.allowed_cpus.clone();
        let node = machine.allowed_nodes.first().unwrap();
        let request = PoolRequest {
            policy: &MemoryPolicy::Preferred(node),
            pages: Pages::Small,
            bytes: 8 << 20,
            cpus: &cpus,
        };
        let mut pool = Pool::map(request, &machine, false, &pattern).unwrap();
        let holds_pattern = |pool: &mut Pool, range: Range<usize>| {
            range.clone().all(|index| {
                pool.elements_mut()[index].to_bits() == pattern.value(index as u64).to_bits()
            })
        };
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
        // A part of the pool is proven as well as the whole.
        for bytes in [4096, 1 << 20, 8 << 20] {
            let found = pool.prove(bytes, &machine).unwrap();
            assert!(found.fraction_on(node) >= PLACED_FRACTION);
        }
    }
}
