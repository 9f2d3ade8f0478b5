//! The ways in which the kernel tells on which node pages are.

use std::fmt;

/// How the node of the pages was found out, the most trusted first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProofMethod {
    /// move_pages(2) as a query of every page: exact, and knows the zero page.
    MovePages,
    /// get_mempolicy(2) of every resident page: exact, but a zero page counts as memory.
    GetMempolicy,
    /// /proc/self/numa_maps: exact, for ranges made of whole VMAs.
    NumaMaps,
    /// The process may use one node only, by the topology and the kernel's own files, so
    /// every resident page is there.
    OneAllowedNode,
}

impl ProofMethod {
    /// All methods, in the order in which [`prove`] tries them.
    pub const ALL: [Self; 4] =
        [Self::MovePages, Self::GetMempolicy, Self::NumaMaps, Self::OneAllowedNode];
}

impl fmt::Display for ProofMethod {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::MovePages => "move_pages",
            Self::GetMempolicy => "get_mempolicy",
            Self::NumaMaps => "numa_maps",
            Self::OneAllowedNode => "one_allowed_node",
        })
    }
}
