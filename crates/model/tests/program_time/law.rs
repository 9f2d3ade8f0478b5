//! Closed forms of a program's time.

use nearfar_model::{Beside, BoundBy, MemoryLaw, bound, solve};
use nearfar_record::{KeptLines, ProgramParts};

use crate::program_time::{CAPACITY, family, queued};

const NONE: ProgramParts = ProgramParts {
    core_seconds: 0.0,
    exposed_lines: 0.0,
    bytes: 0.0,
    read_share: 1.0,
    overlap: 1.0,
    capacity_ratio: 1.0,
    busy_ratio: None,
    kept: None,
};

fn seconds(parts: &ProgramParts, beside: Beside, copies: u32) -> f64 {
    let family = family(100.0);
    let memory = MemoryLaw { law: family.law(), capacity_ratio: 1.0 };
    solve(parts, &memory, beside, copies).map_or(f64::INFINITY, |it| it.seconds)
}

fn assert_near(one: f64, other: f64, room: f64) {
    assert!((one / other - 1.0).abs() < room, "{one} and {other}");
}

const REACHED: Beside = Beside { traffic: 0.6 * CAPACITY, read_share: 1.0 };

#[test]
fn core_time_is_the_same_beside_anything() {
    let parts = ProgramParts { core_seconds: 2.0, ..NONE };
    assert_near(seconds(&parts, Beside::NOTHING, 1), 2.0, 1e-9);
    assert_near(seconds(&parts, REACHED, 8), 2.0, 1e-9);
}

/// A clock that falls by a tenth where any other core is busy, and no further where all are.
#[test]
fn busy_cores_slow_a_program_down_whatever_they_move() {
    let parts = ProgramParts { core_seconds: 2.0, busy_ratio: Some(1.1), ..NONE };
    assert_near(seconds(&parts, Beside::NOTHING, 1), 2.0, 1e-9);
    let next_to_nothing = Beside { traffic: 1e6, read_share: 1.0 };
    assert_near(seconds(&parts, next_to_nothing, 1), 2.2, 1e-9);
    assert_near(seconds(&parts, REACHED, 1), 2.2, 1e-9);
    assert_near(seconds(&parts, Beside::NOTHING, 2), 2.2, 1e-9);
}

/// Ten million lines one after the other, of 100 ns.
#[test]
fn waiting_is_lines_times_the_time_of_an_access() {
    let parts = ProgramParts { exposed_lines: 1e7, ..NONE };
    assert_near(seconds(&parts, Beside::NOTHING, 1), 1.0, 0.01);
    assert_near(seconds(&parts, REACHED, 1), queued(100.0, 0.6) / 100.0, 0.02);
    // Beside core time, without overlap and with all.
    let with_core = ProgramParts { core_seconds: 1.0, ..parts };
    assert_near(seconds(&with_core, Beside::NOTHING, 1), 2.0, 0.01);
    let overlapped = ProgramParts { overlap: 100.0, ..with_core };
    assert_near(seconds(&overlapped, Beside::NOTHING, 1), 1.0, 0.02);
}

/// Forty gigabytes through 40 GB/s; 16 GB/s are left beside 24.
#[test]
fn bytes_take_what_is_left_of_the_bandwidth() {
    let parts = ProgramParts { bytes: 40e9, ..NONE };
    assert_near(seconds(&parts, Beside::NOTHING, 1), 1.0, 0.05);
    assert_near(seconds(&parts, REACHED, 1), 2.5, 0.05);
    assert_near(seconds(&parts, Beside::NOTHING, 4), 4.0, 0.05);
    let full = Beside { traffic: 1.1 * CAPACITY, read_share: 1.0 };
    assert!(seconds(&parts, full, 1).is_infinite());
}

#[test]
fn what_it_is_bound_by_is_its_largest_part() {
    let parts = ProgramParts { core_seconds: 0.2, exposed_lines: 2e6, bytes: 4e9, ..NONE };
    let family = family(100.0);
    let memory = MemoryLaw { law: family.law(), capacity_ratio: 1.0 };
    let of = |parts: ProgramParts| bound(&parts, &memory, Beside::NOTHING, 1).unwrap();
    let compute = of(ProgramParts { core_seconds: 5.0, ..parts });
    let latency = of(ProgramParts { exposed_lines: 5e7, ..parts });
    let bandwidth = of(ProgramParts { bytes: 200e9, ..parts });
    let all = [compute, latency, bandwidth].map(|it| it.binding());
    assert_eq!(all, [BoundBy::Compute, BoundBy::Latency, BoundBy::Bandwidth]);
    assert!(compute.compute > 0.9 && latency.latency > 0.9 && bandwidth.bandwidth > 0.8);
}

/// Ten million lines of 100 ns from a cache, of which a load takes half: as the time of an access beside it.
#[test]
fn lines_that_others_take_are_waited_for() {
    let half = REACHED.traffic / std::f64::consts::LN_2.sqrt();
    let kept = Some(KeptLines { exposed_lines: 1e7, lost_beside: half });
    let parts = ProgramParts { core_seconds: 1.0, kept, ..NONE };
    assert_near(seconds(&parts, Beside::NOTHING, 1), 1.0, 1e-9);
    assert_near(seconds(&parts, REACHED, 1), 1.0 + 0.5 * queued(100.0, 0.6) / 100.0, 0.02);
    // What is only written takes none, and copies take each other's.
    let written = Beside { read_share: 0.0, ..REACHED };
    assert_near(seconds(&parts, written, 1), 1.0, 1e-9);
    let moving = ProgramParts { bytes: 4e9, ..parts };
    assert!(seconds(&moving, Beside::NOTHING, 4) > 1.05 * seconds(&moving, Beside::NOTHING, 1));
}
