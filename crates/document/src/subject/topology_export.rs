//! What `topo --export-xml` wrote.

use nearfar_machine::MemoryAttribute;
use nearfar_model::{MeasuredAttribute, MemoryAttributes};
use nearfar_units::shell_path;
use serde::Serialize;

use super::origin::Origin;
use crate::answer::{Answer, Part, Shown};
use crate::table::{Cell, Column, Table};

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
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TopologyExport {
    pub schema: &'static str,
    pub file: String,
    /// The record with the measurements.
    pub record: String,
    /// Of what the figures are, and whether they are to be believed.
    pub measured: Origin,
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
    pub fn answer(&self) -> Answer {
        let topology = match self.topology {
            ExportedTopology::Live => "this machine's topology as hwloc finds it",
            ExportedTopology::File => "the file's topology",
            ExportedTopology::Description => {
                "the topology by the machine's description (no devices)"
            }
        };
        let header = ["attribute", "measured by", "pairs", "without", "least", "most", "unit"];
        let rows = self.found.measured.iter().map(row);
        let table = Table::new("Memory attributes", header.map(Column::words), rows);
        let unmeasured = self.found.unmeasured.iter();
        let unmeasured = unmeasured.map(|it| format!("{}: {}", it.attribute.as_str(), it.why));
        let replaced: Vec<&str> = self.replaced.iter().map(|it| it.as_str()).collect();
        let replaced = (!replaced.is_empty()).then(|| {
            let replaced = replaced.join(", ");
            format!("left out of the topology, which claimed other values: {replaced}")
        });
        let said = unmeasured.chain(replaced).map(|words| Part::words("", words));
        let file = &shell_path(&self.file);
        let look = (format!("lstopo -i {file} --memattrs"), "shows them".into());
        // Of another machine hwloc would bind to what is not here.
        let is_own = self.topology == ExportedTopology::Live && !self.is_simulated;
        let bind = is_own.then(|| {
            let command = format!(
                "HWLOC_XMLFILE={file} HWLOC_THISSYSTEM=1 hwloc-bind --best-memattr Bandwidth \
                 --cpubind core:0 --membind machine:0 -- PROGRAM"
            );
            (command, "binds a program by them".into())
        });
        let record = &self.record;
        let first = format!("{}: {topology}, with memory attributes by {record}", self.file);
        Answer::saying(first)
            .and_answer(self.measured.caution())
            .and_table(table, usize::MAX)
            .and_gap()
            .and_all(Shown::Always, said)
            .and_gap()
            .and(Shown::Always, Part::Next(std::iter::once(look).chain(bind).collect()))
    }
}

fn row(of: &MeasuredAttribute) -> Vec<Cell> {
    let values = || of.values.iter().map(|value| value.value);
    let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    vec![
        Cell::text(of.attribute.as_str()),
        Cell::text(of.kernel.as_deref().unwrap_or("chase")),
        Cell::text(of.values.len()),
        Cell::text(of.without),
        Cell::Text(number(values().min())),
        Cell::Text(number(values().max())),
        Cell::text(of.unit),
    ]
}
