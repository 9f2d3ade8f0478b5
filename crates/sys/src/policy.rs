//! Memory policy of ranges of addresses (mbind(2), numa(7)).

use std::ffi::{c_int, c_ulong};
use std::fmt;
use std::ptr;

use nearfar_machine::{MemoryPolicy, NodeSet};

use crate::address_range::AddressRange;
use crate::bit_mask;
use crate::page_query::{MPOL_F_ADDR, MPOL_F_MEMS_ALLOWED, base_page_bytes, get_mempolicy};
use crate::refusal::{Errno, Refusal};

/// Nodes that a mask can hold when reading; Linux is built for at most 1024, and a
/// mask above one page (32 768 bits) is refused.
const READ_WORDS: usize = 4096 / c_ulong::BITS as usize;

/// `MPOL_F_STATIC_NODES`, `MPOL_F_RELATIVE_NODES`, `MPOL_F_NUMA_BALANCING`: flags that
/// get_mempolicy(2) returns within the mode.
const MODE_FLAGS: c_int = 0b111 << 13;

/// The modes of Linux by the numbers of its `linux/mempolicy.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PolicyMode {
    /// 0: no policy here; that of the thread holds, else the local node.
    Default,
    /// 1: one node while it has room.
    Preferred,
    /// 2: these nodes only.
    Bind,
    /// 3: in turn.
    Interleave,
    /// 4: the node of the CPU that touches first, whatever the thread's policy.
    Local,
    /// 5: these nodes while they have room (Linux 5.15).
    PreferredMany,
    /// 6: in turn, by the weights in sysfs (Linux 6.9).
    WeightedInterleave,
    /// A mode of a later kernel.
    Other(i32),
}

impl PolicyMode {
    pub(crate) fn number(self) -> c_int {
        match self {
            Self::Default => 0,
            Self::Preferred => 1,
            Self::Bind => 2,
            Self::Interleave => 3,
            Self::Local => 4,
            Self::PreferredMany => 5,
            Self::WeightedInterleave => 6,
            Self::Other(number) => number,
        }
    }

    fn from_number(number: c_int) -> Self {
        match number {
            0 => Self::Default,
            1 => Self::Preferred,
            2 => Self::Bind,
            3 => Self::Interleave,
            4 => Self::Local,
            5 => Self::PreferredMany,
            6 => Self::WeightedInterleave,
            other => Self::Other(other),
        }
    }
}

/// A policy as the kernel holds it: what get_mempolicy(2) says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelPolicy {
    /// Its mode, without the mode flags.
    pub mode: PolicyMode,
    /// Its nodes; empty for modes that name none.
    pub nodes: NodeSet,
}

impl From<&MemoryPolicy> for KernelPolicy {
    /// The mode and nodes to ask for. Weights are not part of it: the kernel keeps
    /// one set for the whole system in sysfs.
    fn from(policy: &MemoryPolicy) -> Self {
        let mode = match policy {
            MemoryPolicy::FirstTouch => PolicyMode::Default,
            MemoryPolicy::Bind(_) => PolicyMode::Bind,
            MemoryPolicy::Preferred(_) => PolicyMode::Preferred,
            MemoryPolicy::Interleave(_) => PolicyMode::Interleave,
            MemoryPolicy::Weighted(_) => PolicyMode::WeightedInterleave,
        };
        Self { mode, nodes: policy.nodes().unwrap_or_default() }
    }
}

impl fmt::Display for KernelPolicy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mode {
            PolicyMode::Default => out.write_str("default")?,
            PolicyMode::Preferred => out.write_str("preferred")?,
            PolicyMode::Bind => out.write_str("bind")?,
            PolicyMode::Interleave => out.write_str("interleave")?,
            PolicyMode::Local => out.write_str("local")?,
            PolicyMode::PreferredMany => out.write_str("preferred-many")?,
            PolicyMode::WeightedInterleave => out.write_str("weighted-interleave")?,
            PolicyMode::Other(number) => write!(out, "mode {number}")?,
        }
        if self.nodes.is_empty() { Ok(()) } else { write!(out, ":{}", self.nodes) }
    }
}

/// Sets the policy by which pages of `range` that are not present yet will be
/// placed; present pages stay. The policy of the thread is left alone, so page
/// tables and stacks stay near the thread.
///
/// The range must begin at a page and is extended to whole pages.
/// [`FirstTouch`](MemoryPolicy::FirstTouch) is
/// `MPOL_DEFAULT`, under which a policy of the thread ([`thread_policy`]), for
/// instance from numactl, still holds. The weights of
/// [`Weighted`](MemoryPolicy::Weighted) are those in
/// /sys/kernel/mm/mempolicy/weighted_interleave, which the caller compares.
///
/// # Errors
/// When the policy names no node, the kernel refuses, or it would use fewer nodes:
/// it silently drops those that are outside the cpuset or have no memory. A range
/// whose policy was altered in this way is given back its default.
pub fn bind_range(range: impl Into<AddressRange>, policy: &MemoryPolicy) -> Result<(), Refusal> {
    let range = range.into();
    let asked = KernelPolicy::from(policy);
    if asked.nodes.is_empty() && asked.mode != PolicyMode::Default {
        return Err(Refusal::Argument {
            what: format!("the policy '{policy}'"),
            reason: "it needs at least one node",
        });
    }
    if !range.start().is_multiple_of(base_page_bytes()) {
        return Err(Refusal::Argument {
            what: format!("the range {range}"),
            reason: "a policy holds for whole pages; begin the range at a page",
        });
    }
    mbind(range, &asked)?;
    // Where a filter blocks get_mempolicy, the proof of the pages has to do alone.
    match range_policy(range.start()) {
        Ok(granted) if granted != asked && range.bytes() > 0 => {
            mbind(range, &KernelPolicy { mode: PolicyMode::Default, nodes: NodeSet::new() })?;
            Err(Refusal::Altered {
                call: "mbind",
                asked: asked.to_string(),
                granted: granted.to_string(),
                remedy: "the rest has no memory or is outside the cpuset; \
                         choose from Mems_allowed_list in /proc/self/status",
            })
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

pub(crate) fn mbind(range: AddressRange, policy: &KernelPolicy) -> Result<(), Refusal> {
    let mask = bit_mask::words(&policy.nodes);
    // The kernel counts the bits from one: it uses maxnode - 1 of them.
    let (words, maxnode) = match policy.nodes.is_empty() {
        true => (ptr::null(), 0),
        false => (mask.as_ptr(), bit_mask::bits(&mask) as c_ulong + 1),
    };
    // SAFETY: the kernel reads maxnode - 1 bits of the live mask. A policy changes
    // where pages of the range will be, not what they hold.
    let status = unsafe {
        libc::syscall(
            libc::SYS_mbind,
            range.start(),
            range.bytes(),
            policy.mode.number(),
            words,
            maxnode,
            0_u32,
        )
    };
    match status {
        0 => Ok(()),
        // Where the range is tells a reader nothing, and would make every refusal another.
        _ => Err(Refusal::call("mbind", policy, Errno::last())),
    }
}

/// The policy of the mapping at `address`, not that of its thread.
///
/// # Errors
/// When nothing is mapped there or the kernel refuses to say.
pub fn range_policy(address: usize) -> Result<KernelPolicy, Refusal> {
    read_policy(address, MPOL_F_ADDR, format_args!("{address:#x}"))
}

/// The policy of the calling thread, which holds wherever a range has none.
///
/// # Errors
/// When the kernel refuses to say.
pub fn thread_policy() -> Result<KernelPolicy, Refusal> {
    read_policy(0, 0, "thread")
}

/// The nodes that the cpuset of the calling thread allows, by get_mempolicy(2), which
/// needs no file. As Mems_allowed_list of /proc/self/status it can name too many.
pub(crate) fn allowed_nodes() -> Result<NodeSet, Refusal> {
    let mut mask: [c_ulong; READ_WORDS] = [0; READ_WORDS];
    get_mempolicy(Some(&mut mask), 0, MPOL_F_MEMS_ALLOWED, "allowed nodes")?;
    Ok(bit_mask::members(&mask))
}

fn read_policy(
    address: usize,
    flags: c_ulong,
    arguments: impl fmt::Display,
) -> Result<KernelPolicy, Refusal> {
    let mut mask: [c_ulong; READ_WORDS] = [0; READ_WORDS];
    let mode = get_mempolicy(Some(&mut mask), address, flags, arguments)?;
    Ok(KernelPolicy {
        mode: PolicyMode::from_number(mode & !MODE_FLAGS),
        nodes: bit_mask::members(&mask),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{Mapping, PageRequest};

    #[test]
    fn policy_reads_back() {
        let nodes = crate::usable_nodes("/".as_ref()).unwrap();
        let first = nodes.first().unwrap();
        let mapping = Mapping::new(1 << 20, PageRequest::Small).unwrap();
        for (policy, mode) in [
            (MemoryPolicy::Bind(nodes.clone()), PolicyMode::Bind),
            (MemoryPolicy::Interleave(nodes.clone()), PolicyMode::Interleave),
            (MemoryPolicy::Preferred(first), PolicyMode::Preferred),
            (MemoryPolicy::FirstTouch, PolicyMode::Default),
        ] {
            bind_range(&mapping, &policy).unwrap();
            let found = range_policy(mapping.address()).unwrap();
            assert_eq!(found, KernelPolicy { mode, nodes: policy.nodes().unwrap_or_default() });
            let last = range_policy(mapping.address() + mapping.bytes() - 1).unwrap();
            assert_eq!(last, found);
        }
        assert_eq!(thread_policy().unwrap().mode, PolicyMode::Default);
    }

    #[test]
    fn allowed_nodes_are_those_of_the_status_file() {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let list = status.lines().find_map(|line| line.strip_prefix("Mems_allowed_list:"));
        assert_eq!(allowed_nodes().unwrap(), list.unwrap().trim().parse().unwrap());
    }

    #[test]
    fn policy_of_one_part_leaves_the_rest() {
        let mapping = Mapping::new(1 << 20, PageRequest::Small).unwrap();
        let node = crate::usable_nodes("/".as_ref()).unwrap().first().unwrap();
        let half = AddressRange::from(&mapping).part(512 << 10, 1 << 20);
        bind_range(half, &MemoryPolicy::Preferred(node)).unwrap();
        let mode = |address| range_policy(address).unwrap().mode;
        assert_eq!(mode(mapping.address()), PolicyMode::Default);
        assert_eq!(mode(half.start() - 1), PolicyMode::Default);
        assert_eq!(mode(half.start()), PolicyMode::Preferred);
    }

    #[test]
    fn impossible_policies_are_refused() {
        let mapping = Mapping::new(4096, PageRequest::Small).unwrap();
        let nobody = MemoryPolicy::Bind(NodeSet::new());
        assert!(matches!(bind_range(&mapping, &nobody), Err(Refusal::Argument { .. })));
        let none = MemoryPolicy::Weighted(Default::default());
        assert!(matches!(bind_range(&mapping, &none), Err(Refusal::Argument { .. })));
        // 63 and 1023 are the last bits of their masks: maxnode too small by one loses them.
        for node in [63, 1023, 65_535] {
            let refusal = bind_range(&mapping, &MemoryPolicy::Preferred(node)).unwrap_err();
            assert_eq!(refusal.errno(), Some(Errno(libc::EINVAL)), "{refusal}");
        }
        let inside = AddressRange::from(&mapping).part(8, 8);
        let refusal = bind_range(inside, &MemoryPolicy::FirstTouch).unwrap_err();
        assert!(matches!(refusal, Refusal::Argument { .. }), "{refusal}");
        let unmapped = AddressRange::new(0, 4096);
        assert!(bind_range(unmapped, &MemoryPolicy::FirstTouch).is_err());
        assert_eq!(range_policy(0).unwrap_err().errno(), Some(Errno(libc::EFAULT)));
    }

    #[test]
    fn partly_usable_nodes_are_refused_and_the_range_left_at_its_default() {
        let mut nodes = crate::usable_nodes("/".as_ref()).unwrap();
        nodes.insert(nodes.last().unwrap() + 1);
        let mapping = Mapping::new(4096, PageRequest::Small).unwrap();
        assert!(bind_range(&mapping, &MemoryPolicy::Bind(nodes)).is_err());
        assert_eq!(range_policy(mapping.address()).unwrap().mode, PolicyMode::Default);
    }
}
