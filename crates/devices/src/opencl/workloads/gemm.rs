//! The product of square matrices in double precision: 2 n^3 floating-point operations.

use super::Role::{Input, Output};
use super::{Buffer, Reference, Setup, Value, Words, fill_with_doubles, launch, number, of};
use crate::content::fill_with_pattern;
use crate::device_workload::{DeviceWorkload, ProblemSize};

/// Rows and columns of a tile, which a group computes.
const TILE: usize = 16;

pub(crate) fn setup(size: ProblemSize) -> Setup {
    let n: usize = (size.of([1, 4, 8, 16]) << 10) / size_of::<f64>();
    let matrix = |role, name| Buffer::of::<f64>(role, name, n * n);
    let tiles = (n / TILE) * (n / TILE);
    let arguments = [Value::Of(0), Value::Of(1), Value::Of(2), number(n)];
    Setup {
        workload: DeviceWorkload::Gemm,
        work: 2.0 * (n as f64).powi(3) / 1e9,
        sources: vec![include_str!("gemm.cl").into()],
        needs_double: true,
        buffers: vec![matrix(Input, "A"), matrix(Input, "B"), matrix(Output, "C")],
        launches: vec![launch(c"gemm", (tiles, TILE * TILE), &arguments)],
        result: Reference {
            fill: |inputs| {
                fill_with_doubles(inputs[0], 0);
                fill_with_doubles(inputs[1], 1);
            },
            expected,
            found: |_, outputs| times(of(outputs[0]), &signs(outputs[0].len().isqrt())),
            tolerance: 1e-12,
        },
    }
}

/// A (B x), which C x is compared with: Freivalds, "Probabilistic machines can use less running time"
/// (1977).
fn expected(inputs: &Words<'_>) -> Vec<f64> {
    let x = signs(inputs[0].len().isqrt());
    times(of(inputs[0]), &times(of(inputs[1]), &x))
}

/// A vector of 1 and -1 by chance.
fn signs(n: usize) -> Vec<f64> {
    let mut words = vec![0; n];
    fill_with_pattern(&mut words, 2 << 40);
    words.into_iter().map(|word| if word >> 63 == 0 { 1.0 } else { -1.0 }).collect()
}

fn times(matrix: &[f64], x: &[f64]) -> Vec<f64> {
    let row = |row: &[f64]| row.iter().zip(x).map(|(a, x)| a * x).sum();
    matrix.chunks_exact(x.len()).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opencl::workloads::planted::{is_right, is_seen};

    #[test]
    fn a_product_with_one_wrong_number_is_another() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0], [0.5, -1.0, 2.0, 0.25]);
        let right = [4.5, -0.5, 9.5, -2.0];
        let x = signs(2);
        let expected = times(&a, &times(&b, &x));
        assert_eq!(times(&right, &x), expected);
        for wrong in 0..4 {
            let mut c = right;
            c[wrong] += 0.25;
            assert_ne!(times(&c, &x), expected);
        }
    }

    #[test]
    #[ignore = "needs PoCL: make devices"]
    fn it_is_right_and_a_wrong_constant_is_seen() {
        is_right(setup);
        is_seen(setup, "tile += TILE", "tile += 2 * TILE");
        is_seen(setup, "sum = 0.0", "sum = 1e-9");
    }
}
