//! A level's grid and its rows.

use std::ops::Range;

use super::MOST_LEVELS;
use crate::team::{Team, cut, shares};

/// Elements of the longest row.
const LONGEST_ROW: usize = (1 << MOST_LEVELS) + 2;

/// A level's grid: planes of rows of points and of a copy before and behind them.
#[derive(Debug)]
pub struct Grid {
    /// Along an edge.
    pub points: usize,
    /// Each thread's.
    pub planes: Vec<Range<usize>>,
}

impl Grid {
    pub fn new(points: usize, threads: usize) -> Self {
        Self { points, planes: shares(points, threads) }
    }

    pub fn row_len(&self) -> usize {
        self.points + 2
    }

    pub fn plane_len(&self) -> usize {
        self.points * self.row_len()
    }

    pub fn row<'a>(&self, values: &'a [f64], plane: usize, row: usize) -> &'a [f64] {
        let begin = plane * self.plane_len() + row * self.row_len();
        &values[begin..begin + self.row_len()]
    }

    /// A place on an edge with those before and behind it.
    pub fn around(&self, place: usize) -> [usize; 3] {
        let last = self.points - 1;
        let before = if place == 0 { last } else { place - 1 };
        [before, place, if place == last { 0 } else { place + 1 }]
    }

    /// A row in the midst of its eight neighbours.
    pub fn rows_around<'a>(&self, values: &'a [f64], plane: usize, row: usize) -> Rows<'a> {
        let rows = self.around(row);
        Rows(self.around(plane).map(|plane| rows.map(|row| self.row(values, plane, row))))
    }

    /// Has each thread work on each row of its part of a grid's values: of a plane and a row in it. Then
    /// the row's ends are copied.
    pub fn each_row(
        &self,
        values: &mut [f64],
        team: &Team,
        work: impl Fn(usize, usize, &mut [f64], &mut Scratch) + Sync,
    ) {
        team.each(cut(values, &self.planes, self.plane_len()), |thread, own| {
            let scratch = &mut Scratch { near: [0.0; LONGEST_ROW], far: [0.0; LONGEST_ROW] };
            let planes = own.chunks_exact_mut(self.plane_len());
            for (plane, rows) in self.planes[thread].clone().zip(planes) {
                for (row, out) in rows.chunks_exact_mut(self.row_len()).enumerate() {
                    work(plane, row, &mut out[1..=self.points], scratch);
                    out[0] = out[self.points];
                    out[self.points + 1] = out[1];
                }
            }
        });
    }
}

/// Nine rows side by side: three planes' three.
pub struct Rows<'a>([[&'a [f64]; 3]; 3]);

/// Sums of rows.
#[repr(align(64))]
pub struct Scratch {
    pub near: [f64; LONGEST_ROW],
    far: [f64; LONGEST_ROW],
}

impl<'a> Rows<'a> {
    /// The row in the midst, the sum of the four rows nearest to it, and that of the other four.
    pub fn sums<'b>(&self, scratch: &'b mut Scratch) -> [&'b [f64]; 3]
    where
        'a: 'b,
    {
        let midst = self.0[1][1];
        let (near, far) = (&mut scratch.near[..midst.len()], &mut scratch.far[..midst.len()]);
        let [[a, b, c], [d, _, e], [f, g, h]] = self.0;
        sums(near, far, [b, d, e, g], [a, c, f, h]);
        [midst, near, far]
    }
}

/// Sums four rows, and other four. A function of its own, whose slices LLVM then knows apart.
#[inline(never)]
fn sums(near: &mut [f64], far: &mut [f64], [a, b, c, d]: [&[f64]; 4], [e, f, g, h]: [&[f64]; 4]) {
    let len = near.len();
    let far = &mut far[..len];
    let (a, b, c, d) = (&a[..len], &b[..len], &c[..len], &d[..len]);
    let (e, f, g, h) = (&e[..len], &f[..len], &g[..len], &h[..len]);
    for at in 0..len {
        near[at] = (a[at] + b[at]) + (c[at] + d[at]);
        far[at] = (e[at] + f[at]) + (g[at] + h[at]);
    }
}
