//! Which group loses more of what it moves alone as the node is loaded.

use nearfar_stats::solve_least_squares;
use serde::Serialize;

use super::SharedGrid;

/// What both groups lose beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fairness {
    /// Mixed cells whose two lone figures were measured too.
    pub cells: usize,
    /// The local group.
    pub local: Loss,
    /// The remote group.
    pub remote: Loss,
    /// Who loses more on average.
    pub on_average: WhoLosesMore,
    /// Who loses more in the cell with the most threads.
    pub under_full_load: WhoLosesMore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WhoLosesMore {
    /// Both lose alike.
    Neither,
    Local,
    Remote,
}

/// Groups whose losses differ by less lose alike.
const ALIKE: f64 = 0.02;

/// 1 - what a group moves beside the other / what it moves alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Loss {
    /// Mean over the cells.
    pub mean: f64,
    /// In the cell with the most threads.
    pub under_full_load: f64,
    /// How much more with each thread of either group, by least squares; null with fewer than
    /// three cells or only one number of threads.
    pub slope: Option<f64>,
}

impl SharedGrid {
    /// What both groups lose; `None` without a mixed cell whose lone figures were measured.
    pub(super) fn fairness_of_cells(&self) -> Option<Fairness> {
        let (mut local, mut remote) = (Vec::new(), Vec::new());
        for (&(n, m), cell) in &self.measured {
            let alone = self.local.measured(n).zip(self.remote.measured(m));
            let Some(((near, far), beside)) = alone.zip(cell.shares()) else { continue };
            let load = f64::from(n) + f64::from(m);
            local.push((load, 1.0 - beside.local / near.sum.value));
            remote.push((load, 1.0 - beside.remote / far.sum.value));
        }
        let cells = local.len();
        let (local, remote) = (Loss::of(local)?, Loss::of(remote)?);
        let more = |local: f64, remote: f64| match remote - local {
            apart if apart.abs() < ALIKE => WhoLosesMore::Neither,
            apart if apart > 0.0 => WhoLosesMore::Remote,
            _ => WhoLosesMore::Local,
        };
        let on_average = more(local.mean, remote.mean);
        let under_full_load = more(local.under_full_load, remote.under_full_load);
        Some(Fairness { cells, local, remote, on_average, under_full_load })
    }
}

impl Loss {
    /// Of (threads, loss).
    fn of(mut losses: Vec<(f64, f64)>) -> Option<Self> {
        losses.sort_by(|one, other| one.0.total_cmp(&other.0));
        let &(_, under_full_load) = losses.last()?;
        let rows: Vec<Vec<f64>> = losses.iter().map(|&(load, _)| vec![1.0, load]).collect();
        let right: Vec<f64> = losses.iter().map(|&(_, loss)| loss).collect();
        let line = solve_least_squares(&rows, &right).filter(|_| losses.len() > 2);
        let slope =
            line.filter(|line| line.rank == 2).and_then(|line| line.solution.get(1).copied());
        let mean = right.iter().sum::<f64>() / right.len() as f64;
        Some(Self { mean, under_full_load, slope })
    }
}
