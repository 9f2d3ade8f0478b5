//! What a plan leaves out, with the reason.

use nearfar_machine::Machine;
use nearfar_record::{Absence, Absent, Reason, ReasonCode};

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

/// A kernel that cannot run here.
pub(super) fn no_variant(case: impl Into<String>, kernel: &str, forced: Option<&str>) -> Absent {
    let text = match forced {
        Some(forced) => format!("{kernel} does not exist in {forced}, or not on this CPU"),
        None => format!("{kernel} needs vector instructions that this CPU does not have"),
    };
    omitted(case, ReasonCode::NoVariant, text)
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
