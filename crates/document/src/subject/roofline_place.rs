//! What limits, as the views of the roofline name it.

use nearfar_machine::MemoryKind;
use nearfar_record::Roof;
use serde::Serialize;

use super::figures::count;

/// What limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoofPlaceView {
    /// In words: `contended node 0, 4 clusters`.
    pub name: String,
    /// `cache`, `memory`, `interleaved`, `contended`, `all_local`, `congested`.
    pub limit: &'static str,
    /// The cache's level, or null.
    pub level: Option<u8>,
    /// The memory node, or null.
    pub node: Option<u32>,
    /// Whether the node is the cluster's own, or null.
    pub is_local: Option<bool>,
    /// Clusters that use the node at once, or null.
    pub clusters: Option<u32>,
    /// The kind of memory whose nodes take turns, or null.
    pub memory_kind: Option<MemoryKind>,
}

impl RoofPlaceView {
    pub(crate) fn new(roof: Roof, is_local: Option<bool>) -> Self {
        let of = |name: String, limit| Self {
            name,
            limit,
            level: None,
            node: None,
            is_local,
            clusters: None,
            memory_kind: None,
        };
        match roof {
            Roof::Compute => of("arithmetic".into(), "compute"),
            Roof::Cache { level } => {
                Self { level: Some(level), ..of(format!("L{level}"), "cache") }
            }
            Roof::Memory { node } => {
                let side = if is_local == Some(true) { "local" } else { "remote" };
                Self { node: Some(node), ..of(format!("{side} node {node}"), "memory") }
            }
            Roof::Interleaved { kind } => {
                Self { memory_kind: Some(kind), ..of(format!("interleaved {kind}"), "interleaved") }
            }
            Roof::Contended { node, clusters } => {
                let name =
                    format!("contended node {node}, {}", count(clusters as usize, "cluster"));
                Self { node: Some(node), clusters: Some(clusters), ..of(name, "contended") }
            }
            Roof::AllLocal { node } => {
                Self { node: Some(node), ..of(format!("all local node {node}"), "all_local") }
            }
            Roof::Congested { kind } => {
                Self { memory_kind: Some(kind), ..of(format!("congested {kind}"), "congested") }
            }
        }
    }
}
