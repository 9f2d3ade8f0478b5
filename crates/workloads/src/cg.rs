//! CG: the smallest eigenvalue of a large sparse matrix, by inverse power iteration whose systems the
//! conjugate gradient method solves. Bound by the streams of the matrix; the vector is gathered at
//! random.
//!
//! Source: NAS Parallel Benchmarks 3.4, CG; braithwaite2012, figure 6.3; ribeiro2010, section 5.

use std::ops::Range;

use crate::array::{Array, ArrayPlan};
use crate::clock::Clock;
use crate::nas_random::{NasRandom, SEED};
use crate::program::Program;
use crate::size::Class;
use crate::team::{Team, cut, shares};
use crate::traffic::{ArrayTraffic, PhaseTraffic};
use crate::verification::Check;

const CONDITION: f64 = 0.1;

/// Steps of the conjugate gradient method in an iteration.
const STEPS: usize = 25;

const TOLERANCE: f64 = 1e-10;

/// CG of a class.
#[derive(Debug, Clone, Copy)]
pub struct Cg {
    rows: usize,
    /// Entries of a generating vector.
    entries: usize,
    iterations: usize,
    shift: f64,
    zeta: f64,
}

impl Cg {
    pub fn new(class: Class) -> Self {
        let (rows, entries, iterations, shift, zeta) = match class {
            Class::S => (1400, 7, 15, 10.0, 8.597_177_507_864_8),
            Class::W => (7000, 8, 15, 12.0, 10.362_595_087_124),
            Class::A => (14_000, 11, 15, 20.0, 17.130_235_054_029),
            Class::B => (75_000, 13, 75, 60.0, 22.712_745_482_631),
            Class::C => (150_000, 15, 75, 110.0, 28.973_605_592_845),
        };
        Self { rows, entries, iterations, shift, zeta }
    }

    /// Most entries of the matrix: those of all outer products, none at the same place.
    fn most_entries(&self) -> usize {
        self.rows * (self.entries + 1) * (self.entries + 1)
    }

    /// Entries that the matrix has of those: outer products meet at the same places. Counted in
    /// classes S, W and A (78148, 508402 and 1853104); the others are alike.
    fn filled_share(&self) -> f64 {
        match self.rows {
            1400 => 78_148.0 / (1400.0 * 64.0),
            7000 => 508_402.0 / (7000.0 * 81.0),
            _ => 1_853_104.0 / (14_000.0 * 144.0),
        }
    }

    /// The sparse vectors w whose outer products add up to the matrix.
    fn generators(&self) -> Vec<Vec<(usize, f64)>> {
        let mut random = NasRandom::new(SEED);
        random.draw();
        let range = self.rows.next_power_of_two();
        (0..self.rows)
            .map(|row| {
                let mut vector: Vec<(usize, f64)> = Vec::with_capacity(self.entries + 1);
                while vector.len() < self.entries {
                    let (value, place) = (random.draw(), random.draw());
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        clippy::cast_precision_loss,
                        reason = "a place below the number of rows, which is small"
                    )]
                    let place = (range as f64 * place) as usize;
                    if place < self.rows && vector.iter().all(|&(known, _)| known != place) {
                        vector.push((place, value));
                    }
                }
                match vector.iter_mut().find(|(place, _)| *place == row) {
                    Some((_, value)) => *value = 0.5,
                    None => vector.push((row, 0.5)),
                }
                vector
            })
            .collect()
    }

    /// Writes the matrix by rows: values and columns in ascending order, and where each row begins.
    fn assemble(&self, values: &mut [f64], columns: &mut [u32], starts: &mut [u32]) {
        let vectors = self.generators();
        // By row of the matrix, the vectors that have an entry there.
        let mut of_rows: Vec<Vec<(usize, f64)>> = vec![Vec::new(); self.rows];
        for (vector, entries) in vectors.iter().enumerate() {
            entries.iter().for_each(|&(row, value)| of_rows[row].push((vector, value)));
        }
        #[expect(clippy::cast_precision_loss, reason = "rows are few")]
        let ratio = CONDITION.powf(1.0 / self.rows as f64);
        let mut scales = Vec::with_capacity(self.rows);
        let mut scale = 1.0;
        for _ in 0..self.rows {
            scales.push(scale);
            scale *= ratio;
        }
        let mut sums = vec![0.0; self.rows];
        let mut used: Vec<usize> = Vec::new();
        let mut is_used = vec![false; self.rows];
        let mut end = 0;
        for (row, generators) in of_rows.iter().enumerate() {
            starts[row] = index(end);
            for &(vector, value) in generators {
                for &(column, other) in &vectors[vector] {
                    if !std::mem::replace(&mut is_used[column], true) {
                        used.push(column);
                    }
                    sums[column] += scales[vector] * value * other;
                }
            }
            sums[row] += CONDITION - self.shift;
            used.sort_unstable();
            for column in used.drain(..) {
                columns[end] = index(column);
                values[end] = std::mem::take(&mut sums[column]);
                is_used[column] = false;
                end += 1;
            }
        }
        starts[self.rows] = index(end);
    }
}

#[expect(clippy::cast_possible_truncation, reason = "below 2^32 in every class")]
fn index(place: usize) -> u32 {
    place as u32
}

/// The matrix by rows.
#[derive(Clone, Copy)]
struct Matrix<'a> {
    values: &'a [f64],
    columns: &'a [u32],
    starts: &'a [u32],
}

impl Matrix<'_> {
    /// A row of A x.
    #[inline]
    fn row_times(&self, row: usize, x: &[f64]) -> f64 {
        let entries = self.starts[row] as usize..self.starts[row + 1] as usize;
        let (values, columns) = (&self.values[entries.clone()], &self.columns[entries]);
        values.iter().zip(columns).map(|(value, &column)| value * x[column as usize]).sum()
    }
}

/// The vectors of a solution: all have an element a row.
struct Vectors<'a> {
    x: &'a mut [f64],
    z: &'a mut [f64],
    p: &'a mut [f64],
    q: &'a mut [f64],
    r: &'a mut [f64],
}

/// What a solve leaves.
struct Solved {
    x_z: f64,
    z_z: f64,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Solves A z = x roughly, then makes x the direction of z.
fn solve(
    matrix: Matrix<'_>,
    vectors: &mut Vectors<'_>,
    rows: &[Range<usize>],
    team: &Team,
    clock: &mut Clock,
) -> Solved {
    let Vectors { x, z, p, q, r } = vectors;
    let sum = |of_threads: Vec<f64>| of_threads.into_iter().sum::<f64>();
    let mut rho = clock.time("vectors", || {
        let x = &**x;
        let parts = cut(z, rows, 1).into_iter().zip(cut(p, rows, 1)).zip(cut(r, rows, 1));
        sum(team.each(parts, |thread, ((z, p), r)| {
            let x = &x[rows[thread].clone()];
            z.fill(0.0);
            p.copy_from_slice(x);
            r.copy_from_slice(x);
            dot(r, r)
        }))
    });
    for _ in 0..STEPS {
        let p_q = clock.time("product", || {
            let p = &**p;
            sum(team.each(cut(q, rows, 1), |thread, q| {
                let own = rows[thread].clone();
                q.iter_mut().zip(own.clone()).for_each(|(q, row)| *q = matrix.row_times(row, p));
                dot(&p[own], q)
            }))
        });
        let alpha = rho / p_q;
        let (before, next) = clock.time("vectors", || {
            let (p, q) = (&**p, &**q);
            let parts = cut(z, rows, 1).into_iter().zip(cut(r, rows, 1));
            let next = sum(team.each(parts, |thread, (z, r)| {
                let own = rows[thread].clone();
                let (p, q) = (&p[own.clone()], &q[own]);
                z.iter_mut().zip(p).for_each(|(z, p)| *z += alpha * p);
                r.iter_mut().zip(q).for_each(|(r, q)| *r -= alpha * q);
                dot(r, r)
            }));
            (std::mem::replace(&mut rho, next), next)
        });
        let beta = next / before;
        clock.time("vectors", || {
            let r = &**r;
            team.each(cut(p, rows, 1), |thread, p| {
                let r = &r[rows[thread].clone()];
                p.iter_mut().zip(r).for_each(|(p, r)| *p = r + beta * *p);
            })
        });
    }
    // The benchmark computes |x - A z| too, and prints it: its time counts.
    clock.time("product", || {
        let z = &**z;
        team.each(cut(r, rows, 1), |thread, r| {
            let own = rows[thread].clone();
            r.iter_mut().zip(own).for_each(|(r, row)| *r = matrix.row_times(row, z));
        })
    });
    clock.time("vectors", || {
        let (x_, z_, r_) = (&**x, &**z, &**r);
        let sums = team.all(|thread| {
            let own = rows[thread].clone();
            let (x, z) = (&x_[own.clone()], &z_[own.clone()]);
            let rest: f64 = x.iter().zip(&r_[own]).map(|(x, r)| (x - r) * (x - r)).sum();
            (dot(x, z), dot(z, z), std::hint::black_box(rest))
        });
        let x_z: f64 = sums.iter().map(|it| it.0).sum();
        let z_z: f64 = sums.iter().map(|it| it.1).sum();
        let norm = 1.0 / z_z.sqrt();
        let z = &**z;
        team.each(cut(x, rows, 1), |thread, x| {
            let z = &z[rows[thread].clone()];
            x.iter_mut().zip(z).for_each(|(x, z)| *x = norm * z);
        });
        Solved { x_z, z_z }
    })
}

impl Program for Cg {
    fn arrays(&self, threads: usize) -> Vec<ArrayPlan> {
        let (rows, most) = (self.rows, self.most_entries());
        // Rows have about as many entries each: a share of rows is a share of the matrix.
        let per_row = most / rows;
        let vector = |name| ArrayPlan::shared::<f64>(name, (rows, 1), threads, false);
        vec![
            ArrayPlan::shared::<f64>("a", (rows, per_row), threads, true),
            ArrayPlan::shared::<u32>("colidx", (rows, per_row), threads, true),
            ArrayPlan::shared::<u32>("rowstr", (rows + 1, 1), threads, false),
            vector("x"),
            vector("z"),
            vector("p"),
            vector("q"),
            vector("r"),
        ]
    }

    fn work(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
        let of = |count: usize| count as f64;
        let outer = of(self.entries * (self.entries + 1));
        let steps = of(STEPS);
        2.0 * of(self.iterations) * of(self.rows) * (3.0 + outer + steps * (5.0 + outer) + 3.0)
            / 1e6
    }

    fn unit(&self) -> &'static str {
        "Mop"
    }

    fn traffic(&self, cache_bytes: f64) -> Vec<PhaseTraffic> {
        #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
        let of = |count: usize| count as f64;
        let rows = of(self.rows);
        // Entries at the same place are one.
        let entries = of(self.most_entries()) * self.filled_share();
        let iterations = of(self.iterations);
        let products = iterations * of(STEPS + 1);
        let (matrix, vector) = (12.0 * entries, 8.0 * rows);
        let (products_moved, vectors_moved) = if matrix + 5.0 * vector <= cache_bytes {
            (0.0, 0.0)
        } else if 5.0 * vector <= cache_bytes / 2.0 {
            (products, 0.0)
        } else {
            (products, iterations * of(STEPS))
        };
        let phase = |phase, flops, arrays| PhaseTraffic { phase, flops, arrays };
        vec![
            phase(
                "product",
                products * (2.0 * entries + 2.0 * rows),
                vec![
                    ArrayTraffic::read("a", products_moved * 8.0 * entries),
                    ArrayTraffic::read("colidx", products_moved * 4.0 * entries),
                    ArrayTraffic::read("p", vectors_moved * vector),
                    ArrayTraffic::written("q", vectors_moved * vector),
                ],
            ),
            phase(
                "vectors",
                iterations * (of(STEPS) * 8.0 + 9.0) * rows,
                vec![
                    ArrayTraffic::written("z", vectors_moved * vector),
                    ArrayTraffic::written("r", vectors_moved * vector),
                    ArrayTraffic::written("p", vectors_moved * vector),
                ],
            ),
        ]
    }

    fn run(&self, arrays: &mut [Array], team: &Team, clock: &mut Clock) -> Vec<Check> {
        let [values, columns, starts, x, z, p, q, r] = arrays else {
            unreachable!("the arrays that were planned")
        };
        self.assemble(values.of_mut(), columns.of_mut(), starts.of_mut());
        let matrix = Matrix { values: values.of(), columns: columns.of(), starts: starts.of() };
        let rows = &shares(self.rows, team.threads());
        let vectors = &mut Vectors {
            x: x.of_mut(),
            z: z.of_mut(),
            p: p.of_mut(),
            q: q.of_mut(),
            r: r.of_mut(),
        };
        vectors.x.fill(1.0);
        solve(matrix, vectors, rows, team, clock);
        vectors.x.fill(1.0);
        clock.start();
        let mut zeta = 0.0;
        for _ in 0..self.iterations {
            let solved = solve(matrix, vectors, rows, team, clock);
            std::hint::black_box(solved.z_z);
            zeta = self.shift + 1.0 / solved.x_z;
        }
        clock.stop();
        vec![Check::relative("zeta", self.zeta, zeta, TOLERANCE)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::tests::checks_of;
    use crate::verification::is_verified;

    #[test]
    fn a_missing_entry_or_too_few_iterations_are_found() {
        let cg = Cg::new(Class::S);
        assert!(is_verified(&checks_of(&cg, 2)));
        assert!(!is_verified(&checks_of(&Cg { entries: 6, ..cg }, 2)));
        assert!(!is_verified(&checks_of(&Cg { iterations: 3, ..cg }, 2)));
    }
}
