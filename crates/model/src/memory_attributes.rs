//! What a record says of the memory attributes that hwloc knows.
//! Units: MiB/s of useful bytes, ns.
//! Source: hwloc's manual, "Memory attributes": `Bandwidth` and `Latency` are means of reads and
//! writes, as seen from a group of CPUs.
//! `ReadBandwidth` is the kernel `load`, `WriteBandwidth` is `store`. `Bandwidth` is `copy`, which
//! reads as much as it writes; `triad`, and after it `load`, where more pairs have that: nodes are
//! compared by one kernel. Each is the median of all threads of the group of CPUs, of the best variant that walks in order. Latencies are those of the idle matrix: a chase
//! reads only, and hwloc's users ask for `Latency`, so that both names get them.
//! Fails when: working sets fit into caches; chases that do are left out.

use std::collections::HashMap;

use nearfar_machine::{AttributeValue, CpuSet, GroupBy, Machine, MemoryAttribute};
use nearfar_record::Experiment;
use serde::Serialize;

use crate::inapplicable::Inapplicable;
use crate::latency::{NumaFactor, latency};
use crate::pairs::{Pairs, pairs};
use crate::record_figures::RecordFigures;

/// The values of one attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeasuredAttribute {
    pub attribute: MemoryAttribute,
    /// hwloc's unit of the values.
    pub unit: &'static str,
    /// The kernel that the threads ran; null for a chase.
    pub kernel: Option<String>,
    /// By group of CPUs, then by node.
    pub values: Vec<AttributeValue>,
    /// Pairs of a group of CPUs and a node that have none: they were not measured, or refused, or
    /// caches answered.
    #[serde(rename = "pairs_without")]
    pub without: usize,
}

/// An attribute without measurements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnmeasuredAttribute {
    pub attribute: MemoryAttribute,
    pub why: String,
}

/// The attributes of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryAttributes {
    /// Those with values, in hwloc's order.
    #[serde(rename = "attributes")]
    pub measured: Vec<MeasuredAttribute>,
    /// Those without, with the reason.
    pub unmeasured: Vec<UnmeasuredAttribute>,
}

/// The kernels that an attribute of bandwidth may be, the preferred one first.
const KERNELS: [(MemoryAttribute, &[&str]); 3] = [
    (MemoryAttribute::Bandwidth, &["copy", "triad", "load"]),
    (MemoryAttribute::ReadBandwidth, &["load"]),
    (MemoryAttribute::WriteBandwidth, &["store"]),
];

/// The memory attributes of a record.
///
/// # Errors
/// Where it has a value for none.
pub fn memory_attributes(figures: &RecordFigures<'_>) -> Result<MemoryAttributes, Inapplicable> {
    let header = &figures.record().header;
    let cpu_groups = group_cpus(&header.machine, header.inputs.group_by);
    let matrix = pairs(figures);
    let mut found = MemoryAttributes { measured: Vec::new(), unmeasured: Vec::new() };
    for (attribute, kernels) in KERNELS {
        let candidates =
            kernels.iter().map(|kernel| bandwidth(&cpu_groups, &matrix, attribute, kernel));
        // Of equals the last would be taken.
        match candidates.rev().max_by_key(|candidate| candidate.values.len()) {
            Some(most) if !most.values.is_empty() => found.measured.push(most),
            _ => found.unmeasured.push(UnmeasuredAttribute {
                attribute,
                why: format!("no pair has a bandwidth of {}", kernels.join(" or ")),
            }),
        }
    }
    for attribute in [MemoryAttribute::Latency, MemoryAttribute::ReadLatency] {
        let times = times(figures, attribute);
        if times.values.is_empty() {
            let why = "no idle access that caches did not answer has a time".into();
            found.unmeasured.push(UnmeasuredAttribute { attribute, why });
        } else {
            found.measured.push(times);
        }
    }
    if found.measured.is_empty() {
        return Err(Inapplicable::without(figures.record(), Experiment::Pairs));
    }
    Ok(found)
}

fn bandwidth(
    cpu_groups: &HashMap<u32, CpuSet>,
    matrix: &Pairs,
    attribute: MemoryAttribute,
    kernel: &str,
) -> MeasuredAttribute {
    let mut values = Vec::new();
    for row in &matrix.cpu_groups {
        let Some(cpu_group) = cpu_groups.get(&row.index) else { continue };
        let Some(all) = matrix.thread_counts(row.index, kernel).pop() else { continue };
        for &node in &matrix.nodes {
            let figure = matrix.cell(row.index, node, kernel, all).and_then(|cell| cell.best());
            let median = figure.map(|figure| figure.summary.sum.median);
            values.extend(median.and_then(|median| attribute.value(median)).map(|value| {
                AttributeValue { attribute, initiator: cpu_group.clone(), node, value }
            }));
        }
    }
    let without = (matrix.cpu_groups.len() * matrix.nodes.len()).saturating_sub(values.len());
    MeasuredAttribute {
        attribute,
        unit: attribute.unit(),
        kernel: Some(kernel.into()),
        values,
        without,
    }
}

/// The CPUs of each group that the process might use, by its number: for others nothing was
/// measured.
fn group_cpus(machine: &Machine, kind: GroupBy) -> HashMap<u32, CpuSet> {
    let cpu_groups = machine.cpu_groups(kind);
    let with_cpus = cpu_groups.iter().map(|cpu_group| (cpu_group.index, cpu_group.cpus()));
    with_cpus.filter(|(_, cpus)| !cpus.is_empty()).collect()
}

fn times(figures: &RecordFigures<'_>, attribute: MemoryAttribute) -> MeasuredAttribute {
    let initiators = group_cpus(&figures.record().header.machine, GroupBy::Memory);
    let factors = latency(figures).map_or_else(|_| Vec::new(), |latency| latency.factors);
    let value = |factor: &NumaFactor| {
        let time = factor.time.as_ref().filter(|_| !factor.is_short)?;
        Some(AttributeValue {
            attribute,
            initiator: initiators.get(&factor.initiator)?.clone(),
            node: factor.memory_node,
            value: attribute.value(time.time.value.0)?,
        })
    };
    let values: Vec<AttributeValue> = factors.iter().filter_map(value).collect();
    let without = factors.len() - values.len();
    MeasuredAttribute { attribute, unit: attribute.unit(), kernel: None, values, without }
}
