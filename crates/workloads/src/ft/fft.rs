//! Fourier transforms of several lines at a time.

use std::f64::consts::TAU;

/// Real and imaginary part.
pub type Complex = [f64; 2];

/// Lines that are transformed at a time: what is read of each place lies side by side, and vectorises.
pub const BLOCK: usize = 8;

/// Which way a transform goes: forth with e^(-2 pi i / n), or back, without a factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Forth,
    Back,
}

/// `BLOCK` lines place by place, the parts of their values apart.
#[derive(Debug)]
pub struct Lines<'a> {
    re: &'a mut [f64],
    im: &'a mut [f64],
}

/// What a thread transforms lines in: `scratch_len` values.
#[derive(Debug)]
pub struct Scratch<'a>([Lines<'a>; 2]);

/// Floats between the parts of the scratch memory, lest their addresses be alike.
const GAP: usize = 24;

/// Floats that lines of so many places are transformed in.
pub fn scratch_len(places: usize) -> usize {
    4 * (BLOCK * places + GAP)
}

impl<'a> Scratch<'a> {
    /// For lines of so many places.
    pub fn new(scratch: &'a mut [f64], places: usize) -> Self {
        let mut parts =
            scratch.chunks_exact_mut(BLOCK * places + GAP).map(|part| &mut part[..BLOCK * places]);
        let mut part = || parts.next().unwrap_or_default();
        Self([Lines { re: part(), im: part() }, Lines { re: part(), im: part() }])
    }

    /// Where lines are written that are to be transformed.
    pub fn lines(&mut self) -> &mut Lines<'a> {
        &mut self.0[0]
    }

    /// The lines transformed.
    pub fn transform(&mut self, roots: &Roots, direction: Direction) -> &Lines<'a> {
        let [from, to] = &mut self.0;
        // Parts that change places turn the transform around.
        let (from_parts, to_parts) = match direction {
            Direction::Forth => ([&mut *from.re, &mut *from.im], [&mut *to.re, &mut *to.im]),
            Direction::Back => ([&mut *from.im, &mut *from.re], [&mut *to.im, &mut *to.re]),
        };
        if roots.transform(from_parts, to_parts) { to } else { from }
    }
}

impl Lines<'_> {
    /// Takes of each place the lines' values, which lie side by side.
    pub fn gather<'b>(&mut self, places: impl Iterator<Item = &'b [Complex]>) {
        let (re, im) = (self.re.as_chunks_mut::<BLOCK>().0, self.im.as_chunks_mut::<BLOCK>().0);
        for ((re, im), place) in re.iter_mut().zip(im).zip(places) {
            let parts = re.iter_mut().zip(im);
            parts.zip(place).for_each(|((re, im), value)| [*re, *im] = *value);
        }
    }

    pub fn scatter<'b>(&self, places: impl Iterator<Item = &'b mut [Complex]>) {
        let (re, im) = (self.re.as_chunks::<BLOCK>().0, self.im.as_chunks::<BLOCK>().0);
        for ((re, im), place) in re.iter().zip(im).zip(places) {
            place
                .iter_mut()
                .zip(re.iter().zip(im))
                .for_each(|(value, (re, im))| *value = [*re, *im]);
        }
    }

    /// Takes lines that lie one behind another.
    pub fn gather_rows(&mut self, rows: &[Complex], row_len: usize) {
        let (re, im) = (self.re.as_chunks_mut::<BLOCK>().0, self.im.as_chunks_mut::<BLOCK>().0);
        let places = re.len();
        let im = &mut im[..places];
        let rows: [&[Complex]; BLOCK] = std::array::from_fn(|row| &rows[row * row_len..][..places]);
        for place in 0..places {
            for (lane, row) in rows.iter().enumerate() {
                [re[place][lane], im[place][lane]] = row[place];
            }
        }
    }

    pub fn scatter_rows(&self, rows: &mut [Complex], row_len: usize) {
        let (re, im) = (self.re.as_chunks::<BLOCK>().0, self.im.as_chunks::<BLOCK>().0);
        for (lane, row) in rows.chunks_mut(row_len).enumerate().take(BLOCK) {
            let parts = re.iter().zip(im);
            row.iter_mut().zip(parts).for_each(|(value, (re, im))| *value = [re[lane], im[lane]]);
        }
    }
}

/// The roots of unity e^(-2 pi i k / n), for lines of n places, a power of two.
#[derive(Debug)]
pub struct Roots(Vec<Complex>);

impl Roots {
    pub fn new(places: usize) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "places are few")]
        let angle = |k: usize| -TAU * k as f64 / places as f64;
        Self((0..places).map(|k| [angle(k).cos(), angle(k).sin()]).collect())
    }

    /// Floating-point operations of a line's place.
    pub fn flops_of_place(places: usize) -> f64 {
        let [fours, twos] = [places.ilog2() / 2, places.ilog2() % 2];
        f64::from(fours) * 34.0 / 4.0 + f64::from(twos) * 2.0
    }

    /// Transforms lines from one place of memory to the other and back, by Stockham's method: in steps
    /// of four, and one of two where they leave a factor of it. Whether the result is in the second
    /// place.
    fn transform<'a>(&self, mut from: [&'a mut [f64]; 2], mut to: [&'a mut [f64]; 2]) -> bool {
        let mut is_second = false;
        let (mut places, mut lanes) = (self.0.len(), BLOCK);
        while places > 1 {
            let [re, im] = &mut to;
            if places >= 4 {
                self.step_of_four([from[0], from[1]], re, im, lanes);
                (places, lanes) = (places / 4, lanes * 4);
            } else {
                from.iter().zip([re, im]).for_each(|(from, to)| step_of_two(from, to));
                places = 1;
            }
            std::mem::swap(&mut from, &mut to);
            is_second = !is_second;
        }
        is_second
    }

    /// A quarter of the places is left for each of four times as many lanes.
    fn step_of_four(&self, from: [&[f64]; 2], re: &mut [f64], im: &mut [f64], lanes: usize) {
        let quarter = re.len() / 4;
        let stride = lanes / BLOCK;
        let to = re.chunks_exact_mut(4 * lanes).zip(im.chunks_exact_mut(4 * lanes));
        for (place, (re, im)) in to.enumerate() {
            let roots = [1, 2, 3].map(|power| self.0[power * place * stride]);
            let own = |part: &'_ [f64], nth: usize| nth * quarter + place * lanes..part.len();
            let [re_from, im_from] =
                from.map(|part| [0, 1, 2, 3].map(|nth| &part[own(part, nth)][..lanes]));
            butterflies(re_from, im_from, re, im, roots);
        }
    }
}

/// Lanes that a butterfly takes at a time.
const WIDTH: usize = 2;

#[inline]
fn butterflies(
    re_from: [&[f64]; 4],
    im_from: [&[f64]; 4],
    re: &mut [f64],
    im: &mut [f64],
    roots: [Complex; 3],
) {
    let lanes = re.len() / 4;
    let [a_re, b_re, c_re, d_re] = re_from.map(|part| part[..lanes].as_chunks::<WIDTH>().0);
    let [a_im, b_im, c_im, d_im] = im_from.map(|part| part[..lanes].as_chunks::<WIDTH>().0);
    let lanes = a_re.len();
    let (re, im) = (re.as_chunks_mut::<WIDTH>().0, im.as_chunks_mut::<WIDTH>().0);
    let (re, im) = (&mut re[..4 * lanes], &mut im[..4 * lanes]);
    for lane in 0..lanes {
        let [a, b] = [[a_re[lane], a_im[lane]], [b_re[lane], b_im[lane]]];
        let [c, d] = [[c_re[lane], c_im[lane]], [d_re[lane], d_im[lane]]];
        let (a_plus_c, a_less_c) = (plus(a, c), less(a, c));
        let (b_plus_d, b_less_d) = (plus(b, d), less(b, d));
        // -i (b - d).
        let turned = [b_less_d[1], b_less_d[0].map(|value| -value)];
        let out = [
            plus(a_plus_c, b_plus_d),
            times(plus(a_less_c, turned), roots[0]),
            times(less(a_plus_c, b_plus_d), roots[1]),
            times(less(a_less_c, turned), roots[2]),
        ];
        for (nth, [out_re, out_im]) in out.into_iter().enumerate() {
            re[nth * lanes + lane] = out_re;
            im[nth * lanes + lane] = out_im;
        }
    }
}

/// Complex numbers side by side, the parts apart.
type Wide = [[f64; WIDTH]; 2];

#[inline]
fn plus(a: Wide, b: Wide) -> Wide {
    each(|part, lane| a[part][lane] + b[part][lane])
}

#[inline]
fn less(a: Wide, b: Wide) -> Wide {
    each(|part, lane| a[part][lane] - b[part][lane])
}

#[inline]
fn times([re, im]: Wide, by: Complex) -> Wide {
    let lanes =
        |of: fn(f64, f64, Complex) -> f64| std::array::from_fn(|lane| of(re[lane], im[lane], by));
    [lanes(|re, im, by| re * by[0] - im * by[1]), lanes(|re, im, by| re * by[1] + im * by[0])]
}

#[inline]
fn each(of: impl Fn(usize, usize) -> f64) -> Wide {
    std::array::from_fn(|part| std::array::from_fn(|lane| of(part, lane)))
}

/// The last step where two places are left.
fn step_of_two(from: &[f64], to: &mut [f64]) {
    let (a, b) = from.split_at(from.len() / 2);
    let (sums, differences) = to.split_at_mut(a.len());
    sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum = a + b);
    differences
        .iter_mut()
        .zip(a.iter().zip(b))
        .for_each(|(difference, (a, b))| *difference = a - b);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_transformed_as_by_the_definition_and_back() {
        for places in [2, 4, 8, 32, 64] {
            let mut memory = vec![0.0; scratch_len(places)];
            let mut random = crate::nas_random::NasRandom::new(crate::nas_random::SEED);
            let lines: Vec<Complex> =
                (0..places * BLOCK).map(|_| [random.draw(), random.draw()]).collect();
            let roots = Roots::new(places);
            let mut scratch = Scratch::new(&mut memory, places);
            scratch.lines().gather(lines.chunks(BLOCK));
            let mut found = vec![[0.0; 2]; lines.len()];
            scratch.transform(&roots, Direction::Forth).scatter(found.chunks_mut(BLOCK));
            for (at, found) in found.iter().enumerate() {
                let (frequency, lane) = (at / BLOCK, at % BLOCK);
                let mut sum = [0.0; 2];
                for place in 0..places {
                    let ([re, im], [cos, sin]) =
                        (lines[place * BLOCK + lane], roots.0[frequency * place % places]);
                    sum = [sum[0] + re * cos - im * sin, sum[1] + re * sin + im * cos];
                }
                let error = (found[0] - sum[0]).hypot(found[1] - sum[1]);
                assert!(error < 1e-12, "{places}, {frequency}: {found:?}, {sum:?}");
            }
            // Back by way of rows.
            let mut rows = vec![[0.0; 2]; lines.len()];
            for (at, &value) in found.iter().enumerate() {
                rows[at % BLOCK * places + at / BLOCK] = value;
            }
            scratch.lines().gather_rows(&rows, places);
            scratch.transform(&roots, Direction::Back).scatter_rows(&mut rows, places);
            for (at, line) in lines.iter().enumerate() {
                let found = rows[at % BLOCK * places + at / BLOCK];
                #[expect(clippy::cast_precision_loss, reason = "places are few")]
                let expected = line.map(|part| part * places as f64);
                let error = (found[0] - expected[0]).hypot(found[1] - expected[1]);
                assert!(error < 1e-12, "{places}: {found:?}, {expected:?}");
            }
        }
    }
}
