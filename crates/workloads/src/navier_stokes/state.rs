//! The steady state, the state to begin with, and how far a state is from being steady.

use std::ops::Range;

use bytemuck::Pod;

use super::rhs::Flow;
use super::{Case, Cell, Grid, real};
use crate::array::Array;
use crate::clock::Clock;
use crate::team::{Team, cut};
use crate::verification::Check;

const TOLERANCE: f64 = 1e-8;

/// Coefficients of the steady state: for each component the constant, then those of x, y and z in the
/// powers 1 to 4.
const STEADY: [[f64; 13]; 5] = [
    [2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3],
    [1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5],
    [2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4],
    [2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3],
    [5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2],
];

fn steady([x, y, z]: [f64; 3]) -> Cell {
    STEADY.map(|e| {
        let power = |at: f64, of: usize| {
            at * (e[of] + at * (e[of + 3] + at * (e[of + 6] + at * e[of + 9])))
        };
        e[0] + power(x, 1) + power(y, 2) + power(z, 3)
    })
}

/// The steady state at the boundary; within, what its values on the six faces blend into.
fn first(at: [f64; 3]) -> Cell {
    let toward: [Cell; 3] = std::array::from_fn(|d| {
        let face = |value: f64| {
            let mut on = at;
            on[d] = value;
            steady(on)
        };
        let (low, high) = (face(0.0), face(1.0));
        std::array::from_fn(|m| at[d] * high[m] + (1.0 - at[d]) * low[m])
    });
    let [x, y, z] = toward;
    std::array::from_fn(|m| {
        x[m] + y[m] + z[m] - x[m] * y[m] - x[m] * z[m] - y[m] * z[m] + x[m] * y[m] * z[m]
    })
}

fn is_boundary(grid: Grid, place: [usize; 3]) -> bool {
    place.iter().any(|&at| at == 0 || at == grid.n - 1)
}

fn coordinates(grid: Grid, place: [usize; 3]) -> [f64; 3] {
    place.map(|at| real(at) * grid.spacing())
}

/// Takes a case's steps, the first of them for warmth alone, on its arrays: the state, its change, the
/// forcing, the fields, and last what a line's solver keeps of each place.
pub fn march<const F: usize, P: Pod>(
    case: Case,
    arrays: &mut [Array],
    team: &Team,
    clock: &mut Clock,
    step: impl Fn(&mut Flow<'_, F>, &mut [P], &Team, &mut Clock),
) -> Vec<Check> {
    let [u, change, forcing, rest @ .., places] = arrays else {
        unreachable!("the arrays that were planned")
    };
    let Ok(fields) = <&mut [Array; F]>::try_from(rest) else {
        unreachable!("the fields that were planned")
    };
    let places = places.of_mut::<P>();
    let flow = &mut Flow {
        case,
        planes: case.grid.shares(team.threads()),
        u: u.of_mut(),
        forcing: forcing.of_mut(),
        change: change.of_mut(),
        fields: fields.each_mut().map(|field| field.of_mut()),
    };
    flow.prepare(team);
    step(flow, places, team, clock);
    flow.begin(team);
    clock.start();
    for _ in 0..case.steps {
        step(flow, places, team, clock);
    }
    clock.stop();
    flow.right_hand_side(team);
    flow.checks(team)
}

/// Writes each cell of the planes by its place.
fn write(
    grid: Grid,
    cells: &mut [Cell],
    planes: &[Range<usize>],
    team: &Team,
    value: impl Fn([usize; 3]) -> Cell + Sync,
) {
    team.each(cut(cells, planes, grid.plane()), |thread, cells| {
        for (plane, k) in cells.chunks_exact_mut(grid.plane()).zip(planes[thread].clone()) {
            for (row, j) in plane.chunks_exact_mut(grid.row()).zip(0..grid.n) {
                row.iter_mut().zip(0..grid.n).for_each(|(cell, i)| *cell = value([i, j, k]));
            }
        }
    });
}

impl<const F: usize> Flow<'_, F> {
    /// Makes the steady state one of the forced flow, then sets the state to begin with.
    pub fn prepare(&mut self, team: &Team) {
        let grid = self.case.grid;
        write(grid, self.u, &self.planes, team, |place| steady(coordinates(grid, place)));
        self.forcing.fill([0.0; 5]);
        self.right_hand_side(team);
        let (forcing, change) = (&mut *self.forcing, &*self.change);
        let dt = self.case.dt;
        for (forcing, change) in forcing.iter_mut().zip(change) {
            *forcing = change.map(|value| -value / dt);
        }
        self.begin(team);
    }

    /// Sets the state to begin with.
    pub fn begin(&mut self, team: &Team) {
        let grid = self.case.grid;
        write(grid, self.u, &self.planes, team, |place| {
            let at = coordinates(grid, place);
            if is_boundary(grid, place) { steady(at) } else { first(at) }
        });
    }

    /// Adds the change to the state, times so much.
    pub fn add(&mut self, times: f64, team: &Team) {
        let (grid, change) = (self.case.grid, &*self.change);
        let planes = &self.planes;
        team.each(cut(self.u, planes, grid.plane()), |thread, u| {
            let share = &planes[thread];
            for k in grid.within(share) {
                for j in grid.interior() {
                    let begin = grid.at(1, j, k);
                    let change = &change[begin..begin + grid.n - 2];
                    let begin = begin - share.start * grid.plane();
                    let u = &mut u[begin..begin + grid.n - 2];
                    for (u, change) in u.as_flattened_mut().iter_mut().zip(change.as_flattened()) {
                        *u += times * change;
                    }
                }
            }
        });
    }

    /// The norms of what is left of the equations, once the right-hand side is there, and of the distance
    /// from the steady state.
    pub fn checks(&self, team: &Team) -> Vec<Check> {
        let (grid, dt) = (self.case.grid, self.case.dt);
        let (u, change) = (&*self.u, &*self.change);
        let sums = team.all(|thread| {
            let mut sums = [[0.0; 5]; 2];
            for k in self.planes[thread].clone() {
                for (j, i) in (0..grid.n).flat_map(|j| (0..grid.n).map(move |i| (j, i))) {
                    let (place, at) = ([i, j, k], grid.at(i, j, k));
                    let steady = steady(coordinates(grid, place));
                    for m in 0..5 {
                        sums[1][m] += (u[at][m] - steady[m]).powi(2);
                        if !is_boundary(grid, place) {
                            sums[0][m] += (change[at][m] / dt).powi(2);
                        }
                    }
                }
            }
            sums
        });
        let norm = |of: usize, m: usize| {
            let sum: f64 = sums.iter().map(|sums| sums[of][m]).sum();
            (sum / real(grid.n - 2).powi(3)).sqrt()
        };
        let Case { residual, error, .. } = self.case;
        let of = |name: &str, of: usize, known: Cell| {
            let check = |m: usize| {
                Check::relative(format!("{name} {}", m + 1), known[m], norm(of, m), TOLERANCE)
            };
            (0..5).map(check).collect::<Vec<_>>()
        };
        [of("norm of residual", 0, residual), of("norm of error", 1, error)].concat()
    }
}
