use nearfar_machine::{MemoryKind, MemoryPolicy};
use nearfar_record::{
    Absence, Case, Coordinates, Disturbance, Experiment, ReasonCode, Record, Roof, RoofCoordinates,
    RoofPurpose,
};
use nearfar_specimen::{absent, at_clock, case_at, evenly, roof, with_flops};
use serde_json::Value;

use crate::{add, near, record, shown, stream};

fn place(limit: Roof, kernel: &str, cluster: u32) -> Coordinates {
    let purpose = if kernel.contains("l_") { RoofPurpose::Validation } else { RoofPurpose::Roof };
    Coordinates::Roofs(RoofCoordinates { actor: cluster, purpose, ..roof(cluster, limit, kernel) })
}

/// Two threads of the first cluster, alike: GB and GFLOP of each, and their clock.
fn add_roof(
    record: &mut Record,
    roof: Roof,
    kernel: &str,
    (gb, gflop): (f64, f64),
    ghz: Option<f64>,
) {
    let case = case_at(&record.header.machine, place(roof, kernel, 0));
    let seen = with_flops(evenly(&case.actors[0], 2e9 * gb), 2e9 * gflop);
    let seen = ghz.map_or(seen.clone(), |ghz| at_clock(seen, ghz));
    nearfar_specimen::add(record, case, vec![vec![seen]; 6]);
}

fn handmade() -> Record {
    let mut record = record(&[Experiment::Roofs]);
    let local = Roof::Memory { node: 0 };
    let l1 = Roof::Cache { level: 1 };
    for (roof, kernel, gb, gflop, ghz) in [
        (local, "load", 9.0, 0.0, None),
        (Roof::Memory { node: 1 }, "load", 4.0, 0.0, None),
        (Roof::Interleaved { kind: MemoryKind::Dram }, "load", 6.5, 0.0, None),
        (l1, "load", 96.0, 0.0, Some(2.0)),
        (l1, "2l1s", 80.0, 0.0, Some(2.0)),
        (local, "store_nt", 5.0, 0.0, None),
        (Roof::Compute, "fma_dp", 0.0, 32.0, Some(2.0)),
        (Roof::Compute, "fma_sp", 0.0, 64.0, Some(2.0)),
        (Roof::Compute, "add_dp", 0.0, 16.0, Some(2.0)),
        // 1 FLOP per 4 bytes: memory bounds it at 4.5; 16 FLOPs per byte: the cores do, at 64.
        (local, "1l_1fma", 8.8, 2.2, None),
        (local, "1l_64fma", 1.95, 31.2, None),
        (l1, "1l_64fma", 1.975, 31.6, Some(2.0)),
    ] {
        add_roof(&mut record, roof, kernel, (gb, gflop), ghz);
    }
    let unmeasured = case_at(&record.header.machine, place(l1, "1l_1fma", 0));
    record.cases.push(unmeasured);

    let streams =
        || ["0-1", "2-3"].map(|cpus| stream("load", cpus, MemoryPolicy::Preferred(0))).to_vec();
    for (id, places, done) in [
        (
            "roofs/contended/node0x2/load/avx2",
            [0, 1].map(|cluster| place(Roof::Contended { node: 0, clusters: 2 }, "load", cluster)),
            [[6.0, 6.0], [2.0, 2.0]],
        ),
        (
            "roofs/congested/dram/load/avx2",
            [0, 1]
                .map(|cluster| place(Roof::Congested { kind: MemoryKind::Dram }, "load", cluster)),
            [[5.0, 5.0], [5.5, 5.5]],
        ),
        (
            "roofs/all_local/load/avx2",
            [0, 1].map(|cluster| place(Roof::AllLocal { node: cluster }, "load", cluster)),
            [[8.5, 8.5], [8.6, 8.6]],
        ),
    ] {
        let case = Case { id: id.into(), coordinates: places.into(), actors: streams() };
        add(&mut record, case, 6, &done.each_ref().map(|each| &each[..]));
    }
    let text = "no set is larger than the caches before it and smaller than this one";
    absent(&mut record, "roofs/cluster0/l2", Absence::Omitted, ReasonCode::NoWindow, text);
    record
}

fn find<'v>(view: &'v Value, cluster: u32, limit: &str, kernel: &str) -> &'v Value {
    let all = view["roofs"].as_array().unwrap();
    let is = |one: &&Value| {
        (&one["cluster"], &one["limit"], &one["kernel"])
            == (&cluster.into(), &limit.into(), &kernel.into())
    };
    all.iter().find(is).unwrap()
}

#[test]
fn each_cluster_has_its_bandwidths_peaks_and_points() {
    let view = shown("roofs", &handmade());
    let local = find(&view, 0, "memory", "load");
    assert_eq!((&local["node"], &local["is_local"]), (&0.into(), &true.into()));
    assert!(near(&local["bandwidth"]["sum_gb_per_s"], 18.0));
    assert_eq!((&local["flops"], &local["bytes_per_cycle"]), (&Value::Null, &Value::Null));
    let l1 = find(&view, 0, "cache", "load");
    assert_eq!((&l1["level"], &l1["is_local"]), (&1.into(), &Value::Null));
    assert!(near(&l1["bytes_per_cycle"], 48.0) && near(&l1["core_ghz"], 2.0));
    let interleaved = find(&view, 0, "interleaved", "load");
    assert!(near(&interleaved["bandwidth"]["sum_gb_per_s"], 13.0));
    assert_eq!((&interleaved["memory_kind"], &interleaved["node"]), (&"dram".into(), &Value::Null));
    assert_eq!(interleaved["is_local"], Value::Null);
    let peak = find(&view, 0, "compute", "fma_dp");
    assert!(near(&peak["flops"]["sum_gflop_per_s"], 64.0));
    assert!(near(&peak["flops_per_cycle"], 16.0));
    assert_eq!(peak["bandwidth"], Value::Null);
}

/// A clock that changes between windows is each window's own, and disturbed ones do not count.
#[test]
fn work_in_a_cycle_is_by_the_clock_of_its_own_window() {
    let mut record = record(&[Experiment::Roofs]);
    let case = case_at(&record.header.machine, place(Roof::Cache { level: 1 }, "load", 0));
    let at = |ghz: f64| {
        let mut seen = at_clock(evenly(&case.actors[0], 2.0 * 48e9 * ghz), ghz);
        seen.threads[1].useful_bytes += 14_400_000_000;
        seen.threads[1].core_ghz = Some(ghz + 0.3);
        vec![seen]
    };
    let rounds = [2.0, 2.0, 2.0, 3.0, 3.5, 4.0, 1.0].map(at);
    nearfar_specimen::add(&mut record, case, rounds);
    let last = record.samples.last_mut().unwrap();
    last.actors[0].threads[0].useful_bytes = 1;
    last.disturbances.push(Disturbance::Moved { threads: 1 });
    let view = serde_json::to_value(nearfar_report::ShowView::new(&record)).unwrap();
    assert!(near(&find(&view, 0, "cache", "load")["bytes_per_cycle"], 48.0));
}

/// A case in which several clusters take part gives each its own roof.
#[test]
fn what_clusters_do_at_once_is_divided_among_them() {
    let view = serde_json::to_value(nearfar_report::ShowView::new(&handmade())).unwrap();
    for (cluster, gb_per_s) in [(0, 12.0), (1, 4.0)] {
        let contended = find(&view, cluster, "contended", "load");
        assert!(near(&contended["bandwidth"]["sum_gb_per_s"], gb_per_s));
        assert_eq!(contended["is_local"], cluster == 0);
        assert_eq!((&contended["clusters"], &contended["node"]), (&2.into(), &0.into()));
    }
    let congested = find(&view, 1, "congested", "load");
    assert!(near(&congested["bandwidth"]["sum_gb_per_s"], 11.0));
    assert_eq!((&congested["memory_kind"], &congested["node"]), (&"dram".into(), &Value::Null));
    assert!(near(&find(&view, 1, "all_local", "load")["bandwidth"]["sum_gb_per_s"], 17.2));
}

#[test]
fn points_are_held_against_the_lower_roof() {
    let view = serde_json::to_value(nearfar_report::ShowView::new(&handmade())).unwrap();
    let bound_by_memory = find(&view, 0, "memory", "1l_1fma");
    assert!(near(&bound_by_memory["flops_per_byte"], 0.25));
    assert!(near(&bound_by_memory["attainable_gflop_per_s"], 4.5));
    assert!(near(&bound_by_memory["attainable_ratio"], 4.4 / 4.5));
    let bound_by_cores = find(&view, 0, "memory", "1l_64fma");
    assert!(near(&bound_by_cores["attainable_gflop_per_s"], 64.0));
    assert!(near(&bound_by_cores["attainable_ratio"], 62.4 / 64.0));
    assert_eq!(find(&view, 0, "memory", "load")["attainable_ratio"], Value::Null);
    // The same loads on another level have another roof.
    let in_cache = find(&view, 0, "cache", "1l_64fma");
    assert!(near(&in_cache["attainable_gflop_per_s"], 64.0));
    // Without the roof of its own variant nothing is said.
    let mut record = handmade();
    record.samples.retain(|sample| !sample.case.contains("fma_dp"));
    let view = serde_json::to_value(nearfar_report::ShowView::new(&record)).unwrap();
    let point = find(&view, 0, "memory", "1l_1fma");
    assert_eq!(point["attainable_gflop_per_s"], Value::Null);
    assert!(near(&point["flops_per_byte"], 0.25));
}
