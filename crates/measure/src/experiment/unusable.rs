//! Parts of the machine that this process may not use, or cannot: they are named once for each
//! experiment, and no case has them.

use nearfar_machine::InitiatorKind;
use nearfar_record::{Absent, Experiment, ReasonCode};

use super::omitted::omitted;
use super::setting::Setting;

/// Clusters (in `pairs` the initiators that were asked for) without a CPU that may be used, and
/// nodes that are not allowed or have no memory.
pub(super) fn unusable_parts(setting: Setting<'_>, experiment: Experiment) -> Vec<Absent> {
    let machine = setting.machine;
    let kind = match experiment {
        Experiment::Pairs => setting.inputs.initiator,
        _ => InitiatorKind::Cluster,
    };
    let initiators = machine.initiators(kind);
    let no_cpus = initiators.iter().filter(|initiator| initiator.cores.is_empty()).map(|initiator| {
        let text = format!(
            "this process may use the CPUs {} only (cpuset, affinity); give it CPUs of {kind} {} to \
             measure it",
            machine.allowed_cpus, initiator.index
        );
        let case = format!("{experiment}/{kind}{}", initiator.index);
        omitted(case, ReasonCode::CpusNotAllowed, text)
    });
    let no_memory = machine.nodes.iter().filter_map(|node| {
        let number = node.os_index;
        let text = if node.memory_bytes == Some(0) {
            format!("node {number} has no memory")
        } else if machine.allowed_nodes.contains(number) {
            return None;
        } else {
            format!(
                "this process may use the memory nodes {} only (cpuset); give it node {number} to \
                 measure it",
                machine.allowed_nodes
            )
        };
        let case = format!("{experiment}/node{number}");
        Some(omitted(case, ReasonCode::NodeNotAllowed, text))
    });
    no_cpus.chain(no_memory).collect()
}
