//! Tables of papers that nothing but the machines themselves is held against; the others are rows of
//! `nearfar-reproduce`, or measured on the machines by `nearfar-measure`.

use nearfar_flow::{HybridBytes, MEMORY_SIDE_LEVEL, read_machine};

use crate::{on, rates};

#[track_caller]
fn assert_within(what: &str, ours: f64, printed: f64, tolerance: f64) {
    let error = ours / printed - 1.0;
    assert!(error.abs() <= tolerance, "{what}: {ours:.4}, printed {printed}, {error:+.4}");
}

/// A set that the MCDRAM holds, of 16 and of 64 threads.
#[test]
fn the_memory_side_cache_of_knl_cache_has_table_5() {
    let knl = read_machine("knl-cache").unwrap();
    let cores = knl.machine.allowed_cores(&knl.machine.initiators()[0].cpus);
    let cpus: Vec<u32> = cores.iter().map(|core| core.first().unwrap()).collect();
    assert_eq!(knl.level_of(&cpus, 3 << 30), Some(MEMORY_SIDE_LEVEL));
    assert_eq!(knl.level_of(&cpus, 5 << 30), None);
    let of_one = knl.cache_rate(MEMORY_SIDE_LEVEL, "load", "avx512", 16).unwrap() / 1e9;
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
        let hybrid = read_machine(name).unwrap();
        assert_eq!(hybrid.overlap_pair(0, (fast, slow)), Some((fast, slow)));
        assert_eq!(hybrid.overlap_pair(0, (slow, fast)), Some((fast, slow)));
        assert_eq!(hybrid.overlap_pair(9, (slow, fast)), None);
        assert_eq!(hybrid.hybrid_seconds(0, slow, fast, HybridBytes::default()), None);
        let kinds = [(fast, "load"), (fast, "store_nt"), (slow, "load"), (slow, "store_nt")];
        for ((node, kernel), rate) in kinds.into_iter().zip(rates_of) {
            let ours = rates(&hybrid, kernel, &hybrid.variants[0], &[on(0, 16, node)])[0];
            assert_within(&format!("{name}, {kernel} on {node}"), ours, rate / 1e9, 0.15);
        }
    }
    // Every initiator of the Xeon Phi has an overlap of its own two memories only.
    let knl = read_machine("knl-flat").unwrap();
    assert_eq!(knl.overlap_pair(3, (6, 7)), Some((7, 6)));
    assert_eq!(knl.overlap_pair(3, (0, 1)), None);
}
