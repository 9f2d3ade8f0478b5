//! What a plan leaves out, with the reason.

use nearfar_machine::{CpuGroup, GroupBy, Machine};
use nearfar_record::{Absence, Absent, Actor, Case, Coordinates, Experiment, Reason, ReasonCode};

use super::setting::Setting;

/// Something that is not asked of this machine.
pub(super) fn omitted(
    case: impl Into<String>,
    code: ReasonCode,
    text: impl Into<String>,
) -> Absent {
    Absent {
        case: case.into(),
        coordinates: Vec::new(),
        absence: Absence::Omitted,
        reason: Reason { code, text: text.into() },
        round: None,
    }
}

/// A case that cannot be planned for this reason.
pub(super) fn omitted_for(case: impl Into<String>, reason: Reason) -> Absent {
    omitted(case, reason.code, reason.text)
}

/// A case at these coordinates, or why there is none.
pub(super) fn made(
    id: String,
    coordinates: Vec<Coordinates>,
    actors: Result<Vec<Actor>, Reason>,
) -> Result<Case, Absent> {
    match actors {
        Ok(actors) => Ok(Case { id, coordinates, actors }),
        Err(reason) => Err(omitted_for(id, reason)),
    }
}

/// An experiment that needs two cores, where initiators have fewer that may be used.
pub(super) fn one_core(
    setting: Setting<'_>,
    experiment: Experiment,
    usable: &[CpuGroup],
) -> Option<Absent> {
    let cores: usize = usable.iter().map(|initiator| initiator.cores.len()).sum();
    let text = format!(
        "this process may use {cores} core(s) (CPUs {}): nothing can run beside it",
        setting.machine.allowed_cpus
    );
    (cores < 2).then(|| omitted(experiment.as_str(), ReasonCode::OneCore, text))
}

/// An experiment that needs memory of another initiator, on a machine that has none.
pub(super) fn one_initiator(case: impl Into<String>, machine: &Machine) -> Absent {
    let initiators = machine.initiators().len();
    let text = if initiators < 2 {
        "the machine has one initiator: no group of cores is remote to any memory".into()
    } else {
        format!(
            "this process may use the CPUs {} only (cpuset, affinity), which are of one initiator",
            machine.allowed_cpus
        )
    };
    omitted(case, ReasonCode::OneInitiator, text)
}

/// Parts of the machine that this process may not use, or cannot: they are named once for each
/// experiment, and no case has them. Initiators (in `pairs` the groups of CPUs that were asked for) without a CPU that may be used, and
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
