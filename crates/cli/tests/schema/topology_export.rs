//! Exports of a topology with every field given and null.

use nearfar_machine::{AttributeValue, MemoryAttribute};
use nearfar_model::{MeasuredAttribute, MemoryAttributes};
use nearfar_report::{ExportedTopology, TopologyExportView};
use serde_json::Value;

pub fn views() -> Vec<(&'static str, Value)> {
    let measured = |attribute, kernel: Option<&str>| MeasuredAttribute {
        attribute,
        kernel: kernel.map(String::from),
        values: vec![AttributeValue {
            attribute,
            initiator: [0, 1, 4].into_iter().collect(),
            node: 3,
            value: 31_471,
        }],
        without: 2,
    };
    let why = "no pair has a bandwidth of store".to_string();
    let found = MemoryAttributes {
        measured: vec![
            measured(MemoryAttribute::Bandwidth, Some("copy")),
            measured(MemoryAttribute::ReadBandwidth, Some("load")),
            measured(MemoryAttribute::Latency, None),
            measured(MemoryAttribute::ReadLatency, None),
        ],
        unmeasured: vec![(MemoryAttribute::WriteBandwidth, why)],
    };
    let topologies =
        [ExportedTopology::Live, ExportedTopology::File, ExportedTopology::Description];
    let replaced = [MemoryAttribute::Bandwidth];
    let view = |topology| {
        let view = TopologyExportView::new("f.xml", "r.jsonl", topology, true, &found, &replaced);
        ("topology-export", serde_json::to_value(view).unwrap())
    };
    topologies.map(view).into()
}
