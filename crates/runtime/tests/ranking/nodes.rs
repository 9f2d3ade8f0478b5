//! Where to put data: times by hand, and against the flow law's solver.

use nearfar_flow::Load;
use nearfar_runtime::{RankError, UnknownPair, User};

use crate::simulated::{amd_2p, lone, shared, with_flow};

fn user(place: usize, threads: f64, bytes: u64) -> User {
    User { place, threads, bytes }
}

#[test]
fn one_thread_has_its_data_near() {
    let ranking = lone(&amd_2p());
    let answer = ranking.rank_nodes(&[user(2, 1.0, 9_300_000_000)], &[]).unwrap();
    let found: Vec<u32> = answer.ranked.iter().map(|it| it.node).collect();
    assert_eq!(found, [2, 3, 0, 1]);
    for (found, seconds) in answer.ranked.iter().zip([1.0, 9.3 / 5.6, 3.0, 3.0]) {
        assert!((found.seconds - seconds).abs() < 1e-6, "{found:?}");
        assert!((found.ratio - seconds).abs() < 1e-6, "{found:?}");
    }
}

#[test]
fn several_threads_need_the_flow_model() {
    let ranking = lone(&amd_2p());
    let two = [user(0, 1.0, 5), user(1, 1.0, 5)];
    assert_eq!(ranking.rank_nodes(&two, &[]).unwrap_err(), RankError::NoFlow);
    // One of them touches nothing.
    assert!(ranking.rank_nodes(&[two[0], user(1, 3.0, 0)], &[]).is_ok());
}

#[test]
fn the_user_with_most_to_do_decides() {
    let (ranking, model) = with_flow(&shared("itanium2"));
    let users = [user(0, 2.0, 1 << 20), user(3, 4.0, 1 << 30)];
    let answer = ranking.rank_nodes(&users, &[]).unwrap();
    assert_eq!(answer.ranked[0].node, 3);
    for found in &answer.ranked {
        let load =
            |initiator, threads| Load { initiator, threads, shares: vec![(found.node, 1.0)] };
        let rates = model.fitted.capacities.rates(&[load(0, 2), load(3, 4)]).unwrap();
        let law = f64::from(1 << 20) / rates[0];
        let law = law.max(f64::from(1 << 30) / rates[1]);
        assert!((found.seconds / law - 1.0).abs() < 0.15, "{found:?}, by law {law}");
    }
}

#[test]
fn nodes_of_unknown_pairs_are_absent() {
    let mut record = amd_2p();
    record.samples.retain(|sample| !sample.case.starts_with("pairs/initiator1/node2/"));
    let ranking = lone(&record);
    let answer = ranking.rank_nodes(&[user(1, 1.0, 1)], &[]).unwrap();
    assert_eq!(answer.absent, [UnknownPair { place: 1, node: 2 }]);
    assert_eq!(answer.ranked.len(), 3);
}

#[test]
fn users_that_are_none_are_said() {
    let ranking = lone(&amd_2p());
    let ask = |user| ranking.rank_nodes(&[user], &[]).unwrap_err();
    assert_eq!(ask(user(4, 1.0, 1)), RankError::NoPlace { place: 4, places: 4 });
    for threads in [0.0, -1.0, 2e6] {
        assert_eq!(ask(user(0, threads, 1)), RankError::Threads { threads });
    }
    assert!(matches!(ask(user(0, f64::NAN, 1)), RankError::Threads { .. }));
}
