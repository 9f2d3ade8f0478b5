//! The weights of the kernel's weighted interleave, one set for the whole system.

use std::collections::BTreeMap;
use std::path::Path;

use nearfar_machine::NodeSet;
use nearfar_units::excerpt;

use crate::refusal::Refusal;
use crate::system_file::read_text;

const FOLDER: &str = "sys/kernel/mm/mempolicy/weighted_interleave";

/// The kernel's weights of these nodes: pages in a turn.
///
/// # Errors
/// When the kernel has none (before Linux 6.9), or says what is no weight.
pub fn interleave_weights(root: &Path, nodes: &NodeSet) -> Result<BTreeMap<u32, u32>, Refusal> {
    let weight = |node| {
        let path = format!("{FOLDER}/node{node}");
        let text = read_text(root, &path)?;
        let no_weight = || Refusal::Content {
            path: format!("/{path}"),
            reason: format!("'{}' is not a weight", excerpt(text.trim())),
        };
        let weight = text.trim().parse().map_err(|_| no_weight())?;
        if weight == 0 { Err(no_weight()) } else { Ok((node, weight)) }
    };
    nodes.iter().map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_tree::file_tree;

    #[test]
    fn weights_are_read_or_refused() {
        let tree = file_tree([
            ("sys/kernel/mm/mempolicy/weighted_interleave/node0", "3\n"),
            ("sys/kernel/mm/mempolicy/weighted_interleave/node2", "1\n"),
            ("sys/kernel/mm/mempolicy/weighted_interleave/node3", "0\n"),
        ]);
        let weights = |nodes: &str| interleave_weights(tree.path(), &nodes.parse().unwrap());
        assert_eq!(weights("0,2").unwrap(), [(0, 3), (2, 1)].into());
        for nodes in ["1", "0,3"] {
            assert!(weights(nodes).is_err(), "{nodes}");
        }
    }
}
