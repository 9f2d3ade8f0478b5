//! Tables of papers that nothing but the machines themselves is held against; the others are
//! `nearfar-reproduce`'s rows.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use nearfar_flow::{HybridBytes, KernelLoad, Load, SimulatedMachine, read_machine};

fn machine(name: &str) -> SimulatedMachine {
    read_machine(name).unwrap()
}

fn load(initiator: u32, threads: u32, shares: &[(u32, f64)]) -> Load {
    Load { initiator, threads, shares: shares.to_vec() }
}

/// What loads of a kernel get together, GB/s.
fn rates(machine: &SimulatedMachine, kernel: &str, loads: &[Load]) -> Vec<f64> {
    let variant = &machine.variants[0];
    let loads: Vec<KernelLoad> =
        loads.iter().map(|load| KernelLoad::new(kernel, variant, load.clone())).collect();
    machine.rates(&loads).unwrap().into_iter().map(|rate| rate / 1e9).collect()
}

#[track_caller]
fn assert_within(what: &str, ours: f64, printed: f64, tolerance: f64) {
    let error = ours / printed - 1.0;
    assert!(error.abs() <= tolerance, "{what}: {ours:.4}, printed {printed}, {error:+.4}");
}

// saad2022, MB/s; rows are 0 to 4 local processes, columns 0 to 4 remote ones.
const LOCAL: [[f64; 5]; 5] = [
    [0.0, 0.0, 0.0, 0.0, 0.0],
    [7656.0, 6776.0, 6325.0, 6185.0, 6210.0],
    [11024.0, 8921.0, 8379.0, 8283.0, 8242.0],
    [12607.0, 10167.0, 9235.0, 9141.0, 9145.0],
    [12925.0, 10487.0, 9393.0, 9299.0, 9302.0],
];
const REMOTE: [[f64; 5]; 5] = [
    [0.0, 4844.0, 6998.0, 6938.0, 6807.0],
    [0.0, 4412.0, 6020.0, 6020.0, 5945.0],
    [0.0, 4056.0, 5329.0, 5335.0, 5275.0],
    [0.0, 3675.0, 4765.0, 4742.0, 4699.0],
    [0.0, 3472.0, 4472.0, 4459.0, 4416.0],
];
const TOTAL: [[f64; 5]; 5] = [
    [0.0, 4844.0, 6998.0, 6938.0, 6807.0],
    [7656.0, 11188.0, 12345.0, 12205.0, 12155.0],
    [11024.0, 12977.0, 13708.0, 13618.0, 13517.0],
    [12607.0, 13842.0, 14001.0, 13882.0, 13844.0],
    [12925.0, 13959.0, 13865.0, 13758.0, 13719.0],
];

#[test]
fn e5520_shares_its_controller_as_saad2022_prints() {
    let e5520 = machine("e5520");
    for (locals, row) in (0_u32..).zip(&TOTAL) {
        for (remotes, &total) in (0_u32..).zip(row) {
            let (i, j) = (locals as usize, remotes as usize);
            // On either node.
            for (own, other) in [(0, 1), (1, 0)] {
                let loads = [load(own, locals, &[(own, 1.0)]), load(other, remotes, &[(own, 1.0)])];
                let ours = rates(&e5520, "triad", &loads);
                let what = format!("{locals} local, {remotes} remote, on node {own}");
                if locals + remotes == 0 {
                    assert!(ours[0] + ours[1] == 0.0, "{what}");
                    continue;
                }
                // Alone each group is what was measured.
                let tolerance = if locals == 0 || remotes == 0 { 1e-9 } else { 0.03 };
                assert_within(&what, (ours[0] + ours[1]) * 1e3, total, tolerance);
                if locals > 0 {
                    assert_within(&what, ours[0] * 1e3, LOCAL[i][j], tolerance);
                }
                if remotes > 0 {
                    assert_within(&what, ours[1] * 1e3, REMOTE[i][j], tolerance);
                }
            }
        }
    }
}

#[test]
fn knl_cache_has_table_5() {
    let knl = machine("knl-cache");
    let alone = rates(&knl, "load", &[load(0, 16, &[(0, 1.0)])]);
    assert_within("16 threads", alone[0], 22.9, 1e-9);
    let own: Vec<Load> = (0..4).map(|initiator| load(initiator, 16, &[(initiator, 1.0)])).collect();
    assert_within("64 threads", rates(&knl, "load", &own)[0], 20.0, 0.01);
    let shares: Vec<(u32, f64)> = (0..4).map(|node| (node, 0.25)).collect();
    let all: Vec<Load> = (0..4).map(|initiator| load(initiator, 16, &shares)).collect();
    assert_within("congested", rates(&knl, "load", &all)[0], 17.0, 0.01);
    // A set that the MCDRAM holds, of 16 and of 64 threads.
    let cores = knl.machine.allowed_cores(&knl.machine.initiators()[0].cpus);
    let cpus: Vec<u32> = cores.iter().map(|core| core.first().unwrap()).collect();
    let level = knl.level_of(&cpus, 3 << 30).unwrap();
    assert_eq!(level, nearfar_flow::MEMORY_SIDE_LEVEL);
    assert_eq!(knl.level_of(&cpus, 5 << 30), None);
    let of_one = knl.cache_rate(level, "load", "avx512", 16).unwrap() / 1e9;
    assert_within("MCDRAM, 16 threads", 16.0 * of_one, 85.4, 1e-9);
    assert_within("MCDRAM, 64 threads", 16.0 * of_one, 83.3, 0.05);
}

/// Bytes/s of each kind alone by the overlap of a machine's fast and slow node: fast loads, fast
/// stores, slow loads, slow stores.
const ALONE: [(&str, (u32, u32), [f64; 4]); 2] = [
    ("skylake-hybrid", (0, 1), [100e9, 60e9, 35e9, 25e9]),
    ("knl-flat", (1, 0), [92e9, 60e9, 38.1e9, 30e9]),
];

/// What an initiator reaches of each kind alone is near what its overlap says, so that a case
/// answered by either is the same machine.
#[test]
fn overlaps_and_capacities_agree() {
    for (name, (fast, slow), rates_of) in ALONE {
        let hybrid = machine(name);
        assert_eq!(hybrid.overlap_pair(0, (fast, slow)), Some((fast, slow)));
        assert_eq!(hybrid.overlap_pair(0, (slow, fast)), Some((fast, slow)));
        assert_eq!(hybrid.overlap_pair(9, (slow, fast)), None);
        assert_eq!(hybrid.hybrid_seconds(0, slow, fast, HybridBytes::default()), None);
        let kinds = [(fast, "load"), (fast, "store_nt"), (slow, "load"), (slow, "store_nt")];
        for ((node, kernel), rate) in kinds.into_iter().zip(rates_of) {
            let ours = rates(&hybrid, kernel, &[load(0, 16, &[(node, 1.0)])])[0];
            assert_within(&format!("{name}, {kernel} on {node}"), ours, rate / 1e9, 0.15);
        }
    }
    // Every initiator of the Xeon Phi has an overlap of its own two memories only.
    let knl = machine("knl-flat");
    assert_eq!(knl.overlap_pair(3, (6, 7)), Some((7, 6)));
    assert_eq!(knl.overlap_pair(3, (0, 1)), None);
}
