//! What holds on every machine, and which records say nothing.

use nearfar_model::{
    Access, LineCost, LineCosts, PARAMETERS, Parameters, PlacementStrategy, RecordFigures, strategy,
};
use proptest::prelude::*;

use crate::handmade_record::{Load, SET, add_chase, empty_record};
use crate::handmade_roofs::add_roofs;
use crate::times::record;

/// Costs of a machine on which remote memory is slower than own, and one node slower than all.
fn costs() -> impl Strategy<Value = LineCosts> {
    let figures = (20.0..500.0, 1.0..3.0, 1.0..200.0, 1.0..4.0, 1.0..3.0, 1.0..8.0);
    figures.prop_map(|(local, factor, own, remote, spread, central)| {
        let known = strategy(&RecordFigures::new(&record(2, [100.0, 200.0], [8e9; 4]))).unwrap();
        let mean = local * (1.0 + factor) / 2.0;
        let cost = |latency_ns, transfer_ns| LineCost { latency_ns, transfer_ns, noise: 0.0 };
        LineCosts {
            own: cost(local, own),
            remote: cost(local * factor, own * remote),
            spread: cost(mean, own * spread),
            central: cost(mean, own * spread * central),
            ..known.costs
        }
    })
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
                    let figures = [of.ns, of.gain, of.gain_interval.0, of.gain_interval.1];
                    prop_assert!(figures.iter().all(|it| it.is_finite()), "{of:?}");
                    prop_assert!(of.gain >= -1.0 && (0.0..=1.0).contains(&of.wins_share));
                    prop_assert!(of.gain_interval.0 <= of.gain && of.gain <= of.gain_interval.1);
                }
                let ordered = expectation.ranking.windows(2).all(|pair| pair[0].ns <= pair[1].ns);
                prop_assert!(ordered && expectation.margin >= 0.0);
            }
        }
    }
}

#[test]
fn the_grid_has_every_value_of_every_parameter() {
    let grid: Vec<Parameters> = Parameters::grid().collect();
    assert_eq!(grid.len(), 3_usize.pow(6));
    assert!(grid.contains(&Parameters::EXPECTED));
    let hot: Vec<f64> = grid.iter().map(|with| with.hot_share).collect();
    let [.., of_hot, _] = PARAMETERS;
    for value in [of_hot.least, of_hot.expected, of_hot.most] {
        assert_eq!(hot.iter().filter(|hot| **hot == value).count(), 3_usize.pow(5));
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

#[test]
fn gains_are_claimed_above_twice_their_error_only() {
    let record = record(4, [100.0, 200.0], [8e9, 4e9, 2e9, 5e9]);
    let model = strategy(&RecordFigures::new(&record)).unwrap();
    for of in model.regular.ranking.iter().chain(&model.irregular.ranking) {
        let width = of.gain_interval.1 - of.gain_interval.0;
        assert_eq!(of.least_claim(), width.max(0.05), "{of:?}");
        assert_eq!(of.is_claimed(), of.gain > width && of.gain > 0.05, "{of:?}");
    }
}

#[test]
fn records_without_a_choice_or_without_figures_are_refused() {
    let refused = |record| strategy(&RecordFigures::new(record)).unwrap_err();
    let one = record(1, [100.0, 200.0], [8e9; 4]);
    let found = refused(&one);
    assert!(found.why.starts_with("one memory node") && found.remedy.is_none(), "{found:?}");

    let mut no_latency = empty_record(2, None);
    add_roofs(&mut no_latency, 2, [8e9; 4]);
    assert!(refused(&no_latency).remedy.unwrap().contains("latency"));

    let mut only_local = empty_record(2, None);
    add_chase(&mut only_local, (0, 0, SET), &[100.0; 6], None);
    add_roofs(&mut only_local, 2, [8e9; 4]);
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
    let load = Load { pause_cycles: 0, rounds: &[8e9; 6] };
    add_chase(&mut record, (0, 0, SET), &[900.0; 6], Some(&load));
    assert_eq!(strategy(&RecordFigures::new(&record)).unwrap(), idle);
}
