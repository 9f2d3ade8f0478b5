//! A stencil of nine points on a square grid, again and again; what is counted is cells that are
//! computed, the border's too.

use super::Role::{Input, Output, Scratch};
use super::{
    Buffer, GROUP, Reference, Setup, Value, Words, fill_with_singles, launch, number, widened,
};
use crate::device_workload::{DeviceWorkload, ProblemSize};

/// Steps, of an even number; SHOC takes 1000, which a host cannot follow in the time of a run.
const STEPS: usize = 100;
/// Weights of the cell, of each of the four beside it, and of each at its corners.
const WEIGHTS: [f64; 3] = [0.25, 0.15, 0.05];

pub(crate) fn setup(size: ProblemSize) -> Setup {
    let n: usize = size.of([512, 1024, 2048, 4096]);
    let grid = |role, name| Buffer::of::<f32>(role, name, n * n);
    let step = |step: usize| {
        // From the input to what lies between, then to the output and back; the last ends there.
        let (from, to) = match step {
            0 => (0, 2),
            odd if odd % 2 == 1 => (2, 1),
            _ => (1, 2),
        };
        let arguments = [Value::Of(from), Value::Of(to), number(n)];
        launch(c"stencil2d", (n * n / GROUP, GROUP), &arguments)
    };
    Setup {
        workload: DeviceWorkload::Stencil2d,
        work: (n * n * STEPS) as f64 / 1e6,
        sources: vec![include_str!("stencil2d.cl").into()],
        needs_double: false,
        buffers: vec![grid(Input, "grid"), grid(Output, "result"), grid(Scratch, "between")],
        launches: (0..STEPS).map(step).collect(),
        result: Reference {
            fill: |inputs| fill_with_singles(inputs[0], 0),
            expected,
            found: |_, outputs| widened(outputs[0]),
            tolerance: 1e-5,
        },
    }
}

fn expected(inputs: &Words<'_>) -> Vec<f64> {
    let mut from = widened(inputs[0]);
    let n = from.len().isqrt();
    let mut to = from.clone();
    for _ in 0..STEPS {
        advance(&from, &mut to, n);
        std::mem::swap(&mut from, &mut to);
    }
    from
}

fn advance(from: &[f64], to: &mut [f64], n: usize) {
    let [centre, side, corner] = WEIGHTS;
    for row in 1..n - 1 {
        let line = |row: usize| &from[row * n..(row + 1) * n];
        let (above, here, below) = (line(row - 1), line(row), line(row + 1));
        let inner = &mut to[row * n + 1..(row + 1) * n - 1];
        let around = above.windows(3).zip(here.windows(3)).zip(below.windows(3));
        for (cell, ((a, h), b)) in inner.iter_mut().zip(around) {
            *cell = centre * h[1]
                + side * (a[1] + b[1] + h[0] + h[2])
                + corner * (a[0] + a[2] + b[0] + b[2]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::opencl::workloads::planted::{is_right, is_seen};

    /// A product of sines that vanishes on the border stays one: it is scaled.
    #[test]
    fn the_reference_scales_a_wave_by_its_eigenvalue() {
        let n = 33;
        let angle = |at: usize, waves: f64| PI * waves * at as f64 / (n - 1) as f64;
        let wave = |at: usize| angle(at / n, 3.0).sin() * angle(at % n, 5.0).sin();
        let from: Vec<f64> = (0..n * n).map(wave).collect();
        let mut to = from.clone();
        advance(&from, &mut to, n);
        let (a, b) = (angle(1, 3.0).cos(), angle(1, 5.0).cos());
        let eigenvalue = 0.25 + 0.3 * (a + b) + 0.2 * a * b;
        for (at, (before, after)) in from.iter().zip(&to).enumerate() {
            assert!((after - eigenvalue * before).abs() < 1e-12, "{at}: {before} to {after}");
        }
    }

    #[test]
    #[ignore = "needs PoCL: make devices"]
    fn it_is_right_and_a_wrong_constant_is_seen() {
        is_right(setup);
        is_seen(setup, "SIDE 0.15f", "SIDE 0.1501f");
        is_seen(setup, "CORNER 0.05f", "CORNER 0.0501f");
    }
}
