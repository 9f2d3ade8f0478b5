//! Blocks of 5 by 5 of the implicit equations, those of a few lines of cells side by side.

use super::wide::{Vector, Wide};
use super::{C1, C2, C15, C34, Factors};

/// A block by its columns.
pub type Block<const L: usize> = [Vector<L>; 5];

/// What the blocks of a cell are made of.
#[derive(Clone, Copy)]
pub struct Point<const L: usize> {
    velocity: [Wide<L>; 3],
    /// 1 / density.
    volume: Wide<L>,
    /// Kinetic energy of a mass.
    kinetic: Wide<L>,
    /// Energy of a mass.
    energy: Wide<L>,
}

impl<const L: usize> Point<L> {
    #[inline(always)]
    pub fn new([_, x, y, z, energy]: Vector<L>, volume: Wide<L>, kinetic: Wide<L>) -> Self {
        let velocity = [x * volume, y * volume, z * volume];
        Self { velocity, volume, kinetic, energy: energy * volume }
    }

    /// Derivatives of the flux in direction `D` times `euler`, and of the viscous potential times
    /// `viscous`, and `diagonal` on the diagonal.
    #[inline(always)]
    pub fn block<const D: usize>(&self, euler: f64, viscous: f64, diagonal: f64) -> Block<L> {
        let mut block = self.viscous_block::<D>(viscous, diagonal);
        let w = self.velocity[D] * euler;
        // Density.
        block[1 + D][0] += Wide::of(euler);
        // Momentum.
        for m in 0..3 {
            let v = self.velocity[m];
            block[0][1 + m] -= v * w;
            block[1 + m][1 + m] += w;
            block[1 + D][1 + m] += v * euler;
            block[1 + m][1 + D] -= v * (C2 * euler);
        }
        block[0][1 + D] += self.kinetic * (C2 * euler);
        block[4][1 + D] += Wide::of(C2 * euler);
        // Energy.
        let enthalpy = self.energy * C1 - self.kinetic * C2;
        block[0][4] += w * (self.kinetic * C2 - enthalpy);
        block[1 + D][4] += enthalpy * euler;
        for m in 0..3 {
            block[1 + m][4] -= w * self.velocity[m] * C2;
        }
        block[4][4] += w * C1;
        block
    }

    /// Derivatives of the viscous potential alone: there is nothing above the diagonal.
    #[inline(always)]
    pub fn viscous_block<const D: usize>(&self, viscous: f64, diagonal: f64) -> Block<L> {
        let scale = self.volume * (viscous * C34);
        let mut block = [[Wide::ZERO; 5]; 5];
        let mut heat = self.energy * C15 + self.kinetic * (2.0 * (1.0 - C15));
        block[0][0] = Wide::of(diagonal);
        for m in 0..3 {
            let v = self.velocity[m];
            let scale = if m == D { scale * (4.0 / 3.0) } else { scale };
            block[0][1 + m] = -(scale * v);
            block[1 + m][1 + m] = scale + Wide::of(diagonal);
            block[1 + m][4] =
                scale * v * if m == D { (1.0 - C15 + 1.0 / 3.0) * 0.75 } else { 1.0 - C15 };
            if m == D {
                heat += v * v * (1.0 / 3.0);
            }
        }
        block[0][4] = -(scale * heat);
        block[4][4] = scale * C15 + Wide::of(diagonal);
        block
    }

    /// One, less dt times the derivatives of all that is viscous by the cell itself. There is nothing
    /// above the diagonal; the benchmark eliminates it as any block.
    #[inline(always)]
    pub fn diagonal_block(&self, factors: &[Factors; 3]) -> Block<L> {
        let diffusion: f64 = factors.iter().map(|factors| factors.diffusion).sum();
        // Cells are cubes: alike in all directions.
        let scale = self.volume * (2.0 * factors[0].second * C34);
        let one = Wide::of(1.0 + 2.0 * diffusion);
        let mut block = [[Wide::ZERO; 5]; 5];
        block[0][0] = one;
        let momentum = scale * (2.0 + 4.0 / 3.0);
        let work = 3.0 * (1.0 - C15) + 1.0 / 3.0;
        for m in 0..3 {
            let v = self.velocity[m];
            block[0][1 + m] = -(momentum * v);
            block[1 + m][1 + m] = momentum + one;
            block[1 + m][4] = scale * v * work;
        }
        let heat = self.energy * (3.0 * C15) + self.kinetic * (2.0 * work);
        block[0][4] = -(scale * heat);
        block[4][4] = scale * (3.0 * C15) + one;
        block
    }
}

/// Whether a block off the diagonal of a system along `D` has anything at a row and column.
const fn is_filled<const D: usize>(row: usize, column: usize) -> bool {
    row == 4 || row == 1 + D || column == 0 || column == 1 + D || column == row
}

/// A block times a vector, subtracted from another.
#[inline(always)]
pub fn subtract_product<const D: usize, const L: usize>(
    from: &mut Vector<L>,
    block: &Block<L>,
    vector: &Vector<L>,
) {
    for (column, entries) in block.iter().enumerate() {
        for row in 0..5 {
            if is_filled::<D>(row, column) {
                from[row] -= entries[row] * vector[column];
            }
        }
    }
}

/// Factors a block in place into a lower one and an upper one, whose diagonal is replaced by its
/// reciprocal.
#[inline(always)]
pub fn factor<const L: usize>(block: &mut Block<L>) {
    for pivot in 0..5 {
        let (done, later) = block.split_at_mut(pivot + 1);
        let own = &mut done[pivot];
        let reciprocal = own[pivot].reciprocal();
        own[pivot] = reciprocal;
        own[pivot + 1..].iter_mut().for_each(|entry| *entry = *entry * reciprocal);
        for column in later {
            let above = column[pivot];
            for row in pivot + 1..5 {
                column[row] -= own[row] * above;
            }
        }
    }
}

/// Solves for a vector by what [`factor`] left.
#[inline(always)]
pub fn solve<const L: usize>(factored: &Block<L>, vector: &mut Vector<L>) {
    for column in 0..4 {
        for row in column + 1..5 {
            vector[row] -= factored[column][row] * vector[column];
        }
    }
    for column in (0..5).rev() {
        vector[column] = vector[column] * factored[column][column];
        for row in 0..column {
            vector[row] -= factored[column][row] * vector[column];
        }
    }
}
