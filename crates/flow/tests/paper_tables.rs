//! The papers' tables, given back by the machines that carry them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]
#![expect(clippy::float_cmp, reason = "what a file says is kept to the last bit")]

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
fn joe0_has_the_roofs_of_table_2() {
    let joe0 = machine("joe0");
    let everywhere = [(0, 0.25), (1, 0.25), (2, 0.25), (3, 0.25)];
    for (node, (lone, contended)) in
        (0..).zip([(36.1, 16.7), (17.5, 8.3), (15.0, 6.8), (14.3, 6.2)])
    {
        let alone = rates(&joe0, "load", &[load(0, 7, &[(node, 1.0)])]);
        assert_within(&format!("node {node} alone"), alone[0], lone, 1e-9);
        let all: Vec<Load> = (0..4).map(|initiator| load(initiator, 7, &[(node, 1.0)])).collect();
        let all = rates(&joe0, "load", &all);
        assert_within(&format!("node {node} contended"), all[0], contended, 0.01);
        // Every other initiator is like initiator 0, from where it stands.
        let sum: f64 = all.iter().sum();
        assert_within(&format!("node {node} in all"), sum, 16.7 + 8.3 + 6.8 + 6.2, 0.01);
    }
    let all: Vec<Load> = (0..4).map(|initiator| load(initiator, 7, &everywhere)).collect();
    for initiator in rates(&joe0, "load", &all) {
        assert_within("congested", initiator, 18.1, 0.01);
    }
    for (level, printed) in [(1, 760.1), (2, 309.2), (3, 154.0)] {
        let sharers = if level == 3 { 7 } else { 1 };
        let of_one = joe0.cache_rate(level, "load", "avx2", sharers).unwrap() / 1e9;
        assert_within(&format!("L{level}"), 7.0 * of_one, printed, 1e-4);
    }
    assert_within("FMA", 7.0 * joe0.flop_rate("fma_dp", "avx2").unwrap() / 1e9, 190.0, 0.005);
}

/// The node of an initiator: DRAM or MCDRAM.
fn knl_node(initiator: u32, hbm: bool) -> u32 {
    2 * initiator + u32::from(hbm)
}

#[test]
fn knl_flat_has_tables_4_and_5() {
    let knl = machine("knl-flat");
    let table_4 = [
        [38.1, 92.0, 38.0, 86.6],
        [38.1, 91.5, 38.2, 92.8],
        [37.8, 90.6, 38.1, 83.7],
        [38.0, 82.8, 38.0, 90.8],
    ];
    for (initiator, row) in (0..).zip(table_4) {
        for (node, printed) in (0..).zip(row) {
            let ours = rates(&knl, "load", &[load(initiator, 16, &[(node, 1.0)])]);
            assert_within(&format!("initiator {initiator}, node {node}"), ours[0], printed, 1e-9);
        }
    }
    for (hbm, all_local, congested, contended) in
        [(false, 21.7, 19.8, 10.7), (true, 90.9, 77.6, 21.5)]
    {
        let on_own = |initiator| load(initiator, 16, &[(knl_node(initiator, hbm), 1.0)]);
        let own: Vec<Load> = (0..4).map(on_own).collect();
        let ours = rates(&knl, "load", &own)[0];
        assert_within(&format!("all local, MCDRAM {hbm}"), ours, all_local, 0.01);
        let shares: Vec<(u32, f64)> = (0..4).map(|it| (knl_node(it, hbm), 0.25)).collect();
        let all: Vec<Load> = (0..4).map(|initiator| load(initiator, 16, &shares)).collect();
        let ours = rates(&knl, "load", &all)[0];
        assert_within(&format!("congested, MCDRAM {hbm}"), ours, congested, 0.01);
        let node = knl_node(0, hbm);
        let all: Vec<Load> = (0..4).map(|initiator| load(initiator, 16, &[(node, 1.0)])).collect();
        let ours = rates(&knl, "load", &all)[0];
        assert_within(&format!("contended, MCDRAM {hbm}"), ours, contended, 0.01);
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

/// A machine of the hybrid model: its fast and slow node, b of each kind and its overlap
/// thetas.
struct Hybrid {
    name: &'static str,
    memory: (u32, u32),
    rates: [f64; 4],
    thetas: [[f64; 4]; 4],
}

/// denoyelle2019, table 6: by the kind that takes longest, the overlap thetas of the others;
/// kinds in the order fast loads, fast stores, slow loads, slow stores.
const TABLE_6: [Hybrid; 2] = [
    Hybrid {
        name: "skylake-hybrid",
        memory: (0, 1),
        rates: [100e9, 60e9, 35e9, 25e9],
        thetas: [
            [0.0, 0.966, 0.600, -0.102],
            [0.912, 0.0, 0.067, 0.337],
            [0.294, 0.465, 0.0, 0.373],
            [0.54, 0.059, 0.293, 0.0],
        ],
    },
    Hybrid {
        name: "knl-flat",
        memory: (1, 0),
        rates: [92e9, 60e9, 38.1e9, 30e9],
        thetas: [
            [0.0, 0.238, 0.722, 0.985],
            [0.183, 0.0, 0.953, 0.797],
            [0.611, 0.956, 0.0, 0.564],
            [0.65, 0.726, 0.571, 0.0],
        ],
    },
];

fn hybrid_bytes([fast_loads, fast_stores, slow_loads, slow_stores]: [f64; 4]) -> HybridBytes {
    HybridBytes { fast_loads, fast_stores, slow_loads, slow_stores }
}

/// With one kind a second long and another 0.9 s, the overlap theta is (t - 1) / 0.9.
#[test]
fn hybrid_machines_have_the_overlap_thetas_of_table_6() {
    for Hybrid { name, memory: (fast, slow), rates, thetas } in TABLE_6 {
        let hybrid = machine(name);
        let seconds = |times: [f64; 4]| {
            let mut bytes = [0.0; 4];
            for kind in 0..4 {
                bytes[kind] = times[kind] * rates[kind];
            }
            hybrid.hybrid_seconds(0, fast, slow, hybrid_bytes(bytes)).unwrap()
        };
        assert!(seconds([0.0; 4]) == 0.0);
        for longest in 0..4 {
            for other in (0..4).filter(|&other| other != longest) {
                let mut times = [0.0; 4];
                times[longest] = 1.0;
                assert_within(name, seconds(times), 1.0, 1e-12);
                times[other] = 0.9;
                let theta = (seconds(times) - 1.0) / 0.9;
                let what = format!("{name}, {longest} over {other}: {theta}");
                assert!((theta - thetas[longest][other]).abs() < 1e-9, "{what}");
            }
        }
        assert_eq!(hybrid.overlap_pair(0, (fast, slow)), Some((fast, slow)));
        assert_eq!(hybrid.overlap_pair(0, (slow, fast)), Some((fast, slow)));
        assert_eq!(hybrid.overlap_pair(9, (slow, fast)), None);
        assert_eq!(hybrid.hybrid_seconds(0, slow, fast, hybrid_bytes([1.0; 4])), None);
    }
    // Every initiator of the Xeon Phi has an overlap of its own two memories only.
    let knl = machine("knl-flat");
    assert_eq!(knl.overlap_pair(3, (6, 7)), Some((7, 6)));
    assert_eq!(knl.overlap_pair(3, (0, 1)), None);
}

/// What an initiator reaches of each kind alone is near what its overlap says, so that a case
/// answered by either is the same machine.
#[test]
fn overlaps_and_capacities_agree() {
    for Hybrid { name, memory: (fast, slow), rates: rates_of, .. } in TABLE_6 {
        let hybrid = machine(name);
        let kinds = [(fast, "load"), (fast, "store_nt"), (slow, "load"), (slow, "store_nt")];
        for ((node, kernel), rate) in kinds.into_iter().zip(rates_of) {
            let ours = rates(&hybrid, kernel, &[load(0, 16, &[(node, 1.0)])])[0];
            assert_within(&format!("{name}, {kernel} on {node}"), ours, rate / 1e9, 0.15);
        }
    }
}

#[test]
fn e7_4870_has_the_figures_and_the_modes_of_vladimirov2012() {
    let e7 = machine("e7-4870");
    let copy = |loads: &[Load]| rates(&e7, "copy", loads).iter().sum::<f64>();
    assert_within("1 thread", copy(&[load(0, 1, &[(0, 1.0)])]), 5.79, 1e-9);
    let five_each: Vec<Load> = (0..4).map(|it| load(it, 5, &[(it, 1.0)])).collect();
    let scattered = copy(&five_each);
    assert_within("20 threads scattered", scattered, 78.9, 0.01);
    assert_within("20 threads compact", copy(&[load(0, 20, &[(0, 1.0)])]), 20.0, 1e-9);
    let modes = &e7.noise.unbound;
    let printed = [53.0, 62.0, 71.0, 82.0];
    for (mode, printed) in modes.iter().zip(printed) {
        assert_within("mode", mode.factor * scattered, printed, 0.005);
    }
    assert_eq!(modes.len(), printed.len());
    let mean_of = |power: i32| {
        let all = modes.iter().map(|it| it.share * (it.factor * scattered).powi(power));
        all.sum::<f64>()
    };
    let (mean, squares) = (mean_of(1), mean_of(2));
    assert_within("mean", mean, 67.0, 0.01);
    assert_within("standard deviation", (squares - mean * mean).sqrt(), 6.0, 0.05);
    // By the draw: each mode has its share of 0 to 1; one thread has none.
    let factors: Vec<f64> =
        [0.01, 0.2, 0.7, 0.99].map(|draw| e7.noise.unbound_factor(20, draw)).to_vec();
    assert_eq!(factors, [0.669, 0.783, 0.896, 1.035]);
    assert_eq!([0.01, 0.5, 0.99].map(|draw| e7.noise.unbound_factor(1, draw)), [1.0; 3]);
}

#[test]
fn ribeiro2010_s_machines_have_its_stream_and_numa_factors() {
    for (name, read, write, factors) in
        [("itanium2", 1.15705, 0.78033, (2.0, 2.5)), ("opteron-8", 1.61708, 1.45889, (1.2, 1.5))]
    {
        let numa = machine(name);
        let one = |kernel, node| rates(&numa, kernel, &[load(0, 1, &[(node, 1.0)])])[0];
        assert_within(name, one("load", 0), read, 1e-5);
        assert_within(name, one("store", 0), write, 1e-5);
        let local = numa.idle_latency_ns(0, 0).unwrap();
        let remote = (1..numa.machine.nodes.len())
            .map(|node| numa.idle_latency_ns(0, u32::try_from(node).unwrap()).unwrap() / local);
        let (least, most) =
            remote.fold((f64::INFINITY, 0.0), |(least, most), it| (it.min(least), it.max(most)));
        assert_within(name, least, factors.0, 1e-9);
        assert_within(name, most, factors.1, 1e-9);
        // Bandwidth follows the factor.
        let far = u32::try_from(numa.machine.nodes.len() - 1).unwrap();
        assert_within(name, one("load", 0) / one("load", far), factors.1, 0.01);
    }
}
