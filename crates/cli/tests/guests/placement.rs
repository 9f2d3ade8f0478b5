//! What limits placement: control groups, page sizes, a node without room.

use nearfar_record::{Pages, ReasonCode};

use crate::boot::User::{Nobody, Root};
use crate::boot::{Boot, NEW, Run, User};
use crate::expected::{Answer, Expected};

fn misplaced_on_node_1(_from: u32, to: u32) -> Answer {
    match to {
        1 => Answer::Refused(ReasonCode::Misplaced),
        _ => Answer::Measured,
    }
}

/// A machine of 4 nodes with 2 CPUs that loses CPU 3 for good, in a control group that
/// has neither all CPUs nor all nodes: both are respected.
pub fn offline_cpu(user: User) -> Run {
    let expected =
        Expected { cpus: Some("1-2,4-6"), nodes: Some("0-2"), kernels: 1, ..Expected::all() };
    Run {
        before: "
            echo 0 >/sys/devices/system/cpu/cpu3/online
            mkdir /sys/fs/cgroup/most
            echo 1-6 >/sys/fs/cgroup/most/cpuset.cpus
            echo 0-2 >/sys/fs/cgroup/most/cpuset.mems
        "
        .into(),
        within: "echo 0 >/sys/fs/cgroup/most/cgroup.procs",
        options: "--kernel load",
        ..Run::new("CPU 3 offline, cpuset", user, expected)
    }
}

/// Pages are of the size that was asked for.
pub fn page_sizes() -> Vec<Run> {
    let run = |name, options, user, pages| {
        let expected = Expected { kernels: 1, pages, ..Expected::all() };
        Run { options, ..Run::new(name, user, expected) }
    };
    let reserve = "
        for node in /sys/devices/system/node/node*; do
            echo 12 >$node/hugepages/hugepages-2048kB/nr_hugepages
        done
    ";
    vec![
        run("4 KiB", "--kernel load --pages small", Root, Pages::Small),
        run("THP", "--kernel load --pages transparent", Nobody, Pages::Transparent),
        Run {
            before: reserve.into(),
            ..run("hugetlb", "--kernel load --pages huge", Nobody, Pages::Huge)
        },
    ]
}

/// What is left of huge pages on one node does not serve the other.
pub fn huge_pages_on_node_0() -> Run {
    let expected = Expected {
        kernels: 1,
        pages: Pages::Huge,
        answer: misplaced_on_node_1,
        reason: "before the case",
        ..Expected::all()
    };
    Run {
        before: "
            echo 0 >/proc/sys/vm/nr_hugepages
            echo 24 >/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages
        "
        .into(),
        options: "--kernel load --pages huge",
        ..Run::new("hugetlb on node 0 only", Nobody, expected)
    }
}

/// Fills node 1 but for 40 MiB.
pub const FULL_NODE_1: &str = "
    mkdir /tmp/full
    mount -t tmpfs -o size=100%,mpol=bind:1 tmpfs /tmp/full
    free=$(sed -n 's/.*MemFree: *\\([0-9]*\\) kB/\\1/p' /sys/devices/system/node/node1/meminfo)
    dd if=/dev/zero of=/tmp/full/file bs=1024k count=$((free / 1024 - 40))
";

/// A node without room is refused, by the program and not by the kernel that kills it, and
/// the other is measured.
pub fn full_node() -> Boot {
    let no_room: fn(u32, u32) -> Answer = |_, to| match to {
        1 => Answer::Refused(ReasonCode::NoRoom),
        _ => Answer::Measured,
    };
    let run = |name, before: &str, answer, reason| {
        let expected = Expected { kernels: 1, answer, reason, ..Expected::all() };
        Run {
            before: before.into(),
            working_set: "64MiB",
            options: "--kernel load",
            ..Run::new(name, Nobody, expected)
        }
    };
    // The node says that it has room: the pages overflow, and are found on node 0.
    let says_room = "
        meminfo=/sys/devices/system/node/node1/meminfo
        sed 's/MemFree: .*/MemFree: 400000 kB/' $meminfo >/tmp/meminfo
        mount -o bind /tmp/meminfo $meminfo
    ";
    let runs = vec![
        run("node 1 full", "", no_room, "node 1 has"),
        run("node 1 full, unsaid", says_room, misplaced_on_node_1, "before the case"),
    ];
    Boot { node_mib: 640, setup: FULL_NODE_1, ..Boot::new("intel-2p", NEW, runs) }
}
