//! ddot: the dot product of two vectors, again and again. Bound by the streams of the two: an eighth
//! of a FLOP a byte.
//!
//! Source: BLAS level 1; denoyelle2019, figures 3 and 4.

use crate::arithmetic::real;
use crate::array::{Array, ArrayPlan};
use crate::clock::Clock;
use crate::program::Program;
use crate::size::Class;
use crate::team::{Team, cut};
use crate::traffic::{ArrayTraffic, PhaseTraffic};
use crate::verification::Check;

/// Elements of the vectors repeat after this many: small integers, whose products add up exactly in any
/// order.
const PERIODS: [usize; 2] = [7, 5];

/// Independent sums: enough for vector units, and to hide the latency of an addition.
const LANES: usize = 16;

/// ddot of a class.
#[derive(Debug, Clone, Copy)]
pub struct Ddot {
    /// Elements a vector.
    elements: usize,
    passes: usize,
    /// The result is computed from these periods, the vectors from `PERIODS`.
    periods: [usize; 2],
}

impl Ddot {
    pub fn new(class: Class) -> Self {
        let (bytes, passes) = match class {
            Class::S => (1 << 20, 2000),
            Class::W => (16 << 20, 200),
            Class::A => (256 << 20, 20),
            Class::B => (1 << 30, 10),
            Class::C => (4 << 30, 5),
        };
        Self { elements: bytes / 16, passes, periods: PERIODS }
    }

    /// What a pass adds up to.
    fn product(&self) -> u64 {
        let [x, y] = self.periods;
        let term = |element: usize| ((element % x + 1) * (element % y + 1)) as u64;
        let of = |elements: usize| (0..elements).map(term).sum::<u64>();
        let period = x * y;
        (self.elements / period) as u64 * of(period) + of(self.elements % period)
    }
}

/// The dot product of two vectors of the same length.
#[inline(never)]
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let ((x, rest_of_x), (y, rest_of_y)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    for (x, y) in x.iter().zip(y) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f64 = rest_of_x.iter().zip(rest_of_y).map(|(x, y)| x * y).sum();
    sums.into_iter().sum::<f64>() + rest
}

impl Program for Ddot {
    fn arrays(&self, threads: usize) -> Vec<ArrayPlan> {
        ["x", "y"]
            .map(|name| ArrayPlan::shared::<f64>(name, (self.elements, 1), threads, true))
            .into()
    }

    fn work(&self) -> f64 {
        2.0 * real(self.elements) * real(self.passes) / 1e6
    }

    fn unit(&self) -> &'static str {
        "MFLOP"
    }

    fn traffic(&self, cache_bytes: f64) -> Vec<PhaseTraffic> {
        let vector = 8.0 * real(self.elements);
        let passes = if 2.0 * vector <= cache_bytes { 0.0 } else { real(self.passes) };
        vec![PhaseTraffic {
            phase: "ddot",
            flops: 2.0 * real(self.elements) * real(self.passes),
            arrays: ["x", "y"].map(|name| ArrayTraffic::read(name, passes * vector)).into(),
        }]
    }

    fn run(&self, arrays: &mut [Array], team: &Team, clock: &mut Clock) -> Vec<Check> {
        let [x, y] = arrays else { unreachable!("the arrays that were planned") };
        let shares = &team.shares(self.elements);
        for (array, period) in [&mut *x, &mut *y].into_iter().zip(PERIODS) {
            team.each(cut(array.of_mut::<f64>(), shares, 1), |thread, own| {
                let places = shares[thread].clone();
                own.iter_mut().zip(places).for_each(|(own, place)| *own = real(place % period + 1));
            });
        }
        let (x, y) = (x.of::<f64>(), y.of::<f64>());
        let pass = || {
            let of_threads = team.all(|thread| {
                let own = shares[thread].clone();
                dot(&x[own.clone()], &y[own])
            });
            of_threads.into_iter().sum::<f64>()
        };
        pass();
        clock.start();
        let sum: f64 = clock.time("ddot", || (0..self.passes).map(|_| pass()).sum());
        clock.stop();
        let expected = real(self.passes) * self.product() as f64;
        vec![Check::relative("sum of all passes", expected, sum, 0.0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::tests::checks_of;
    use crate::verification::is_verified;

    #[test]
    fn a_wrong_element_is_found() {
        let ddot = Ddot { elements: 1001, passes: 3, ..Ddot::new(Class::S) };
        assert!(is_verified(&checks_of(&ddot, 2)));
        assert!(is_verified(&checks_of(&Ddot { elements: 3, ..ddot }, 5)));
        assert!(!is_verified(&checks_of(&Ddot { periods: [7, 6], ..ddot }, 2)));
    }

    #[test]
    fn every_element_counts() {
        let x = vec![1.0; 3 * LANES + 5];
        for at in 0..x.len() {
            let mut y = vec![0.0; x.len()];
            y[at] = 3.0;
            assert_eq!(dot(&x, &y).to_bits(), 3.0_f64.to_bits(), "element {at}");
        }
    }
}
