//! The memory policy of the calling thread (set_mempolicy(2)), which programs that it starts
//! inherit.

use std::ffi::c_ulong;
use std::ptr;

use nearfar_machine::{MemoryPolicy, NodeSet};

use crate::bit_mask;
use crate::policy::{KernelPolicy, PolicyMode, thread_policy};
use crate::refusal::{Errno, Refusal};

/// Sets the policy by which pages will be placed that the calling thread touches first, and those
/// of threads and programs that it starts from now on. Pages that are there stay. Ranges with a
/// policy of their own keep it.
///
/// [`FirstTouch`](MemoryPolicy::FirstTouch) is `MPOL_DEFAULT`. The weights of
/// [`Weighted`](MemoryPolicy::Weighted) are those that the kernel holds for the whole system in
/// /sys/kernel/mm/mempolicy/weighted_interleave, which the caller compares.
///
/// # Errors
/// When the policy names no node, the kernel refuses, or it would use fewer nodes than asked for:
/// it silently drops those that are outside the cpuset or have no memory. The policy is the
/// default one then.
pub fn set_thread_policy(policy: &MemoryPolicy) -> Result<(), Refusal> {
    let asked = KernelPolicy::from(policy);
    if asked.nodes.is_empty() && asked.mode != PolicyMode::Default {
        return Err(Refusal::Argument {
            what: format!("the policy '{policy}'"),
            reason: "it needs at least one node",
        });
    }
    set(&asked)?;
    // Where a filter blocks get_mempolicy, the nodes of the pages have to tell alone.
    match thread_policy() {
        Ok(granted) if granted != asked => {
            set(&KernelPolicy { mode: PolicyMode::Default, nodes: NodeSet::new() })?;
            Err(Refusal::Altered {
                call: "set_mempolicy",
                asked: asked.to_string(),
                granted: granted.to_string(),
                remedy: "the rest has no memory or is outside the cpuset; \
                         choose from Mems_allowed_list in /proc/self/status",
            })
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Gives the calling thread a policy back that it had.
///
/// # Errors
/// When the kernel refuses.
pub fn restore_thread_policy(policy: &KernelPolicy) -> Result<(), Refusal> {
    set(policy)
}

fn set(policy: &KernelPolicy) -> Result<(), Refusal> {
    let mask = bit_mask::words(&policy.nodes);
    // The kernel counts the bits from one: it uses maxnode - 1 of them.
    let (words, maxnode) = match policy.nodes.is_empty() {
        true => (ptr::null(), 0),
        false => (mask.as_ptr(), bit_mask::bits(&mask) as c_ulong + 1),
    };
    // SAFETY: the kernel reads maxnode - 1 bits of the live mask. A policy changes where pages
    // will be, not what they hold.
    let status =
        unsafe { libc::syscall(libc::SYS_set_mempolicy, policy.mode.number(), words, maxnode) };
    match status {
        0 => Ok(()),
        _ => Err(Refusal::call("set_mempolicy", policy, Errno::last())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_of_a_thread_reads_back_and_is_its_own() {
        std::thread::spawn(|| {
            let nodes = crate::usable_nodes("/".as_ref()).unwrap();
            for (policy, mode) in [
                (MemoryPolicy::Bind(nodes.clone()), PolicyMode::Bind),
                (MemoryPolicy::Interleave(nodes.clone()), PolicyMode::Interleave),
                (MemoryPolicy::Preferred(nodes.first().unwrap()), PolicyMode::Preferred),
                (MemoryPolicy::FirstTouch, PolicyMode::Default),
            ] {
                set_thread_policy(&policy).unwrap();
                assert_eq!(thread_policy().unwrap().mode, mode);
            }
        })
        .join()
        .unwrap();
        assert_eq!(thread_policy().unwrap().mode, PolicyMode::Default);
    }

    #[test]
    fn policies_that_would_lose_nodes_are_refused() {
        std::thread::spawn(|| {
            let mut nodes = crate::usable_nodes("/".as_ref()).unwrap();
            nodes.insert(nodes.last().unwrap() + 1);
            assert!(set_thread_policy(&MemoryPolicy::Bind(nodes)).is_err());
            assert_eq!(thread_policy().unwrap().mode, PolicyMode::Default);
            let nobody = MemoryPolicy::Bind(NodeSet::new());
            assert!(matches!(set_thread_policy(&nobody), Err(Refusal::Argument { .. })));
        })
        .join()
        .unwrap();
    }
}
