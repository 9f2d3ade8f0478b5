//! The one node that a process may use, by the kernel's own word.

use std::path::Path;

use nearfar_machine::NodeSet;

use crate::limits::usable_nodes;
use crate::refusal::Refusal;
use crate::system_file::{below, read_text};

/// The node of `allowed_nodes` when it is the only one and the kernel says so too: a
/// topology that was read where /sys is hidden shows one node whatever the machine has.
///
/// # Errors
/// When there are more nodes or none, by either account, and when the kernel's cannot
/// be read.
pub(crate) fn only_node(root: &Path, allowed_nodes: &NodeSet) -> Result<u32, Refusal> {
    let (Some(node), 1) = (allowed_nodes.first(), allowed_nodes.len()) else {
        return Err(Refusal::Argument {
            what: format!("the allowed nodes '{allowed_nodes}'"),
            reason: "they prove a placement only when there is exactly one",
        });
    };
    let Some(by_kernel) = nodes_by_kernel(root)? else {
        return Ok(node);
    };
    if by_kernel == *allowed_nodes {
        return Ok(node);
    }
    Err(Refusal::Altered {
        call: "the topology's account of nodes",
        asked: format!("node {node} alone"),
        granted: format!("the nodes {by_kernel}, by /proc/self/status or sysfs"),
        remedy: "mount /sys here so that all nodes are seen",
    })
}

/// The nodes that this process may use, by /proc/self/status and sysfs, or by one of them
/// where the other is hidden. `None` where the kernel was built without NUMA.
///
/// # Errors
/// When neither can be read.
pub fn nodes_by_kernel(root: &Path) -> Result<Option<NodeSet>, Refusal> {
    let refusal = match usable_nodes(root) {
        Ok(nodes) => return Ok(Some(nodes)),
        Err(refusal) => refusal,
    };
    // Each of the two can only name too many.
    let status = read_text(root, "proc/self/status").unwrap_or_default();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Mems_allowed_list:"));
    let with_memory = read_text(root, "sys/devices/system/node/has_memory").ok();
    let lists = [allowed, with_memory.as_deref()];
    let nodes = lists.into_iter().flatten().find_map(|list| list.trim().parse::<NodeSet>().ok());
    let there = |path: &str| below(root, path).exists();
    // A kernel built without NUMA has the CPUs of sysfs and not the nodes.
    if nodes.is_none() && there("sys/devices/system/cpu") && !there("sys/devices/system/node") {
        return Ok(None);
    }
    nodes.map_or(Err(refusal), |nodes| Ok(Some(nodes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    const STATUS: &str = "proc/self/status";
    const MEMORY: &str = "sys/devices/system/node/has_memory";

    #[test]
    fn one_node_counts_when_the_kernel_names_it_alone() {
        let one = NodeSet::single(1);
        for files in [
            &[(STATUS, "Mems_allowed_list:\t1\n"), (MEMORY, "0-3\n")][..],
            &[(STATUS, "Mems_allowed_list:\t0-1\n"), (MEMORY, "1\n")][..],
            // /sys hidden, /proc/self/status masked.
            &[(STATUS, "Mems_allowed_list:\t1\n")][..],
            &[(STATUS, ""), (MEMORY, "1\n")][..],
            // A kernel without NUMA.
            &[(STATUS, "Name:\tx\n"), ("sys/devices/system/cpu/online", "0\n")][..],
        ] {
            assert_eq!(only_node(root(files).path(), &one).unwrap(), 1, "{files:?}");
        }
    }

    #[test]
    fn more_nodes_by_the_kernel_or_no_word_of_it_prove_nothing() {
        let one = NodeSet::single(0);
        for files in [
            &[(STATUS, "Mems_allowed_list:\t0-1\n")][..],
            &[(STATUS, "Mems_allowed_list:\t0-1\n"), (MEMORY, "0-1\n")][..],
            &[(STATUS, "Mems_allowed_list:\t1\n"), (MEMORY, "0-1\n")][..],
            &[(STATUS, ""), (MEMORY, "0,2\n")][..],
            &[(STATUS, "Mems_allowed_list:\tall\n")][..],
            &[(STATUS, "Name:\tx\n")][..],
            &[][..],
        ] {
            assert!(only_node(root(files).path(), &one).is_err(), "{files:?}");
        }
        let files = [(STATUS, "Mems_allowed_list:\t0\n"), (MEMORY, "0\n")];
        for nodes in ["", "0-1", "0,2"] {
            assert!(only_node(root(&files).path(), &nodes.parse().unwrap()).is_err());
        }
    }
}
