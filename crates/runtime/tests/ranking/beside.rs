//! Tasks beside threads that run, against the flow law's solver.

use std::sync::LazyLock;

use fastrand::Rng;
use nearfar_flow::Load;
use nearfar_model::Flow;
use nearfar_runtime::{RankError, Ranking, Running, UnknownPair};

use crate::simulated::{amd_2p, lone, on, shared, with_flow};

static ITANIUM2: LazyLock<(Ranking, Flow)> = LazyLock::new(|| with_flow(&shared("itanium2")));

fn at(place: usize, node: u32, threads: f64) -> Running {
    Running { place, node, threads }
}

/// Rate of one more thread beside threads of the same sort / its rate alone, by the solver.
fn slowed(flow: &Flow, beside: u32) -> f64 {
    let load = |threads| Load { initiator: 0, threads, shares: vec![(0, 1.0)] };
    let alone = flow.fitted.capacities.rates(&[load(1)]).unwrap()[0];
    flow.fitted.capacities.rates(&[load(beside), load(1)]).unwrap()[1] / alone
}

/// Where threads are alike and share one part the answer is the law's.
#[test]
fn alike_threads_on_one_part_get_what_the_law_gives_them() {
    let record = shared("itanium2");
    let (ranking, mut model) = with_flow(&record);
    for row in &mut model.fitted.capacities.path {
        row.fill(None);
    }
    model.fitted.capacities.issue.fill(None);
    model.fitted.capacities.links.clear();
    let ranking = ranking.with_flow(&model).unwrap();
    let alone = ranking.rank(&[on(0, 1 << 30)], &[]).unwrap().ranked[0];
    for threads in [1, 2, 3, 5, 8, 40, 1000] {
        let answer = ranking.rank(&[on(0, 1 << 30)], &[at(0, 0, f64::from(threads))]).unwrap();
        let here = answer.ranked.iter().find(|it| it.place == 0).unwrap();
        let found = alone.seconds / here.seconds;
        let law = slowed(&model, threads);
        assert!((found / law - 1.0).abs() < 1e-4, "{threads} threads: {found}, by law {law}");
    }
}

#[test]
fn nothing_that_runs_changes_nothing() {
    let (ranking, _) = &*ITANIUM2;
    let task = [on(0, 300), on(2, 100)];
    let idle = ranking.rank(&task, &[at(1, 2, 0.0)]).unwrap();
    assert_eq!(idle.ranked, ranking.rank(&task, &[]).unwrap().ranked);
}

/// Half of the data is near to place 0, whose threads fill what it can issue, half to place 3.
#[test]
fn a_place_whose_threads_fill_what_it_issues_is_left() {
    let (ranking, model) = &*ITANIUM2;
    let task = [on(0, 1 << 20), on(3, 1 << 20)];
    let running = [at(0, 1, 20.0), at(0, 2, 20.0), at(0, 0, 20.0)];
    let seconds = |running: &[Running], place| {
        let answer = ranking.rank(&task, running).unwrap();
        answer.ranked.iter().find(|it| it.place == place).unwrap().seconds
    };
    // Alone both ends are as good.
    assert!((seconds(&[], 0) / seconds(&[], 3) - 1.0).abs() < 0.05);
    let law = [0, 1, 2, 3].map(|place| by_law(model, place, &task, &running));
    for (place, law) in law.into_iter().enumerate() {
        let found = seconds(&running, place);
        assert!((found / law - 1.0).abs() < 0.3, "place {place}: {found}, by law {law}");
    }
    assert!(law[0] > 1.3 * law[3], "{law:?}");
    assert_eq!(ranking.rank(&task, &running).unwrap().ranked[0].place, 3);
}

/// The place that is ranked first takes little longer than the best by the solver.
#[test]
fn regret_against_the_solver_is_small() {
    let (ranking, model) = &*ITANIUM2;
    let mut random = Rng::with_seed(3);
    let mut regrets = Vec::new();
    for _ in 0..60 {
        let mut running = Vec::new();
        for place in 0..4 {
            let threads = random.u32(0..4);
            running.push(at(place, random.u32(0..4), f64::from(threads)));
        }
        let task = [on(random.u32(0..4), random.u64(1..1000)), on(random.u32(0..4), 500)];
        let times: Vec<f64> = (0..4).map(|place| by_law(model, place, &task, &running)).collect();
        let chosen = ranking.rank(&task, &running).unwrap().ranked[0].place;
        let best = times.iter().copied().fold(f64::INFINITY, f64::min);
        regrets.push(times[chosen] / best - 1.0);
    }
    let mean = regrets.iter().sum::<f64>() / 60.0;
    let worst = regrets.iter().copied().fold(0.0, f64::max);
    assert!(mean < 0.01 && worst < 0.15, "mean {mean}, worst {worst}");
}

fn by_law(model: &Flow, place: u32, task: &[nearfar_runtime::Touched], running: &[Running]) -> f64 {
    let load = |initiator, node, threads| Load { initiator, threads, shares: vec![(node, 1.0)] };
    let mut loads: Vec<Load> = running
        .iter()
        .filter(|it| it.threads > 0.0)
        .map(|it| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole numbers of a few threads"
            )]
            let threads = it.threads as u32;
            load(u32::try_from(it.place).unwrap(), it.node, threads)
        })
        .collect();
    let mut seconds = 0.0;
    for data in task {
        loads.push(load(place, data.node, 1));
        let rates = model.fitted.capacities.rates(&loads).unwrap();
        seconds += data.bytes as f64 / rates[loads.len() - 1];
        loads.pop();
    }
    seconds
}

#[test]
fn what_cannot_be_asked_is_said() {
    let (ranking, _) = &*ITANIUM2;
    let ask = |running| ranking.rank(&[on(0, 1)], &[running]).unwrap_err();
    assert_eq!(ask(at(4, 0, 1.0)), RankError::NoPlace { place: 4, places: 4 });
    assert_eq!(ask(at(0, 7, 1.0)), RankError::NoNode { node: 7 });
    for threads in [-1.0, 2e6, f64::INFINITY] {
        assert_eq!(ask(at(0, 0, threads)), RankError::Threads { threads });
    }
    assert!(matches!(ask(at(0, 0, f64::NAN)), RankError::Threads { .. }));
    let blind = lone(&amd_2p());
    let error = blind.rank(&[on(0, 1)], &[at(0, 0, 1.0)]).unwrap_err();
    assert_eq!(error, RankError::NoFlow);
    assert!(error.to_string().contains("flow model"));
}

/// Figures of a pair that the flow model was not fitted to.
#[test]
fn pairs_that_the_flow_model_does_not_know_are_absent_beside_others() {
    let record = shared("itanium2");
    let (ranking, mut model) = with_flow(&record);
    assert!(model.reached.remove(&(2, 1)));
    let ranking = ranking.with_flow(&model).unwrap();
    let unknown = UnknownPair { place: 2, node: 1 };
    let task = [on(1, 1)];
    assert!(ranking.rank(&task, &[]).unwrap().absent.is_empty());
    assert_eq!(ranking.rank(&task, &[at(0, 0, 1.0)]).unwrap().absent, [unknown]);
    assert!(ranking.why_unknown(unknown).unwrap().contains("flow model"));
    let error = ranking.rank(&task, &[at(2, 1, 1.0)]).unwrap_err();
    assert_eq!(error, RankError::UnknownRunning(unknown));
}
