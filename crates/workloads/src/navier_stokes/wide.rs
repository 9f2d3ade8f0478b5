//! Numbers of several lines of cells side by side: what is done to one is done to all.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A number of each of `L` lines.
#[derive(Debug, Clone, Copy)]
pub struct Wide<const L: usize>(pub [f64; L]);

impl<const L: usize> Wide<L> {
    pub const ZERO: Self = Self([0.0; L]);

    pub fn of(value: f64) -> Self {
        Self([value; L])
    }

    pub fn reciprocal(self) -> Self {
        Self(self.0.map(|value| 1.0 / value))
    }

    /// Each line's number is that of the one before it, the first one's is this.
    #[inline(always)]
    pub fn after(self, first: Wide<1>) -> Self {
        Self(std::array::from_fn(|lane| if lane == 0 { first.0[0] } else { self.0[lane - 1] }))
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $operator:tt) => {
        impl<const L: usize> $trait for Wide<L> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(std::array::from_fn(|lane| self.0[lane] $operator other.0[lane]))
            }
        }
        impl<const L: usize> $trait<f64> for Wide<L> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: f64) -> Self {
                Self(self.0.map(|value| value $operator other))
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
        Self(self.0.map(|value| -value))
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
