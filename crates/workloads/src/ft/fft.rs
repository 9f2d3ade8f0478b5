//! Fourier transforms of lines whose places are a power of two, several lines at a time.

use std::f64::consts::TAU;

/// Real and imaginary part.
pub type Complex = [f64; 2];

/// Which way a transform goes: forth with e^(-2 pi i / n), or back, without a factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Forth,
    Back,
}

/// What lines are transformed in, from one half to the other and back: place by place, of each place all
/// lines' values side by side.
#[derive(Debug)]
pub struct Scratch<'a> {
    from: &'a mut [Complex],
    to: &'a mut [Complex],
}

/// Places between the halves, lest their addresses be alike but for a page.
const GAP: usize = 12;

/// Places of the memory in which this many values are transformed.
pub fn scratch_len(values: usize) -> usize {
    2 * (values + GAP)
}

impl<'a> Scratch<'a> {
    /// For this many values of all lines.
    pub fn new(memory: &'a mut [Complex], values: usize) -> Self {
        let (from, to) = memory.split_at_mut(values + GAP);
        Self { from: &mut from[..values], to: &mut to[..values] }
    }

    /// Where values are written that are to be transformed.
    pub fn values(&mut self) -> &mut [Complex] {
        self.from
    }

    /// The values transformed.
    pub fn transform(&mut self, roots: &Roots) -> &[Complex] {
        if roots.transform(self.from, self.to) { self.to } else { self.from }
    }
}

/// A complex number as what the parts of another one are multiplied by, and what these are multiplied by
/// when they have changed places.
type Factor = [Complex; 2];

/// The roots of unity that lines of n places are transformed by.
#[derive(Debug)]
pub struct Roots {
    /// e^(-2 pi i k / n) forth, e^(2 pi i k / n) back.
    powers: Vec<Factor>,
    /// What the parts of a number that have changed places are multiplied by: that turns it by -i forth,
    /// by i back.
    turn: [f64; 2],
}

impl Roots {
    pub fn new(places: usize, direction: Direction) -> Self {
        let sign = if direction == Direction::Forth { -1.0 } else { 1.0 };
        #[expect(clippy::cast_precision_loss, reason = "places are few")]
        let angle = |k: usize| sign * TAU * k as f64 / places as f64;
        let powers = (0..places).map(angle).map(|angle| {
            let (im, re) = angle.sin_cos();
            [[re, re], [-im, im]]
        });
        Self { powers: powers.collect(), turn: [-sign, sign] }
    }

    /// Floating-point operations of a place of a line.
    pub fn flops_of_place(places: usize) -> f64 {
        let [fours, twos] = [places.ilog2() / 2, places.ilog2() % 2];
        f64::from(fours) * 36.0 / 4.0 + f64::from(twos) * 2.0
    }

    /// Transforms values by Stockham's method: in steps of four, and one of two where they leave a
    /// factor of it. Whether the result is in the second half.
    fn transform<'a>(&self, mut from: &'a mut [Complex], mut to: &'a mut [Complex]) -> bool {
        let places = self.powers.len();
        let mut is_second = false;
        // Each step leaves fewer places, for as many more lines.
        let mut stride = 1;
        while stride < places {
            if 4 * stride <= places {
                self.step_of_four(from, to, stride);
                stride *= 4;
            } else {
                step_of_two(from, to);
                stride *= 2;
            }
            std::mem::swap(&mut from, &mut to);
            is_second = !is_second;
        }
        is_second
    }

    fn step_of_four(&self, from: &[Complex], to: &mut [Complex], stride: usize) {
        let roots = |place: usize| [1, 2, 3].map(|power| self.powers[power * place * stride]);
        let lanes = from.len() / self.powers.len() * stride;
        let (ab, cd) = from.split_at(from.len() / 2);
        let ((a, b), (c, d)) = (ab.split_at(ab.len() / 2), cd.split_at(cd.len() / 2));
        if lanes == 1 {
            let from = a.iter().zip(b).zip(c.iter().zip(d)).enumerate();
            for ((place, ((a, b), (c, d))), to) in from.zip(to.as_chunks_mut::<4>().0) {
                *to = butterfly([*a, *b, *c, *d], roots(place), self.turn);
            }
        } else {
            for (place, to) in to.chunks_exact_mut(4 * lanes).enumerate() {
                let own = place * lanes..(place + 1) * lanes;
                let from = [&a[own.clone()], &b[own.clone()], &c[own.clone()], &d[own]];
                butterflies(from, to, roots(place), self.turn);
            }
        }
    }
}

#[inline]
fn butterflies(
    [a, b, c, d]: [&[Complex]; 4],
    to: &mut [Complex],
    roots: [Factor; 3],
    turn: [f64; 2],
) {
    let lanes = a.len();
    let (b, c, d) = (&b[..lanes], &c[..lanes], &d[..lanes]);
    let (first, rest) = to.split_at_mut(lanes);
    let (second, rest) = rest.split_at_mut(lanes);
    let (third, fourth) = rest.split_at_mut(lanes);
    let fourth = &mut fourth[..lanes];
    for lane in 0..lanes {
        let from = [a[lane], b[lane], c[lane], d[lane]];
        [first[lane], second[lane], third[lane], fourth[lane]] = butterfly(from, roots, turn);
    }
}

#[inline(always)]
fn butterfly([a, b, c, d]: [Complex; 4], roots: [Factor; 3], turn: [f64; 2]) -> [Complex; 4] {
    let (a_plus_c, a_less_c) = (plus(a, c), less(a, c));
    let (b_plus_d, b_less_d) = (plus(b, d), less(b, d));
    let turned = [b_less_d[1] * turn[0], b_less_d[0] * turn[1]];
    [
        plus(a_plus_c, b_plus_d),
        times(plus(a_less_c, turned), roots[0]),
        times(less(a_plus_c, b_plus_d), roots[1]),
        times(less(a_less_c, turned), roots[2]),
    ]
}

#[inline(always)]
fn plus(a: Complex, b: Complex) -> Complex {
    [a[0] + b[0], a[1] + b[1]]
}

#[inline(always)]
fn less(a: Complex, b: Complex) -> Complex {
    [a[0] - b[0], a[1] - b[1]]
}

/// The same operations for both parts, so that they vectorise.
#[inline(always)]
fn times(a: Complex, [by, turned]: Factor) -> Complex {
    [a[0] * by[0] + a[1] * turned[0], a[1] * by[1] + a[0] * turned[1]]
}

/// The last step where two places are left.
fn step_of_two(from: &[Complex], to: &mut [Complex]) {
    let (a, b) = from.split_at(from.len() / 2);
    let (sums, differences) = to.split_at_mut(a.len());
    let to = sums.iter_mut().zip(differences);
    for ((sum, difference), (a, b)) in to.zip(a.iter().zip(b)) {
        (*sum, *difference) = (plus(*a, *b), less(*a, *b));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nas_random::{NasRandom, SEED};

    #[test]
    fn lines_are_transformed_as_by_the_definition_and_back() {
        for (places, lines) in [(2, 3), (4, 1), (8, 8), (32, 1), (64, 8)] {
            let mut memory = vec![[0.0; 2]; scratch_len(places * lines)];
            let mut random = NasRandom::new(SEED);
            let values: Vec<Complex> =
                (0..places * lines).map(|_| [random.draw(), random.draw()]).collect();
            let [forth, back] =
                [Direction::Forth, Direction::Back].map(|direction| Roots::new(places, direction));
            let mut scratch = Scratch::new(&mut memory, values.len());
            scratch.values().copy_from_slice(&values);
            let found = scratch.transform(&forth).to_vec();
            let is_near = |a: Complex, b: Complex| less(a, b).iter().all(|part| part.abs() < 1e-12);
            for (at, &found) in found.iter().enumerate() {
                let (frequency, line) = (at / lines, at % lines);
                let terms = (0..places).map(|place| {
                    times(values[place * lines + line], forth.powers[frequency * place % places])
                });
                let expected = terms.fold([0.0; 2], plus);
                assert!(is_near(found, expected), "{places}: {found:?}, {expected:?}");
            }
            scratch.values().copy_from_slice(&found);
            let back = scratch.transform(&back);
            for (&found, value) in back.iter().zip(&values) {
                #[expect(clippy::cast_precision_loss, reason = "places are few")]
                let expected = value.map(|part| part * places as f64);
                assert!(is_near(found, expected), "{places}: {found:?}, {expected:?}");
            }
        }
    }
}
