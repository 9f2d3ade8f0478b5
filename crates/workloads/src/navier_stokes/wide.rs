//! Numbers of several lines of cells side by side: what is done to one is done to all.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use super::Cell;

/// A number of each of `L` lines.
#[derive(Debug, Clone, Copy)]
pub struct Wide<const L: usize>(pub [f64; L]);

impl<const L: usize> Wide<L> {
    pub const ZERO: Self = Self([0.0; L]);

    /// What is given for each line. Loops are written out here, since `array::map` and
    /// `array::from_fn` are not always inlined.
    #[inline(always)]
    pub fn each(value: impl Fn(usize) -> f64) -> Self {
        let mut each = Self::ZERO;
        each.0.iter_mut().enumerate().for_each(|(lane, each)| *each = value(lane));
        each
    }

    #[inline(always)]
    pub fn of(value: f64) -> Self {
        Self([value; L])
    }

    #[inline(always)]
    pub fn reciprocal(self) -> Self {
        Self::each(|lane| 1.0 / self.0[lane])
    }

    /// Each line's number is that of the one before it, the first one's is this.
    #[inline(always)]
    pub fn after(self, first: Wide<1>) -> Self {
        Self::each(|lane| if lane == 0 { first.0[0] } else { self.0[lane - 1] })
    }
}

/// Numbers of a cell, or a column of a block.
pub type Vector<const L: usize> = [Wide<L>; 5];

/// Of five numbers what is given for each.
#[inline(always)]
pub fn vector<const L: usize>(value: impl Fn(usize) -> Wide<L>) -> Vector<L> {
    let mut vector = [Wide::ZERO; 5];
    vector.iter_mut().enumerate().for_each(|(m, entry)| *entry = value(m));
    vector
}

/// A cell of each line, side by side.
#[inline(always)]
pub fn side_by_side<const L: usize>(cell: impl Fn(usize) -> Cell) -> Vector<L> {
    let mut vector = [Wide::ZERO; 5];
    for lane in 0..L {
        let cell = cell(lane);
        vector.iter_mut().zip(cell).for_each(|(entry, value)| entry.0[lane] = value);
    }
    vector
}

/// A line's cell of those side by side.
#[inline(always)]
pub fn cell_of<const L: usize>(vector: &Vector<L>, lane: usize) -> Cell {
    let mut cell = [0.0; 5];
    cell.iter_mut().zip(vector).for_each(|(value, entry)| *value = entry.0[lane]);
    cell
}

macro_rules! operator {
    ($trait:ident, $method:ident, $operator:tt) => {
        impl<const L: usize> $trait for Wide<L> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self::each(|lane| self.0[lane] $operator other.0[lane])
            }
        }
        impl<const L: usize> $trait<f64> for Wide<L> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: f64) -> Self {
                Self::each(|lane| self.0[lane] $operator other)
            }
        }
    };
}

operator!(Add, add, +);
operator!(Sub, sub, -);
operator!(Mul, mul, *);
operator!(Div, div, /);

impl<const L: usize> Neg for Wide<L> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::each(|lane| -self.0[lane])
    }
}

impl<const L: usize> AddAssign for Wide<L> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<const L: usize> SubAssign for Wide<L> {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}
