//! What `topo --export-xml` wrote.

use nearfar_machine::{CpuSet, MemoryAttribute};
use nearfar_model::{MeasuredAttribute, MemoryAttributes};
use serde::Serialize;

use crate::printable::printable;
use crate::terminal::paragraph::paragraph;
use crate::terminal::table::table;

/// Where the topology of an exported file comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExportedTopology {
    /// hwloc's own description of this machine.
    Live,
    /// A file that hwloc wrote.
    File,
    /// What the record, or the file of the simulated machine, says of it: no devices.
    Description,
}

/// A topology with measured memory attributes; `topo --export-xml FILE --json` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TopologyExportView {
    pub schema: &'static str,
    pub file: String,
    /// The record with the measurements.
    pub record: String,
    /// Where the topology comes from.
    pub topology: ExportedTopology,
    /// Whether the figures are those of a simulated machine.
    pub is_simulated: bool,
    /// Attributes that were written, in hwloc's order.
    pub attributes: Vec<ExportedAttributeView>,
    /// Attributes that were not, with the reason.
    pub unmeasured: Vec<UnmeasuredAttributeView>,
    /// Attributes of which the topology had values, which were left out for the measured ones.
    pub replaced: Vec<&'static str>,
}

/// A memory attribute that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportedAttributeView {
    /// hwloc's name.
    pub attribute: &'static str,
    /// hwloc's unit.
    pub unit: &'static str,
    /// The kernel that was run; null for a chase.
    pub kernel: Option<String>,
    /// By initiator and node.
    pub values: Vec<ExportedValueView>,
    /// Pairs of an initiator and a node without a value.
    pub pairs_without: usize,
}

/// A value of a memory attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportedValueView {
    /// The CPUs that access.
    pub cpus: CpuSet,
    /// The node that is accessed.
    pub memory_node: u32,
    /// In the attribute's unit.
    pub value: u64,
}

/// A memory attribute without measurements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnmeasuredAttributeView {
    /// hwloc's name.
    pub attribute: &'static str,
    /// In words.
    pub why: String,
}

impl TopologyExportView {
    /// The view of what was written into `file` from the record at `record`.
    pub fn new(
        file: &str,
        record: &str,
        topology: ExportedTopology,
        is_simulated: bool,
        found: &MemoryAttributes,
        replaced: &[MemoryAttribute],
    ) -> Self {
        let unmeasured = found.unmeasured.iter().map(|(attribute, why)| UnmeasuredAttributeView {
            attribute: attribute.name(),
            why: why.clone(),
        });
        Self {
            schema: "nearfar.topology-export/1",
            file: file.into(),
            record: record.into(),
            topology,
            is_simulated,
            attributes: found.measured.iter().map(exported).collect(),
            unmeasured: unmeasured.collect(),
            replaced: replaced.iter().map(|attribute| attribute.name()).collect(),
        }
    }

    /// For people.
    pub fn text(&self) -> String {
        let topology = match self.topology {
            ExportedTopology::Live => "this machine's topology as hwloc finds it",
            ExportedTopology::File => "the file's topology",
            ExportedTopology::Description => {
                "the topology by the machine's description (no devices)"
            }
        };
        let simulated = if self.is_simulated { "; the figures are simulated" } else { "" };
        let mut text = paragraph(
            "",
            &format!(
                "{}: {topology}, with memory attributes by {}{simulated}",
                printable(&self.file),
                printable(&self.record)
            ),
        );
        let header = ["attribute", "measured by", "pairs", "without", "least", "most", "unit"];
        let rows = self.attributes.iter().map(ExportedAttributeView::row).collect();
        text += &table(header.map(String::from).into(), rows, 2);
        text += "\n";
        for attribute in &self.unmeasured {
            text += &paragraph("", &format!("{}: {}", attribute.attribute, attribute.why));
        }
        if !self.replaced.is_empty() {
            let replaced = self.replaced.join(", ");
            text += &paragraph(
                "",
                &format!("left out of the topology, which claimed other values: {replaced}"),
            );
        }
        let file = printable(&self.file);
        text += &format!("looked at:  lstopo -i {file} --memattrs\n");
        // Of another machine hwloc would bind to what is not here.
        if self.topology == ExportedTopology::Live && !self.is_simulated {
            text += &format!(
                "used:       HWLOC_XMLFILE={file} HWLOC_THISSYSTEM=1 hwloc-bind \\\n\
                 \x20           --best-memattr Bandwidth --cpubind core:0 --membind machine:0 -- \
                 PROGRAM\n"
            );
        }
        text
    }
}

impl ExportedAttributeView {
    fn row(&self) -> Vec<String> {
        let values = || self.values.iter().map(|value| value.value);
        let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
        vec![
            self.attribute.into(),
            self.kernel.as_deref().map_or_else(|| "chase".into(), |name| printable(name).into()),
            self.values.len().to_string(),
            self.pairs_without.to_string(),
            number(values().min()),
            number(values().max()),
            self.unit.into(),
        ]
    }
}

fn exported(measured: &MeasuredAttribute) -> ExportedAttributeView {
    let values = measured.values.iter().map(|value| ExportedValueView {
        cpus: value.initiator.clone(),
        memory_node: value.node,
        value: value.value,
    });
    ExportedAttributeView {
        attribute: measured.attribute.name(),
        unit: measured.attribute.unit(),
        kernel: measured.kernel.clone(),
        values: values.collect(),
        pairs_without: measured.without,
    }
}
