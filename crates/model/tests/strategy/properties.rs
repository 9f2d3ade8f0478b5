//! What holds on every machine, and which records say nothing.

use nearfar_machine::PlacementStrategy;
use nearfar_model::{
    Access, LineCost, LineCosts, Parameters, RecordFigures, StrategyAdvice, strategy,
};
use nearfar_record::Record;
use nearfar_specimen::{IN_MEMORY, add_chase, latency as at, machine, record_of};
use proptest::prelude::*;

use crate::strategy::times::{add_roofs, record};

/// Costs of a machine on which one node is slower than all. A node that an initiator has to itself
/// may give more than its own when all run.
fn costs() -> impl Strategy<Value = LineCosts> {
    let figures = (20.0..500.0, 1.0..3.0, 1.0..200.0, 0.3..4.0, 1.0..3.0, 1.0..8.0);
    figures.prop_map(|(local, factor, own, remote, spread, central)| {
        let transfers = [own, own * remote, own * spread * central, own * spread];
        let rates = transfers.map(|ns| 128e9 / ns);
        let record = record(2, [local, local * factor], rates);
        strategy(&RecordFigures::new(&record)).unwrap().costs
    })
}

/// Three nodes whose roofs scatter over their rounds.
fn noisy_record([local, remote]: [f64; 2], rates: [f64; 4], rounds: &[f64]) -> Record {
    let mut record = record_of(machine(1, 3, 2), &[]);
    for (initiator, node) in (0..3).flat_map(|initiator| (0..3).map(move |node| (initiator, node)))
    {
        let ns = if initiator == node { local } else { remote };
        add_chase(&mut record, at(initiator, node, IN_MEMORY, None), &[ns; 6], &[]);
    }
    add_roofs(&mut record, 3, rates, rounds);
    record
}

proptest! {
    #[test]
    fn what_one_thread_initialised_is_never_faster_than_what_was_placed(costs in costs()) {
        for with in Parameters::grid() {
            let time = |strategy, access| costs.time(strategy, access, &with);
            let irregular = |strategy| time(strategy, Access::Irregular);
            let first_touch = irregular(PlacementStrategy::FirstTouch) * (1.0 + 1e-12);
            prop_assert!(irregular(PlacementStrategy::RoundRobin) <= first_touch);
            prop_assert!(irregular(PlacementStrategy::ParallelInit) <= first_touch);
            let regular = |strategy| time(strategy, Access::Regular);
            // Threads that stay where their data is are never slower for it.
            let bound = regular(PlacementStrategy::MemoryBind);
            prop_assert!(bound <= regular(PlacementStrategy::ParallelInit) * (1.0 + 1e-12));
            prop_assert!(bound <= regular(PlacementStrategy::FirstTouch) * (1.0 + 1e-12));
        }
    }

    /// Twice as slow everywhere changes no ratio.
    #[test]
    fn only_ratios_count(costs in costs(), scale in 0.1..10.0_f64) {
        let scaled = |cost: LineCost| LineCost {
            latency_ns: cost.latency_ns * scale,
            transfer_ns: cost.transfer_ns * scale,
            ..cost
        };
        let other = LineCosts {
            own: scaled(costs.own),
            remote: scaled(costs.remote),
            central: scaled(costs.central),
            spread: scaled(costs.spread),
            ..costs.clone()
        };
        for access in [Access::Regular, Access::Irregular] {
            for strategy in PlacementStrategy::ALL {
                let ratio = other.time(strategy, access, &Parameters::EXPECTED)
                    / costs.time(strategy, access, &Parameters::EXPECTED);
                prop_assert!((ratio / scale - 1.0).abs() < 1e-9);
            }
        }
    }

    /// A stranger's rates: no figure is infinite or no number.
    #[test]
    fn any_rates_give_figures_or_a_refusal(
        ns in proptest::array::uniform2(prop_oneof![Just(1e-9), Just(1e12), 1.0..1000.0]),
        roofs in proptest::array::uniform4(prop_oneof![Just(0.0), Just(1.0), Just(1e15), 1e6..1e12]),
    ) {
        let record = record(3, ns, roofs);
        if let Ok(model) = strategy(&RecordFigures::new(&record)) {
            for expectation in [&model.regular, &model.irregular] {
                for of in &expectation.ranking {
                    let (gain, [low, high]) = (of.gain.value, of.gain.ends());
                    let figures = [of.time.value.0, gain.0, low.0, high.0];
                    prop_assert!(figures.iter().all(|it| it.is_finite()), "{of:?}");
                    prop_assert!(gain.0 >= -1.0 && (0.0..=1.0).contains(&of.wins_share));
                    prop_assert!(low <= gain && gain <= high);
                }
                let times = expectation.ranking.clone().map(|of| of.time.value);
                // Sums of equal parts round.
                let ordered = times.windows(2).all(|pair| pair[0] <= pair[1] * (1.0 + 1e-8));
                prop_assert!(ordered && expectation.margin.value.0 >= 0.0);
            }
        }
    }

    /// However far rounds scatter: no time is negative, and no ratio is below 0.
    #[test]
    fn intervals_of_noisy_rounds_hold_times(
        rounds in proptest::collection::vec(prop_oneof![Just(0.01), 0.5..2.0, Just(100.0)], 6),
        rates in proptest::array::uniform4(1e9..1e11),
    ) {
        let record = noisy_record([100.0, 200.0], rates, &rounds);
        let Ok(model) = strategy(&RecordFigures::new(&record)) else { return Ok(()) };
        for expectation in [&model.regular, &model.irregular] {
            let (margin, [low, high]) = (expectation.margin.value, expectation.margin.ends());
            prop_assert!(low.0 > -1.0 && low <= margin && margin <= high);
            prop_assert!(!expectation.is_decided() || low.0 > 0.0, "{expectation:?}");
            for of in &expectation.ranking {
                let (time, [low, high]) = (of.time.value, of.time.ends());
                prop_assert!(low.0 > 0.0 && low <= time && time <= high, "{of:?}");
                prop_assert!(of.gain.ends()[0].0 > -1.0, "{of:?}");
            }
        }
    }
}

/// The paper's conclusion, on machines that are as it says.
#[test]
fn high_factors_bind_and_contended_nodes_interleave() {
    let best = |ns, roofs| {
        let record = record(4, ns, roofs);
        let model = strategy(&RecordFigures::new(&record)).unwrap();
        (model.regular.best().strategy, model.irregular.best().strategy)
    };
    let (regular, irregular) = best([200.0, 450.0], [0.9e9, 0.37e9, 0.27e9, 0.55e9]);
    assert_eq!(regular, PlacementStrategy::MemoryBind);
    assert_eq!(irregular, PlacementStrategy::RoundRobin);
    let (regular, irregular) = best([90.0, 120.0], [2.9e9, 2.2e9, 0.5e9, 2.4e9]);
    assert_eq!(regular, PlacementStrategy::RoundRobin);
    assert_eq!(irregular, PlacementStrategy::RoundRobin);
}

/// The gain that every combination has, and noise leaves: computed by hand for one central node
/// that is eight times as slow as own ones.
#[test]
fn what_is_claimed_is_the_lower_end_of_a_gain() {
    let record = record(4, [100.0, 200.0], [8e9, 4e9, 1e9, 5e9]);
    let model = strategy(&RecordFigures::new(&record)).unwrap();
    // The most that is tried, a fifth, goes to the central node, and five lines are under way:
    // 128 / (0.2 x 128 + 0.8 x 20) - 1.
    let claim = model.regular.of(PlacementStrategy::MemoryBind).claim.unwrap();
    assert!((claim - (128.0 / 41.6 - 1.0)).abs() < 1e-6, "{claim}");
    for of in model.regular.ranking.iter().chain(&model.irregular.ranking) {
        let least = of.gain.ends()[0].0;
        assert_eq!(of.claim, Some(least).filter(|least| *least >= 0.05), "{of:?}");
    }
    // An irregular access waits for latency alone in some combinations.
    assert!(model.irregular.ranking.iter().all(|of| of.claim.is_none()));
}

/// Ahead with every combination, by 5 % at least, and noise is more than that.
#[test]
fn a_margin_that_noise_reaches_across_decides_nothing() {
    let irregular = |rounds: &[f64]| {
        let record = noisy_record([10.0, 10.0], [20e9, 4e9, 1e9, 20e9], rounds);
        strategy(&RecordFigures::new(&record)).unwrap().irregular
    };
    assert!(irregular(&[1.0; 6]).is_decided(), "{:?}", irregular(&[1.0; 6]));
    let irregular = irregular(&[0.8, 0.85, 1.0, 1.0, 1.15, 1.2]);
    assert!(irregular.best().wins_share >= 1.0 && irregular.margin.value.0 > irregular.noise);
    assert!(irregular.margin.ends()[0].0 < 0.0 && !irregular.is_decided(), "{irregular:?}");
}

/// Latency limits all but a few combinations: round-robin is the fastest in those.
#[test]
fn of_equal_times_the_one_goes_first_that_wins_more_often() {
    let record = record(4, [100.0, 200.0], [8e9, 4e9, 2e9, 5e9]);
    let model = strategy(&RecordFigures::new(&record)).unwrap();
    let [first, second, ..] = &model.irregular.ranking;
    assert_eq!(first.strategy, PlacementStrategy::RoundRobin);
    assert!(
        (first.time.value / second.time.value - 1.0).abs() < 1e-9
            && model.irregular.margin.value.0 < 1e-9
    );
    assert!((first.wins_share - 1.0 / 3.0).abs() < 1e-9, "{first:?}");
    assert!(!model.irregular.is_decided());
    // Equal in all combinations: nothing wins.
    let flat = crate::strategy::times::record(4, [100.0, 100.0], [8e9; 4]);
    let model = strategy(&RecordFigures::new(&flat)).unwrap();
    assert_eq!(model.regular.best().strategy, PlacementStrategy::FirstTouch);
    assert!(model.regular.ranking.iter().all(|of| of.wins_share == 0.0));
}

/// Machines on which own pages are faster than interleaved ones: which is ahead hangs on how much
/// is placed.
#[test]
fn where_placing_all_is_faster_interleaving_never_decides() {
    let record = record(8, [90.0, 120.0], [2.9e9, 2.2e9, 0.5e9, 2.4e9]);
    let model = strategy(&RecordFigures::new(&record)).unwrap();
    assert_eq!(model.regular.best().strategy, PlacementStrategy::RoundRobin);
    assert!(model.is_placing_faster() && !model.regular.is_decided());
    assert!((model.placed_margin - (2.9 / 2.4 - 1.0)).abs() < 1e-6, "{}", model.placed_margin);
    assert!(model.deciding_share.is_some() && model.deciding_share == model.break_even_share);
    let share = model.break_even_share.unwrap();
    assert_eq!(
        model.advice,
        [
            StrategyAdvice::PlaceRegular,
            StrategyAdvice::TakeFastest { access: Access::Irregular },
            StrategyAdvice::InterleaveAbove { share }
        ]
    );
}

#[test]
fn records_without_a_choice_or_without_figures_are_refused() {
    let refused = |record| strategy(&RecordFigures::new(record)).unwrap_err();
    let one = record(1, [100.0, 200.0], [8e9; 4]);
    let found = refused(&one);
    assert!(found.why.starts_with("one memory node") && found.remedy.is_none(), "{found:?}");

    let mut no_latency = record_of(machine(1, 2, 2), &[]);
    add_roofs(&mut no_latency, 2, [8e9; 4], &[1.0]);
    assert!(refused(&no_latency).remedy.unwrap().contains("latency"));

    let mut only_local = record_of(machine(1, 2, 2), &[]);
    add_chase(&mut only_local, at(0, 0, IN_MEMORY, None), &[100.0; 6], &[]);
    add_roofs(&mut only_local, 2, [8e9; 4], &[1.0]);
    let found = refused(&only_local);
    assert!(found.why.contains("local and of a remote node"), "{found:?}");

    let no_roof = record(2, [100.0, 200.0], [0.0; 4]);
    let found = refused(&no_roof);
    assert!(found.why.contains("neither roofs") && found.remedy.is_some(), "{found:?}");
}

/// Beside traffic an access takes longer, which is no cost of where data lies.
#[test]
fn loaded_latencies_are_not_taken_for_idle_ones() {
    let mut record = record(2, [100.0, 200.0], [8e9, 4e9, 2e9, 5e9]);
    let idle = strategy(&RecordFigures::new(&record)).unwrap();
    add_chase(&mut record, at(0, 0, IN_MEMORY, Some(0)), &[900.0; 6], &[8e9; 6]);
    assert_eq!(strategy(&RecordFigures::new(&record)).unwrap(), idle);
}
