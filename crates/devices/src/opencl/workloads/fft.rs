//! Fourier transforms of 512 points, many at a time: 5 n log2 n floating-point operations each.

use std::f64::consts::TAU;

use bytemuck::cast_slice_mut;

use super::Role::{Input, Output};
use super::{Buffer, Reference, Setup, Value, Words, fill_with_singles, launch, of, widened};
use crate::device_workload::{DeviceWorkload, ProblemSize};

/// Points of a transform, and their logarithm.
const POINTS: usize = 512;
const STAGES: usize = 9;
/// Items of a group.
const GROUP: usize = 64;

pub(crate) fn setup(size: ProblemSize) -> Setup {
    let points = (size.of([1, 8, 96, 256]) << 20) / size_of::<[f32; 2]>();
    let transforms = points / POINTS;
    Setup {
        workload: DeviceWorkload::Fft,
        work: (transforms * 5 * POINTS * STAGES) as f64 / 1e9,
        sources: vec![include_str!("fft.cl").into()],
        needs_double: false,
        buffers: vec![
            Buffer::of::<[f32; 2]>(Input, "signal", points),
            Buffer::of::<[f32; 2]>(Input, "roots", POINTS / 2),
            Buffer::of::<[f32; 2]>(Output, "spectrum", points),
        ],
        launches: vec![launch(c"fft", (transforms, GROUP), &[0, 1, 2].map(Value::Of))],
        result: Reference {
            fill,
            expected,
            found: |_, outputs| widened(outputs[0]),
            tolerance: 1e-5,
        },
    }
}

fn fill(inputs: &mut [&mut [u64]]) {
    fill_with_singles(inputs[0], 0);
    let roots = cast_slice_mut::<u64, [f32; 2]>(inputs[1]);
    #[expect(clippy::cast_possible_truncation, reason = "the device computes in single precision")]
    for (k, root) in roots.iter_mut().enumerate() {
        let (sine, cosine) = angle(k, POINTS).sin_cos();
        *root = [cosine as f32, sine as f32];
    }
}

/// The angle of the k-th root of unity.
fn angle(k: usize, points: usize) -> f64 {
    -TAU * k as f64 / points as f64
}

fn expected(inputs: &Words<'_>) -> Vec<f64> {
    let signal = of::<[f32; 2]>(inputs[0]);
    let roots: Vec<[f64; 2]> =
        (0..POINTS).map(|k| angle(k, POINTS).sin_cos()).map(|(s, c)| [c, s]).collect();
    let mut all = Vec::with_capacity(2 * signal.len());
    for points in signal.chunks_exact(POINTS) {
        let points: Vec<[f64; 2]> = points.iter().map(|it| it.map(f64::from)).collect();
        all.extend(transformed(&points, &roots).into_iter().flatten());
    }
    all
}

/// By halves: the even points, then the odd ones (Cooley and Tukey).
fn transformed(points: &[[f64; 2]], roots: &[[f64; 2]]) -> Vec<[f64; 2]> {
    if points.len() == 1 {
        return points.to_vec();
    }
    let every_other = |first| points.iter().skip(first).step_by(2).copied().collect::<Vec<_>>();
    let even = transformed(&every_other(0), roots);
    let odd = transformed(&every_other(1), roots);
    let half = even.len();
    let mut all = vec![[0.0; 2]; points.len()];
    for k in 0..half {
        let [c, s] = roots[k * (roots.len() / points.len())];
        let [x, y] = [odd[k][0] * c - odd[k][1] * s, odd[k][0] * s + odd[k][1] * c];
        all[k] = [even[k][0] + x, even[k][1] + y];
        all[k + half] = [even[k][0] - x, even[k][1] - y];
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opencl::workloads::planted::{is_right, is_seen};

    /// By its definition, a sum of all points for each.
    #[test]
    fn the_reference_is_the_transform() {
        let points: Vec<[f64; 2]> = (0..8).map(|k| [f64::from(k * k), f64::from(3 - k)]).collect();
        let roots: Vec<[f64; 2]> =
            (0..8).map(|k| angle(k, 8).sin_cos()).map(|(s, c)| [c, s]).collect();
        for (k, found) in transformed(&points, &roots).into_iter().enumerate() {
            let term = |(n, [x, y]): (usize, &[f64; 2])| {
                let (s, c) = angle(n * k, 8).sin_cos();
                [x * c - y * s, x * s + y * c]
            };
            let sum = points.iter().enumerate().map(term);
            let [x, y] = sum.fold([0.0; 2], |sum, it| [sum[0] + it[0], sum[1] + it[1]]);
            assert!((found[0] - x).hypot(found[1] - y) < 1e-9, "{k}: {found:?}, not {x}, {y}");
        }
    }

    #[test]
    #[ignore = "needs PoCL: make devices"]
    fn it_is_right_and_a_wrong_constant_is_seen() {
        is_right(setup);
        is_seen(setup, "POINTS / 2 / span", "POINTS / 4 / span");
    }
}
