//! Pages that are not where the kernel was asked to put them, or that move: the
//! program's own proof finds them out, and no sample enters the record.

use nearfar_record::{ProofMethod, ReasonCode};

use crate::boot::Run;
use crate::boot::User::{Nobody, Root};
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

/// Pages on a wrong node are caught, whatever the kernel said.
pub fn about_nodes() -> Vec<Run> {
    let all = Expected::all;
    vec![
        filtered("no lies", "", all()),
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
    ]
}

/// One CPU of each node, and both nodes. `$part` is the control group.
const PART: &str = "
    part=/sys/fs/cgroup/part
    mkdir -p $part
    echo 0,4 >$part/cpuset.cpus
    echo 0-1 >$part/cpuset.mems
";

fn within_part(name: &'static str, expected: Expected) -> Run {
    let expected = Expected { cpus: Some("0,4"), kernels: 1, ..expected };
    Run {
        before: PART.into(),
        within: "echo 0 >/sys/fs/cgroup/part/cgroup.procs",
        options: "--kernel load",
        ..Run::new(name, Root, expected)
    }
}

/// A control group that loses a node has its pages migrated at once. A case with pages on
/// node 1 loses them in its window; later ones get no pages there. The window has begun
/// when the program has computed for 20 ticks, 0.2 s, since the pages were there: they are
/// touched and proven in far less, on a busy machine too. Where no window was hit, the
/// first case of node 1 was measured in peace, and the run is made again.
pub fn cpuset_migration() -> Vec<Run> {
    let lose_node_1 = "
        on_node_1() { grep -q 'prefer[=:]1 .*N1=1024 ' /proc/$pid/numa_maps; }
        # Time in user mode, the 14th word of a thread's stat; its name may have blanks.
        count_ticks() {
            ticks=0
            for stat in /proc/$pid/task/*/stat; do
                read -r line <$stat && set -- ${line##*) } && ticks=$((ticks + ${12}))
            done
        }
        (
            until read -r pid <$part/cgroup.procs; do sleep 0.05; done
            while [ -e /proc/$pid ]; do
                until on_node_1 || [ ! -e /proc/$pid ]; do sleep 0.05; done
                count_ticks
                enough=$((ticks + 20))
                until [ $ticks -gt $enough ] || [ ! -e /proc/$pid ]; do
                    sleep 0.05
                    count_ticks
                done
                if on_node_1; then
                    echo 0 >$part/cpuset.mems
                    break
                fi
            done
        ) 2>/dev/null &
    ";
    let expected = Expected {
        answer: |_, to| match to {
            1 => Answer::Either(ReasonCode::Misplaced),
            _ => Answer::Measured,
        },
        ..Expected::all()
    };
    vec![
        Run { window: "300ms", ..within_part("cpuset stays", Expected::all()) },
        Run {
            before: format!("{PART}{lose_node_1}"),
            window: "1s",
            wants: "after the case: 0.0 % of the pages",
            ..within_part("cpuset loses node 1", expected)
        },
    ]
}

/// The kernel migrates pages to the threads that use them, unless a policy says where
/// they belong. So the program is shielded while it may call mbind, and its proof after
/// the case is needed where it may not.
pub fn numa_balancing() -> Vec<Run> {
    let eager = "
        cd /sys/kernel/debug/sched/numa_balancing
        echo 10 >scan_delay_ms
        echo 10 >scan_period_min_ms
        echo 100 >scan_period_max_ms
        echo 1024 >scan_size_mb
        cd /tmp
        echo 1 >/proc/sys/kernel/numa_balancing
    ";
    let off = "echo 0 >/proc/sys/kernel/numa_balancing";
    let (window, through) = ("1500ms", "under_filter mbind=EPERM --");
    let caught = Expected { answer: local_only, reason: "after the case", ..Expected::all() };
    vec![
        Run {
            before: format!("{PART}{eager}"),
            window,
            ..within_part("balancing, mbind", Expected::all())
        },
        Run { through, window, ..within_part("balancing, no mbind", caught) },
        Run {
            before: format!("{PART}{off}"),
            through,
            window: "500ms",
            ..within_part("no balancing, no mbind", Expected::all())
        },
    ]
}
