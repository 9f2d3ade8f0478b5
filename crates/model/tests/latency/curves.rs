//! Loaded curves: knee, usable bandwidth, queue.

use nearfar_model::{LoadedCurve, RecordFigures, latency};
use nearfar_specimen::{IN_MEMORY, add_chase, latency as at, machine, record_of};
use nearfar_units::BytesPerSecond;

/// A curve of (useful bytes/s, ns of each round).
fn curve(idle: &[f64], points: &[(f64, Vec<f64>)]) -> LoadedCurve {
    let mut record = record_of(machine(1, 1, 2), &[]);
    add_chase(&mut record, at(0, 0, IN_MEMORY, None), idle, &[]);
    for (number, (rate, ns)) in (0..).zip(points) {
        let rounds = vec![*rate; ns.len()];
        add_chase(&mut record, at(0, 0, IN_MEMORY, Some(8192 - number)), ns, &rounds);
    }
    latency(&RecordFigures::new(&record)).unwrap().curves.remove(0)
}

const CAPACITY: f64 = 20e9;

/// One server with random arrivals and service times: 80 ns idle, 10 ns of service.
fn queued(used: f64) -> f64 {
    80.0 + 10.0 * used / (1.0 - used)
}

fn queue_curve(most_used: f64, count: u32, noise: &mut impl FnMut() -> f64) -> LoadedCurve {
    let points: Vec<(f64, Vec<f64>)> = (1..=count)
        .map(|number| {
            let used = most_used * f64::from(number) / f64::from(count);
            (used * CAPACITY, (0..6).map(|_| queued(used) * noise()).collect())
        })
        .collect();
    let idle: Vec<f64> = (0..6).map(|_| 80.0 * noise()).collect();
    curve(&idle, &points)
}

#[test]
fn a_queue_gives_back_its_parameters() {
    let exact = queue_curve(0.9, 7, &mut || 1.0).queue.found().cloned().unwrap();
    assert!((exact.capacity.0 / CAPACITY - 1.0).abs() < 1e-3, "{exact:?}");
    assert!((exact.base.0 / 80.0 - 1.0).abs() < 1e-3 && exact.worst_error < 1e-4, "{exact:?}");
    assert!((exact.service.0 / 10.0 - 1.0).abs() < 1e-2, "{exact:?}");
    assert_eq!(exact.points, 8);
}

/// Rounds that scatter by 2 %: the law stays near the truth where it was measured.
#[test]
fn a_queue_comes_back_through_noise() {
    let mut random = fastrand::Rng::with_seed(3);
    for trial in 0..40 {
        let mut noise = || 1.0 + 0.02 * (2.0 * random.f64() - 1.0);
        let queue = queue_curve(0.9, 7, &mut noise).queue.found().cloned().unwrap();
        assert!((queue.capacity.0 / CAPACITY - 1.0).abs() < 0.05, "{trial}: {queue:?}");
        for used in [0.0, 0.3, 0.6, 0.8] {
            let found = queue.time(BytesPerSecond(used * CAPACITY)).unwrap().0;
            assert!((found / queued(used) - 1.0).abs() < 0.03, "{trial} at {used}: {queue:?}");
        }
        assert!(queue.error <= queue.worst_error && queue.worst_error < 0.04, "{queue:?}");
    }
}

/// From 0 to 64 % of the capacity the curve is farthest below its chord, a quarter, at 40 %.
#[test]
fn the_knee_of_a_queue_is_where_it_can_be_worked_out() {
    let knee = queue_curve(0.64, 16, &mut || 1.0).knee.found().cloned().unwrap();
    assert!((knee.traffic.value.0 / (0.4 * CAPACITY) - 1.0).abs() < 1e-9, "{knee:?}");
    assert!((knee.distance - 0.25).abs() < 1e-6, "{knee:?}");
    assert!((knee.traffic.ends()[0].0 / (0.36 * CAPACITY) - 1.0).abs() < 1e-9, "{knee:?}");
    assert!((knee.traffic.ends()[1].0 / (0.44 * CAPACITY) - 1.0).abs() < 1e-9, "{knee:?}");
}

/// 100 ns idle, 140 at 10 GB/s, 180 at 14: 150 is reached at 11 GB/s.
#[test]
fn the_usable_bandwidth_is_read_off_the_straight_lines_between_points() {
    let points = [(10e9, vec![140.0; 6]), (14e9, vec![180.0; 6])];
    let usable = curve(&[100.0; 6], &points).usable.found().cloned().unwrap();
    assert!((usable.traffic.0 / 11e9 - 1.0).abs() < 1e-6, "{usable:?}");
    assert!((usable.least.0 / 11e9 - 1.0).abs() < 1e-6);
    // Latencies that reach from 130 to 190: earlier by the most, later by the least.
    let wide = |middle: f64| vec![middle - 10.0, middle, middle, middle, middle, middle + 10.0];
    let points = [(10e9, wide(140.0)), (14e9, wide(180.0)), (15e9, wide(300.0))];
    let usable = curve(&[100.0; 6], &points).usable.found().cloned().unwrap();
    assert!((usable.least.0 / 10e9 - 1.0).abs() < 1e-6, "{usable:?}");
    assert!((usable.most.unwrap().0 / 12e9 - 1.0).abs() < 1e-6, "{usable:?}");
    // At the least by the latencies' intervals the curve ends below.
    let open = [(10e9, wide(140.0)), (14e9, vec![148.0, 149.0, 151.0, 152.0, 153.0, 160.0])];
    let usable = curve(&[100.0; 6], &open).usable.found().cloned().unwrap();
    assert_eq!(usable.most, None, "{usable:?}");
}

/// A curve that bends at 4 GB/s and less so at 3: where the rounds of one point scatter, the other is
/// the knee; where those of all do, the bend is hidden.
#[test]
fn a_noisy_point_does_not_hide_the_bend_beside_it() {
    let ns = [102.0, 104.0, 106.0, 110.0, 200.0];
    let with_noise = |noisy: &[usize]| {
        let points: Vec<(f64, Vec<f64>)> = ns
            .iter()
            .enumerate()
            .map(|(at, &middle)| {
                let off = if noisy.contains(&at) { 0.9 * middle } else { 0.0 };
                let rounds =
                    vec![middle - off, middle - off, middle, middle, middle + off, middle + off];
                let number = f64::from(u32::try_from(at + 1).unwrap());
                (number * 1e9, rounds)
            })
            .collect();
        curve(&[100.0; 6], &points).knee
    };
    let quiet = with_noise(&[]).found().cloned().unwrap();
    assert!((quiet.traffic.value.0 / 4e9 - 1.0).abs() < 1e-9, "{quiet:?}");
    let beside = with_noise(&[3]).found().cloned().unwrap();
    assert!((beside.traffic.value.0 / 3e9 - 1.0).abs() < 1e-9, "{beside:?}");
    let hidden = with_noise(&[0, 1, 2, 3]);
    assert_eq!(hidden.as_result().unwrap_err(), "the bend is hidden by noise at 4.0 GB/s");
}

#[test]
fn curves_that_show_nothing_are_refused_with_the_reason() {
    let flat: Vec<(f64, Vec<f64>)> =
        (1..8).map(|number| (1e9 * f64::from(number), vec![101.0; 6])).collect();
    let found = curve(&[100.0; 6], &flat);
    assert!(found.knee.as_result().unwrap_err().contains("beyond noise"));
    assert!(found.queue.as_result().unwrap_err().contains("beyond noise"));
    assert!(found.usable.as_result().unwrap_err().contains("1.5 times"));

    // It rises, but less than its rounds scatter.
    let noisy: Vec<(f64, Vec<f64>)> = (1..8)
        .map(|number| (1e9 * f64::from(number), vec![90.0, 100.0, 110.0, 110.0, 130.0, 190.0]))
        .collect();
    assert!(curve(&[100.0; 6], &noisy).queue.as_result().unwrap_err().contains("beyond noise"));

    let few: Vec<(f64, Vec<f64>)> =
        (1..4).map(|number| (1e9 * f64::from(number), vec![200.0; 6])).collect();
    let found = curve(&[100.0; 6], &few);
    assert!(found.queue.as_result().unwrap_err().starts_with("it has 3 of the 4"));
    assert!(found.usable.found().is_some(), "two points are enough to read it off");

    let straight: Vec<(f64, Vec<f64>)> = (1..8)
        .map(|number| (1e9 * f64::from(number), vec![100.0 + 10.0 * f64::from(number); 6]))
        .collect();
    let found = curve(&[100.0; 6], &straight);
    assert!(found.queue.as_result().unwrap_err().contains("straight"));
    assert!(found.knee.as_result().unwrap_err().contains("evenly"));
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
    assert!(found.queue.as_result().unwrap_err().contains("without load"));
}
