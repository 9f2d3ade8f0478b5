//! Tasks that run alone: times by hand.

use nearfar_machine::GroupBy;
use nearfar_model::{ClassRule, RecordFigures};
use nearfar_record::{Absence, Absent, Reason, ReasonCode, Record};
use nearfar_runtime::{RankError, RankedPlace, Ranking, UnknownPair};

use crate::simulated::{amd_2p, lone, on};

fn assert_ranked(found: &[RankedPlace], expected: &[(usize, f64)]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, &(place, seconds)) in found.iter().zip(expected) {
        assert_eq!(found.place, place);
        assert!((found.seconds / seconds - 1.0).abs() < 1e-6, "{found:?}, not {seconds} s");
        assert!((found.ratio / (seconds / expected[0].1) - 1.0).abs() < 1e-6, "{found:?}");
    }
}

/// 6.2 GB on node 0 and 3.1 GB on node 2 take 6.2/9.3 + 3.1/3.1 s from place 0.
#[test]
fn the_thesis_classes_give_the_times() {
    let ranking = lone(&amd_2p());
    let answer = ranking.rank(&[on(0, 6_200_000_000), on(2, 3_100_000_000)], &[]).unwrap();
    let third = 1.0 / 3.0;
    let expected =
        [(0, 2.0 * third + 1.0), (1, 6.2 / 5.6 + 1.0), (2, 2.0 + third), (3, 2.0 + 3.1 / 5.6)];
    assert_ranked(&answer.ranked, &expected);
    assert!(answer.absent.is_empty());
}

/// Node 0 holds most of the data, and the other package more of it: 4/9.3 + 6/3.1 s against
/// 4/3.1 + 3/9.3 + 3/5.6 s.
#[test]
fn the_node_with_most_data_is_not_always_the_best() {
    let ranking = lone(&amd_2p());
    let task = [on(0, 4_000_000_000), on(2, 3_000_000_000), on(3, 3_000_000_000)];
    let answer = ranking.rank(&task, &[]).unwrap();
    let other = 4.0 / 3.1 + 3.0 / 9.3 + 3.0 / 5.6;
    assert_ranked(&answer.ranked[..2], &[(2, other), (3, other)]);
    assert_eq!(answer.ranked[2].place, 0);
}

#[test]
fn places_say_where_they_are() {
    let ranking = lone(&amd_2p());
    let place = &ranking.places()[1];
    assert_eq!((place.kind, place.cpu_group, place.initiator), (GroupBy::Memory, 1, 1));
    assert_eq!((place.cpu_node, place.cpus.to_string()), (Some(1), "4-7".into()));
    assert_eq!(ranking.nodes(), [0, 1, 2, 3]);
    assert!((ranking.lone_rate(1, 0).unwrap() / 5.6e9 - 1.0).abs() < 1e-6);
    assert_eq!((ranking.lone_rate(4, 0), ranking.lone_rate(0, 4)), (None, None));
}

#[test]
fn a_node_that_is_named_twice_adds_up_and_no_bytes_count_for_nothing() {
    let ranking = lone(&amd_2p());
    let once = ranking.rank(&[on(0, 5), on(3, 7)], &[]).unwrap().ranked;
    let twice = ranking.rank(&[on(3, 3), on(1, 0), on(0, 5), on(3, 4)], &[]).unwrap().ranked;
    assert_eq!(once, twice);
}

/// Nothing takes no time anywhere, and no place is better.
#[test]
fn without_data_all_places_are_the_same() {
    let ranking = lone(&amd_2p());
    for task in [vec![], vec![on(2, 0)]] {
        let answer = ranking.rank(&task, &[]).unwrap();
        let expected = (0..4).map(|place| RankedPlace { place, seconds: 0.0, ratio: 1.0 });
        assert_eq!(answer.ranked, expected.collect::<Vec<_>>());
    }
}

#[test]
fn sums_beyond_u64_do_not_overflow() {
    let ranking = lone(&amd_2p());
    let task = vec![on(0, u64::MAX); 1000];
    let best = ranking.rank(&task, &[]).unwrap().ranked[0];
    assert!((best.seconds / (u64::MAX as f64 * 1000.0 / 9.3e9) - 1.0).abs() < 1e-6);
}

#[test]
fn a_node_that_there_is_not_is_an_error() {
    let ranking = lone(&amd_2p());
    assert_eq!(ranking.rank(&[on(9, 0)], &[]).unwrap_err(), RankError::NoNode { node: 9 });
}

fn without_pair(place: u32, node: u32) -> Record {
    let mut record = amd_2p();
    let is_of = |id: &str| id.starts_with(&format!("pairs/initiator{place}/node{node}/"));
    let before = record.samples.len();
    record.samples.retain(|sample| !is_of(&sample.case));
    assert!(record.samples.len() < before);
    record
}

#[test]
fn places_of_unknown_pairs_are_absent_with_the_reason() {
    let record = without_pair(1, 0);
    let ranking = lone(&record);
    let answer = ranking.rank(&[on(0, 1), on(1, 1)], &[]).unwrap();
    let unknown = UnknownPair { place: 1, node: 0 };
    assert_eq!(answer.absent, [unknown]);
    assert_eq!(answer.ranked.iter().map(|it| it.place).collect::<Vec<_>>(), [0, 2, 3]);
    let why = ranking.why_unknown(unknown).unwrap();
    assert!(why.contains("no figure of triad or triad_nt by one thread"), "{why}");
    assert_eq!(ranking.why_unknown(UnknownPair { place: 0, node: 0 }), None);
    // The task does not need that pair.
    assert_eq!(ranking.rank(&[on(1, 1), on(0, 0)], &[]).unwrap().ranked.len(), 4);
}

#[test]
fn a_refusal_is_the_reason() {
    let mut record = without_pair(3, 2);
    let is_of = |id: &str| id.starts_with("pairs/initiator3/node2/");
    let case = record.cases.iter().find(|case| is_of(&case.id)).unwrap().clone();
    let reason = Reason { code: ReasonCode::NoRoom, text: "the node is full".into() };
    record.absent.push(Absent {
        case: case.id,
        coordinates: case.coordinates,
        absence: Absence::Refused,
        reason,
        round: None,
    });
    let why = lone(&record).why_unknown(UnknownPair { place: 3, node: 2 }).map(String::from);
    assert_eq!(why.as_deref(), Some("the node is full"));
}

#[test]
fn a_record_without_pairs_has_no_ranking() {
    let mut record = amd_2p();
    record.cases.clear();
    record.samples.clear();
    let error = Ranking::new(&RecordFigures::new(&record), &ClassRule::default()).unwrap_err();
    assert!(error.why.contains("pairs"), "{error}");
}

#[test]
fn a_kernel_that_was_not_measured_is_said_with_a_remedy() {
    let record = amd_2p();
    let rule = ClassRule { kernels: vec!["copy".into()], ..ClassRule::default() };
    let error = Ranking::new(&RecordFigures::new(&record), &rule).unwrap_err();
    assert!(error.why.contains("copy"), "{error}");
    assert!(error.remedy.unwrap().contains("--only pairs"));
}
