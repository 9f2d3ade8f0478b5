//! BT, SP and LU: three implicit solvers of one discrete flow, the compressible Navier-Stokes
//! equations on a cube of cells. What they share: the grid, the state and its right-hand side.
//!
//! Source: NAS Parallel Benchmarks 3.4 and Bailey and others, "The NAS Parallel Benchmarks"
//! (RNR-94-007), section 4; braithwaite2012, figures 6.3 and 6.4.

mod blocks;
mod bt;
mod known;
mod lines;
mod lu;
mod rhs;
mod sp;
mod state;
mod sweep;
mod traffic;
mod wide;

use std::ops::Range;

pub use bt::Bt;
pub use lu::Lu;
pub use sp::Sp;

use crate::arithmetic::real;
use crate::array::ArrayPlan;
use crate::team::shares;

/// Density, momentum in x, y and z, and energy of a cell.
type Cell = [f64; 5];

/// Ratio of the specific heats.
const C1: f64 = 1.4;
const C2: f64 = 0.4;
/// Viscosity.
const C34: f64 = 0.1;
/// Conduction of heat: `C1` times the benchmark's c5.
const C15: f64 = 1.96;
/// Artificial diffusion in x, y and z.
const DIFFUSION: [f64; 3] = [0.75, 0.75, 1.0];
/// Artificial dissipation: of the fourth difference.
const DISSIPATION: f64 = 0.25;

/// A cube of cells: i runs along x and fastest, then j along y, then k along z.
#[derive(Debug, Clone, Copy)]
struct Grid {
    /// Cells along an edge.
    n: usize,
    /// From a cell to its neighbour in each direction. Rows and planes are of an odd length, so that cells
    /// beside each other do not meet in a set of the cache.
    strides: [usize; 3],
}

impl Grid {
    fn new(n: usize) -> Self {
        let row = n | 1;
        Self { n, strides: [1, row, row * row] }
    }

    /// Cells of a row.
    fn row(self) -> usize {
        self.strides[1]
    }

    /// Cells of a plane.
    fn plane(self) -> usize {
        self.strides[2]
    }

    fn at(self, i: usize, j: usize, k: usize) -> usize {
        i + j * self.row() + k * self.plane()
    }

    /// Places along an edge that are not on the boundary.
    fn interior(self) -> Range<usize> {
        1..self.n - 1
    }

    /// Each thread's places along an edge: those within as even as can be, the boundary to the first
    /// and the last thread.
    fn shares(self, threads: usize) -> Vec<Range<usize>> {
        let mut shares = shares(self.n - 2, threads);
        for share in &mut shares {
            *share = share.start + 1..share.end + 1;
        }
        if let Some(first) = shares.first_mut() {
            first.start = 0;
        }
        if let Some(last) = shares.last_mut() {
            last.end = self.n;
        }
        shares
    }

    /// Those of a share that are not on the boundary.
    fn within(self, share: &Range<usize>) -> Range<usize> {
        share.start.max(1)..share.end.min(self.n - 1)
    }

    /// Distance of cells.
    fn spacing(self) -> f64 {
        1.0 / (real(self.n) - 1.0)
    }

    /// An array of a `T` a cell, shared out by planes.
    fn plan<T>(self, name: &'static str, threads: usize, is_hot: bool) -> ArrayPlan {
        self.plan_of_units(name, self.plane() * size_of::<T>(), threads, is_hot)
    }

    /// The same of one plane, shared out by rows.
    fn plan_of_plane<T>(self, name: &'static str, threads: usize, is_hot: bool) -> ArrayPlan {
        self.plan_of_units(name, self.row() * size_of::<T>(), threads, is_hot)
    }

    fn plan_of_units(
        self,
        name: &'static str,
        unit: usize,
        threads: usize,
        is_hot: bool,
    ) -> ArrayPlan {
        let owners = self.shares(threads).into_iter();
        let owners = owners.map(|share| share.start * unit..share.end * unit).collect();
        ArrayPlan { name, bytes: self.n * unit, is_hot, owners }
    }
}

/// What differs from class to class, and what comes out.
#[derive(Debug, Clone, Copy)]
struct Case {
    grid: Grid,
    /// Time of a step.
    dt: f64,
    steps: usize,
    /// Norms of what is left of each equation.
    residual: Cell,
    /// Norms of the distance from the steady state.
    error: Cell,
}

/// The factors of a direction in a step.
#[derive(Debug, Clone, Copy)]
struct Factors {
    /// dt / 2h: of central differences.
    central: f64,
    /// dt / h^2: of second differences.
    second: f64,
    /// dt / h^2 times the artificial diffusion.
    diffusion: f64,
    /// dt times the artificial dissipation.
    dissipation: f64,
}

impl Case {
    fn factors(&self, direction: usize) -> Factors {
        let h = self.grid.spacing();
        let second = self.dt / (h * h);
        Factors {
            central: self.dt / (2.0 * h),
            second,
            diffusion: second * DIFFUSION[direction],
            dissipation: self.dt * DISSIPATION,
        }
    }

    /// Weights of the fourth difference, from two places before to two after: near the boundary it is
    /// one-sided.
    fn fourth_difference(&self, place: usize) -> [f64; 5] {
        let n = self.grid.n;
        let mut weights = [1.0, -4.0, 6.0, -4.0, 1.0];
        if place <= 2 {
            weights[0] = 0.0;
        }
        if place + 3 >= n {
            weights[4] = 0.0;
        }
        if place == 1 {
            (weights[1], weights[2]) = (0.0, 5.0);
        }
        if place + 2 == n {
            (weights[3], weights[2]) = (0.0, 5.0);
        }
        weights
    }
}
