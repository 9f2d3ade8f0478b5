//! What limits placement: control groups, page sizes, a node without room.

use nearfar_record::{Pages, ReasonCode};

use crate::boot::User::{Nobody, Root};
use crate::boot::{Boot, NEW, OLD, Run};
use crate::check;
use crate::expected::{Answer, Expected};

const WITHIN_PART: &str = "echo 0 >/sys/fs/cgroup/part/cgroup.procs";

#[test]
fn a_cpuset_and_an_offline_cpu_are_respected() {
    let expected =
        Expected { cpus: Some("1-2,4-6"), nodes: Some("0-2"), kernels: 1, ..Expected::all() };
    let run = |user| Run {
        within: WITHIN_PART,
        options: "--kernel load",
        ..Run::new("CPU 3 offline, cpuset", user, expected.clone())
    };
    let setup = "
        echo 0 >/sys/devices/system/cpu/cpu3/online
        mkdir /sys/fs/cgroup/part
        echo 1-6 >/sys/fs/cgroup/part/cpuset.cpus
        echo 0-2 >/sys/fs/cgroup/part/cpuset.mems
    ";
    let boot = |suite, user| Boot { setup, ..Boot::new("amd-2p", suite, vec![run(user)]) };
    check("a cpuset", &[boot(OLD, Nobody), boot(NEW, Root)]);
}

#[test]
fn pages_are_of_the_size_that_was_asked_for() {
    let run = |name, options, user, pages| {
        let expected = Expected { kernels: 1, pages, ..Expected::all() };
        Run { options, ..Run::new(name, user, expected) }
    };
    let runs = || {
        vec![
            run("4 KiB", "--kernel load --pages small", Root, Pages::Small),
            run("THP", "--kernel load --pages transparent", Nobody, Pages::Transparent),
            run("hugetlb", "--kernel load --pages huge", Nobody, Pages::Huge),
        ]
    };
    let setup = "
        for node in /sys/devices/system/node/node*; do
            echo 12 >$node/hugepages/hugepages-2048kB/nr_hugepages
        done
    ";
    let boot = |suite| Boot { setup, ..Boot::new("intel-2p", suite, runs()) };
    check("sizes of pages", &[boot(OLD), boot(NEW)]);
}

/// Refused and not killed; the other node is measured.
#[test]
fn a_node_without_room_is_refused_and_the_others_measured() {
    let expected = |code: fn(u32, u32) -> Answer, reason| Expected {
        kernels: 1,
        answer: code,
        reason,
        ..Expected::all()
    };
    let no_room = |_, to| match to {
        1 => Answer::Refused(ReasonCode::NoRoom),
        _ => Answer::Measured,
    };
    let overflows = |_, to| match to {
        1 => Answer::Refused(ReasonCode::Misplaced),
        _ => Answer::Measured,
    };
    let run = |name, before, expected| Run {
        before,
        working_set: "64MiB",
        options: "--kernel load",
        ..Run::new(name, Nobody, expected)
    };
    // The node says that it has room: the pages overflow, and are found on node 0.
    let says_room = "
        meminfo=/sys/devices/system/node/node1/meminfo
        sed 's/MemFree: .*/MemFree: 400000 kB/' $meminfo >/tmp/meminfo
        mount -o bind /tmp/meminfo $meminfo
    ";
    let runs = vec![
        run("node 1 full", "", expected(no_room, "node 1 has")),
        run("node 1 full, unsaid", says_room, expected(overflows, "before the case")),
    ];
    let setup = "
        mkdir /tmp/full
        mount -t tmpfs -o size=100%,mpol=bind:1 tmpfs /tmp/full
        free=$(sed -n 's/.*MemFree: *\\([0-9]*\\) kB/\\1/p' /sys/devices/system/node/node1/meminfo)
        dd if=/dev/zero of=/tmp/full/file bs=1024k count=$((free / 1024 - 40))
    ";
    check("a full node", &[Boot { node_mib: 640, setup, ..Boot::new("intel-2p", NEW, runs) }]);
}

/// What is left of huge pages on one node does not serve the other.
#[test]
fn a_node_without_huge_pages_is_refused_and_the_others_measured() {
    let expected = Expected {
        kernels: 1,
        pages: Pages::Huge,
        answer: |_, to| match to {
            1 => Answer::Refused(ReasonCode::Misplaced),
            _ => Answer::Measured,
        },
        ..Expected::all()
    };
    let options = "--kernel load --pages huge";
    let runs = vec![Run { options, ..Run::new("hugetlb on node 0 only", Nobody, expected) }];
    let setup = "echo 24 >/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages";
    check("huge pages on one node", &[Boot { setup, ..Boot::new("intel-2p", NEW, runs) }]);
}
