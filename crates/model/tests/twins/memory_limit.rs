//! A record's figures against what a memory node can carry.

use nearfar_machine::{Direction, MemoryKind, Scope, TheoreticalMaximum};
use nearfar_model::{RecordFigures, memory_limit};
use nearfar_record::Disturbance;

use crate::twins::drawn_record::{PLAN, Plan, machine, record};

fn maximum(scope: Scope, bytes_per_s: f64) -> TheoreticalMaximum {
    TheoreticalMaximum {
        name: "DDR4-3200x2".into(),
        scope,
        direction: Direction::Shared,
        bytes_per_s,
        source: "the test".into(),
    }
}

#[test]
fn nothing_is_above_its_maximum() {
    let plan = Plan { noise: 0.0, kernels: &["load"], ..PLAN };
    let machine = machine(2, 1);
    let mut record = record(&machine, &plan, |_, _, _| 1.0);
    let limit = memory_limit(&RecordFigures::new(&record), maximum(Scope::Node, 50e9)).unwrap();
    assert_eq!((limit.cells, limit.above.len()), (4 * 4, 0));
    assert!((limit.highest_share - 0.8).abs() < 1e-9);

    let limit = memory_limit(&RecordFigures::new(&record), maximum(Scope::Given, 39e9)).unwrap();
    let above: Vec<&str> = limit.above.iter().map(|cell| cell.case.as_str()).collect();
    // Local, with two threads and more.
    assert_eq!(above.len(), 2 * 3);
    assert!(above.iter().all(|case| case.starts_with("pairs/initiator0/node0/")
        || case.starts_with("pairs/initiator1/node1/")));

    // Windows that something disturbed do not count, also those that are too high.
    record.samples[0].actors[0].traffic_bytes_min *= 100;
    record.samples[0].disturbances = vec![Disturbance::Moved { threads: 1 }];
    assert_eq!(
        memory_limit(&RecordFigures::new(&record), maximum(Scope::Node, 50e9)).unwrap().above,
        []
    );

    let reason =
        memory_limit(&RecordFigures::new(&record), maximum(Scope::Channel, 25e9)).unwrap_err();
    assert!(reason.starts_with("DDR4-3200x2 is what a channel carries"), "{reason}");
    for node in &mut record.header.machine.nodes {
        node.kind = MemoryKind::Cxl;
    }
    let reason =
        memory_limit(&RecordFigures::new(&record), maximum(Scope::Node, 50e9)).unwrap_err();
    assert!(reason.contains("no figures of ordinary memory"), "{reason}");
}
