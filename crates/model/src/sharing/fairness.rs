//! Which group loses more of what it moves alone as the node is loaded.

use nearfar_stats::solve_least_squares;

use super::SharedGrid;
use super::law::Shares;

/// What both groups lose beside each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fairness {
    /// Mixed cells whose two lone figures were measured too.
    pub cells: usize,
    /// The local group.
    pub local: Loss,
    /// The remote group.
    pub remote: Loss,
}

/// 1 - what a group moves beside the other / what it moves alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loss {
    /// Mean over the cells.
    pub mean: f64,
    /// In the cell with the most threads.
    pub under_full_load: f64,
    /// How much more with each thread of either group, by least squares; `None` with fewer than
    /// three cells or only one number of threads.
    pub slope: Option<f64>,
}

impl SharedGrid {
    /// What both groups lose; `None` without a mixed cell whose lone figures were measured.
    #[must_use]
    pub fn fairness(&self) -> Option<Fairness> {
        let mut losses: Vec<(f64, f64, f64)> = Vec::new();
        for ((n, m), cell) in self.measured() {
            let alone = self.local.measured(n).zip(self.remote.measured(m));
            let Some(((local, remote), shares)) = alone.zip(cell.shares()) else { continue };
            let Shares { local: beside, remote: beside_local } = shares;
            let load = f64::from(n) + f64::from(m);
            let lost = |beside: f64, alone: f64| 1.0 - beside / alone;
            losses.push((
                load,
                lost(beside, local.sum.median),
                lost(beside_local, remote.sum.median),
            ));
        }
        losses.sort_by(|one, other| one.0.total_cmp(&other.0));
        let local: Vec<(f64, f64)> = losses.iter().map(|&(load, lost, _)| (load, lost)).collect();
        let remote: Vec<(f64, f64)> = losses.iter().map(|&(load, _, lost)| (load, lost)).collect();
        let cells = losses.len();
        Some(Fairness { cells, local: Loss::of(&local)?, remote: Loss::of(&remote)? })
    }
}

impl Loss {
    /// Of (threads, loss), the most threads last.
    fn of(losses: &[(f64, f64)]) -> Option<Self> {
        let &(_, under_full_load) = losses.last()?;
        let rows: Vec<Vec<f64>> = losses.iter().map(|&(load, _)| vec![1.0, load]).collect();
        let right: Vec<f64> = losses.iter().map(|&(_, loss)| loss).collect();
        let line = solve_least_squares(&rows, &right).filter(|_| losses.len() > 2);
        let slope =
            line.filter(|line| line.rank == 2).and_then(|line| line.solution.get(1).copied());
        #[expect(clippy::cast_precision_loss, reason = "a number of cells")]
        let mean = right.iter().sum::<f64>() / right.len() as f64;
        Some(Self { mean, under_full_load, slope })
    }
}
