//! The two sweeps of successive over-relaxation. Each thread has some rows of every plane, and begins a
//! plane once the thread before it has done it: a pipeline. It makes the blocks of its part of a plane
//! first, all of them, as the benchmark does (jacld and jacu, then blts and buts): they are most of what
//! the sweeps move. Within a plane a few rows are gone through side by side, each one cell behind the one
//! it depends on.

use std::ops::Range;
use std::sync::OnceLock;

use super::blocks::{Block, Point, factor, solve, subtract_product};
use super::lines::rows_of_planes;
use super::rhs::fields;
use super::wide::{self, Vector, Wide, cell_of, side_by_side};
use super::{Case, Cell, Factors, Grid};
use crate::team::{Team, cut};

/// Factor of over-relaxation.
pub const OVER_RELAXATION: f64 = 1.2;

/// Rows side by side.
const LANES: usize = 2;

/// Of a cell: its own block, and those of the neighbours along x, y and z that it waits for.
const BLOCKS: usize = 4;

/// The blocks of a cell.
pub type CellBlocks = [[Cell; 5]; BLOCKS];

/// Looks for a plane to be done before a thread lets others have its CPU.
const LOOKS: usize = 1 << 12;

/// The equations at a state.
pub struct Sweep<'a> {
    grid: Grid,
    /// Of each thread, in every plane.
    rows: &'a [Range<usize>],
    factors: [Factors; 3],
    u: &'a [Cell],
    fields: [&'a [f64]; 2],
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

/// Rows that are gone through side by side, in the order of the sweep: the first of them, and how many.
fn groups<const BACK: bool>(mut rows: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
    std::iter::from_fn(move || {
        let lanes = if rows.len() < LANES { 1 } else { LANES };
        if rows.is_empty() {
            return None;
        }
        if BACK {
            rows.end -= lanes;
            return Some((rows.end, lanes));
        }
        rows.start += lanes;
        Some((rows.start - lanes, lanes))
    })
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
    pub fn new(
        case: Case,
        rows: &'a [Range<usize>],
        u: &'a [Cell],
        fields: [&'a [f64]; 2],
    ) -> Self {
        let factors = [0, 1, 2].map(|direction| case.factors(direction));
        Self { grid: case.grid, rows, factors, u, fields }
    }

    /// From the first cell to the last: solves the lower triangle. `blocks` has room for those of a plane.
    pub fn forward(&self, change: &mut [Cell], blocks: &mut [CellBlocks], team: &Team) {
        self.sweep::<false>(change, blocks, team);
    }

    /// And back: solves the upper one.
    pub fn backward(&self, change: &mut [Cell], blocks: &mut [CellBlocks], team: &Team) {
        self.sweep::<true>(change, blocks, team);
    }

    fn sweep<const BACK: bool>(&self, change: &mut [Cell], blocks: &mut [CellBlocks], team: &Team) {
        let (grid, rows) = (self.grid, self.rows);
        // Of each thread, by plane, the row that the next thread depends on.
        let done: Vec<Vec<OnceLock<&[Cell]>>> =
            rows.iter().map(|_| (0..grid.n).map(|_| OnceLock::new()).collect()).collect();
        let own_blocks = cut(blocks, rows, grid.row()).into_iter();
        let parts = rows_of_planes(grid, change, rows).into_iter().zip(own_blocks);
        team.each(parts, |thread, (mut planes, blocks)| {
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
                self.make_blocks::<BACK>(&share, k, blocks);
                let beside = before.map_or(boundary, |before| wait(&done[before][k]));
                self.sweep_plane::<BACK>(&share, plane, blocks, [beside, behind]);
                behind = plane;
                let last = if BACK { &behind[..unit] } else { &behind[behind.len() - unit..] };
                done[thread][k].get_or_init(|| last);
            }
        });
    }

    /// The blocks of a thread's rows of a plane, in the order in which they are gone through.
    fn make_blocks<const BACK: bool>(
        &self,
        share: &Range<usize>,
        k: usize,
        mut blocks: &mut [CellBlocks],
    ) {
        for (j, lanes) in groups::<BACK>(share.clone()) {
            let own = blocks.split_off_mut(..lanes * self.grid.row());
            let own = own.unwrap_or_else(|| unreachable!("room for every row"));
            if lanes == LANES {
                self.make_blocks_of_rows::<BACK, LANES>([j, k], own);
            } else {
                self.make_blocks_of_rows::<BACK, 1>([j, k], own);
            }
        }
    }

    /// A thread's rows of a plane, beside the row and behind the rows that are done.
    fn sweep_plane<const BACK: bool>(
        &self,
        share: &Range<usize>,
        plane: &mut [Cell],
        mut blocks: &[CellBlocks],
        [given, behind]: [&[Cell]; 2],
    ) {
        let unit = self.grid.row();
        for (j, lanes) in groups::<BACK>(share.clone()) {
            let own_blocks;
            (own_blocks, blocks) = blocks.split_at(lanes * unit);
            let (begin, end) = ((j - share.start) * unit, (j - share.start + lanes) * unit);
            let (lower, upper) = plane.split_at_mut(if BACK { end } else { begin });
            let (cells, beside) = if BACK {
                (&mut lower[begin..], upper.get(..unit))
            } else {
                (&mut upper[..end - begin], begin.checked_sub(unit).map(|from| &lower[from..]))
            };
            let done = [beside.unwrap_or(given), &behind[begin..end]];
            if lanes == LANES {
                self.sweep_rows::<BACK, LANES>(cells, own_blocks, done);
            } else {
                self.sweep_rows::<BACK, 1>(cells, own_blocks, done);
            }
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

    /// Where a step takes each of these rows: each is one cell behind the one before it.
    #[inline(always)]
    fn places<const BACK: bool, const L: usize>(&self, step: usize) -> [usize; L] {
        let (n, unit) = (self.grid.n, self.grid.row());
        std::array::from_fn(|lane| {
            let row = unit * if BACK { L - 1 - lane } else { lane };
            row + along::<BACK>(n, step.saturating_sub(lane))
        })
    }

    /// From row j of plane k on. At the boundary nothing changes: what is made of rows that are not there yet
    /// meets zeros.
    fn make_blocks_of_rows<const BACK: bool, const L: usize>(
        &self,
        [j, k]: [usize; 2],
        blocks: &mut [CellBlocks],
    ) {
        let n = self.grid.n;
        let sign = if BACK { OVER_RELAXATION } else { -OVER_RELAXATION };
        let [x, y, z] = self.factors.map(|factors| {
            let Factors { central, second, diffusion, .. } = factors;
            (sign * central, -OVER_RELAXATION * second, -OVER_RELAXATION * diffusion)
        });
        let origin = self.grid.at(0, j, k);
        let beside_origin = self.grid.at(0, if BACK { j + L } else { j - 1 }, k);
        let behind_origin = self.grid.at(0, j, if BACK { k + 1 } else { k - 1 });
        let mut before = self.state(origin, self.places::<BACK, L>(0));
        for (step, kept) in (1..n - 2 + L).zip(of_steps_mut::<L>(blocks)) {
            let here = self.places::<BACK, L>(step);
            let state = self.state(origin, here);
            let [own, of_x, of_y, of_z] = kept;
            keep(&state.point().diagonal_block(&self.factors), own);
            let (euler, viscous, diffusion) = x;
            keep(&before.point().block::<0>(euler, viscous, diffusion), of_x);
            let (euler, viscous, diffusion) = y;
            let first = self.state(beside_origin, [along::<BACK>(n, step)]);
            let beside = before.beside(first).point();
            keep(&beside.block::<1>(euler, viscous, diffusion), of_y);
            let (euler, viscous, diffusion) = z;
            let behind = self.state(behind_origin, here).point();
            keep(&behind.block::<2>(euler, viscous, diffusion), of_z);
            before = state;
        }
    }

    /// Rows side by side, which depend on the row beside them and the rows behind them.
    fn sweep_rows<const BACK: bool, const L: usize>(
        &self,
        cells: &mut [Cell],
        blocks: &[CellBlocks],
        [beside_them, behind]: [&[Cell]; 2],
    ) {
        let n = self.grid.n;
        let mut change_before: Vector<L> = [Wide::ZERO; 5];
        for (step, kept) in (1..n - 2 + L).zip(of_steps::<L>(blocks)) {
            let here = self.places::<BACK, L>(step);
            let [own_block, of_x, of_y, of_z] = kept;
            let mut own_block = block_of(own_block);
            factor(&mut own_block);
            let own = load(cells, 0, here);
            let mut r = if BACK { [Wide::ZERO; 5] } else { own };
            subtract_product::<2, L>(&mut r, &block_of(of_z), &load(behind, 0, here));
            let first = load(beside_them, 0, [along::<BACK>(n, step)]);
            subtract_product::<1, L>(&mut r, &block_of(of_y), &beside(first, change_before));
            subtract_product::<0, L>(&mut r, &block_of(of_x), &change_before);
            solve(&own_block, &mut r);
            if BACK {
                r.iter_mut().zip(own).for_each(|(r, own)| *r += own);
            }
            for lane in 0..L {
                if step > lane && step - lane < n - 1 {
                    cells[here[lane]] = cell_of(&r, lane);
                }
            }
            change_before = r;
        }
    }
}

/// The cell of a row that a step comes to.
#[inline(always)]
fn along<const BACK: bool>(n: usize, step: usize) -> usize {
    let step = step.min(n - 1);
    if BACK { n - 1 - step } else { step }
}

/// A block as it is kept, of rows side by side.
type Kept<const L: usize> = [[f64; L]; 25];

/// The blocks of each step.
fn of_steps<const L: usize>(blocks: &[CellBlocks]) -> impl Iterator<Item = &[Kept<L>; BLOCKS]> {
    let numbers = blocks.as_flattened().as_flattened().as_flattened();
    numbers.as_chunks::<L>().0.as_chunks::<25>().0.as_chunks::<BLOCKS>().0.iter()
}

fn of_steps_mut<const L: usize>(
    blocks: &mut [CellBlocks],
) -> impl Iterator<Item = &mut [Kept<L>; BLOCKS]> {
    let numbers = blocks.as_flattened_mut().as_flattened_mut().as_flattened_mut();
    let kept = numbers.as_chunks_mut::<L>().0.as_chunks_mut::<25>().0;
    kept.as_chunks_mut::<BLOCKS>().0.iter_mut()
}

#[inline(always)]
fn keep<const L: usize>(block: &Block<L>, kept: &mut Kept<L>) {
    kept.iter_mut().zip(block.as_flattened()).for_each(|(kept, it)| *kept = it.0);
}

#[inline(always)]
fn block_of<const L: usize>(kept: &Kept<L>) -> Block<L> {
    let mut block = [[Wide::ZERO; 5]; 5];
    block.as_flattened_mut().iter_mut().zip(kept).for_each(|(it, kept)| *it = Wide(*kept));
    block
}
