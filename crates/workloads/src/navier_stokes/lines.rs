//! Lines of cells, each a system of equations of its own: solved a few side by side.

use std::hint::black_box;
use std::ops::Range;

use super::wide::{Vector, Wide, cell_of, side_by_side};
use super::{Cell, Grid};
use crate::team::{Team, cut};

/// A few lines beside each other.
#[derive(Debug, Clone, Copy)]
pub struct Lines {
    /// Place 0 of the first.
    begin: usize,
    /// From a place to the next.
    along: usize,
    /// From a line to the next.
    across: usize,
}

impl Lines {
    fn at(self, place: usize, lane: usize) -> usize {
        self.begin + place * self.along + lane * self.across
    }

    /// A number of each line. Lines that are too many read what lies behind, and are not written.
    #[inline(always)]
    pub fn load<const L: usize>(self, field: &[f64], place: usize) -> Wide<L> {
        let begin = self.at(place, 0);
        if self.across == 1 {
            let row: &[f64; L] =
                field[begin..][..L].try_into().unwrap_or_else(|_| unreachable!("as many"));
            return Wide(*row);
        }
        Wide::each(|lane| field[begin + lane * self.across])
    }

    /// Each line's cell.
    #[inline(always)]
    pub fn load_cells<const L: usize>(self, cells: &[Cell], place: usize) -> Vector<L> {
        side_by_side(|lane| cells[self.at(place, lane)])
    }
}

/// The unknowns of lines beside each other.
pub struct Unknowns<P> {
    cells: P,
    lines: Lines,
    /// Lines that there are, maybe fewer than are solved.
    width: usize,
}

/// Cells of consecutive planes, or of some rows in each plane.
pub trait Part {
    fn cell(&mut self, lines: Lines, place: usize, lane: usize) -> &mut Cell;

    fn read(&self, lines: Lines, place: usize, lane: usize) -> Cell;
}

/// Cells from this one on.
struct Consecutive<'a>(&'a mut [Cell], usize);

/// Of each plane the cells from this one on.
struct OfPlanes<'a, 'b>(&'a mut [&'b mut [Cell]], usize);

impl Part for Consecutive<'_> {
    #[inline(always)]
    fn cell(&mut self, lines: Lines, place: usize, lane: usize) -> &mut Cell {
        &mut self.0[lines.at(place, lane) - self.1]
    }

    #[inline(always)]
    fn read(&self, lines: Lines, place: usize, lane: usize) -> Cell {
        self.0[lines.at(place, lane) - self.1]
    }
}

impl Part for OfPlanes<'_, '_> {
    #[inline(always)]
    fn cell(&mut self, lines: Lines, place: usize, lane: usize) -> &mut Cell {
        &mut self.0[place][lines.at(0, lane) - self.1]
    }

    #[inline(always)]
    fn read(&self, lines: Lines, place: usize, lane: usize) -> Cell {
        self.0[place][lines.at(0, lane) - self.1]
    }
}

impl<P: Part> Unknowns<P> {
    #[inline(always)]
    pub fn load<const L: usize>(&self, place: usize) -> Vector<L> {
        side_by_side(|lane| self.cells.read(self.lines, place, lane.min(self.width - 1)))
    }

    #[inline(always)]
    pub fn store<const L: usize>(&mut self, place: usize, values: Vector<L>) {
        for lane in 0..L.min(self.width) {
            *self.cells.cell(self.lines, place, lane) = cell_of(&values, lane);
        }
    }
}

/// Solves systems along lines.
pub trait LineSolver: Sync {
    /// What is kept of a place on the way there, for the way back.
    type Place: Send;

    /// Lines side by side.
    const LINES: usize;

    /// Solves the lines of a direction.
    fn solve<const D: usize, P: Part>(
        &self,
        lines: Lines,
        unknowns: &mut Unknowns<P>,
        places: &mut [Self::Place],
    );

    /// Reads from every line of a cache that a row of cells is made of.
    fn touch(&self, cells: Range<usize>) -> f64;
}

/// Lines of which the cells are fetched together before they are solved across planes: in each plane
/// a few lines of the cache, which would be waited for one after the other otherwise.
pub const FETCHED: usize = 32;

/// Reads a number from each line of the cache.
pub fn touch(numbers: &[f64]) -> f64 {
    numbers.iter().step_by(8).sum()
}

/// Solves all lines along x (`D` is 0) or y (1), each thread those in its planes.
pub fn solve_in_planes<const D: usize, S: LineSolver>(
    solver: &S,
    grid: Grid,
    planes: &[Range<usize>],
    unknowns: &mut [Cell],
    places: &mut [S::Place],
    team: &Team,
) {
    let parts = cut(unknowns, planes, grid.plane()).into_iter().zip(places.chunks_mut(grid.n));
    team.each(parts, |thread, (own, places)| {
        let share = &planes[thread];
        let (along, across) = (grid.strides[D], grid.strides[1 - D]);
        for k in grid.within(share) {
            for first in grid.interior().step_by(S::LINES) {
                let lines = Lines { begin: k * grid.plane() + first * across, along, across };
                let cells = Consecutive(own, share.start * grid.plane());
                let width = grid.n - 1 - first;
                let unknowns = &mut Unknowns { cells, lines, width };
                solver.solve::<D, _>(lines, unknowns, places);
            }
        }
    });
}

/// Of each thread, the rows that are its own in every plane.
pub fn rows_of_planes<'a>(
    grid: Grid,
    cells: &'a mut [Cell],
    rows: &[Range<usize>],
) -> Vec<Vec<&'a mut [Cell]>> {
    let mut of_threads: Vec<Vec<&mut [Cell]>> =
        rows.iter().map(|_| Vec::with_capacity(grid.n)).collect();
    for plane in cells.chunks_exact_mut(grid.plane()) {
        let parts = cut(plane, rows, grid.row());
        of_threads.iter_mut().zip(parts).for_each(|(own, part)| own.push(part));
    }
    of_threads
}

/// Solves all lines along z, each thread those of its rows.
pub fn solve_across_planes<S: LineSolver>(
    solver: &S,
    grid: Grid,
    rows: &[Range<usize>],
    unknowns: &mut [Cell],
    places: &mut [S::Place],
    team: &Team,
) {
    let parts = rows_of_planes(grid, unknowns, rows).into_iter().zip(places.chunks_mut(grid.n));
    team.each(parts, |thread, (mut own, places)| {
        let share = &rows[thread];
        for (j, fetched) in
            grid.within(share).flat_map(|j| grid.interior().step_by(FETCHED).map(move |i| (j, i)))
        {
            let end = (fetched + FETCHED).min(grid.n - 1);
            for (k, own) in own.iter().enumerate() {
                let begin = grid.at(fetched, j, 0) - share.start * grid.row();
                let own = &own[begin..begin + (end - fetched)];
                black_box(touch(own.as_flattened()));
                black_box(solver.touch(grid.at(fetched, j, k)..grid.at(end, j, k)));
            }
            for first in (fetched..end).step_by(S::LINES) {
                let lines = Lines { begin: grid.at(first, j, 0), along: grid.plane(), across: 1 };
                let cells = OfPlanes(&mut own, share.start * grid.row());
                let width = grid.n - 1 - first;
                let unknowns = &mut Unknowns { cells, lines, width };
                solver.solve::<2, _>(lines, unknowns, places);
            }
        }
    });
}
