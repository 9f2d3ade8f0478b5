//! Loaded curves: the law of a family, knee, usable bandwidth, predictions.

use nearfar_model::{CurveFamily, CurveQuestion, Latency, LoadedCurve, RecordFigures, latency};
use nearfar_record::LatencyCoordinates;
use nearfar_specimen::{IN_MEMORY, add_chase, latency as at, machine, record_of};
use nearfar_units::BytesPerSecond;

/// A kernel by its loads and stores in a step, and its curve as (bytes/s, ns of each round).
type Beside<'a> = ((u32, u32), &'a [(f64, Vec<f64>)]);

fn model_of(idle: &[f64], curves: &[Beside<'_>]) -> Latency {
    let mut record = record_of(machine(1, 1, 2), &[]);
    add_chase(&mut record, at(0, 0, IN_MEMORY, None), idle, &[]);
    for &((loads, stores), points) in curves {
        for (number, (rate, ns)) in (0..).zip(points) {
            let mut place: LatencyCoordinates =
                at(0, 0, IN_MEMORY, Some(8192 - number - 100 * loads - 1000 * stores));
            let load = place.load.as_mut().unwrap();
            load.kernel = format!("{loads}l{stores}nt");
            (load.loads, load.stores) = (loads, stores);
            add_chase(&mut record, place, ns, &vec![*rate; ns.len()]);
        }
    }
    latency(&RecordFigures::new(&record)).unwrap()
}

/// A curve beside reads alone.
fn curve(idle: &[f64], points: &[(f64, Vec<f64>)]) -> LoadedCurve {
    model_of(idle, &[((1, 0), points)]).curves.remove(0)
}

fn family(idle: &[f64], points: &[(f64, Vec<f64>)]) -> CurveFamily {
    model_of(idle, &[((1, 0), points)]).families.remove(0)
}

const CAPACITY: f64 = 20e9;

/// One server with random arrivals and service times: 80 ns idle, 10 ns of service.
fn queued(used: f64) -> f64 {
    80.0 + 10.0 * used / (1.0 - used)
}

/// Points of a curve up to a part of a capacity.
fn points(
    capacity: f64,
    most_used: f64,
    count: u32,
    ns: impl Fn(f64) -> f64,
    noise: &mut impl FnMut() -> f64,
) -> Vec<(f64, Vec<f64>)> {
    let point = |number| {
        let used = most_used * f64::from(number) / f64::from(count);
        (used * capacity, (0..6).map(|_| ns(used) * noise()).collect())
    };
    (1..=count).map(point).collect()
}

#[test]
fn a_queue_gives_back_its_parameters() {
    let points = points(CAPACITY, 0.9, 7, queued, &mut || 1.0);
    let family = family(&[80.0; 6], &points);
    let law = family.law.found().unwrap();
    assert_eq!((law.points, law.shares.len()), (8, 1));
    let share = &law.shares[0];
    assert!((share.capacity.value.0 / CAPACITY - 1.0).abs() < 5e-3, "{law:?}");
    assert!((law.idle.value.0 / 80.0 - 1.0).abs() < 1e-3 && law.worst_error < 2e-3, "{law:?}");
    assert!((law.exponent.value.0 - 1.0).abs() < 0.02, "{law:?}");
    assert!((share.wait.value.0 / 0.125 - 1.0).abs() < 0.03, "{law:?}");
    assert!(!share.is_straight && (share.read_share - 1.0).abs() < 1e-12);
}

/// Three read shares with capacities of their own, of which the middle one is largest (a link that
/// carries both directions), and waits that grow with the writes.
#[test]
fn a_family_gives_back_its_law_between_the_shares_that_were_measured() {
    let shares = [(1.0, 120e9), (2.0 / 3.0, 150e9), (0.5, 110e9)];
    let wait = |share: f64| (0.2_f64.ln() + (1.0 - share) / 0.5 * (0.45_f64 / 0.2).ln()).exp();
    let ns =
        |share: f64| move |used: f64| 100.0 * (1.0 + wait(share) * used.powf(1.6) / (1.0 - used));
    let of = |(share, capacity): (f64, f64)| points(capacity, 0.88, 4, ns(share), &mut || 1.0);
    let measured = shares.map(of);
    let kernels = [(1, 0), (2, 1), (1, 1)];
    let curves: Vec<Beside<'_>> =
        kernels.into_iter().zip(measured.iter().map(Vec::as_slice)).collect();
    let model = model_of(&[100.0; 6], &curves);
    assert_eq!((model.curves.len(), model.families.len()), (3, 1));
    let law = model.families[0].law.found().unwrap();
    assert!((law.exponent.value.0 / 1.6 - 1.0).abs() < 0.05, "{law:?}");
    for (found, (share, capacity)) in law.shares.iter().rev().zip(shares) {
        assert!((found.read_share - share).abs() < 1e-9);
        assert!((found.capacity.value.0 / capacity - 1.0).abs() < 0.02, "{law:?}");
    }
    // Half way between 2/3 and 1: the time per byte is the mean, as of a program that does both in turn.
    let between = 2.0 / (1.0 / 150e9 + 1.0 / 120e9);
    for used in [0.1, 0.5, 0.8] {
        let asked = CurveQuestion {
            read_share: 5.0 / 6.0,
            traffic: BytesPerSecond(used * between),
            initiator: Some(0),
            memory_node: None,
        };
        let answer = model.beside_traffic(&asked).unwrap();
        let pair = &answer.pairs[0];
        let found = pair.latency.found().unwrap();
        let truth = ns(5.0 / 6.0)(used);
        assert!((found.value.0 / truth - 1.0).abs() < 0.01, "{used}: {found:?}, not {truth}");
        assert!(pair.is_within_measured, "{used}");
        assert_eq!(found.cases.len(), 13);
    }
    let asked = |read_share, gb_per_s: f64, initiator| CurveQuestion {
        read_share,
        traffic: BytesPerSecond(gb_per_s * 1e9),
        initiator,
        memory_node: Some(0),
    };
    for (asked, why) in [
        (asked(0.3, 10.0, Some(0)), "beyond those that were measured (0.50, 0.67, 1.00)"),
        (asked(1.0, 125.0, Some(0)), "at or above the capacity"),
        (asked(1.0, 10.0, Some(7)), "not measured of that pair; of initiator on node: 0 on 0"),
    ] {
        let refused = model.beside_traffic(&asked).unwrap_err();
        assert!(refused.contains(why), "{refused}");
    }
    let near = model.beside_traffic(&asked(1.0, 112.0, None)).unwrap();
    assert!(!near.pairs[0].is_within_measured);
}

/// Rounds that scatter by 2 %: the law stays near the truth where it was measured, and its intervals
/// hold the truth.
#[test]
fn a_queue_comes_back_through_noise() {
    let mut random = fastrand::Rng::with_seed(3);
    let (mut held, mut all) = (0, 0);
    for trial in 0..40 {
        let mut noise = || 1.0 + 0.02 * (2.0 * random.f64() - 1.0);
        let idle: Vec<f64> = (0..6).map(|_| 80.0 * noise()).collect();
        let points = points(CAPACITY, 0.9, 7, queued, &mut noise);
        let family = family(&idle, &points);
        let law = family.law.found().unwrap();
        assert!((law.shares[0].capacity.value.0 / CAPACITY - 1.0).abs() < 0.08, "{trial}: {law:?}");
        for used in [0.0, 0.3, 0.6, 0.8] {
            let found = law.time(1.0, BytesPerSecond(used * CAPACITY)).unwrap();
            assert!(
                (found.value.0 / queued(used) - 1.0).abs() < 0.03,
                "{trial} at {used}: {law:?}"
            );
            let [low, high] = found.ends();
            all += 1;
            held += usize::from((low.0..=high.0).contains(&queued(used)));
        }
        assert!(law.error <= law.worst_error && law.worst_error < 0.04, "{law:?}");
    }
    assert!(held * 100 >= all * 90, "{held} of {all}");
}

/// From 0 to 64 % of the capacity the curve is farthest below its chord, a quarter, at 40 %.
#[test]
fn the_knee_of_a_queue_is_where_it_can_be_worked_out() {
    let points = points(CAPACITY, 0.64, 16, queued, &mut || 1.0);
    let knee = curve(&[80.0; 6], &points).knee.found().cloned().unwrap();
    assert!((knee.traffic.value.0 / (0.4 * CAPACITY) - 1.0).abs() < 0.02, "{knee:?}");
    assert!((knee.distance - 0.25).abs() < 0.01, "{knee:?}");
    assert!((knee.time.0 / queued(0.4) - 1.0).abs() < 0.01, "{knee:?}");
}

/// 80 + 10 u / (1 - u) is 120 at u = 0.8.
#[test]
fn the_usable_bandwidth_of_a_queue_is_where_it_can_be_worked_out() {
    let reached = points(CAPACITY, 0.9, 7, queued, &mut || 1.0);
    let usable = curve(&[80.0; 6], &reached).usable.found().cloned().unwrap();
    assert!((usable.value.0 / (0.8 * CAPACITY) - 1.0).abs() < 0.01, "{usable:?}");
    let short = points(CAPACITY, 0.7, 7, queued, &mut || 1.0);
    let usable = curve(&[80.0; 6], &short).usable;
    assert!(usable.as_result().unwrap_err().contains("1.5 times"), "{usable:?}");
}

#[test]
fn curves_that_show_nothing_are_refused_with_the_reason() {
    let flat: Vec<(f64, Vec<f64>)> =
        (1..8).map(|number| (1e9 * f64::from(number), vec![101.0; 6])).collect();
    let found = curve(&[100.0; 6], &flat);
    assert!(found.knee.as_result().unwrap_err().contains("beyond noise"));
    assert!(found.usable.as_result().unwrap_err().contains("beyond noise"));

    // It rises, but less than its rounds scatter.
    let noisy: Vec<(f64, Vec<f64>)> = (1..8)
        .map(|number| (1e9 * f64::from(number), vec![90.0, 100.0, 110.0, 110.0, 130.0, 190.0]))
        .collect();
    let law = family(&[100.0; 6], &noisy).law;
    assert!(law.as_result().unwrap_err().contains("beyond noise"));

    let few: Vec<(f64, Vec<f64>)> =
        (1..4).map(|number| (1e9 * f64::from(number), vec![200.0; 6])).collect();
    let law = family(&[100.0; 6], &few).law;
    assert!(law.as_result().unwrap_err().starts_with("it has 3 of the 4"));

    let straight: Vec<(f64, Vec<f64>)> = (1..8)
        .map(|number| (1e9 * f64::from(number), vec![100.0 + 10.0 * f64::from(number); 6]))
        .collect();
    let law = family(&[100.0; 6], &straight).law.found().cloned().unwrap();
    assert!(law.shares[0].is_straight, "{law:?}");
    assert!(curve(&[100.0; 6], &straight).knee.as_result().unwrap_err().contains("evenly"));

    // An old record, which does not say what the kernel loads and stores.
    let found = model_of(&[80.0; 6], &[((0, 0), &points(CAPACITY, 0.9, 7, queued, &mut || 1.0))]);
    assert_eq!(found.curves[0].read_share, None);
    assert!(found.families[0].law.found().is_none());
}

#[test]
fn a_point_without_figures_is_counted_and_a_curve_without_its_idle_time_says_so() {
    let mut record = record_of(machine(1, 1, 2), &[]);
    for number in 1..6 {
        let rounds = [1e9 * f64::from(number); 6];
        let ns: &[f64] = if number == 3 { &[] } else { &[200.0; 6] };
        add_chase(&mut record, at(0, 0, IN_MEMORY, Some(100 - number)), ns, &rounds);
    }
    let found = latency(&RecordFigures::new(&record)).unwrap().curves.remove(0);
    assert_eq!((found.points.len(), found.missing), (4, 1));
    assert_eq!(found.most_rise(), None);
    assert!(found.knee.as_result().unwrap_err().contains("without load"));
}
