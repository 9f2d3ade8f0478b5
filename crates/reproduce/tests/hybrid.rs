//! What the hybrid model claims of machines that do not follow its equation, against what these
//! machines give: two memories behind shared capacities, whose time hangs on nothing but how many
//! bytes go to either, so that the surface with one share for all buffers tells what different
//! shares give too.

use nearfar_flow::read_machine;
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::{
    Hybrid, HybridPair, OverlapBounds, PlacementName, RecordFigures, hybrid, hybrid_points,
};
use nearfar_record::{Experiment, HybridPoint, Inputs, Record, Suite};

const MACHINES: [&str; 3] = ["joe0", "two-socket-8-nodes", "two-socket-cxl"];

/// Shares of loads of which the surface of the suite `full` has all tenths of the fast memory.
const LOADS: [f64; 4] = [0.2, 0.5, 0.7, 0.8];

fn measured(machine: &str) -> (Record, Hybrid) {
    let inputs = Inputs { experiments: vec![Experiment::Hybrid], ..suite_inputs(Suite::Full) };
    let record = simulate(&read_machine(machine).unwrap(), inputs, false).unwrap();
    let model = hybrid(&RecordFigures::new(&record), OverlapBounds::NotNegative).unwrap();
    (record, model)
}

/// What the surface gives by share of bytes in the fast memory, in their order, useful bytes/s.
fn surface(record: &Record, pair: &HybridPair, loads: f64) -> Vec<(f64, f64)> {
    let points = hybrid_points(&RecordFigures::new(record));
    let own = points.iter().filter(|it| {
        let place = &it.place;
        let share = f64::from(place.loads) / f64::from(place.loads + place.stores);
        place.point == HybridPoint::Surface
            && (place.initiator, place.fast_node, place.slow_node)
                == (pair.initiator, pair.fast_node, pair.slow_node)
            && (share - loads).abs() < 1e-9
    });
    let all = own.map(|it| (it.load_fast_share.unwrap(), it.total.as_ref().unwrap().sum.median));
    let mut all: Vec<(f64, f64)> = all.collect();
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    assert_eq!(all.len(), 11, "{loads}");
    all
}

/// The most that the machine can give at a share: its time is convex in it, so that it is no
/// shorter than the lines through the two points before and the two points behind say.
fn most_at(surface: &[(f64, f64)], fast_share: f64) -> f64 {
    let on = surface.iter().find(|(share, _)| (share - fast_share).abs() < 1e-9);
    if let Some((_, bandwidth)) = on {
        return *bandwidth;
    }
    let behind = surface.iter().position(|(share, _)| *share > fast_share).unwrap();
    let line = |one: usize| -> Option<f64> {
        let ((from, slow), (to, fast)) = (surface.get(one)?, surface.get(one + 1)?);
        Some(1.0 / slow + (fast_share - from) / (to - from) * (1.0 / fast - 1.0 / slow))
    };
    let before = behind.checked_sub(2).and_then(line);
    let seconds = before.into_iter().chain(line(behind)).fold(0.0, f64::max);
    seconds.recip()
}

/// Nothing but one share for all buffers was measured: no other gain is claimed, and none is
/// recommended.
#[test]
fn different_shares_that_nothing_validates_are_not_claimed() {
    for machine in MACHINES {
        let (_, model) = measured(machine);
        for pair in &model.pairs {
            for loads in LOADS.into_iter().chain([2.0 / 3.0]) {
                let answer = pair.answer(loads, &[]).unwrap();
                for placement in &answer.placements {
                    let shares = placement.prediction.shares;
                    let is_one = (shares.load_fast_share - shares.store_fast_share).abs() < 1e-9;
                    assert_eq!(placement.prediction.is_validated, is_one);
                    if !is_one {
                        assert_eq!(placement.name, PlacementName::BestSeparately);
                        assert!(placement.prediction.bandwidth.interval.is_none());
                        assert!(placement.gains.iter().all(|it| !it.gain.is_claimed));
                        assert_ne!(answer.recommended, Some(placement.name));
                    }
                }
            }
        }
    }
}

/// What is promised of a machine is what it gives.
#[test]
fn no_placement_promises_more_than_the_machine_has() {
    for machine in MACHINES {
        let (record, model) = measured(machine);
        for pair in &model.pairs {
            let room = pair.errors.found().unwrap().room;
            for loads in LOADS {
                let surface = surface(&record, pair, loads);
                for placement in &pair.answer(loads, &[]).unwrap().placements {
                    let found = &placement.prediction;
                    let most = most_at(&surface, found.shares.fast_share());
                    assert!(
                        found.bandwidth.value.0 < most * (1.0 + room),
                        "{machine}, node {}, {loads} loads: {placement:?}, beside {most}",
                        pair.slow_node
                    );
                }
            }
        }
    }
}
