//! `nearfar run` in guests of 4 and 8 nodes: where a program's pages land and where its
//! threads run, as the program finds it from inside and as nearfar reports it.
//!
//! `cargo test -p nearfar --test guests run` makes each placement with one program in every
//! guest, another in each of the four; with `-- --ignored` each placement with
//! every program, as either user, in every guest.

use nearfar_lab::{Ended, GuestMachine};

use crate::boot::User::{Nobody, Root};
use crate::boot::{NEW, OLD, User};
use crate::in_guest;
use crate::placement::FULL_NODE_1;
use crate::run_expected::{Expected, Landing, Pinned};
use crate::run_launch::{
    KEEP_PACKAGES, Launch, Launched, Program, Way, deviation, in_words, shares,
};
use crate::table::{self, Table};

/// A guest, and what is started in it one after the other.
struct Launches {
    machine: &'static str,
    suite: &'static str,
    node_mib: u32,
    setup: &'static str,
    of: Vec<Launch>,
}

/// Linux 6.1 to 6.5 do not tell a program the node of a page that balancing has marked: the truth is lost then.
const NO_BALANCING: &str = "echo 0 >/proc/sys/kernel/numa_balancing";

/// The kernel's weights of the first nodes, where it has weights.
fn kernel_weights(weights: [u32; 4]) -> String {
    let write = |(node, weight)| {
        let file = format!("/sys/kernel/mm/mempolicy/weighted_interleave/node{node}");
        format!("if [ -e {file} ]; then echo {weight} >{file}; fi\n")
    };
    weights.iter().enumerate().map(write).collect()
}

/// Every placement on a machine of this many nodes with this many CPUs each, and what it must give.
fn placements(nodes: u32, cpus_of_node: u32) -> Vec<(String, Expected)> {
    let all: Vec<u32> = (0..nodes).collect();
    let last = nodes - 1;
    let cpus_of_1 = format!("{cpus_of_node}-{}", 2 * cpus_of_node - 1);
    let touched = |pinned| Expected { pinned, ..Expected::new(Landing::Touched) };
    let weighted = [(0, 0.5), (1, 0.25), (2, 0.125), (3, 0.125)];
    vec![
        ("local:1".into(), Expected { cpus: Some(cpus_of_1), ..Expected::shares(&[(1, 1.0)]) }),
        ("bind:2".into(), Expected::shares(&[(2, 1.0)])),
        (format!("preferred:{last}"), Expected::shares(&[(last, 1.0)])),
        ("interleave".into(), Expected::equal(&all)),
        (format!("interleave:1,{last}"), Expected::equal(&[1, last])),
        ("weighted:0=4,1=2,2=1,3=1".into(), Expected::shares(&weighted)),
        ("first-touch".into(), touched(Pinned::Together)),
        ("spread".into(), touched(Pinned::Far)),
        ("compact".into(), touched(Pinned::Near)),
        ("scatter".into(), touched(Pinned::Far)),
    ]
}

fn launch(user: User, program: Program, placement: &str, expected: &Expected) -> Launch {
    let mut launch = Launch::new(user, program, placement, expected.clone());
    if program == Program::Single {
        // A program's first thread stays free: what it starts would begin with its CPU.
        launch.expected.pinned = Pinned::Together;
    }
    if !placement.starts_with("weighted") {
        // Only who is followed is pinned thread by thread; all else Linux inherits.
        if launch.expected.pinned == Pinned::Together {
            launch.way = Way::Becoming;
        }
        return launch;
    }
    // Root's kernel has the weights where it can; for nobody pages are moved, which takes a while.
    let weights = if user == Root { [4, 2, 1, 1] } else { [1; 4] };
    let of_program = "-u 4,2,1,1";
    Launch { before: kernel_weights(weights), of_program, ..launch }
}

/// Each placement with one of the programs, which differs from guest to guest, as one of both
/// users.
fn some(guest: usize, nodes: u32, cpus_of_node: u32) -> Vec<Launch> {
    let placements = placements(nodes, cpus_of_node);
    let numbered = placements.iter().enumerate();
    numbered
        .map(|(number, (placement, expected))| {
            let program = Program::ALL[(number + guest) % Program::ALL.len()];
            let user = [Root, Nobody][(number + guest) % 2];
            launch(user, program, placement, expected)
        })
        .collect()
}

/// Each placement with every program, as either user.
fn every(nodes: u32, cpus_of_node: u32) -> Vec<Launch> {
    let mut launches = Vec::new();
    for (placement, expected) in placements(nodes, cpus_of_node) {
        for program in Program::ALL {
            launches
                .extend([Root, Nobody].map(|user| launch(user, program, &placement, &expected)));
        }
    }
    launches
}

static LAUNCHES: Table<11> = Table::new([
    ("kernel", 27),
    ("nodes", 5),
    ("user", 6),
    ("program", 17),
    ("placement", 26),
    ("asked", 31),
    ("found inside", 31),
    ("off", 6),
    ("status", 6),
    ("seconds", 7),
    ("ok", 3),
]);

fn print_row(
    (machine, ended): (&GuestMachine, &Ended),
    launch: &Launch,
    launched: &Launched,
    as_expected: bool,
) {
    let truth = launched.truth.as_ref();
    let asked = truth.and_then(|truth| launch.expected.asked(machine, truth));
    let found = truth.map(|truth| shares(&truth.pages));
    let off = asked.as_ref().zip(found.as_ref()).map(|(asked, found)| deviation(asked, found));
    let words = |shares: Option<_>| shares.as_ref().map(in_words).unwrap_or_default();
    LAUNCHES.print([
        ended.release.clone(),
        machine.node.len().to_string(),
        launch.user.name().into(),
        launch.program.name().into(),
        launch.placement.clone(),
        words(asked),
        words(found),
        off.map_or_else(String::new, |off| format!("{:.2}%", off * 100.0)),
        launched.status.to_string(),
        format!("{:.1}", launched.seconds),
        if as_expected { "yes" } else { "NO" }.into(),
    ]);
}

fn check(launches: &Launches) {
    let Launches { machine, suite, node_mib, setup, of } = launches;
    let scripts = of.iter().enumerate().map(|(number, launch)| launch.script(number));
    let script = format!("{setup}\n{KEEP_PACKAGES}\n{}", scripts.collect::<String>());
    let (machine, ended) = in_guest(machine, suite, *node_mib, &[], &script);
    let mut wrong = Vec::new();
    for (number, launch) in of.iter().enumerate() {
        let launched = launch.read(number, &ended);
        let faults = launch.expected.judge(&machine, &launched);
        print_row((&machine, &ended), launch, &launched, faults.is_empty());
        let name = launch.program.name();
        wrong.extend(faults.iter().map(|it| format!("{name}, {}: {it}", launch.placement)));
    }
    table::print_cost(&machine.name, &ended);
    assert!(wrong.is_empty(), "\n{} {}\n{}", machine.name, ended.release, wrong.join("\n"));
}

fn launches(machine: &'static str, suite: &'static str, of: Vec<Launch>) -> Launches {
    let setup = if suite == OLD { NO_BALANCING } else { "" };
    Launches { machine, suite, node_mib: 384, setup, of }
}

#[test]
#[ignore = "make outer: as with the other kernel"]
fn run_on_4_nodes_with_linux_6_1() {
    check(&launches("amd-2p", OLD, some(0, 4, 2)));
}

#[test]
fn run_on_4_nodes_with_linux_6_12() {
    let mut of = some(1, 4, 2);
    of.extend(less_than_asked());
    check(&launches("amd-2p", NEW, of));
}

#[test]
fn run_on_8_nodes_with_linux_6_1() {
    check(&launches("amd-4p", OLD, some(2, 8, 1)));
}

#[test]
#[ignore = "make outer: as with the other kernel"]
fn run_on_8_nodes_with_linux_6_12() {
    check(&launches("amd-4p", NEW, some(3, 8, 1)));
}

#[test]
#[ignore = "some minutes; the other tests make a part of it"]
fn run_every_program_under_every_placement() {
    for suite in [OLD, NEW] {
        check(&launches("amd-2p", suite, every(4, 2)));
        check(&launches("amd-4p", suite, every(8, 1)));
    }
}

/// What a filter, a control group or a full node leaves of a placement: the program does not run;
/// with `--best-effort` it does, and what was lost is said.
fn less_than_asked() -> Vec<Launch> {
    let half = "
        mkdir -p /sys/fs/cgroup/half
        echo 0-3 >/sys/fs/cgroup/half/cpuset.cpus
        echo 0-1 >/sys/fs/cgroup/half/cpuset.mems
    ";
    let enter = "echo 0 >/sys/fs/cgroup/half/cgroup.procs";
    let in_half = |user, placement, expected| Launch {
        before: half.into(),
        within: enter,
        ..Launch::new(user, Program::Pthread, placement, expected)
    };
    let of_half = |expected| Expected { cpus: Some("0-3".into()), ..expected };
    let lost = |shares: &[(u32, f64)], refused| Expected {
        refused,
        ..Expected::new(Landing::Lost(shares.iter().copied().collect()))
    };
    let not_run = |refused| Expected { status: 125, refused, ..Expected::new(Landing::Nowhere) };
    let through = "under_filter set_mempolicy=EPERM,mbind=EPERM,move_pages=EPERM --";
    let refused = |options, expected| Launch {
        through,
        options,
        ..Launch::new(Nobody, Program::Single, "interleave", expected)
    };
    let quarter = [(0, 0.25), (1, 0.25), (2, 0.25), (3, 0.25)];
    let set = |user, expected| Launch {
        before: kernel_weights([1; 4]),
        options: "--set-kernel-weights",
        ..Launch::new(user, Program::OpenMp, "weighted:0=1,1=2,2=3,3=2", expected)
    };
    let by_kernel = Expected::shares(&[(0, 0.125), (1, 0.25), (2, 0.375), (3, 0.25)]);
    vec![
        set(Root, Expected { kernel_weights: "0=1,1=2,2=3,3=2", ..by_kernel }),
        set(Nobody, not_run(&["kernel's weights"])),
        Launch::new(Nobody, Program::Huge, "interleave", Expected::equal(&[0, 1, 2, 3])),
        Launch {
            options: "--cpus 2-5",
            ..Launch::new(
                Root,
                Program::OpenMp,
                "interleave",
                Expected { cpus: Some("2-5".into()), ..Expected::equal(&[0, 1, 2, 3]) },
            )
        },
        in_half(Nobody, "interleave", of_half(Expected::equal(&[0, 1]))),
        Launch {
            options: "--best-effort",
            ..in_half(Root, "bind:3", of_half(lost(&[(3, 1.0)], &["node 3"])))
        },
        in_half(Nobody, "bind:3", not_run(&["node 3"])),
        refused("--best-effort", lost(&quarter, &["set_mempolicy"])),
        refused("", not_run(&["set_mempolicy"])),
    ]
}

/// A node with room for a part of the program: what is preferred spills over to the other
/// node, which is said; what is bound is killed by the kernel.
#[test]
fn run_with_a_full_node() {
    let spilled = Expected::new(Landing::Lost([(1, 1.0)].into()));
    let killed = Expected { status: 137, ..Expected::new(Landing::Nowhere) };
    let of = vec![
        Launch::new(Nobody, Program::Single, "preferred:1", spilled),
        Launch::new(Nobody, Program::Single, "bind:1", killed),
    ];
    check(&Launches { machine: "intel-2p", suite: NEW, node_mib: 640, setup: FULL_NODE_1, of });
}
