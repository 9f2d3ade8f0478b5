//! Memory policy (numa(7)): of ranges of addresses (mbind(2)), and of the calling thread
//! (set_mempolicy(2)), which programs that it starts inherit.

use std::ffi::{c_int, c_long, c_ulong};
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

/// Of Linux 6.9 and later.
const MPOL_WEIGHTED_INTERLEAVE: c_int = 6;

/// The modes of Linux by their numbers in its `linux/mempolicy.h`.
const MODES: [&str; 7] = [
    "default",
    "preferred",
    "bind",
    "interleave",
    "local",
    "preferred-many",
    "weighted-interleave",
];

/// A policy as the kernel holds it: what get_mempolicy(2) says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelPolicy {
    /// The number of its mode, without the mode flags.
    mode: c_int,
    /// Those of [`MODE_FLAGS`] that it has; with static and relative nodes the nodes are as they were asked for.
    flags: c_int,
    /// Its nodes; empty for modes that name none.
    nodes: NodeSet,
}

impl KernelPolicy {
    const DEFAULT: Self = Self { mode: libc::MPOL_DEFAULT, flags: 0, nodes: NodeSet::new() };
    const LOCAL: Self = Self { mode: libc::MPOL_LOCAL, flags: 0, nodes: NodeSet::new() };

    /// Whether it is none: that of the thread holds, else the local node.
    pub fn is_default(&self) -> bool {
        self.mode == libc::MPOL_DEFAULT
    }

    /// Whether it is that of the thread's own node, by name (`MPOL_LOCAL`).
    pub fn is_local(&self) -> bool {
        self.mode == libc::MPOL_LOCAL
    }

    /// The same as a policy to ask for; `None` for modes that there is none for.
    pub fn as_memory_policy(&self) -> Option<MemoryPolicy> {
        match self.mode {
            libc::MPOL_DEFAULT | libc::MPOL_LOCAL => Some(MemoryPolicy::FirstTouch),
            libc::MPOL_BIND => Some(MemoryPolicy::Bind(self.nodes.clone())),
            // Without nodes it is the local policy, as Linux before 5.14 reports that.
            libc::MPOL_PREFERRED => {
                Some(self.nodes.first().map_or(MemoryPolicy::FirstTouch, MemoryPolicy::Preferred))
            }
            libc::MPOL_INTERLEAVE => Some(MemoryPolicy::Interleave(self.nodes.clone())),
            _ => None,
        }
    }

    /// Gives it to a call of the kernel, which reads mode, mask and maxnode.
    fn set_by(
        &self,
        name: &'static str,
        call: impl FnOnce(c_int, *const c_ulong, c_ulong) -> c_long,
    ) -> Result<(), Refusal> {
        let mask = bit_mask::words(&self.nodes);
        // The kernel counts the bits from one: it uses maxnode - 1 of them.
        let status = match self.nodes.is_empty() {
            true => call(self.mode | self.flags, ptr::null(), 0),
            false => {
                call(self.mode | self.flags, mask.as_ptr(), bit_mask::bits(&mask) as c_ulong + 1)
            }
        };
        match status {
            0 => Ok(()),
            // Where a range is tells a reader nothing, and would make every refusal another.
            _ => Err(Refusal::call(name, self, Errno::last())),
        }
    }
}

impl From<&MemoryPolicy> for KernelPolicy {
    /// The mode and nodes to ask for. Weights are not part of it: the kernel keeps
    /// one set for the whole system in sysfs.
    fn from(policy: &MemoryPolicy) -> Self {
        let mode = match policy {
            MemoryPolicy::FirstTouch => libc::MPOL_DEFAULT,
            MemoryPolicy::Bind(_) => libc::MPOL_BIND,
            MemoryPolicy::Preferred(_) => libc::MPOL_PREFERRED,
            MemoryPolicy::Interleave(_) => libc::MPOL_INTERLEAVE,
            MemoryPolicy::Weighted(_) => MPOL_WEIGHTED_INTERLEAVE,
        };
        Self { mode, flags: 0, nodes: policy.nodes().unwrap_or_default() }
    }
}

impl fmt::Display for KernelPolicy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match usize::try_from(self.mode).ok().and_then(|mode| MODES.get(mode)) {
            Some(name) => out.write_str(name)?,
            None => write!(out, "mode {}", self.mode)?,
        }
        if self.nodes.is_empty() { Ok(()) } else { write!(out, ":{}", self.nodes) }
    }
}

/// Sets the policy by which pages of `range` that are not present yet will be
/// placed; present pages stay. The policy of the thread is left alone, so page
/// tables and stacks stay near the thread.
///
/// The range must begin at a page and is extended to whole pages.
/// [`FirstTouch`](MemoryPolicy::FirstTouch) is `MPOL_LOCAL`: it replaces a policy of the thread
/// ([`thread_policy`], for instance from numactl), and NUMA balancing leaves the pages alone, as it
/// does under every policy of a range. The weights of [`Weighted`](MemoryPolicy::Weighted) are those in
/// /sys/kernel/mm/mempolicy/weighted_interleave, which the caller compares.
///
/// # Errors
/// When the policy names no node, the kernel refuses, or it would use fewer nodes:
/// it silently drops those that are outside the cpuset or have no memory. A range
/// whose policy was altered in this way is given back its default.
pub fn bind_range(range: impl Into<AddressRange>, policy: &MemoryPolicy) -> Result<(), Refusal> {
    let range = range.into();
    if !range.start().is_multiple_of(base_page_bytes()) {
        return Err(Refusal::Argument {
            what: format!("the range {range}"),
            reason: "a policy holds for whole pages; begin the range at a page",
        });
    }
    if *policy == MemoryPolicy::FirstTouch {
        // It names no node that the kernel could drop.
        return mbind(range, &KernelPolicy::LOCAL);
    }
    let granted = || match range.bytes() {
        0 => Ok(policy.into()),
        _ => range_policy(range.start()),
    };
    set_and_check("mbind", policy, |policy| mbind(range, policy), granted)
}

/// Sets the policy by which pages will be placed that the calling thread touches first, and those
/// of threads and programs that it starts from now on. Pages that are there stay. Ranges with a
/// policy of their own keep it.
///
/// # Errors
/// As [`bind_range`]; the policy is the default one then.
pub fn set_thread_policy(policy: &MemoryPolicy) -> Result<(), Refusal> {
    set_and_check("set_mempolicy", policy, restore_thread_policy, thread_policy)
}

fn set_and_check(
    call: &'static str,
    policy: &MemoryPolicy,
    set: impl Fn(&KernelPolicy) -> Result<(), Refusal>,
    granted: impl FnOnce() -> Result<KernelPolicy, Refusal>,
) -> Result<(), Refusal> {
    let asked = KernelPolicy::from(policy);
    if asked.nodes.is_empty() && !asked.is_default() {
        return Err(Refusal::Argument {
            what: format!("the policy '{policy}'"),
            reason: "it needs at least one node",
        });
    }
    set(&asked)?;
    // Where a filter blocks get_mempolicy, the proof of the pages has to do alone.
    match granted() {
        Ok(granted) if granted != asked => {
            set(&KernelPolicy::DEFAULT)?;
            Err(Refusal::Altered {
                call,
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
    let (start, bytes) = (range.start(), range.bytes());
    // SAFETY: the kernel reads maxnode - 1 bits of the live mask. A policy changes
    // where pages of the range will be, not what they hold.
    policy.set_by("mbind", |mode, mask, maxnode| unsafe {
        libc::syscall(libc::SYS_mbind, start, bytes, mode, mask, maxnode, 0_u32)
    })
}

/// Gives the calling thread a policy back that it had.
///
/// # Errors
/// When the kernel refuses.
pub fn restore_thread_policy(policy: &KernelPolicy) -> Result<(), Refusal> {
    // SAFETY: the kernel reads maxnode - 1 bits of the live mask. A policy changes where pages
    // will be, not what they hold.
    policy.set_by("set_mempolicy", |mode, mask, maxnode| unsafe {
        libc::syscall(libc::SYS_set_mempolicy, mode, mask, maxnode)
    })
}

/// The policy of the mapping at `address`, not that of its thread.
pub(crate) fn range_policy(address: usize) -> Result<KernelPolicy, Refusal> {
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
        mode: mode & !MODE_FLAGS,
        flags: mode & MODE_FLAGS,
        nodes: bit_mask::members(&mask),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{Mapping, PageRequest};

    /// Policies over these nodes, and what numa(7) calls their modes.
    fn policies(nodes: &NodeSet, first_touch: &str) -> [(MemoryPolicy, String); 4] {
        let first = nodes.first().unwrap();
        [
            (MemoryPolicy::Bind(nodes.clone()), format!("bind:{nodes}")),
            (MemoryPolicy::Interleave(nodes.clone()), format!("interleave:{nodes}")),
            (MemoryPolicy::Preferred(first), format!("preferred:{first}")),
            (MemoryPolicy::FirstTouch, first_touch.into()),
        ]
    }

    #[test]
    fn policies_read_back_and_those_of_a_thread_are_its_own() {
        let nodes = crate::usable_nodes("/".as_ref()).unwrap();
        let mapping = Mapping::new(1 << 20, PageRequest::Small).unwrap();
        for (policy, name) in policies(&nodes, "local") {
            bind_range(&mapping, &policy).unwrap();
            for address in [mapping.address(), mapping.address() + mapping.bytes() - 1] {
                let kept = range_policy(address).unwrap();
                assert_eq!(kept.as_memory_policy(), Some(policy.clone()));
                // A policy of the range's own is what NUMA balancing leaves alone.
                assert!(kept.to_string() == name && !kept.is_default(), "{kept}");
            }
        }
        let of_thread = || {
            for (policy, name) in policies(&nodes, "default") {
                set_thread_policy(&policy).unwrap();
                assert_eq!(thread_policy().unwrap().to_string(), name);
            }
        };
        std::thread::scope(|scope| scope.spawn(of_thread).join()).unwrap();
        assert!(thread_policy().unwrap().is_default());
    }

    /// As under `numactl --balancing --membind`.
    #[test]
    fn a_policy_that_is_given_back_has_its_flags() {
        let nodes = crate::usable_nodes("/".as_ref()).unwrap();
        let kinds =
            [libc::MPOL_F_STATIC_NODES, libc::MPOL_F_RELATIVE_NODES, libc::MPOL_F_NUMA_BALANCING];
        for flags in kinds {
            let of_user = KernelPolicy { mode: libc::MPOL_BIND, flags, nodes: nodes.clone() };
            let of_thread = || {
                let given = restore_thread_policy(&of_user);
                if given.is_err() && flags == libc::MPOL_F_NUMA_BALANCING {
                    // Linux before 5.12.
                    return;
                }
                given.unwrap();
                let kept = thread_policy().unwrap();
                set_thread_policy(&MemoryPolicy::Interleave(nodes.clone())).unwrap();
                restore_thread_policy(&kept).unwrap();
                assert_eq!(thread_policy().unwrap(), of_user);
            };
            std::thread::scope(|scope| scope.spawn(of_thread).join()).unwrap();
        }
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
        let is_default = |address| range_policy(address).unwrap().is_default();
        assert!(is_default(mapping.address()) && is_default(half.start() - 1));
        assert!(!is_default(half.start()));
    }

    #[test]
    fn impossible_policies_are_refused() {
        let mapping = Mapping::new(4096, PageRequest::Small).unwrap();
        for nobody in
            [MemoryPolicy::Bind(NodeSet::new()), MemoryPolicy::Weighted(Default::default())]
        {
            assert!(matches!(bind_range(&mapping, &nobody), Err(Refusal::Argument { .. })));
            assert!(matches!(set_thread_policy(&nobody), Err(Refusal::Argument { .. })));
        }
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
    fn partly_usable_nodes_are_refused_and_the_default_is_given_back() {
        let mut nodes = crate::usable_nodes("/".as_ref()).unwrap();
        nodes.insert(nodes.last().unwrap() + 1);
        let policy = MemoryPolicy::Bind(nodes);
        let mapping = Mapping::new(4096, PageRequest::Small).unwrap();
        assert!(bind_range(&mapping, &policy).is_err());
        assert!(range_policy(mapping.address()).unwrap().is_default());
        let of_thread =
            || set_thread_policy(&policy).is_err() && thread_policy().unwrap().is_default();
        assert!(std::thread::scope(|scope| scope.spawn(of_thread).join()).unwrap());
    }
}
