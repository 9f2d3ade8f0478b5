//! Parts of the machine that this process may not use, or cannot: they are named once for each
//! experiment, and no case has them.

use nearfar_machine::GroupBy;
use nearfar_record::{Absent, Experiment, ReasonCode};

use super::omitted::omitted;
use super::setting::Setting;

/// Initiators (in `pairs` the groups of CPUs that were asked for) without a CPU that may be used, and
/// nodes that are not allowed or have no memory.
pub(super) fn unusable_parts(setting: Setting<'_>, experiment: Experiment) -> Vec<Absent> {
    let machine = setting.machine;
    let kind = match experiment {
        Experiment::Pairs => setting.inputs.group_by,
        _ => GroupBy::Memory,
    };
    let group = kind.group();
    let cpu_groups = machine.cpu_groups(kind);
    let no_cpus = cpu_groups.iter().filter(|cpu_group| cpu_group.cores.is_empty()).map(|cpu_group| {
        let text = format!(
            "this process may use the CPUs {} only (cpuset, affinity); give it CPUs of {group} {} to \
             measure it",
            machine.allowed_cpus, cpu_group.index
        );
        let case = format!("{experiment}/{group}{}", cpu_group.index);
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
