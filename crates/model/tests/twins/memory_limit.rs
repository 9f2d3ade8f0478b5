//! A record's figures against what a memory node can carry.

use nearfar_machine::{Direction, MemoryKind, Scope, TheoreticalMaximum};
use nearfar_model::{NoMemoryLimit, memory_limit};
use nearfar_record::Disturbance;

use crate::drawn_record::{PLAN, Plan, machine, record};

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
    let limit = memory_limit(&record, maximum(Scope::Node, 50e9)).unwrap();
    assert_eq!((limit.cells, limit.above.len()), (4 * 4, 0));
    assert!((limit.highest_share - 0.8).abs() < 1e-9);

    let limit = memory_limit(&record, maximum(Scope::Given, 39e9)).unwrap();
    let above: Vec<&str> = limit.above.iter().map(|cell| cell.case.as_str()).collect();
    // Local, with two threads and more.
    assert_eq!(above.len(), 2 * 3);
    assert!(above.iter().all(|case| case.starts_with("pairs/initiator0/node0/")
        || case.starts_with("pairs/initiator1/node1/")));

    // Windows that something disturbed do not count, also those that are too high.
    record.samples[0].actors[0].traffic_bytes_min *= 100;
    record.samples[0].disturbances = vec![Disturbance::Moved { threads: 1 }];
    assert_eq!(memory_limit(&record, maximum(Scope::Node, 50e9)).unwrap().above, []);

    let reason = memory_limit(&record, maximum(Scope::Channel, 25e9)).unwrap_err();
    assert!(matches!(reason, NoMemoryLimit::NotOfANode { scope: "channel", .. }), "{reason}");
    for node in &mut record.header.machine.nodes {
        node.kind = MemoryKind::Cxl;
    }
    let reason = memory_limit(&record, maximum(Scope::Node, 50e9)).unwrap_err();
    assert_eq!(reason, NoMemoryLimit::NoFigures);
}

/// What a refusal tells to write must be taken, and be twice as much.
#[test]
fn every_suggestion_is_read() {
    let machine = machine(1, 1);
    let record = record(&machine, &PLAN, |_, _, _| 1.0);
    let mut names = TheoreticalMaximum::list();
    names.push(TheoreticalMaximum::memory("braithwaite2012").unwrap());
    for one in names {
        let refusal = memory_limit(&record, one.clone()).unwrap_err();
        let NoMemoryLimit::NotOfANode { example, .. } = &refusal else {
            panic!("{refusal}");
        };
        assert!(refusal.to_string().contains(example), "{refusal}");
        let two = TheoreticalMaximum::memory(example).unwrap();
        assert!(matches!(two.scope, Scope::Node | Scope::Given), "{example}");
        assert!((two.bytes_per_s / one.bytes_per_s / 2.0 - 1.0).abs() < 1e-3, "{example}");
    }
}
