//! The two laws of what local and remote threads get of one memory node.
//!
//! ```text
//! pressure:    local  = L0 / (1 + a (L0 / Lmax) (R0 / Rmax))
//!              remote = R0 / (1 + b (n bL / Lmax) (R0 / Rmax))
//! saturation:  total  = ((L0 + R0)^-p + K^-p)^(-1/p)
//!              beta   = k R0 / (L0 + k R0);  remote = beta total, local = (1 - beta) total
//! ```
//!
//! Pressure: a remote access waits behind the queue of the local ones, which grows with their
//! number even after the local port is full; a local one is slowed by what the link delivers. It
//! has no limit of the controller. Saturation: one controller with a limit that is neared smoothly.

use nearfar_stats::{FitRule, Loss, fit_with_derivatives};
use nearfar_units::BytesPerSecond;
use serde::Serialize;

#[derive(Debug, Clone, Copy)]
pub(super) enum LawName {
    Pressure,
    Saturation,
}

/// A law with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "law", rename_all = "snake_case")]
pub enum Law {
    /// Each group is slowed by the pressure of the other.
    Pressure {
        /// How much the local threads are slowed.
        a: f64,
        /// How much the remote threads are slowed.
        b: f64,
    },
    /// The controller saturates.
    Saturation {
        /// K: what the controller gives at most.
        #[serde(rename = "limit_gb_per_s")]
        limit: BytesPerSecond,
        /// p: how sharply it saturates.
        sharpness: f64,
        /// k: what a remote byte weighs against a local one when the node is shared out.
        remote_weight: f64,
    },
}

/// What a law reads of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Loads {
    /// L0, bytes/s.
    pub local: f64,
    /// R0, bytes/s.
    pub remote: f64,
    /// L0 / Lmax.
    pub local_part: f64,
    /// R0 / Rmax.
    pub remote_part: f64,
    /// n bL / Lmax.
    pub queue: f64,
}

/// What two groups get beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shares {
    /// The local threads.
    #[serde(rename = "local_gb_per_s")]
    pub local: BytesPerSecond,
    /// The remote threads.
    #[serde(rename = "remote_gb_per_s")]
    pub remote: BytesPerSecond,
}

impl Shares {
    pub fn total(self) -> BytesPerSecond {
        BytesPerSecond(self.local.0 + self.remote.0)
    }

    /// The sharing factor: remote / total.
    pub fn beta(self) -> f64 {
        self.remote / self.total()
    }

    /// The largest by which one of local, remote and total differs from another prediction's, a
    /// fraction.
    pub fn difference(self, other: Self) -> f64 {
        let pairs =
            [(self.local, other.local), (self.remote, other.remote), (self.total(), other.total())];
        let apart = |(one, two): (BytesPerSecond, BytesPerSecond)| (one / two).max(two / one) - 1.0;
        pairs.into_iter().map(apart).fold(0.0, f64::max)
    }
}

impl LawName {
    pub const ALL: [Self; 2] = [Self::Pressure, Self::Saturation];

    /// A law from logarithms of its parameters over their starts.
    fn law(self, scale: f64, logs: &[f64]) -> Option<Law> {
        // Beyond this a parameter is a limit, and its exponential no number.
        if logs.iter().any(|log| log.abs() > 20.0) {
            return None;
        }
        match (self, logs) {
            (Self::Pressure, &[a, b]) => Some(Law::Pressure { a: 0.3 * a.exp(), b: 0.3 * b.exp() }),
            (Self::Saturation, &[limit, sharpness, weight]) => Some(Law::Saturation {
                limit: BytesPerSecond(scale * limit.exp()),
                sharpness: 4.0 * sharpness.exp(),
                remote_weight: weight.exp(),
            }),
            _ => None,
        }
    }

    fn start(self) -> &'static [f64] {
        match self {
            Self::Pressure => &[0.0, 0.0],
            Self::Saturation => &[0.0, 0.0, 0.0],
        }
    }
}

impl Law {
    /// What the groups get of which this is known.
    pub(super) fn shares(self, loads: &Loads) -> Shares {
        match self {
            Self::Pressure { a, b } => Shares {
                local: (loads.local / (1.0 + a * loads.local_part * loads.remote_part)).into(),
                remote: (loads.remote / (1.0 + b * loads.queue * loads.remote_part)).into(),
            },
            Self::Saturation { limit: BytesPerSecond(limit), sharpness, remote_weight } => {
                let wanted = loads.local + loads.remote;
                // The same as the equation; no power of a large number is taken.
                let (less, more) = (wanted.min(limit), wanted.max(limit));
                let bend = (sharpness * (less / more).ln()).exp().ln_1p() / sharpness;
                let total = less * (-bend).exp();
                let weighted = remote_weight * loads.remote;
                let beta = weighted / (loads.local + weighted);
                Shares { local: ((1.0 - beta) * total).into(), remote: (beta * total).into() }
            }
        }
    }

    /// Derivatives of the logarithms of local, remote and total by the logarithm of a parameter,
    /// in the order of [`LawName::law`].
    fn slopes(self, loads: &Loads, parameter: usize) -> [f64; 3] {
        match self {
            Self::Pressure { a, b } => {
                // Of L0 / (1 + x) by ln a, where x grows with a.
                let slope = |x: f64| -x / (1.0 + x);
                let local = slope(a * loads.local_part * loads.remote_part);
                let remote = slope(b * loads.queue * loads.remote_part);
                let [local, remote] = if parameter == 0 { [local, 0.0] } else { [0.0, remote] };
                let beta = self.shares(loads).beta();
                [local, remote, (1.0 - beta) * local + beta * remote]
            }
            Self::Saturation { limit: BytesPerSecond(limit), sharpness, remote_weight } => {
                let wanted = loads.local + loads.remote;
                let log_ratio = (wanted / limit).ln();
                // The smaller over the larger of both, to the power p: never beyond 1.
                let ratio = (-sharpness * log_ratio.abs()).exp();
                let of_smaller = ratio / (1.0 + ratio);
                match parameter {
                    0 => [if log_ratio > 0.0 { 1.0 - of_smaller } else { of_smaller }; 3],
                    1 => [log_ratio.abs() * of_smaller + ratio.ln_1p() / sharpness; 3],
                    _ => {
                        let weighted = remote_weight * loads.remote;
                        let beta = weighted / (loads.local + weighted);
                        [-beta, 1.0 - beta, 0.0]
                    }
                }
            }
        }
    }
}

/// A mixed cell that a law is fitted to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FittedCell {
    pub loads: Loads,
    pub measured: Shares,
}

/// How far a law is off, root mean square of relative errors over cells.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Residual {
    pub total: f64,
    /// Local and remote groups.
    pub group: f64,
    /// Totals and groups: by this laws are compared.
    pub all: f64,
}

/// A law fitted to the mixed cells of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LawFit {
    #[serde(flatten)]
    pub law: Law,
    /// On the cells that it was fitted to.
    pub inside: Residual,
    /// On cells that were left out of the fit one after the other; null with one cell.
    pub left_out: Option<Residual>,
    /// Mixed cells that it was fitted to.
    pub cells: usize,
}

/// Relative errors beyond this count linearly.
const LOSS_SCALE: f64 = 0.03;

/// How much a parameter's logarithm weighs beside a cell's: 3 away from its start is 3 % of a cell.
const PRIOR: f64 = 0.01;

/// With more mixed cells than this several are left out at a time.
const MOST_FOLDS: usize = 16;

/// Fits a law; `None` without cells. `scale` is the start of its limit, bytes/s.
pub(super) fn fit_law(name: LawName, scale: f64, cells: &[FittedCell]) -> Option<LawFit> {
    let (law, logs) = fit_from(name, scale, name.start(), cells)?;
    let inside = Residual::of(cells.iter().map(|cell| errors(law, cell)))?;
    let folds = cells.len().min(MOST_FOLDS);
    let in_fold = |fold: usize, here: bool| {
        let chosen = move |position: usize| (position % folds == fold) == here;
        let cells = cells.iter().enumerate().filter(move |(position, _)| chosen(*position));
        cells.map(|(_, cell)| *cell)
    };
    let left_out = (folds > 1).then(|| {
        let errors_of = |fold: usize| {
            let kept: Vec<FittedCell> = in_fold(fold, false).collect();
            let (law, _) = fit_from(name, scale, &logs, &kept)?;
            Some(in_fold(fold, true).map(|cell| errors(law, &cell)).collect::<Vec<_>>())
        };
        let all: Option<Vec<Vec<[f64; 3]>>> = (0..folds).map(errors_of).collect();
        Residual::of(all?.into_iter().flatten())
    });
    Some(LawFit { law, inside, left_out: left_out.flatten(), cells: cells.len() })
}

fn fit_from(
    name: LawName,
    scale: f64,
    start: &[f64],
    cells: &[FittedCell],
) -> Option<(Law, Vec<f64>)> {
    let residuals = |logs: &[f64]| {
        let law = name.law(scale, logs)?;
        let of_cells = cells.iter().flat_map(|cell| errors(law, cell));
        Some(of_cells.chain(logs.iter().map(|log| PRIOR * log)).collect())
    };
    let derivatives = |logs: &[f64], _: &[f64]| {
        let law = name.law(scale, logs)?;
        let column = |of: usize| {
            let of_cells = cells.iter().flat_map(|cell| law.slopes(&cell.loads, of));
            let prior = (0..logs.len()).map(|log| if log == of { PRIOR } else { 0.0 });
            of_cells.chain(prior).collect()
        };
        Some((0..logs.len()).map(column).collect())
    };
    let rule = FitRule {
        loss: Loss::SoftL1(LOSS_SCALE),
        longest_step: 1.0,
        tolerance: 1e-7,
        ..FitRule::default()
    };
    let fitted = (!cells.is_empty())
        .then(|| fit_with_derivatives(start, residuals, derivatives, &rule))
        .flatten()?;
    Some((name.law(scale, &fitted.parameters)?, fitted.parameters))
}

/// Logarithms of predicted / measured: local, remote, total.
fn errors(law: Law, cell: &FittedCell) -> [f64; 3] {
    let (found, measured) = (law.shares(&cell.loads), cell.measured);
    [
        (found.local / measured.local).ln(),
        (found.remote / measured.remote).ln(),
        (found.total() / measured.total()).ln(),
    ]
}

impl Residual {
    fn of(errors: impl Iterator<Item = [f64; 3]>) -> Option<Self> {
        let (mut group, mut total, mut count) = (0.0, 0.0, 0.0);
        for [local, remote, both] in errors {
            group += local * local + remote * remote;
            total += both * both;
            count += 1.0;
        }
        let root = |sum: f64, of: f64| (sum / of).sqrt();
        let found = Self {
            total: root(total, count),
            group: root(group, 2.0 * count),
            all: root(group + total, 3.0 * count),
        };
        (count > 0.0 && found.all.is_finite()).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Below the limit, at it and far above it, where a power would overflow.
    #[test]
    fn slopes_are_those_of_differences() {
        const STEP: f64 = 1e-6;
        for wanted in [0.1, 0.9, 1.0, 1.1, 4.0] {
            let loads = Loads {
                local: 0.7e10 * wanted,
                remote: 0.3e10 * wanted,
                local_part: 0.8,
                remote_part: 0.6,
                queue: 2.5,
            };
            let cell =
                FittedCell { loads, measured: Shares { local: 1e9.into(), remote: 1e9.into() } };
            for (name, start) in [
                (LawName::Pressure, &[0.4, -0.7][..]),
                (LawName::Saturation, &[0.0, 0.5, 0.3]),
                (LawName::Saturation, &[0.0, 7.0, -0.3]),
            ] {
                let law = name.law(1e10, start).unwrap();
                for parameter in 0..start.len() {
                    let beside = |step: f64| {
                        let mut at = start.to_vec();
                        at[parameter] += step;
                        errors(name.law(1e10, &at).unwrap(), &cell)
                    };
                    let found = law.slopes(&loads, parameter);
                    let (after, before) = (beside(STEP), beside(-STEP));
                    for (slope, (after, before)) in found.iter().zip(after.iter().zip(before)) {
                        let difference = (after - before) / (2.0 * STEP);
                        assert!((slope - difference).abs() < 1e-4, "{law:?} {slope} {difference}");
                    }
                }
            }
        }
    }
}
