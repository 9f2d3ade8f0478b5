//! The two sweeps of successive over-relaxation. Each thread has some rows of every plane, and begins a
//! plane once the thread before it has done it: a pipeline. Within a plane a few rows are gone through
//! side by side, each one cell behind the one it depends on.

use std::ops::Range;
use std::sync::OnceLock;

use super::blocks::{Point, factor, solve, subtract_product};
use super::lines::rows_of_planes;
use super::rhs::fields;
use super::wide::{self, Vector, Wide, cell_of, side_by_side};
use super::{Case, Cell, Factors, Grid};
use crate::team::Team;

/// Factor of over-relaxation.
pub const OVER_RELAXATION: f64 = 1.2;

/// Rows side by side.
const LANES: usize = 2;

/// Looks for a plane to be done before a thread lets others have its CPU.
const LOOKS: usize = 1 << 12;

/// The equations at a state.
pub struct Sweep<'a> {
    grid: Grid,
    factors: [Factors; 3],
    u: &'a [Cell],
    fields: [&'a [f64]; 2],
}

/// Rows of a plane, and what they depend on besides each other.
struct Rows<'a> {
    /// The first of them and their plane.
    j: usize,
    k: usize,
    cells: &'a mut [Cell],
    /// The row beside them that is done.
    beside: &'a [Cell],
    /// The same rows of the plane that is done.
    behind: &'a [Cell],
}

/// What the blocks of a cell are made of, as it lies in memory.
#[derive(Clone, Copy)]
struct State<const L: usize> {
    u: Vector<L>,
    volume: Wide<L>,
    kinetic: Wide<L>,
}

impl<const L: usize> State<L> {
    #[inline(always)]
    fn point(self) -> Point<L> {
        Point::new(self.u, self.volume, self.kinetic)
    }

    /// Of each row that of the row before it, one cell ago: of the first row it is this one.
    #[inline(always)]
    fn beside(self, first: State<1>) -> Self {
        Self {
            u: beside(first.u, self.u),
            volume: self.volume.after(first.volume),
            kinetic: self.kinetic.after(first.kinetic),
        }
    }
}

#[inline(always)]
fn beside<const L: usize>(first: Vector<1>, vector: Vector<L>) -> Vector<L> {
    wide::vector(|m| vector[m].after(first[m]))
}

/// Cells, a row each.
#[inline(always)]
fn load<const L: usize>(cells: &[Cell], origin: usize, places: [usize; L]) -> Vector<L> {
    side_by_side(|lane| cells[origin + places[lane]])
}

/// Waits for what another thread gives.
fn wait<T: Copy>(given: &OnceLock<T>) -> T {
    let mut looks = 0;
    loop {
        if let Some(&value) = given.get() {
            return value;
        }
        looks += 1;
        if looks % LOOKS == 0 { std::thread::yield_now() } else { std::hint::spin_loop() }
    }
}

impl<'a> Sweep<'a> {
    pub fn new(case: Case, u: &'a [Cell], fields: [&'a [f64]; 2]) -> Self {
        let factors = [0, 1, 2].map(|direction| case.factors(direction));
        Self { grid: case.grid, factors, u, fields }
    }

    /// From the first cell to the last: solves the lower triangle.
    pub fn forward(&self, rows: &[Range<usize>], change: &mut [Cell], team: &Team) {
        self.sweep::<false>(rows, change, team);
    }

    /// And back: solves the upper one.
    pub fn backward(&self, rows: &[Range<usize>], change: &mut [Cell], team: &Team) {
        self.sweep::<true>(rows, change, team);
    }

    fn sweep<const BACK: bool>(&self, rows: &[Range<usize>], change: &mut [Cell], team: &Team) {
        let grid = self.grid;
        // Of each thread, by plane, the row that the next thread depends on.
        let done: Vec<Vec<OnceLock<&[Cell]>>> =
            rows.iter().map(|_| (0..grid.n).map(|_| OnceLock::new()).collect()).collect();
        team.each(rows_of_planes(grid, change, rows), |thread, mut planes| {
            let share = grid.within(&rows[thread]);
            if share.is_empty() {
                return;
            }
            // The thread before this one; none at the boundary, where nothing changes.
            let before = if BACK { Some(thread + 1) } else { thread.checked_sub(1) };
            let before = before.filter(|&before| {
                rows.get(before).is_some_and(|rows| !grid.within(rows).is_empty())
            });
            if BACK {
                planes.reverse();
            }
            let unit = grid.row();
            let skipped = (share.start - rows[thread].start) * unit;
            let mut planes =
                planes.into_iter().map(|plane| &mut plane[skipped..][..share.len() * unit]);
            let Some(first) = planes.next() else { return };
            let mut behind: &[Cell] = first;
            let boundary = &behind[..unit];
            for (at, plane) in (1..grid.n - 1).zip(planes) {
                let k = if BACK { grid.n - 1 - at } else { at };
                let beside = before.map_or(boundary, |before| wait(&done[before][k]));
                self.sweep_plane::<BACK>((share.start, k), plane, beside, behind);
                behind = plane;
                let last = if BACK { &behind[..unit] } else { &behind[behind.len() - unit..] };
                done[thread][k].get_or_init(|| last);
            }
        });
    }

    /// A thread's rows of a plane.
    fn sweep_plane<'b, const BACK: bool>(
        &self,
        (mut j, k): (usize, usize),
        mut rest: &'b mut [Cell],
        mut beside: &'b [Cell],
        mut behind: &[Cell],
    ) {
        let unit = self.grid.row();
        while !rest.is_empty() {
            let lanes = (rest.len() / unit).min(LANES);
            let lanes = if lanes == LANES { LANES } else { 1 };
            let now = lanes * unit;
            let (cells, own_behind, first);
            if BACK {
                let at = rest.len() - now;
                (rest, cells) = std::mem::take(&mut rest).split_at_mut(at);
                (behind, own_behind) = behind.split_at(at);
                first = j + at / unit;
            } else {
                (cells, rest) = std::mem::take(&mut rest).split_at_mut(now);
                (own_behind, behind) = behind.split_at(now);
                first = j;
                j += lanes;
            }
            let rows = Rows { j: first, k, cells: &mut *cells, beside, behind: own_behind };
            if lanes == LANES {
                self.sweep_rows::<BACK, LANES>(rows);
            } else {
                self.sweep_rows::<BACK, 1>(rows);
            }
            beside = if BACK { &cells[..unit] } else { &cells[now - unit..] };
        }
    }

    #[inline(always)]
    fn state<const L: usize>(&self, origin: usize, places: [usize; L]) -> State<L> {
        let field = |at: usize| Wide::each(|lane| self.fields[at][origin + places[lane]]);
        State {
            u: load(self.u, origin, places),
            volume: field(fields::VOLUME),
            kinetic: field(fields::KINETIC),
        }
    }

    /// Rows side by side. At the boundary nothing changes: rows that are not there yet find zeros.
    fn sweep_rows<const BACK: bool, const L: usize>(&self, rows: Rows<'_>) {
        let Rows { j, k, cells, beside: done, behind } = rows;
        let (n, unit) = (self.grid.n, self.grid.row());
        let sign = if BACK { OVER_RELAXATION } else { -OVER_RELAXATION };
        let [x, y, z] = self.factors.map(|factors| {
            let Factors { central, second, diffusion, .. } = factors;
            (sign * central, -OVER_RELAXATION * second, -OVER_RELAXATION * diffusion)
        });
        // Place of a row's first cell among the rows.
        let begins: [usize; L] =
            std::array::from_fn(|lane| unit * if BACK { L - 1 - lane } else { lane });
        let origin = self.grid.at(0, j, k);
        let beside_origin = self.grid.at(0, if BACK { j + L } else { j - 1 }, k);
        let behind_origin = self.grid.at(0, j, if BACK { k + 1 } else { k - 1 });
        let along = |step: usize| if BACK { n - 1 - step } else { step };
        let places = |step: usize| -> [usize; L] {
            let mut places = begins;
            for (lane, place) in places.iter_mut().enumerate() {
                *place += along(step.saturating_sub(lane).min(n - 1));
            }
            places
        };
        let mut before = self.state(origin, places(0));
        let mut change_before: Vector<L> = [Wide::ZERO; 5];
        for step in 1..n - 2 + L {
            let here = places(step);
            let state = self.state(origin, here);
            let point = state.point();
            let mut diagonal = point.diagonal_block(&self.factors);
            factor(&mut diagonal);
            let own = load(cells, 0, here);
            let mut r = if BACK { [Wide::ZERO; 5] } else { own };

            let (euler, viscous, diffusion) = z;
            let neighbour = self.state(behind_origin, here).point();
            let block = neighbour.block::<2>(euler, viscous, diffusion);
            subtract_product::<2, L>(&mut r, &block, &load(behind, 0, here));

            let (euler, viscous, diffusion) = y;
            let first = along(step.min(n - 1));
            let neighbour = before.beside(self.state(beside_origin, [first])).point();
            let block = neighbour.block::<1>(euler, viscous, diffusion);
            subtract_product::<1, L>(
                &mut r,
                &block,
                &beside(load(done, 0, [first]), change_before),
            );

            let (euler, viscous, diffusion) = x;
            let block = before.point().block::<0>(euler, viscous, diffusion);
            subtract_product::<0, L>(&mut r, &block, &change_before);

            solve(&diagonal, &mut r);
            if BACK {
                r.iter_mut().zip(own).for_each(|(r, own)| *r += own);
            }
            for lane in 0..L {
                if step > lane && step - lane < n - 1 {
                    cells[here[lane]] = cell_of(&r, lane);
                }
            }
            (before, change_before) = (state, r);
        }
    }
}
