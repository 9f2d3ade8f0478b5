//! FT: diffusion on a periodic block by Fourier transforms in three dimensions, forth once and back in
//! each iteration. Bound by the streams of whole arrays, which the transforms along y and z take with
//! long strides; planes along x and y are a thread's, but lines along z go through all threads' planes.
//!
//! A row is longer by a place than the block, as in the benchmark: strides are no powers of two.
//!
//! Source: NAS Parallel Benchmarks 3.4, FT; braithwaite2012, figures 6.3 and 6.4.

mod fft;
mod known;

use std::f64::consts::PI;

use self::fft::{Complex, Direction, Roots, Scratch, scratch_len};
use crate::array::{Array, ArrayPlan};
use crate::clock::Clock;
use crate::nas_random::{NasRandom, SEED};
use crate::passes::{Pass, Touch, traffic_of};
use crate::program::Program;
use crate::size::Class;
use crate::team::{Team, cut, shares};
use crate::traffic::{ArrayTraffic, PhaseTraffic};
use crate::verification::Check;

/// Places that are summed.
const SUMMED: usize = 1024;

const TOLERANCE: f64 = 1e-12;

/// Places of a row that are in no line.
const SPARE: usize = 1;

/// Lines along y or z that are transformed at a time: they lie side by side.
const BLOCK: usize = 8;

/// FT of a class.
#[derive(Debug, Clone, Copy)]
pub struct Ft {
    /// Places along x, y and z.
    size: [usize; 3],
    /// How fast what is on the block diffuses.
    alpha: f64,
    /// Each iteration's checksum.
    checksums: &'static [Complex],
}

impl Ft {
    pub fn new(class: Class) -> Self {
        let (size, checksums) = match class {
            Class::S => ([64, 64, 64], known::S),
            Class::W => ([128, 128, 32], known::W),
            Class::A => ([256, 256, 128], known::A),
            Class::B => ([512, 256, 256], known::B),
            Class::C => ([512, 512, 512], known::C),
        };
        Self { size, alpha: 1e-6, checksums }
    }

    fn places(&self) -> usize {
        self.size.iter().product()
    }

    fn row_len(&self) -> usize {
        self.size[0] + SPARE
    }

    fn plane_len(&self) -> usize {
        self.size[1] * self.row_len()
    }

    fn scratch_len(&self) -> usize {
        scratch_len(BLOCK * self.size.into_iter().max().unwrap_or(0))
    }

    /// Each thread's part of an array whose planes are shared out.
    fn planes<'a, T>(&self, values: &'a mut [T], team: &Team) -> Vec<&'a mut [T]> {
        cut(values, &team.shares(self.size[2]), self.plane_len())
    }

    /// Of each place along an axis the factor that an iteration damps its frequency by.
    fn damping(&self, axis: usize) -> Vec<f64> {
        let size = self.size[axis];
        let frequency = |place: usize| count(if place < size / 2 { place } else { size - place });
        (0..size)
            .map(|place| (-4.0 * self.alpha * PI * PI * frequency(place).powi(2)).exp())
            .collect()
    }

    /// Writes of each place the factor of an iteration.
    fn write_factors(&self, twiddle: &mut [f64], team: &Team) {
        let [x, y, z] = [0, 1, 2].map(|axis| self.damping(axis));
        team.each(self.planes(twiddle, team), |thread, own| {
            let z = &z[team.shares(self.size[2])[thread].clone()];
            for (plane, z) in own.chunks_exact_mut(self.plane_len()).zip(z) {
                for (row, y) in plane.chunks_exact_mut(self.row_len()).zip(&y) {
                    row.iter_mut().zip(&x).for_each(|(factor, x)| *factor = x * (y * z));
                }
            }
        });
    }

    /// Writes random numbers, in the places' order.
    fn write_start(&self, u: &mut [Complex], team: &Team) {
        team.each(self.planes(u, team), |thread, own| {
            let first = team.shares(self.size[2])[thread].start * self.size[0] * self.size[1];
            let mut random = NasRandom::new(SEED).after(2 * first as u64);
            for row in own.chunks_exact_mut(self.row_len()) {
                row[..self.size[0]].fill_with(|| [random.draw(), random.draw()]);
            }
        });
    }

    /// Factors and random numbers, and these transformed.
    fn set_up(&self, run: &mut Run<'_>, clock: &mut Clock) {
        clock.time("setup", || {
            self.write_factors(run.twiddle, run.team);
            self.write_start(run.u0, run.team);
        });
        let Run { u0, scratch, roots: [[x, y, z], _], team, .. } = run;
        clock.time("cffts1", || self.along_x(u0, scratch, x, team));
        clock.time("cffts2", || self.along_y(u0, scratch, y, team));
        clock.time("cffts3", || self.along_z(u0, scratch, z, team));
    }

    /// Damps all frequencies, and computes the state that they are of. The sum of some of its places.
    fn iterate(&self, run: &mut Run<'_>, clock: &mut Clock) -> Complex {
        clock.time("evolve", || self.evolve(run.u0, run.u1, run.twiddle, run.team));
        let Run { u1, scratch, roots: [_, [x, y, z]], team, .. } = run;
        clock.time("cffts3", || self.along_z(u1, scratch, z, team));
        clock.time("cffts2", || self.along_y(u1, scratch, y, team));
        clock.time("cffts1", || self.along_x(u1, scratch, x, team));
        clock.time("checksum", || self.checksum(u1, team))
    }

    fn evolve(&self, u0: &mut [Complex], u1: &mut [Complex], twiddle: &[f64], team: &Team) {
        let parts = self.planes(u0, team).into_iter().zip(self.planes(u1, team));
        team.each(parts, |thread, (u0, u1)| {
            let first = team.shares(self.size[2])[thread].start * self.plane_len();
            damp(u0, u1, &twiddle[first..][..u0.len()]);
        });
    }

    fn along_x(&self, u: &mut [Complex], scratch: &mut [Complex], roots: &Roots, team: &Team) {
        let scratch = scratch.chunks_exact_mut(self.scratch_len());
        team.each(self.planes(u, team).into_iter().zip(scratch), |_, (own, scratch)| {
            let mut scratch = Scratch::new(scratch, self.size[0]);
            for row in own.chunks_exact_mut(self.row_len()) {
                let line = &mut row[..self.size[0]];
                scratch.values().copy_from_slice(line);
                line.copy_from_slice(scratch.transform(roots));
            }
        });
    }

    fn along_y(&self, u: &mut [Complex], scratch: &mut [Complex], roots: &Roots, team: &Team) {
        let scratch = scratch.chunks_exact_mut(self.scratch_len());
        team.each(self.planes(u, team).into_iter().zip(scratch), |_, (own, scratch)| {
            let mut scratch = Scratch::new(scratch, BLOCK * self.size[1]);
            for plane in own.chunks_exact_mut(self.plane_len()) {
                for block in 0..self.blocks() {
                    let values = scratch.values().as_chunks_mut::<BLOCK>().0;
                    for (value, row) in values.iter_mut().zip(plane.chunks_exact(self.row_len())) {
                        *value = row.as_chunks().0[block];
                    }
                    let done = scratch.transform(roots).as_chunks::<BLOCK>().0;
                    for (row, done) in plane.chunks_exact_mut(self.row_len()).zip(done) {
                        row.as_chunks_mut().0[block] = *done;
                    }
                }
            }
        });
    }

    fn along_z(&self, u: &mut [Complex], scratch: &mut [Complex], roots: &Roots, team: &Team) {
        // Each thread's are the same rows of all planes.
        let rows = shares(self.size[1], team.threads());
        let mut of_threads: Vec<Vec<&mut [Complex]>> =
            rows.iter().map(|_| Vec::with_capacity(self.size[2])).collect();
        for plane in u.chunks_exact_mut(self.plane_len()) {
            let parts = cut(plane, &rows, self.row_len());
            of_threads.iter_mut().zip(parts).for_each(|(own, part)| own.push(part));
        }
        let scratch = scratch.chunks_exact_mut(self.scratch_len());
        team.each(of_threads.into_iter().zip(scratch), |thread, (mut own, scratch)| {
            let mut scratch = Scratch::new(scratch, BLOCK * self.size[2]);
            for row in 0..rows[thread].len() {
                let row = row * self.row_len()..(row + 1) * self.row_len();
                for block in 0..self.blocks() {
                    let values = scratch.values().as_chunks_mut::<BLOCK>().0;
                    for (value, plane) in values.iter_mut().zip(&own) {
                        *value = plane[row.clone()].as_chunks().0[block];
                    }
                    let done = scratch.transform(roots).as_chunks::<BLOCK>().0;
                    for (plane, done) in own.iter_mut().zip(done) {
                        plane[row.clone()].as_chunks_mut().0[block] = *done;
                    }
                }
            }
        });
    }

    /// In a row, of places that are transformed at a time.
    fn blocks(&self) -> usize {
        self.size[0] / BLOCK
    }

    fn checksum(&self, u: &[Complex], team: &Team) -> Complex {
        let [x, y, z] = self.size;
        let of_threads = team.all(|thread| {
            let own = team.shares(SUMMED)[thread].clone();
            own.fold([0.0; 2], |sum, at| {
                let at = at + 1;
                let row = 5 * at % z * y + 3 * at % y;
                plus(sum, u[row * self.row_len() + at % x])
            })
        });
        of_threads.into_iter().fold([0.0; 2], plus).map(|part| part / count(self.places()))
    }
}

/// What a run works with.
struct Run<'a> {
    u0: &'a mut [Complex],
    u1: &'a mut [Complex],
    twiddle: &'a mut [f64],
    scratch: &'a mut [Complex],
    /// Forth and back, of the lines along x, y and z.
    roots: [[Roots; 3]; 2],
    team: &'a Team,
}

fn plus(a: Complex, b: Complex) -> Complex {
    [a[0] + b[0], a[1] + b[1]]
}

/// Damps u0, and copies it to u1.
fn damp(u0: &mut [Complex], u1: &mut [Complex], factors: &[f64]) {
    for ((u0, u1), factor) in u0.iter_mut().zip(u1).zip(factors) {
        *u0 = [u0[0] * factor, u0[1] * factor];
        *u1 = *u0;
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
fn count(things: usize) -> f64 {
    things as f64
}

impl Program for Ft {
    fn arrays(&self, threads: usize) -> Vec<ArrayPlan> {
        let planes = (self.size[2], self.plane_len());
        vec![
            ArrayPlan::shared::<Complex>("u0", planes, threads, true),
            ArrayPlan::shared::<Complex>("u1", planes, threads, true),
            ArrayPlan::shared::<f64>("twiddle", planes, threads, false),
            ArrayPlan::shared::<Complex>("scratch", (threads, self.scratch_len()), threads, false),
        ]
    }

    fn work(&self) -> f64 {
        let (places, iterations) = (count(self.places()), count(self.checksums.len()));
        let log = places.ln();
        places * (14.8157 + 7.19641 * log + (5.23518 + 7.21113 * log) * iterations) / 1e6
    }

    fn unit(&self) -> &'static str {
        "Mop"
    }

    fn traffic(&self, cache_bytes: f64) -> Vec<PhaseTraffic> {
        let places = count(self.places());
        let of_places = count(self.size[2] * self.plane_len());
        let (complex, real) = (16.0 * of_places, 8.0 * of_places);
        let along = |phase, axis: usize, array| {
            let flops = places * Roots::flops_of_place(self.size[axis]);
            Pass::new(phase, flops, vec![Touch::written(array, complex)])
        };
        let factors = || vec![Touch::written("twiddle", real)];
        let start = || vec![Touch::written("u0", complex)];
        let forth = || ["cffts1", "cffts2", "cffts3"].into_iter().enumerate();
        let mut passes = vec![Pass::untimed(factors()), Pass::untimed(start())];
        passes.extend(forth().map(|_| Pass::untimed(start())));
        passes.extend([
            Pass::new("setup", 2.0 * places, factors()),
            Pass::new("setup", 2.0 * places, start()),
        ]);
        passes.extend(forth().map(|(axis, phase)| along(phase, axis, "u0")));
        for _ in self.checksums {
            let touches = vec![
                Touch::written("u0", complex),
                Touch::written("u1", complex),
                Touch::read("twiddle", real),
            ];
            passes.push(Pass::new("evolve", 2.0 * places, touches));
            passes.extend(forth().rev().map(|(axis, phase)| along(phase, axis, "u1")));
        }
        let mut phases = traffic_of(&passes, cache_bytes);
        // Of what was written last the cache holds the rest.
        let lost = (1.0 - cache_bytes / complex).max(0.0);
        let summed = count(SUMMED * self.checksums.len());
        phases.push(PhaseTraffic {
            phase: "checksum",
            flops: 2.0 * summed,
            arrays: vec![ArrayTraffic::gathered("u1", lost * summed)],
        });
        phases
    }

    fn run(&self, arrays: &mut [Array], team: &Team, clock: &mut Clock) -> Vec<Check> {
        let [u0, u1, twiddle, scratch] = arrays else {
            unreachable!("the arrays that were planned")
        };
        let run = &mut Run {
            u0: u0.of_mut(),
            u1: u1.of_mut(),
            twiddle: twiddle.of_mut(),
            scratch: scratch.of_mut(),
            roots: [Direction::Forth, Direction::Back]
                .map(|direction| self.size.map(|places| Roots::new(places, direction))),
            team,
        };
        self.set_up(run, clock);
        let mut found = Vec::with_capacity(self.checksums.len());
        clock.start();
        self.set_up(run, clock);
        found.extend(self.checksums.iter().map(|_| self.iterate(run, clock)));
        clock.stop();
        let checks = self.checksums.iter().zip(found).enumerate();
        checks
            .flat_map(|(iteration, (known, found))| {
                ["real", "imaginary"].into_iter().zip(*known).zip(found).map(
                    move |((part, known), found)| {
                        let quantity = format!("checksum {}, {part} part", iteration + 1);
                        Check::relative(quantity, known, found, TOLERANCE)
                    },
                )
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
    fn a_wrong_rate_of_diffusion_or_size_is_found() {
        let ft = Ft::new(Class::S);
        for threads in [1, 2, 3, 70] {
            assert!(is_verified(&checks_of(&ft, threads)), "{threads} threads");
        }
        assert!(!is_verified(&checks_of(&Ft { alpha: 1.000_001e-6, ..ft }, 2)));
        assert!(!is_verified(&checks_of(&Ft { size: [64, 64, 32], ..ft }, 2)));
    }

    #[test]
    fn class_w_whose_sides_differ_is_verified() {
        let checks = checks_of(&Ft::new(Class::W), 2);
        assert!(is_verified(&checks), "{checks:#?}");
    }
}
