//! What the firmware says of bandwidth and latency, as hwloc's memory attributes.

use std::collections::BTreeMap;

use hwlocality::memory::attribute::Initiator;
use hwlocality::object::types::ObjectType;
use nearfar_machine::{CpuSet, FirmwareFigure, NodeSet};

use crate::error::TopologyError;
use crate::hwloc::Walk;

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
pub(crate) fn figures(walk: &mut Walk<'_>) -> Result<Vec<FirmwareFigure>, TopologyError> {
    let mut figures: BTreeMap<(u32, CpuSet), FirmwareFigure> = BTreeMap::new();
    for (attribute, unit, slot) in DIRECTED {
        for (node, initiator, value) in values(walk, attribute)? {
            *slot(entry(&mut figures, node, initiator)) = Some(value * unit);
        }
    }
    for (attribute, unit, read, write) in MEANS {
        let mut averaged = NodeSet::new();
        for (node, initiator, value) in values(walk, attribute)? {
            let figure = entry(&mut figures, node, initiator);
            if read(figure).is_none() && write(figure).is_none() {
                *read(figure) = Some(value * unit);
                *write(figure) = Some(value * unit);
                averaged.insert(node);
            }
        }
        if !averaged.is_empty() {
            walk.notes.push(format!(
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

/// Node, initiator and value of one attribute. 0 is hwloc's "not known".
fn values(walk: &mut Walk<'_>, attribute: &str) -> Result<Vec<(u32, CpuSet, f64)>, TopologyError> {
    let Ok(Some(found)) = walk.topology.memory_attribute_named(attribute) else {
        return Ok(Vec::new());
    };
    let mut values = Vec::new();
    for object in walk.topology.objects_with_type(ObjectType::NUMANode) {
        let number = object.os_index().and_then(|index| u32::try_from(index).ok());
        let node = walk.nodes.iter().find(|node| Some(node.os_index) == number);
        let Some(node) = node else { continue };
        match found.initiators(object) {
            Ok((initiators, figures)) => {
                for (initiator, figure) in initiators.into_iter().zip(figures) {
                    if figure != 0 && figure != u64::MAX {
                        let cpus = initiator_cpus(walk, &initiator)?;
                        // Exact below 2^53, which no figure in MiB/s or ns reaches.
                        values.push((node.os_index, cpus, figure as f64));
                    }
                }
            }
            Err(why) => {
                let note = format!("the memory attribute {attribute} cannot be read: {why}");
                walk.notes.push(note);
                break;
            }
        }
    }
    Ok(values)
}

fn initiator_cpus(walk: &Walk<'_>, initiator: &Initiator<'_>) -> Result<CpuSet, TopologyError> {
    match initiator {
        Initiator::CpuSet(set) => {
            let cpus = walk.members::<_>(set.as_ref().as_ref(), "initiator cpuset")?;
            Ok(cpus.intersection(&walk.cpus))
        }
        Initiator::Object(object) => walk.cpus_of(object),
    }
}
