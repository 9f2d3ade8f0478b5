//! What instances get on simulated machines, whose own law is the truth.

use nearfar_advise::{
    AdviceError, Arrangement, Arrangements, DataPlace, DemandError, InstanceKind, InstanceQuestion,
    Room, Step, arrange_instances,
};
use nearfar_flow::read_machine;
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::RecordFigures;
use nearfar_record::{Experiment, Inputs, Record, Suite};

fn record(name: &str) -> Record {
    let inputs = Inputs {
        experiments: vec![
            Experiment::Pairs,
            Experiment::Links,
            Experiment::Roofs,
            Experiment::Mixes,
        ],
        kernels: Some(vec!["load".into()]),
        ..suite_inputs(Suite::Standard)
    };
    simulate(&read_machine(name).unwrap(), inputs, true).unwrap()
}

fn asked(data_bytes: u64, step: Option<Step>) -> InstanceQuestion {
    InstanceQuestion { threads: None, load_share: Some(1.0), data_bytes: Some(data_bytes), step }
}

fn arranged(record: &Record, asked: &InstanceQuestion) -> Arrangements {
    arrange_instances(&RecordFigures::new(record), asked).unwrap()
}

fn find(found: &Arrangements, instances: InstanceKind, data: DataPlace) -> &Arrangement {
    found.all.iter().find(|it| (it.instances, it.data) == (instances, data)).unwrap()
}

const GIB: u64 = 1 << 30;

/// joe0 has four nodes: 144 GB/s of own parts, 72 interleaved (`answers.rs`).
#[test]
fn rates_are_those_of_the_machine_and_copies_are_counted() {
    use {DataPlace as Data, InstanceKind as Kind};
    let record = record("joe0");
    let found = arranged(&record, &asked(GIB, None));
    let gb = |kind, data| find(&found, kind, data).together.value.0 / 1e9;
    let [own, spread] = [Data::OwnParts, Data::Interleaved].map(|it| gb(Kind::OneOverAll, it));
    assert!((own - 144.0).abs() < 4.0 && (spread - 72.0).abs() < 3.0, "{own} {spread}");
    assert!((gb(Kind::OneOverAll, Data::CopyPerNode) - own).abs() < 1e-9);
    let by_copies = [
        (Kind::OneOverAll, Data::OwnParts, 1),
        (Kind::OneOverAll, Data::Interleaved, 1),
        (Kind::OneOverAll, Data::CopyPerNode, 4),
        (Kind::OnePerNode, Data::CopyPerNode, 4),
        (Kind::OnePerPackage, Data::CopyPerPackage, 2),
        (Kind::OneOnNode, Data::OneNode, 1),
    ];
    for (kind, data, copies) in by_copies {
        let it = find(&found, kind, data);
        assert_eq!((it.copies, it.bytes), (copies, Some(copies as u64 * GIB)), "{it:?}");
        assert_eq!(it.room, Room::Fits);
        let [low, high] = it.together.ends();
        assert!(low.0 < it.together.value.0 && it.together.value.0 < high.0);
    }
    let per_node = find(&found, Kind::OnePerNode, Data::CopyPerNode);
    assert_eq!((per_node.count, per_node.threads), (4, 28));
    assert!((per_node.each.value.0 * 4.0 / per_node.together.value.0 - 1.0).abs() < 0.05);
    let best = |place: Option<usize>| &found.all[place.unwrap()];
    assert_eq!(best(found.best_each).data, Data::CopyPerNode);
    assert_eq!(best(found.best_together).instances, Kind::OnePerNode);
}

/// Of 16 GiB a node, a program can have 0.9.
#[test]
fn copies_that_do_not_fit_are_not_best() {
    use {DataPlace as Data, InstanceKind as Kind};
    let found = arranged(&record("joe0"), &asked(20 * GIB, None));
    let is_too_large = |kind, data| matches!(find(&found, kind, data).room, Room::TooSmall { .. });
    assert!(is_too_large(Kind::OneOverAll, Data::CopyPerNode));
    assert!(is_too_large(Kind::OnePerNode, Data::CopyPerNode));
    assert!(is_too_large(Kind::OneOverAll, Data::OneNode));
    assert!(!is_too_large(Kind::OneOverAll, Data::Interleaved));
    assert!(!is_too_large(Kind::OnePerPackage, Data::CopyPerPackage));
    assert_eq!(found.all[found.best_each.unwrap()].data, Data::Interleaved);
    assert_eq!(found.all[found.best_together.unwrap()].instances, Kind::OnePerPackage);
    assert!(arranged(&record("joe0"), &asked(200 * GIB, None)).best_each.is_none());
}

#[test]
fn a_step_that_computes_longer_than_it_reads_is_the_same_everywhere() {
    use {DataPlace as Data, InstanceKind as Kind};
    let record = record("joe0");
    let of = |compute_s| {
        let step = Step { bytes: 1_000_000_000, compute_s };
        arranged(&record, &asked(GIB, Some(step)))
    };
    let streamed = of(0.0);
    let own = find(&streamed, Kind::OneOverAll, Data::CopyPerNode);
    let steps = own.steps.as_ref().unwrap();
    assert!((steps.each.value.0 - own.each.value.0 / 1e9).abs() < 1e-6);
    let (low, rate) = (steps.each.ends()[0].0, own.each.ends()[0].0);
    assert!((low - rate / 1e9).abs() < 1e-6 && !steps.is_bound_by_compute);
    // One node alone computes four times as long as all.
    let computed = of(10.0);
    let whole = |data| find(&computed, Kind::OneOverAll, data).steps.as_ref().unwrap();
    assert!((whole(Data::Interleaved).each.value.0 - 0.1).abs() < 1e-9);
    assert!(whole(Data::OneNode).is_bound_by_compute);
    let on_node = find(&computed, Kind::OneOnNode, Data::OneNode).steps.as_ref().unwrap();
    assert!((on_node.each.value.0 - 0.025).abs() < 1e-9);
    let [one, other] = [Data::CopyPerNode, Data::OneNode];
    let of = |data| find(&computed, Kind::OneOverAll, data);
    assert!(!computed.is_more(of(one), of(other), true));
    // The interval reaches down to where nothing is hidden.
    let both = whole(Data::OneNode);
    let memory = 1e9 / of(other).each.ends()[0].0;
    assert!((both.each.ends()[0].0 - 1.0 / (10.0 + memory)).abs() < 1e-9);
}

#[test]
fn more_threads_than_cores_are_refused() {
    let asked = InstanceQuestion { threads: Some(29), ..asked(GIB, None) };
    let refused = arrange_instances(&RecordFigures::new(&record("joe0")), &asked);
    let is_refused = |it: &AdviceError| {
        matches!(it, AdviceError::Demand(DemandError::TooManyThreads { threads: 29, .. }))
    };
    assert!(refused.as_ref().is_err_and(is_refused));
}
