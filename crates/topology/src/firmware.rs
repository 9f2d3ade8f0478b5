//! What the firmware says of bandwidth and latency, as hwloc's memory attributes.

use std::collections::BTreeMap;

use hwlocality::memory::attribute::{Initiator, MemoryAttribute};
use hwlocality::object::types::ObjectType;
use hwlocality::topology::Topology;
use nearfar_machine::{CpuSet, FirmwareFigure, MemoryNode, NodeSet};

use crate::error::TopologyError;
use crate::hwloc::{cpus_of, members};

/// hwloc gives bandwidths in MiB/s (`hwloc/memattrs.h`).
const MIB: f64 = 1_048_576.0;

/// An attribute by its name in hwloc, its unit, and where its values go.
type Slot = fn(&mut FirmwareFigure) -> &mut Option<f64>;
const DIRECTED: [(&str, f64, Slot); 4] = [
    ("ReadBandwidth", MIB, |figure| &mut figure.read_bytes_per_s),
    ("WriteBandwidth", MIB, |figure| &mut figure.write_bytes_per_s),
    ("ReadLatency", 1.0, |figure| &mut figure.read_latency_ns),
    ("WriteLatency", 1.0, |figure| &mut figure.write_latency_ns),
];
/// The attributes that are the mean of both directions, where no more is known.
const MEANS: [(&str, f64, Slot, Slot); 2] = [
    (
        "Bandwidth",
        MIB,
        |figure| &mut figure.read_bytes_per_s,
        |figure| &mut figure.write_bytes_per_s,
    ),
    ("Latency", 1.0, |figure| &mut figure.read_latency_ns, |figure| &mut figure.write_latency_ns),
];

/// The figures by node, then by the first CPU of the initiator. Attributes that
/// users made up (other names) are left aside.
pub(crate) fn figures(
    topology: &Topology,
    nodes: &[MemoryNode],
    name: &str,
    cpus: &CpuSet,
    notes: &mut Vec<String>,
) -> Result<Vec<FirmwareFigure>, TopologyError> {
    let reader = Reader { topology, nodes, name, cpus };
    let mut figures: BTreeMap<(u32, CpuSet), FirmwareFigure> = BTreeMap::new();
    for (attribute, unit, slot) in DIRECTED {
        for (node, initiator, value) in reader.values(attribute, notes)? {
            *slot(entry(&mut figures, node, initiator)) = Some(value * unit);
        }
    }
    for (attribute, unit, read, write) in MEANS {
        let mut averaged = NodeSet::new();
        for (node, initiator, value) in reader.values(attribute, notes)? {
            let figure = entry(&mut figures, node, initiator);
            if read(figure).is_none() && write(figure).is_none() {
                *read(figure) = Some(value * unit);
                *write(figure) = Some(value * unit);
                averaged.insert(node);
            }
        }
        if !averaged.is_empty() {
            notes.push(format!(
                "{attribute} of nodes {averaged} is given as one mean for reads and writes, and \
                 shown for both"
            ));
        }
    }
    Ok(figures.into_values().collect())
}

fn entry(
    figures: &mut BTreeMap<(u32, CpuSet), FirmwareFigure>,
    node: u32,
    initiator: CpuSet,
) -> &mut FirmwareFigure {
    let known = (!initiator.is_empty()).then(|| initiator.clone());
    figures.entry((node, initiator)).or_insert(FirmwareFigure {
        initiator: known,
        node,
        read_bytes_per_s: None,
        write_bytes_per_s: None,
        read_latency_ns: None,
        write_latency_ns: None,
    })
}

struct Reader<'walk> {
    topology: &'walk Topology,
    nodes: &'walk [MemoryNode],
    name: &'walk str,
    cpus: &'walk CpuSet,
}

impl Reader<'_> {
    /// Node, initiator and value of one attribute. 0 is hwloc's "not known".
    fn values(
        &self,
        attribute: &str,
        notes: &mut Vec<String>,
    ) -> Result<Vec<(u32, CpuSet, f64)>, TopologyError> {
        let Ok(Some(found)) = self.topology.memory_attribute_named(attribute) else {
            return Ok(Vec::new());
        };
        let mut values = Vec::new();
        for object in self.topology.objects_with_type(ObjectType::NUMANode) {
            let number = object.os_index().and_then(|index| u32::try_from(index).ok());
            let node = self.nodes.iter().find(|node| Some(node.os_index) == number);
            let Some(node) = node else { continue };
            match found.initiators(object) {
                Ok((initiators, figures)) => {
                    for (initiator, figure) in initiators.into_iter().zip(figures) {
                        if figure != 0 && figure != u64::MAX {
                            let cpus = self.initiator_cpus(&initiator)?;
                            // Exact below 2^53, which no figure in MiB/s or ns reaches.
                            values.push((node.os_index, cpus, figure as f64));
                        }
                    }
                }
                Err(error) => {
                    notes.push(self.unreadable(found, &error.to_string()));
                    break;
                }
            }
        }
        Ok(values)
    }

    fn unreadable(&self, attribute: MemoryAttribute<'_>, why: &str) -> String {
        format!("the memory attribute {} cannot be read: {why}", attribute.name().to_string_lossy())
    }

    fn initiator_cpus(&self, initiator: &Initiator<'_>) -> Result<CpuSet, TopologyError> {
        match initiator {
            Initiator::CpuSet(set) => {
                Ok(members::<_>(set.as_ref().as_ref(), self.name, "initiator cpuset")?
                    .intersection(self.cpus))
            }
            Initiator::Object(object) => cpus_of(object, self.name, self.cpus),
        }
    }
}
