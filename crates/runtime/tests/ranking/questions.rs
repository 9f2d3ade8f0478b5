//! Any question of one ranking: what holds of every answer.

use std::sync::LazyLock;

use nearfar_runtime::{NodeAnswer, PlaceAnswer, Ranking, Running, Touched, User};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof};
use proptest::{prop_assert, prop_assert_eq, proptest};

use crate::simulated::{shared, with_flow};

static RANKING: LazyLock<Ranking> = LazyLock::new(|| with_flow(&shared("itanium2")).0);

fn touched() -> impl Strategy<Value = Vec<Touched>> {
    let bytes = prop_oneof![any::<u64>(), 0..5_u64];
    vec((0..4_u32, bytes).prop_map(|(node, bytes)| Touched { node, bytes }), 0..8)
}

fn threads() -> impl Strategy<Value = f64> {
    prop_oneof![0.0..20.0, 1e-9..1e-3, 1e5..1e6]
}

fn running() -> impl Strategy<Value = Vec<Running>> {
    let one = (0..4_usize, 0..4_u32, threads());
    vec(one.prop_map(|(place, node, threads)| Running { place, node, threads }), 0..20)
}

fn users() -> impl Strategy<Value = Vec<User>> {
    let one = (0..4_usize, threads(), any::<u64>());
    vec(
        one.prop_map(|(place, threads, bytes)| User { place, threads: threads + 1e-9, bytes }),
        0..6,
    )
}

/// Every one of `all` is ranked or absent, in order, with numbers that are some.
pub fn check_places(answer: &PlaceAnswer, all: usize) -> Result<(), String> {
    let times: Vec<(f64, f64)> = answer.ranked.iter().map(|it| (it.seconds, it.ratio)).collect();
    check(&times, all - answer.absent.len())
}

pub fn check_nodes(answer: &NodeAnswer, all: usize) -> Result<(), String> {
    let times: Vec<(f64, f64)> = answer.ranked.iter().map(|it| (it.seconds, it.ratio)).collect();
    check(&times, all - answer.absent.len())
}

fn check(times: &[(f64, f64)], count: usize) -> Result<(), String> {
    let is_number = |(seconds, ratio): &(f64, f64)| {
        seconds.is_finite() && *seconds >= 0.0 && ratio.is_finite() && *ratio >= 1.0
    };
    let is_ordered = times.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1);
    let best = times.first().is_none_or(|(_, ratio)| *ratio <= 1.0);
    if times.len() == count && times.iter().all(is_number) && is_ordered && best {
        Ok(())
    } else {
        Err(format!("{times:?}, {count} expected"))
    }
}

proptest! {
    #[test]
    fn answers_are_whole_ordered_and_finite(
        touched in touched(), running in running(), users in users()
    ) {
        let answer = RANKING.rank(&touched, &running).unwrap();
        prop_assert_eq!(check_places(&answer, 4), Ok(()));
        let answer = RANKING.rank_nodes(&users, &running).unwrap();
        prop_assert_eq!(check_nodes(&answer, 4), Ok(()));
    }

    #[test]
    fn nothing_is_faster_beside_others(touched in touched(), running in running()) {
        let alone = RANKING.rank(&touched, &[]).unwrap();
        let beside = RANKING.rank(&touched, &running).unwrap();
        for place in &beside.ranked {
            let alone = alone.ranked.iter().find(|it| it.place == place.place).unwrap();
            prop_assert!(place.seconds >= alone.seconds * (1.0 - 1e-12));
        }
    }

    #[test]
    fn the_order_of_what_is_named_changes_nothing_of_note(
        touched in touched(), running in running()
    ) {
        let answer = RANKING.rank(&touched, &running).unwrap();
        let (mut touched, mut running) = (touched, running);
        touched.reverse();
        running.reverse();
        let other = RANKING.rank(&touched, &running).unwrap();
        for place in &answer.ranked {
            let other = other.ranked.iter().find(|it| it.place == place.place).unwrap();
            prop_assert!((place.seconds - other.seconds).abs() <= 1e-6 * place.seconds);
        }
    }

    #[test]
    fn an_answer_that_is_used_again_is_the_same(
        first in touched(), second in touched(), running in running()
    ) {
        let mut used = PlaceAnswer::default();
        RANKING.rank_into(&first, &running, &mut used).unwrap();
        RANKING.rank_into(&second, &running, &mut used).unwrap();
        prop_assert_eq!(used.ranked, RANKING.rank(&second, &running).unwrap().ranked);
    }
}
