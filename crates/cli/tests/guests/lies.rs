//! Pages that are not where the kernel was asked to put them, or that move: the
//! program's own proof finds them out, and no sample enters the record.

use nearfar_record::{ProofMethod, ReasonCode};

use crate::boot::User::{Nobody, Root};
use crate::boot::{Boot, NEW, OLD, Run};
use crate::check;
use crate::expected::{Answer, Expected};

fn local_only(from: u32, to: u32) -> Answer {
    if from == to { Answer::Measured } else { Answer::Refused(ReasonCode::Misplaced) }
}

fn first_touched(from: u32, to: u32) -> Answer {
    if from == to { Answer::Measured } else { Answer::Either(ReasonCode::Misplaced) }
}

fn filtered(name: &'static str, through: &'static str, expected: Expected) -> Run {
    let expected = Expected { kernels: 1, ..expected };
    Run { through, options: "--kernel load --seed 1", ..Run::new(name, Nobody, expected) }
}

#[test]
fn pages_on_a_wrong_node_are_caught_whatever_the_kernel_said() {
    let all = Expected::all;
    let runs = vec![
        // The policy is read back, so threads on the node itself touch the pages.
        filtered("mbind lies", "under_filter mbind=OK --", all()),
        // It cannot be read back: pages lie where an initiator touched them. In this
        // seed's order not every node's own is the first to do so.
        filtered(
            "mbind lies unchecked",
            "under_filter mbind=OK,get_mempolicy=EPERM --",
            Expected { answer: first_touched, reason: "before the case", ..all() },
        ),
        filtered(
            "mbind, get_mempolicy lie",
            "under_filter mbind=OK,get_mempolicy=OK --",
            Expected { answer: first_touched, reason: "before the case", ..all() },
        ),
        // No answer is no proof: the next method is asked.
        filtered(
            "move_pages lies",
            "under_filter move_pages=OK --",
            Expected { method: ProofMethod::GetMempolicy, ..all() },
        ),
        filtered(
            "both queries lie",
            "under_filter move_pages=OK,get_mempolicy=OK --",
            Expected { method: ProofMethod::NumaMaps, ..all() },
        ),
    ];
    check("wrong nodes", &[Boot::new("amd-2p", NEW, runs)]);
}

/// One core of each node, and both nodes.
const PART: &str = "
mkdir /sys/fs/cgroup/part
echo 0,4 >/sys/fs/cgroup/part/cpuset.cpus
echo 0-1 >/sys/fs/cgroup/part/cpuset.mems
";

fn within_part(name: &'static str, expected: Expected) -> Run {
    let expected = Expected { cpus: Some("0,4"), kernels: 1, ..expected };
    Run {
        within: "echo 0 >/sys/fs/cgroup/part/cgroup.procs",
        options: "--kernel load",
        ..Run::new(name, Root, expected)
    }
}

/// A control group that loses a node has its pages migrated at once. The first case with
/// pages on node 1 loses them in its window; later ones get no pages there.
#[test]
fn pages_migrated_in_mid_case_are_caught() {
    let lose_node_1 = "
        (
            until grep -q -s 'prefer[=:]1 .*N1=1024 ' /proc/[0-9]*/numa_maps; do sleep 0.1; done
            sleep 0.5
            echo 0 >/sys/fs/cgroup/part/cpuset.mems
        ) &
    ";
    let expected = Expected {
        answer: |_, to| match to {
            1 => Answer::Refused(ReasonCode::Misplaced),
            _ => Answer::Measured,
        },
        ..Expected::all()
    };
    let runs = || {
        vec![
            within_part("cpuset stays", Expected::all()),
            Run {
                before: lose_node_1,
                window: "2s",
                ..within_part("cpuset loses node 1", expected.clone())
            },
        ]
    };
    let boot = |suite| Boot { setup: PART, ..Boot::new("intel-2p", suite, runs()) };
    for ended in check("pages migrated in mid-case", &[boot(OLD), boot(NEW)]) {
        let record = String::from_utf8_lossy(&ended.files["1.jsonl"]);
        assert!(record.contains("after the case: 0.0 % of the pages"), "{record}");
    }
}

/// The kernel migrates pages to the threads that use them, unless a policy says where
/// they belong. So the program is shielded while it may call mbind, and its proof after
/// the case is needed where it may not.
#[test]
fn pages_that_numa_balancing_migrates_are_caught() {
    let eager = "
        cd /sys/kernel/debug/sched/numa_balancing
        echo 10 >scan_delay_ms
        echo 10 >scan_period_min_ms
        echo 100 >scan_period_max_ms
        echo 1024 >scan_size_mb
        cd /tmp
        echo 1 >/proc/sys/kernel/numa_balancing
    ";
    let (window, through) = ("1500ms", "under_filter mbind=EPERM --");
    let caught = Expected { answer: local_only, reason: "after the case", ..Expected::all() };
    let runs = vec![
        Run { before: eager, window, ..within_part("balancing, mbind", Expected::all()) },
        Run { through, window, ..within_part("balancing, no mbind", caught) },
        Run {
            before: "echo 0 >/proc/sys/kernel/numa_balancing",
            through,
            window,
            ..within_part("no balancing, no mbind", Expected::all())
        },
    ];
    check("NUMA balancing", &[Boot { setup: PART, ..Boot::new("intel-2p", NEW, runs) }]);
}
