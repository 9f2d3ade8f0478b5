//! The one node that a process may use, by the kernel's own word.

use std::path::Path;

use nearfar_machine::NodeSet;

use crate::limits::{has_memory_nodes, usable_nodes};
use crate::policy::allowed_nodes;
use crate::refusal::Refusal;
use crate::system_file::{below, read_text};

/// The node of `shown` when it is the only one and the kernel says so too: a
/// topology that was read where /sys is hidden shows one node whatever the machine has.
///
/// # Errors
/// When there are more nodes or none, by either account, and when the kernel's cannot
/// be read.
pub(crate) fn only_node(shown: &NodeSet) -> Result<u32, Refusal> {
    judge(shown, nodes_by_kernel)
}

fn judge(
    shown: &NodeSet,
    by_kernel: impl FnOnce() -> Result<Option<NodeSet>, Refusal>,
) -> Result<u32, Refusal> {
    let (Some(node), 1) = (shown.first(), shown.len()) else {
        return Err(Refusal::Argument {
            what: format!("the allowed nodes '{shown}'"),
            reason: "they prove a placement only when there is exactly one",
        });
    };
    let Some(by_kernel) = by_kernel()? else {
        return Ok(node);
    };
    if by_kernel == *shown {
        return Ok(node);
    }
    Err(Refusal::Altered {
        call: "the topology's account of nodes",
        asked: format!("node {node} alone"),
        granted: format!("the nodes {by_kernel}, by its own account"),
        remedy: "mount /sys here so that all nodes are seen",
    })
}

/// The nodes that this process may use, by /proc/self/status and sysfs, by one of them
/// where the other is hidden, or by get_mempolicy(2) where both are. `None` where the
/// kernel was built without NUMA.
///
/// # Errors
/// When none of them says.
pub fn nodes_by_kernel() -> Result<Option<NodeSet>, Refusal> {
    nodes_by(Path::new("/"), allowed_nodes)
}

fn nodes_by(
    root: &Path,
    by_call: impl FnOnce() -> Result<NodeSet, Refusal>,
) -> Result<Option<NodeSet>, Refusal> {
    if has_memory_nodes(root)
        && let Ok(nodes) = usable_nodes(root)
    {
        return Ok(Some(nodes));
    }
    // Each of these can only name too many.
    let status = read_text(root, "proc/self/status").unwrap_or_default();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Mems_allowed_list:"));
    let with_memory = read_text(root, "sys/devices/system/node/has_memory").ok();
    let lists = [allowed, with_memory.as_deref()];
    if let Some(nodes) = lists.into_iter().flatten().find_map(|list| list.trim().parse().ok()) {
        return Ok(Some(nodes));
    }
    let refusal = match by_call() {
        Ok(nodes) => return Ok(Some(nodes)),
        Err(refusal) => refusal,
    };
    let there = |path: &str| below(root, path).exists();
    // A kernel built without NUMA has the CPUs of sysfs and not the nodes. Where its
    // status file is masked as well, the folder of nodes may be no less.
    let is_whole = !status.is_empty();
    if is_whole && there("sys/devices/system/cpu") && !there("sys/devices/system/node") {
        return Ok(None);
    }
    Err(refusal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_tree::file_tree;
    use crate::refusal::Errno;

    const STATUS: &str = "proc/self/status";
    const MEMORY: &str = "sys/devices/system/node/has_memory";
    const CPUS: &str = "sys/devices/system/cpu/online";

    /// By these files, and by a call that names these nodes or is refused.
    fn only(
        files: &[(&str, &str)],
        by_call: Option<&str>,
        shown: &NodeSet,
    ) -> Result<u32, Refusal> {
        let root = file_tree(files.iter().copied());
        let call = || match by_call {
            Some(nodes) => Ok(nodes.parse().unwrap()),
            None => Err(Refusal::call("get_mempolicy", "allowed nodes", Errno(libc::EPERM))),
        };
        judge(shown, || nodes_by(root.path(), call))
    }

    #[test]
    fn one_node_counts_when_the_kernel_names_it_alone() {
        let one = NodeSet::single(1);
        for (files, by_call) in [
            (&[(STATUS, "Mems_allowed_list:\t1\n"), (MEMORY, "0-3\n")][..], Some("0-3")),
            (&[(STATUS, "Mems_allowed_list:\t0-1\n"), (MEMORY, "1\n")][..], None),
            // /sys hidden, /proc/self/status masked, both.
            (&[(STATUS, "Mems_allowed_list:\t1\n")][..], None),
            (&[(STATUS, ""), (MEMORY, "1\n")][..], None),
            (&[][..], Some("1")),
            (&[(STATUS, ""), (CPUS, "0\n")][..], Some("1")),
            // A kernel without NUMA.
            (&[(STATUS, "Name:\tx\n"), (CPUS, "0\n")][..], None),
        ] {
            assert_eq!(only(files, by_call, &one).unwrap(), 1, "{files:?}");
        }
    }

    #[test]
    fn more_nodes_by_the_kernel_or_no_word_of_it_prove_nothing() {
        let one = NodeSet::single(0);
        for (files, by_call) in [
            (&[(STATUS, "Mems_allowed_list:\t0-1\n")][..], None),
            (&[(STATUS, "Mems_allowed_list:\t0-1\n"), (MEMORY, "0-1\n")][..], None),
            (&[(STATUS, "Mems_allowed_list:\t1\n"), (MEMORY, "0-1\n")][..], None),
            (&[(STATUS, ""), (MEMORY, "0,2\n")][..], None),
            (&[(STATUS, "Mems_allowed_list:\tall\n")][..], None),
            (&[(STATUS, "Name:\tx\n")][..], None),
            (&[][..], None),
            (&[][..], Some("0-1")),
            (&[(STATUS, "Name:\tx\n"), (CPUS, "0\n")][..], Some("0-1")),
            // The folder of nodes may be hidden as well as the status file.
            (&[(CPUS, "0\n")][..], None),
            (&[(STATUS, ""), (CPUS, "0\n")][..], None),
        ] {
            assert!(only(files, by_call, &one).is_err(), "{files:?}");
        }
        let files = [(STATUS, "Mems_allowed_list:\t0\n"), (MEMORY, "0\n")];
        for nodes in ["", "0-1", "0,2"] {
            assert!(only(&files, Some("0"), &nodes.parse().unwrap()).is_err());
        }
    }
}
