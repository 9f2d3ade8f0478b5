use nearfar_machine::{MemoryKind, MemoryPolicy};
use nearfar_record::{
    Absence, Actor, Compute, Coordinates, Disturbance, Experiment, ReasonCode, Record, Roof,
    RoofCoordinates, RoofPurpose,
};
use serde_json::Value;

use crate::handmade::{Done, absent, add, gb, record, stream};
use crate::{near, shown};

fn place(roof: Roof, kernel: &str, cluster: u32, actor: u32) -> Coordinates {
    let purpose = if kernel.contains("l_") { RoofPurpose::Validation } else { RoofPurpose::Roof };
    Coordinates::Roofs(RoofCoordinates {
        cluster,
        actor,
        roof,
        kernel: kernel.into(),
        variant: "avx2".into(),
        threads: 2,
        purpose,
    })
}

/// Two threads of the first cluster, alike.
fn add_roof(record: &mut Record, roof: Roof, kernel: &str, each: Done) {
    let actor = if roof == Roof::Compute {
        Actor::Compute(Compute {
            kernel: kernel.into(),
            variant: "avx2".into(),
            cpus: "0-1".parse().unwrap(),
            thread_cpus: vec![0, 1],
        })
    } else {
        stream(kernel, "0-1", MemoryPolicy::Preferred(0))
    };
    let id = format!("roofs/{roof:?}/{kernel}");
    let rounds = vec![vec![vec![each, each]]; 6];
    add(record, &id, vec![place(roof, kernel, 0, 0)], vec![actor], &rounds);
}

fn handmade() -> Record {
    let mut record = record(&[Experiment::Roofs]);
    let moved = |gb: f64| Done { gb, ..Done::default() };
    let in_cache = |gb: f64, gflop: f64| Done { gb, gflop, ghz: Some(2.0), ..Done::default() };
    let computed = |gflop: f64| Done { gflop, ghz: Some(2.0), ..Done::default() };
    let local = Roof::Memory { node: 0 };
    add_roof(&mut record, local, "load", moved(9.0));
    add_roof(&mut record, Roof::Memory { node: 1 }, "load", moved(4.0));
    add_roof(&mut record, Roof::Interleaved { kind: MemoryKind::Dram }, "load", moved(6.5));
    add_roof(&mut record, Roof::Cache { level: 1 }, "load", in_cache(96.0, 0.0));
    add_roof(&mut record, Roof::Cache { level: 1 }, "2l1s", in_cache(80.0, 0.0));
    add_roof(&mut record, local, "store_nt", moved(5.0));
    add_roof(&mut record, Roof::Compute, "fma_dp", computed(32.0));
    add_roof(&mut record, Roof::Compute, "fma_sp", computed(64.0));
    add_roof(&mut record, Roof::Compute, "add_dp", computed(16.0));
    // 1 FLOP per 4 bytes: memory bounds it at 4.5; 16 FLOPs per byte: the cores do, at 64.
    add_roof(&mut record, local, "1l_1fma", Done { gb: 8.8, gflop: 2.2, ..Done::default() });
    add_roof(&mut record, local, "1l_64fma", Done { gb: 1.95, gflop: 31.2, ..Done::default() });
    add_roof(&mut record, Roof::Cache { level: 1 }, "1l_64fma", in_cache(1.975, 31.6));
    add_roof(&mut record, Roof::Cache { level: 1 }, "1l_1fma", in_cache(0.0, 0.0));
    record.samples.retain(|sample| sample.case != "roofs/Cache { level: 1 }/1l_1fma");

    let streams =
        || ["0-1", "2-3"].map(|cpus| stream("load", cpus, MemoryPolicy::Preferred(0))).to_vec();
    for (id, places, done) in [
        (
            "roofs/contended/node0x2/load/avx2",
            [0, 1].map(|cluster| {
                place(Roof::Contended { node: 0, clusters: 2 }, "load", cluster, cluster)
            }),
            [gb([6.0, 6.0]), gb([2.0, 2.0])],
        ),
        (
            "roofs/congested/dram/load/avx2",
            [0, 1].map(|cluster| {
                place(Roof::Congested { kind: MemoryKind::Dram }, "load", cluster, cluster)
            }),
            [gb([5.0, 5.0]), gb([5.5, 5.5])],
        ),
        (
            "roofs/all_local/load/avx2",
            [0, 1].map(|cluster| place(Roof::AllLocal { node: cluster }, "load", cluster, cluster)),
            [gb([8.5, 8.5]), gb([8.6, 8.6])],
        ),
    ] {
        add(&mut record, id, places.into(), streams(), &vec![done.to_vec(); 6]);
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
    let at = |ghz: f64| Done { gb: 48.0 * ghz, ghz: Some(ghz), ..Done::default() };
    let rounds: Vec<_> =
        [2.0, 2.0, 2.0, 3.0, 3.5, 4.0, 1.0].map(|ghz| vec![vec![at(ghz), at(ghz + 0.3)]]).into();
    let level = Roof::Cache { level: 1 };
    let actor = stream("load", "0-1", MemoryPolicy::Preferred(0));
    add(&mut record, "roofs/l1", vec![place(level, "load", 0, 0)], vec![actor], &rounds);
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
    record.samples.retain(|sample| !sample.case.ends_with("fma_dp"));
    let view = serde_json::to_value(nearfar_report::ShowView::new(&record)).unwrap();
    let point = find(&view, 0, "memory", "1l_1fma");
    assert_eq!(point["attainable_gflop_per_s"], Value::Null);
    assert!(near(&point["flops_per_byte"], 0.25));
}
