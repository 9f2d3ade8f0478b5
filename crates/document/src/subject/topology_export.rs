//! What `topo --export-xml` wrote.

use nearfar_machine::MemoryAttribute;
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
pub struct TopologyExport {
    pub schema: &'static str,
    pub file: String,
    /// The record with the measurements.
    pub record: String,
    /// Where the topology comes from.
    pub topology: ExportedTopology,
    /// Whether the figures are those of a simulated machine.
    pub is_simulated: bool,
    #[serde(flatten)]
    pub found: MemoryAttributes,
    /// Attributes of which the topology had values, which were left out for the measured ones.
    pub replaced: Vec<MemoryAttribute>,
}

impl TopologyExport {
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
        let rows = self.found.measured.iter().map(row).collect();
        text += &table(header.map(String::from).into(), rows, 2);
        text += "\n";
        for it in &self.found.unmeasured {
            text += &paragraph("", &format!("{}: {}", it.attribute.as_str(), it.why));
        }
        if !self.replaced.is_empty() {
            let replaced: Vec<&str> = self.replaced.iter().map(|it| it.as_str()).collect();
            let replaced = replaced.join(", ");
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

fn row(of: &MeasuredAttribute) -> Vec<String> {
    let values = || of.values.iter().map(|value| value.value);
    let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    vec![
        of.attribute.as_str().into(),
        of.kernel.as_deref().map_or_else(|| "chase".into(), |name| printable(name).into()),
        of.values.len().to_string(),
        of.without.to_string(),
        number(values().min()),
        number(values().max()),
        of.unit.into(),
    ]
}
