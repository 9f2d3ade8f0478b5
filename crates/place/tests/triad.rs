//! A profile of our own triad, of known operations and bytes: its rates are right within 5 %, or
//! unavailable with the reason. This program starts itself once more to be the triad, so it needs a
//! `main` of its own.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use nearfar_kernels::{Constants, Operands, Pattern, find};
use nearfar_measure::read_environment;
use nearfar_place::{ProfileOrigin, profile_program};

const TRIAD: &str = "NEARFAR_PLACE_TEST_TRIAD";

/// Elements of each array: 64 MiB, beyond most caches.
const ELEMENTS: usize = 8 << 20;

/// Each pass moves 24 bytes an element, and reads the lines that it writes first.
const PASSES: u32 = 40;

/// What is reported is right within this fraction.
const TOLERANCE: f64 = 0.05;

#[expect(clippy::print_stdout, reason = "what a run of the tests shows")]
fn main() -> ExitCode {
    if std::env::var_os(TRIAD).is_some() {
        triad();
    } else {
        check();
        println!("triad: 1 check passed");
    }
    ExitCode::SUCCESS
}

fn triad() {
    let kernel = find("triad").unwrap();
    let timed_loop = kernel.in_variant(kernel.variants()[0]).unwrap();
    let pattern = Pattern::new(1);
    let mut arrays = [(); 3].map(|()| vec![0.0; ELEMENTS]);
    for (array, first) in arrays.iter_mut().zip([0, 1, 2]) {
        pattern.fill(array, first * ELEMENTS as u64);
    }
    let [a, b, c] = &mut arrays;
    timed_loop.run(Operands::zip(a, b, c), &Constants::for_pass(0), PASSES);
}

#[expect(clippy::print_stdout, reason = "what a run of the tests shows")]
fn check() {
    let machine = nearfar_topology::read_live(Path::new("/")).unwrap();
    let origin = ProfileOrigin {
        nearfar: "0",
        host: "here".into(),
        started: "2025-03-01T12:00:00Z".into(),
        machine: &machine,
        cpu: read_environment(Path::new("/")).cpu,
    };
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(TRIAD, "1").stdout(Stdio::null());
    let (profile, status) = profile_program(&mut command, &origin).unwrap();
    assert!(status.success());
    let held = 3 * ELEMENTS as u64 * 8;
    let most = profile.most_bytes.unwrap();
    assert!(most >= held / 10 * 9, "{most} of {held} bytes were seen at most");
    assert!(profile.cpu_seconds > 0.0 && profile.looks.len() > 2, "{profile:?}");

    // Over the program's whole time, as the profile's rates are. What it does beside its passes is
    // little and is counted as well.
    let elements = ELEMENTS as f64 * f64::from(PASSES);
    let rate = |of_element: f64| of_element * elements / profile.wall_seconds / 1e9;
    let figures = &profile.figures;
    for (name, truth, value) in [
        ("gflop_per_s", rate(2.0), figures.gflop_per_s),
        ("dram_read_gb_per_s", rate(24.0), figures.dram_read_gb_per_s),
    ] {
        match value {
            Some(value) => {
                println!("{name}: {value}, in truth {truth}");
                assert!((value / truth - 1.0).abs() <= TOLERANCE, "{name}: {value}, not {truth}");
            }
            None => {
                let why = &figures.unknown[name];
                println!("{name}: unavailable: {why}");
                assert!(why.len() > 20, "{name} is unavailable without a reason: {why:?}");
            }
        }
    }
    assert_eq!(figures.arithmetic_flops_per_byte, None);
}
