//! The dip against its definition, and what samples with known modes show.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use fastrand::Rng;
use nearfar_stats::{FEWEST_FOR_MODES, LEAST_DIP_P, Mode, Modes, dip, find_modes, normal_quantile};

/// A value, and between which heights the distribution function may pass there.
#[derive(Clone, Copy)]
struct Gate {
    value: f64,
    low: f64,
    high: f64,
}

/// Least height at the last gate of a convex ascending function through all of them, by all
/// triples; `None` where there is no such function.
fn least_end_of_convex(gates: &[Gate]) -> Option<f64> {
    const SLACK: f64 = 1e-12;
    let (last, _) = gates.split_last()?;
    let mut least = last.low;
    for (place, a) in gates.iter().enumerate() {
        if a.low > a.high + SLACK {
            return None;
        }
        for (behind, b) in gates.iter().enumerate().skip(place + 1) {
            if a.low > b.high + SLACK {
                return None;
            }
            for c in &gates[behind + 1..] {
                let part = (b.value - a.value) / (c.value - a.value);
                if b.low > a.high + part * (c.high - a.high) + SLACK {
                    return None;
                }
            }
            let slope = (b.low - a.high) / (b.value - a.value);
            least = least.max(a.low).max(b.low + slope * (last.value - b.value));
        }
    }
    (least <= last.high + SLACK).then_some(least)
}

/// Whether some continuous function that is convex up to a value and concave behind it stays so
/// near to the distribution function.
fn has_one_mode_within(ascending: &[f64], distance: f64) -> bool {
    let count = f64::from(u32::try_from(ascending.len()).unwrap());
    let gates: Vec<Gate> = (0_u32..)
        .zip(ascending)
        .map(|(index, &value)| Gate {
            value,
            low: f64::from(index + 1) / count - distance,
            high: f64::from(index) / count + distance,
        })
        .collect();
    // Behind the mode the function is convex when seen from the other side.
    let mirrored =
        |gate: &Gate| Gate { value: -gate.value, low: 1.0 - gate.high, high: 1.0 - gate.low };
    (0..gates.len()).any(|mode| {
        let behind: Vec<Gate> = gates[mode..].iter().rev().map(mirrored).collect();
        let least = least_end_of_convex(&gates[..=mode]);
        let most = least_end_of_convex(&behind).map(|end| 1.0 - end);
        least.zip(most).is_some_and(|(least, most)| least <= most + 1e-12)
    })
}

fn dip_by_definition(ascending: &[f64]) -> f64 {
    let (mut low, mut high) = (0.0, 0.5);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if has_one_mode_within(ascending, middle) { high = middle } else { low = middle }
    }
    high
}

fn ascending(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

#[test]
fn the_dip_is_that_of_the_definition() {
    let mut random = Rng::with_seed(1);
    for _ in 0..400 {
        let count = random.usize(1..12);
        let draw = |random: &mut Rng| random.f64() * if random.bool() { 1.0 } else { 8.0 };
        let values = ascending((0..count).map(|_| draw(&mut random)).collect());
        let (ours, expected) = (dip(&values).unwrap(), dip_by_definition(&values));
        assert!((ours - expected).abs() < 1e-9, "{values:?}: {ours} and {expected}");
    }
}

/// Worked by hand: equal distances are as even as can be, and two far groups of equally many
/// values are a fourth away from a line between them, less what the steps are wide.
#[test]
fn dips_that_are_known() {
    for count in [1_u32, 2, 3, 10, 1000] {
        let even: Vec<f64> = (0..count).map(f64::from).collect();
        assert!((dip(&even).unwrap() - 0.5 / f64::from(count)).abs() < 1e-12);
    }
    let groups: Vec<f64> = (0..50).map(|it| 1e-9 * f64::from(it)).collect();
    let both: Vec<f64> = groups.iter().map(|it| it - 1.0).chain(groups.iter().copied()).collect();
    assert!((dip(&both).unwrap() - 0.25).abs() < 0.006, "{}", dip(&both).unwrap());
    for refused in [&[][..], &[1.0, 1.0], &[2.0, 1.0], &[0.0, f64::NAN], &[1.0, f64::INFINITY]] {
        assert_eq!(dip(refused), None);
    }
}

/// Values of normal modes with standard deviation 1: of each (middle, number).
fn normal_modes(random: &mut Rng, modes: &[(f64, usize)]) -> Vec<f64> {
    let mut values = Vec::new();
    for &(middle, count) in modes {
        let draw = || middle + normal_quantile(random.f64().max(1e-300)).unwrap();
        values.extend(std::iter::repeat_with(draw).take(count));
    }
    values
}

fn shown(values: &[f64], step: f64) -> Vec<Mode> {
    match find_modes(values, step).unwrap() {
        Modes::Shown(_, modes) => modes,
        Modes::NotShown(_) | Modes::TooFew => Vec::new(),
    }
}

#[test]
fn modes_are_found_where_they_are_with_their_shares() {
    let mut random = Rng::with_seed(5);
    let truth = [(53.0, 20), (62.0, 440), (71.0, 480), (82.0, 60)];
    let mut values = normal_modes(&mut random, &truth);
    random.shuffle(&mut values);
    let modes = shown(&values, 0.0);
    assert_eq!(modes.len(), truth.len(), "{modes:?}");
    for (mode, (middle, count)) in modes.iter().zip(truth) {
        assert!((mode.place - middle).abs() < 1.0, "{mode:?}");
        assert!(mode.values.abs_diff(count) < 6, "{mode:?}");
        assert!(mode.interval.0 < mode.share && mode.share < mode.interval.1);
    }
    assert_eq!(modes.iter().map(|mode| mode.values).sum::<usize>(), values.len());
    assert!((modes.iter().map(|mode| mode.share).sum::<f64>() - 1.0).abs() < 1e-12);
}

/// Five of a thousand are no mode however far they lie, and no part of one.
#[test]
fn few_far_values_are_left_out_and_many_are_a_mode() {
    let mut random = Rng::with_seed(6);
    let values = normal_modes(&mut random, &[(0.0, 995), (-200.0, 5)]);
    let Modes::NotShown(evidence) = find_modes(&values, 0.0).unwrap() else { panic!() };
    assert_eq!(evidence.left_out, 5);
    assert!(evidence.dip_p > 0.01 && evidence.valley < evidence.valley_threshold);
    let values = normal_modes(&mut random, &[(0.0, 900), (-200.0, 100)]);
    let Modes::Shown(evidence, modes) = find_modes(&values, 0.0).unwrap() else { panic!() };
    assert_eq!((evidence.left_out, modes.len()), (0, 2));
    assert!(evidence.valley > evidence.valley_threshold);
}

#[test]
fn two_equal_groups_are_shown_by_the_dip_at_its_least_p() {
    let mut random = Rng::with_seed(8);
    let values = normal_modes(&mut random, &[(0.0, 100), (10.0, 100)]);
    let Modes::Shown(evidence, modes) = find_modes(&values, 0.0).unwrap() else { panic!() };
    assert!((evidence.dip_p - LEAST_DIP_P).abs() < 1e-12 && evidence.dip > 0.12, "{evidence:?}");
    assert_eq!(modes.len(), 2);
}

/// One in a hundred at p = 1 % is what p means; thresholds are held in the bench `accuracy`.
#[test]
fn p_is_how_often_even_values_have_such_a_dip() {
    let mut random = Rng::with_seed(9);
    for count in [20, 37, 100, 700] {
        let samples = 400;
        let mut low = [0, 0];
        for _ in 0..samples {
            let values: Vec<f64> = (0..count).map(|_| random.f64()).collect();
            let (Modes::NotShown(evidence) | Modes::Shown(evidence, _)) =
                find_modes(&values, 0.0).unwrap()
            else {
                panic!()
            };
            for (low, p) in low.iter_mut().zip([0.5, 0.1]) {
                *low += i32::from(evidence.dip_p < p);
            }
        }
        // Three standard errors: 30 of 200, 18 of 40.
        assert!((170..=230).contains(&low[0]), "{count}: {low:?}");
        assert!((22..=58).contains(&low[1]), "{count}: {low:?}");
    }
}

#[test]
fn equal_values_are_no_modes_of_their_own() {
    let mut random = Rng::with_seed(10);
    let rounded: Vec<f64> =
        normal_modes(&mut random, &[(50.0, 500)]).iter().map(|value| value.round()).collect();
    assert_eq!(shown(&rounded, 1.0), []);
    assert_eq!(shown(&rounded, 0.0), [], "the step shows in the values");
    assert_eq!(shown(&[7.0; 100], 0.0), []);
    assert_eq!(shown(&[0.0; 100], 0.0), []);
    // Known to a small step, far groups of equal values are modes.
    let two = [[50.0; 40], [60.0; 40]].concat();
    let places: Vec<f64> = shown(&two, 0.05).iter().map(|mode| mode.place.round()).collect();
    assert_eq!(places, [50.0, 60.0]);
}

#[test]
fn what_cannot_be_judged_is_said() {
    let few: Vec<f64> = (0..19).map(f64::from).collect();
    assert_eq!(few.len() + 1, FEWEST_FOR_MODES);
    assert_eq!(find_modes(&few, 0.0), Some(Modes::TooFew));
    assert_eq!(find_modes(&[], 0.0), Some(Modes::TooFew));
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut values: Vec<f64> = (0..40).map(f64::from).collect();
        values[7] = wrong;
        assert_eq!(find_modes(&values, 0.0), None);
    }
    let mut values = vec![1.0; 40];
    (values[0], values[1]) = (f64::MAX, f64::MIN);
    assert_eq!(find_modes(&values, 0.0), None);
}

/// Whatever comes, there is an answer without a number that is none.
#[test]
fn strange_values_have_an_answer() {
    let mut random = Rng::with_seed(11);
    for _ in 0..300 {
        let count = random.usize(20..120);
        let scale = 10_f64.powi(random.i32(-200..200));
        let groups = random.usize(1..8);
        let values: Vec<f64> = (0..count)
            .map(|_| {
                let far = 10_f64.powi(random.i32(0..12));
                let group = f64::from(u32::try_from(random.usize(..groups)).unwrap());
                let noise = if random.bool() { 0.0 } else { random.f64() };
                scale * (far * group + noise)
            })
            .collect();
        match find_modes(&values, scale * 1e-3 * random.f64()).unwrap() {
            Modes::TooFew => panic!("{count} values are enough"),
            Modes::NotShown(evidence) => {
                assert!(evidence.dip.is_finite() && evidence.valley.is_finite());
            }
            Modes::Shown(evidence, modes) => {
                assert!(modes.len() > 1);
                let kept = count - evidence.left_out;
                assert_eq!(modes.iter().map(|mode| mode.values).sum::<usize>(), kept);
                assert!(modes.windows(2).all(|pair| pair[0].place < pair[1].place), "{modes:?}");
                assert!(modes.iter().all(|mode| mode.place.is_finite() && mode.values > 0));
            }
        }
    }
}
