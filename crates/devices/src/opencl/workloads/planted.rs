//! Kernels with something wrong in them, which verification is to see.

use super::Setup;
use crate::device_error::{DeviceError, Kind};
use crate::device_workload::{DeviceRun, ProblemSize, run_with};
use crate::opencl::Functions;
use crate::opencl::lies::{device, honest, instruments};

/// Runs it on PoCL by these functions.
pub(crate) fn run(functions: Functions, setup: &Setup) -> Result<DeviceRun, DeviceError> {
    const PAGE: usize = 4096;
    let arrays = setup.host_arrays();
    let mut rooms: Vec<Vec<f64>> =
        arrays.iter().map(|it| vec![0.0; (it.bytes + PAGE) / 8]).collect();
    let pages = rooms.iter_mut().zip(&arrays).map(|(room, array)| {
        let from = room.as_ptr().addr();
        let first = (from.next_multiple_of(PAGE) - from) / 8;
        &mut room[first..first + array.bytes / 8]
    });
    run_with(&instruments(functions), &device(), setup, pages.collect())
}

/// Its result is right at the smallest size.
pub(crate) fn is_right(setup: fn(ProblemSize) -> Setup) {
    let setup = setup(ProblemSize::ALL[0]);
    let ran = run(honest(), &setup).unwrap_or_else(|error| panic!("{error}"));
    assert!(ran.largest_error <= ran.tolerance && ran.compared > 0, "{ran:?}");
    for pass in &ran.passes {
        for step in [pass.to_device, pass.kernels, pass.to_host] {
            assert!(step.wall_ns > 0 && step.device_ns.is_some_and(|ns| ns > 0), "{pass:?}");
        }
    }
}

/// With this text of its kernels another one it is refused, and what was expected and found is told.
pub(crate) fn is_seen(setup: fn(ProblemSize) -> Setup, right: &str, wrong: &str) {
    let mut setup = setup(ProblemSize::ALL[0]);
    let before = setup.sources.clone();
    setup.sources.iter_mut().for_each(|source| *source = source.replacen(right, wrong, 1));
    assert_ne!(setup.sources, before, "no kernel has '{right}'");
    let error = run(honest(), &setup).expect_err(wrong);
    assert_eq!(error.what, Kind::WrongData, "{error}");
    let says = |word| error.text.contains(word);
    assert!(says("expected") && says(setup.workload.as_str()), "{error}");
}
