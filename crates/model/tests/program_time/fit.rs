//! What runs tell of programs whose times follow from a queue and not from the law.

use nearfar_model::{Beside, FittedProgram, MemoryLaw, MemoryRun, fit_program, solve};

use crate::program_time::{CAPACITY, family, queued};

/// Beside these parts of the capacity, reads alone, with the program's own traffic on top: time of a
/// program that computes for `core` seconds and waits for `lines` of 100 ns, and moves `bytes`.
fn runs(core: f64, lines: f64, bytes: f64) -> Vec<MemoryRun> {
    let time = |beside: f64| {
        let mut seconds = core + lines * 100e-9;
        for _ in 0..200 {
            let used = (beside + bytes / seconds) / CAPACITY;
            seconds = 0.5 * (seconds + core + lines * queued(100.0, used) * 1e-9);
        }
        seconds
    };
    let run = |used: f64| {
        let seconds = time(used * CAPACITY);
        // A stream whose lines all wait: it moved more before, until its own time of an access fits.
        let during = queued(100.0, used + bytes / seconds / CAPACITY);
        let mut before = used * CAPACITY;
        for _ in 0..200 {
            let alone = queued(100.0, (before / CAPACITY).min(0.99));
            before += 0.1 * (used * CAPACITY * during / alone - before);
        }
        let beside = Beside { traffic: used * CAPACITY, read_share: 1.0 };
        let before = (used > 0.0).then_some((before, 0.002));
        MemoryRun { beside, seconds, error: 0.002, before }
    };
    [0.0, 0.4, 0.7, 0.8].map(run).to_vec()
}

fn at(found: &FittedProgram, idle_ns: f64) -> f64 {
    let family = family(idle_ns);
    let memory = MemoryLaw { law: family.law(), capacity_ratio: 1.0 };
    solve(&found.parts, &memory, Beside::NOTHING, 1).unwrap().seconds
}

#[test]
fn a_program_that_waits_is_found_and_foretold_at_another_memory() {
    let found = fit_program(&runs(0.3, 1.7e7, 2e9), &family(100.0)).unwrap();
    // 0.3 s and 1.7 s of waiting: at twice the time of an access 3.7 s, and at three times 5.4 s.
    assert!((at(&found, 200.0) / 3.7 - 1.0).abs() < 0.08, "{:?}", found.parts);
    assert!((at(&found, 300.0) / 5.4 - 1.0).abs() < 0.10, "{:?}", found.parts);
}

#[test]
fn a_program_that_computes_is_found_and_takes_as_long_anywhere() {
    let found = fit_program(&runs(2.0, 2e5, 1e8), &family(100.0)).unwrap();
    assert!(found.parts.core_seconds > 1.7, "{:?}", found.parts);
    assert!((at(&found, 300.0) / 2.0 - 1.0).abs() < 0.10, "{:?}", found.parts);
}

/// Loads moved more beside the program than the curves, of a slower hour, can carry.
#[test]
fn a_program_beside_more_than_its_curves_carry_has_a_time() {
    let mut runs = runs(2.0, 2e5, 1e8);
    for run in &mut runs {
        run.beside.traffic *= 1.4;
        run.before = run.before.map(|(before, error)| (1.4 * before, error));
    }
    let found = fit_program(&runs, &family(100.0)).unwrap();
    assert!(found.parts.capacity_ratio > 1.12, "{:?}", found.parts);
    assert!(found.parts.core_seconds > 1.7, "{:?}", found.parts);
}

/// Without counters: by what the streams beside it lose.
#[test]
fn its_traffic_shows_in_what_streams_lose() {
    let few = fit_program(&runs(1.0, 1e7, 1e9), &family(100.0)).unwrap().parts.bytes;
    let many = fit_program(&runs(1.0, 1e7, 8e9), &family(100.0)).unwrap().parts.bytes;
    assert!((many / 8e9 - 1.0).abs() < 0.25, "{many}");
    assert!(few < 0.4 * many, "{few} and {many}");
}

/// All takes a twentieth longer beside busy cores, also where they move next to nothing.
#[test]
fn what_busy_cores_cost_is_told_from_what_traffic_costs() {
    let mut runs = runs(0.3, 1.7e7, 2e9);
    let next_to_nothing = Beside { traffic: 1e6, read_share: 1.0 };
    runs.insert(1, MemoryRun { beside: next_to_nothing, before: None, ..runs[0] });
    runs[1..].iter_mut().for_each(|run| run.seconds *= 1.05);
    let found = fit_program(&runs, &family(100.0)).unwrap();
    assert!((found.parts.busy_ratio.unwrap() - 1.05).abs() < 0.01, "{:?}", found.parts);
    assert!((at(&found, 200.0) / 3.7 - 1.0).abs() < 0.08, "{:?}", found.parts);
}

/// A second, in which it finds ten million lines in a cache that reads of 24 GB/s take 63 % of: beside loads
/// that the fit has not seen.
#[test]
fn what_loads_take_of_a_cache_is_found() {
    let slowed = |used: f64| {
        let taken = 1.0 - (-(used * CAPACITY / 24e9).powi(2)).exp();
        1.0 + 1e7 * taken * queued(100.0, used) * 1e-9
    };
    let run = |used: f64| {
        let beside = Beside { traffic: used * CAPACITY, read_share: 1.0 };
        // What it moves is next to nothing to the streams.
        let before = (used > 0.0).then_some((beside.traffic, 0.005));
        MemoryRun { beside, seconds: slowed(used), error: 0.005, before }
    };
    let family = family(100.0);
    let found = fit_program(&[0.0, 0.25, 0.5, 0.8].map(run), &family).unwrap();
    let memory = MemoryLaw { law: family.law(), capacity_ratio: found.parts.capacity_ratio };
    for used in [0.1, 0.4, 0.65] {
        let law = solve(&found.parts, &memory, run(used).beside, 1).unwrap().seconds;
        assert!((law / slowed(used) - 1.0).abs() < 0.08, "{used}: {law}, {:?}", found.parts);
    }
    assert!(found.parts.kept.unwrap().exposed_lines > 3e6, "{:?}", found.parts);
}

#[test]
fn drawn_programs_stand_around_the_fitted_one() {
    let found = fit_program(&runs(0.5, 1.5e7, 4e9), &family(100.0)).unwrap();
    assert!(found.drawn.len() >= 40);
    let less = found.drawn.iter().filter(|it| it.bytes < found.parts.bytes).count();
    assert!((10..=50).contains(&less), "{less} of {}", found.drawn.len());
    assert!(fit_program(&[], &family(100.0)).is_none());
}
