//! A part of a machine that streams share, in views.

use nearfar_machine::MemoryKind;
use nearfar_model::{FlowLayout, FlowPart, LinkEnds};
use serde::Serialize;

/// A part of a machine that can be full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowPartView {
    /// `path`, `controller`, `issue`, `link`, `cluster_link` or `channels`.
    pub kind: &'static str,
    /// The cluster of a path, an issue limit or a cluster's link; null for the others.
    pub cluster: Option<usize>,
    /// The node of a path or a controller; null for the others.
    pub memory_node: Option<u32>,
    /// The package whose cores use a link; null for the others.
    pub from_package: Option<u32>,
    /// The package whose memory is used over a link or by channels; null for the others.
    pub to_package: Option<u32>,
    /// The kind of the memory of channels; null for the others.
    pub memory_kind: Option<MemoryKind>,
}

impl FlowPartView {
    /// `None` for a part that the machine has not.
    pub(crate) fn new(layout: &FlowLayout, part: FlowPart) -> Option<Self> {
        let none = Self {
            kind: "path",
            cluster: None,
            memory_node: None,
            from_package: None,
            to_package: None,
            memory_kind: None,
        };
        let node = |column: usize| layout.nodes.get(column).copied();
        Some(match part {
            FlowPart::Path { cluster, column } => {
                Self { cluster: Some(cluster), memory_node: Some(node(column)?), ..none }
            }
            FlowPart::Controller { column } => {
                Self { kind: "controller", memory_node: Some(node(column)?), ..none }
            }
            FlowPart::Issue { cluster } => Self { kind: "issue", cluster: Some(cluster), ..none },
            FlowPart::Link { index } => match layout.links.get(index)?.ends {
                LinkEnds::Packages { from, to } => {
                    let (from, to) = (Some(from), Some(to));
                    Self { kind: "link", from_package: from, to_package: to, ..none }
                }
                LinkEnds::ClusterToPackage { cluster, to } => {
                    let cluster = usize::try_from(cluster).ok();
                    Self { kind: "cluster_link", cluster, to_package: Some(to), ..none }
                }
                LinkEnds::Channels { package, kind } => Self {
                    kind: "channels",
                    to_package: Some(package),
                    memory_kind: Some(kind),
                    ..none
                },
            },
        })
    }

    /// In words: `the controller of node 3`.
    pub(crate) fn words(&self) -> String {
        let number = |value: Option<u32>| value.map_or_else(|| "?".into(), |it| it.to_string());
        let cluster = self.cluster.map_or_else(|| "?".into(), |cluster| cluster.to_string());
        match self.kind {
            "controller" => format!("the controller of node {}", number(self.memory_node)),
            "issue" => format!("what cluster {cluster} can issue"),
            "link" => format!(
                "the link from package {} to package {}",
                number(self.from_package),
                number(self.to_package)
            ),
            "cluster_link" => {
                format!("the link from cluster {cluster} to package {}", number(self.to_package))
            }
            "channels" => {
                let kind = self.memory_kind.map_or_else(String::new, |kind| format!("{kind} "));
                format!("the {kind}channels of package {}", number(self.to_package))
            }
            _ => format!("the path from cluster {cluster} to node {}", number(self.memory_node)),
        }
    }
}
