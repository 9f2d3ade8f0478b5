//! What a container's filter takes away, where there is remote memory to lose: threads on
//! a node place its pages by touching them first, the next method proves them, and what
//! can be neither placed nor proven is refused.

use nearfar_record::{ProofMethod, ReasonCode};

use crate::boot::User::{Nobody, Root};
use crate::boot::{Run, User};
use crate::expected::{Answer, Expected};

/// As the default profiles of Docker and Podman.
const AS_DOCKER: &str = "under_filter \
    mbind=EPERM,set_mempolicy=EPERM,get_mempolicy=EPERM,move_pages=EPERM --";

/// Every combination of the calls that are used; set_mempolicy is not.
const COMBINATIONS: [(&str, &str, ProofMethod); 7] = {
    use ProofMethod::{GetMempolicy, MovePages, NumaMaps};
    [
        ("no mbind", "under_filter mbind=EPERM --", MovePages),
        ("no get_mempolicy", "under_filter get_mempolicy=EPERM --", MovePages),
        ("no move_pages", "under_filter move_pages=EPERM --", GetMempolicy),
        ("no mbind, get_mempolicy", "under_filter mbind=ENOSYS,get_mempolicy=ENOSYS --", MovePages),
        ("no mbind, move_pages", "under_filter mbind=ENOSYS,move_pages=ENOSYS --", GetMempolicy),
        ("no queries", "under_filter get_mempolicy=ENOSYS,move_pages=ENOSYS --", NumaMaps),
        ("as in Docker", AS_DOCKER, NumaMaps),
    ]
};

/// As [`AS_DOCKER`], with /proc/self/numa_maps hidden too.
const BLIND: &str = "sh -c 'mount -o bind /dev/null /proc/$$/numa_maps && exec \"$@\"' sh \
    under_filter mbind=EPERM,set_mempolicy=EPERM,get_mempolicy=EPERM,move_pages=EPERM --";

fn run(name: &'static str, user: User, through: &'static str, expected: Expected) -> Run {
    let expected = Expected { kernels: 1, ..expected };
    Run { through, options: "--kernel load", ..Run::new(name, user, expected) }
}

/// Refused calls step the proof down, and what cannot be proven is refused.
pub fn steps_down() -> Vec<Run> {
    let by = |method| Expected { method, ..Expected::all() };
    let unproven = Expected {
        answer: |_, _| Answer::Refused(ReasonCode::Unproven),
        reason: "numa_maps",
        ..Expected::all()
    };
    let mut runs: Vec<Run> = COMBINATIONS
        .into_iter()
        .map(|(name, through, method)| run(name, Nobody, through, by(method)))
        .collect();
    runs.push(run("no proof left", Root, BLIND, unproven));
    runs
}

/// As in Docker, on the machine whose node 2 has no CPUs: no thread can touch first there.
pub fn memory_without_cpus() -> Run {
    let expected = Expected {
        answer: |_, to| match to {
            2 => Answer::Refused(ReasonCode::Denied),
            _ => Answer::Measured,
        },
        reason: "SYS_NICE",
        method: ProofMethod::NumaMaps,
        ..Expected::all()
    };
    run("as in Docker", Nobody, AS_DOCKER, expected)
}
