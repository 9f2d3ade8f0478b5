//! Where the rows of the staggered grids lie, and differences between neighbours.

use std::ops::Range;

use super::{FAR, NEAR};

/// Cells at either end of a row that repeat those of its other end.
pub const GHOST: usize = 2;

/// Which way a difference is taken: to the half cell above, or to the one below.
#[derive(Clone, Copy)]
pub enum Side {
    Above,
    Below,
}

/// Four neighbours along an axis of each cell of a row; a difference is centred between the second
/// and the third.
pub type Four<'a> = [&'a [f64]; 4];

/// Where rows lie.
#[derive(Clone, Copy)]
pub struct Grid {
    pub cells: usize,
}

/// A row, and where in every array the cells of its neighbours begin: from two before it to two after.
#[derive(Clone, Copy)]
pub struct Row {
    pub at: (usize, usize),
    along_x: [usize; 5],
    along_y: [usize; 5],
}

impl Grid {
    pub fn pitch(self) -> usize {
        self.cells + 2 * GHOST
    }

    #[inline]
    pub fn row(self, number: usize) -> Row {
        let (cells, pitch) = (self.cells, self.pitch());
        let (i, j) = (number / cells, number % cells);
        let around = |place: usize| {
            [cells - 2, cells - 1, 0, 1, 2].map(|by| {
                let place = place + by;
                if place < cells { place } else { place - cells }
            })
        };
        Row {
            at: (i, j),
            along_x: around(i).map(|i| (i * cells + j) * pitch + GHOST),
            along_y: around(j).map(|j| (i * cells + j) * pitch + GHOST),
        }
    }

    /// The cells of a row.
    #[inline(always)]
    pub fn own<'a>(self, field: &'a [f64], row: &Row) -> &'a [f64] {
        &field[row.along_x[2]..][..self.cells]
    }

    #[inline(always)]
    fn four<'a>(self, field: &'a [f64], begins: &[usize; 5], side: Side) -> Four<'a> {
        let cells = |begin: usize| &field[begin..begin + self.cells];
        let [a, b, c, d, e] = *begins;
        match side {
            Side::Above => [cells(b), cells(c), cells(d), cells(e)],
            Side::Below => [cells(a), cells(b), cells(c), cells(d)],
        }
    }

    #[inline(always)]
    pub fn along_x<'a>(self, field: &'a [f64], row: &Row, side: Side) -> Four<'a> {
        self.four(field, &row.along_x, side)
    }

    #[inline(always)]
    pub fn along_y<'a>(self, field: &'a [f64], row: &Row, side: Side) -> Four<'a> {
        self.four(field, &row.along_y, side)
    }

    #[inline(always)]
    pub fn along_z<'a>(self, field: &'a [f64], row: &Row, side: Side) -> Four<'a> {
        let own = row.along_x[2];
        self.four(field, &[own - 2, own - 1, own, own + 1, own + 2], side)
    }

    /// Each row of a share with its cells, and ghosts, in these pieces.
    pub fn rows<const N: usize>(
        self,
        share: Range<usize>,
        parts: [&mut [f64]; N],
    ) -> impl Iterator<Item = (Row, [&mut [f64]; N])> {
        let mut rows = parts.map(|part| part.chunks_exact_mut(self.pitch()));
        share.map(move |number| {
            let own = rows.each_mut().map(|rows| rows.next().unwrap_or_default());
            (self.row(number), own)
        })
    }

    /// Repeats a row's ends beyond its other end.
    #[inline(always)]
    pub fn close(self, row: &mut [f64]) {
        let row = &mut row[..self.cells + 2 * GHOST];
        row[0] = row[self.cells];
        row[1] = row[self.cells + 1];
        row[self.cells + 2] = row[2];
        row[self.cells + 3] = row[3];
    }
}

#[inline(always)]
pub fn difference(of: Four<'_>, k: usize) -> f64 {
    NEAR * (of[2][k] - of[1][k]) - FAR * (of[3][k] - of[0][k])
}
