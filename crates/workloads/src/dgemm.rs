//! dgemm: C += A B of square matrices, each thread on its rows of A and C. Its blocks are made to stay
//! in caches: bound by arithmetic, and so indifferent to where its pages are.
//!
//! Source: BLAS level 3, by the crate matrixmultiply through nalgebra; denoyelle2019, figures 3 and 4.

use std::ops::Range;

use nalgebra::{DMatrixView, DMatrixViewMut};

use crate::arithmetic::{larger, real};
use crate::array::{Array, ArrayPlan};
use crate::clock::Clock;
use crate::program::Program;
use crate::size::Class;
use crate::team::{Team, cut};
use crate::traffic::{ArrayTraffic, PhaseTraffic};
use crate::verification::Check;

/// Rows of a thread that the warm-up multiplies.
const WARM_UP: usize = 64;

/// Elements are integers from -4 to 4: sums of their products are exact.
const LARGEST: u64 = 4;

/// The library multiplies this many rows of A at a time,
const HEIGHT: usize = 1024;
/// by this many rows of B: what is added to these rows of C, all of them, before the next rows of B.
const DEPTH: usize = 256;

/// dgemm of a class.
#[derive(Debug, Clone, Copy)]
pub struct Dgemm {
    /// Rows of a matrix, and columns.
    rows: usize,
    /// How often A B is added to C.
    products: usize,
    /// What A B is multiplied by; the result is that of 1.
    factor: f64,
}

impl Dgemm {
    pub fn new(class: Class) -> Self {
        let (rows, products) = match class {
            Class::S => (128, 200),
            Class::W => (512, 20),
            Class::A => (1536, 3),
            Class::B => (4096, 1),
            Class::C => (8192, 1),
        };
        Self::of_rows(rows, products)
    }

    /// Of square matrices of this many rows.
    pub fn of_rows(rows: usize, products: usize) -> Self {
        Self { rows, products, factor: 1.0 }
    }

    /// Adds to rows of C (`c`) the product of the same rows of A (`a`) and B. The library lays
    /// matrices out by columns: what it sees is that each matrix's transpose.
    fn multiply(&self, c: &mut [f64], a: &[f64], b: &[f64]) {
        let own = c.len() / self.rows;
        if own == 0 {
            return;
        }
        let b = DMatrixView::from_slice(b, self.rows, self.rows);
        let a = DMatrixView::from_slice(a, self.rows, own);
        DMatrixViewMut::from_slice(c, self.rows, own).gemm(self.factor, &b, &a, 1.0);
    }

    /// The largest element of C x - products A (B x), whose x is drawn from a seed.
    fn difference(
        &self,
        [a, b, c]: [&[f64]; 3],
        seed: u64,
        shares: &[Range<usize>],
        team: &Team,
    ) -> f64 {
        let x: Vec<f64> = (0..self.rows).map(|place| element(seed, place)).collect();
        let times = |matrix: &[f64], x: &[f64]| -> Vec<f64> {
            let row = |row: &[f64]| row.iter().zip(x).map(|(row, x)| row * x).sum::<f64>();
            let of_threads = team.all(|thread| {
                let own = &shares[thread];
                let own = &matrix[own.start * self.rows..own.end * self.rows];
                own.chunks_exact(self.rows).map(row).collect::<Vec<_>>()
            });
            of_threads.concat()
        };
        let products = real(self.products);
        let known = times(a, &times(b, &x));
        let apart = |(found, known): (f64, &f64)| (found - products * known).abs();
        times(c, &x).into_iter().zip(&known).map(apart).fold(0.0, larger)
    }
}

/// An element of the matrix of a seed.
#[expect(clippy::cast_precision_loss, reason = "small")]
fn element(seed: u64, place: usize) -> f64 {
    let mixed = (place as u64 ^ seed << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((mixed >> 40) % (2 * LARGEST + 1)) as f64 - LARGEST as f64
}

impl Program for Dgemm {
    fn arrays(&self, threads: usize) -> Vec<ArrayPlan> {
        ["a", "b", "c"]
            .map(|name| ArrayPlan::shared::<f64>(name, (self.rows, self.rows), threads, true))
            .into()
    }

    fn work(&self) -> f64 {
        2.0 * real(self.rows).powi(3) * real(self.products) / 1e6
    }

    fn unit(&self) -> &'static str {
        "MFLOP"
    }

    fn traffic(&self, cache_bytes: f64) -> Vec<PhaseTraffic> {
        let (rows, products) = (real(self.rows), real(self.products));
        let matrix = 8.0 * rows * rows;
        let (height, depth) = (real(self.rows.min(HEIGHT)), real(self.rows.min(DEPTH)));
        let [of_a, of_b, of_c] = if 3.0 * matrix <= cache_bytes {
            [0.0; 3]
        } else {
            // Rows of C are come back to after all of B's; packed rows of A lie between. What the library
            // packs (2 MiB a thread) is to stay in the cache: a smaller one it streams through.
            let stays = 8.0 * (height * rows + depth * rows + depth * height) <= cache_bytes;
            let visits = if stays { 1.0 } else { (rows / depth).ceil() };
            [products, products * (rows / height).ceil(), products * visits]
        };
        vec![PhaseTraffic {
            phase: "dgemm",
            flops: 2.0 * rows.powi(3) * products,
            arrays: vec![
                ArrayTraffic::read("a", of_a * matrix),
                ArrayTraffic::read("b", of_b * matrix),
                ArrayTraffic::written("c", of_c * matrix),
            ],
        }]
    }

    fn run(&self, arrays: &mut [Array], team: &Team, clock: &mut Clock) -> Vec<Check> {
        let [a, b, c] = arrays else { unreachable!("the arrays that were planned") };
        let shares = &team.shares(self.rows);
        for (array, seed) in [&mut *a, &mut *b].into_iter().zip(1..) {
            team.each(cut(array.of_mut::<f64>(), shares, self.rows), |thread, own| {
                let begin = shares[thread].start * self.rows;
                own.iter_mut().zip(begin..).for_each(|(own, place)| *own = element(seed, place));
            });
        }
        let (a, b) = (a.of::<f64>(), b.of::<f64>());
        let c = c.of_mut::<f64>();
        team.each(cut(c, shares, self.rows), |thread, own| {
            let few = shares[thread].len().min(WARM_UP) * self.rows;
            let begin = shares[thread].start * self.rows;
            self.multiply(&mut own[..few], &a[begin..begin + few], b);
            own.fill(0.0);
        });
        clock.start();
        for _ in 0..self.products {
            clock.time("dgemm", || {
                team.each(cut(c, shares, self.rows), |thread, own| {
                    let begin = shares[thread].start * self.rows;
                    self.multiply(own, &a[begin..begin + own.len()], b);
                })
            });
        }
        clock.stop();
        let c = &*c;
        (3..6)
            .map(|seed| {
                let found = self.difference([a, b, c], seed, shares, team);
                Check::relative("C x - A (B x)", 0.0, found, 0.0)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::tests::checks_of;
    use crate::verification::is_verified;

    #[test]
    fn a_wrong_factor_is_found() {
        let dgemm = Dgemm { rows: 37, products: 2, ..Dgemm::new(Class::S) };
        for threads in [1, 2, 3, 40] {
            assert!(is_verified(&checks_of(&dgemm, threads)));
        }
        assert!(!is_verified(&checks_of(&Dgemm { factor: 1.0001, ..dgemm }, 2)));
    }

    #[test]
    fn a_wrong_element_is_found() {
        let dgemm = Dgemm { rows: 20, products: 1, ..Dgemm::new(Class::S) };
        let matrix = |seed| (0..400).map(|place| element(seed, place)).collect::<Vec<f64>>();
        let (a, b, mut c) = (matrix(1), matrix(2), vec![0.0; 400]);
        dgemm.multiply(&mut c, &a, &b);
        let team = Team::of_threads(2).unwrap();
        let mut check = |place: Option<usize>| {
            place.into_iter().for_each(|place| c[place] += 1.0);
            let seeds = 3..6;
            let shares = team.shares(20);
            seeds.map(|seed| dgemm.difference([&a, &b, &c], seed, &shares, &team)).fold(0.0, larger)
        };
        assert!(check(None) <= 0.0);
        assert!(check(Some(123)) >= 1.0);
    }
}
