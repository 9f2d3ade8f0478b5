//! Machines of one kind beside each other. Figures are logarithms, more is better; every statistic is a loss or
//! gain against the peers' median, and its spread is that of the peers themselves, so that nothing is assumed of
//! where noise comes from.
//!
//! Sources: median and median absolute deviation after Hampel, The Influence Curve and Its Role in Robust
//! Estimation (J. Am. Stat. Assoc. 69, 1974); thresholds for a family after Bonferroni; Student's quantile for few
//! peers after Gaver and Kafadar, A Retrievable Recipe for Inverse t (Am. Stat. 38, 1984).
//! Holds when: most machines of a kind are sound. Fails when: half of them have the same fault, which is then
//! their median.

use nearfar_stats::{OF_MAD, normal_quantile};

use crate::kind::MachineKind;
use crate::parts::{CellPlace, MachinePart, PartTest, Series, part_tests, series};

/// A cell's deviation from its machine's median is clipped (Winsorised) at this many spreads, or at this
/// difference of logarithms where that is more: a disturbed cell is not the whole of a mean.
const MOST_SPREADS: f64 = 3.5;
const MOST_DEVIATION: f64 = 0.1;

/// The prior for how machines of a kind differ in the mean of all cells, standard deviation of a logarithm.
const USUAL_DIFFERENCE: f64 = 0.01;

/// The weight of a prior spread, in machines.
const PRIOR_MACHINES: f64 = 8.0;
const PRIOR_PARTS: f64 = 16.0;

/// No spread is smaller: a clock's steps.
const LEAST_SPREAD: f64 = 1e-3;

/// Degrees of freedom that few peers are taken to have at the least.
const LEAST_DEGREES: f64 = 7.0;

/// What a group of machines has in common.
#[derive(Debug)]
pub(crate) struct Peers {
    /// The peers' median of each cell, or what takes its place.
    pub centers: Vec<f64>,
    /// Robust standard deviation of each cell over machines.
    pub cell_spreads: Vec<f64>,
    pub series: Vec<Series>,
    pub tests: Vec<PartTest>,
    /// Of each test: median, standard deviation, and how many values the latter rests on.
    pub norms: Vec<Norm>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Norm {
    pub center: f64,
    pub spread: f64,
    pub values: f64,
}

impl Peers {
    /// Of the first measurements of the machines of a group. `reference` takes the place of their median.
    pub fn new(
        cells: &[CellPlace<'_>],
        kind: &MachineKind,
        firsts: &[&[f64]],
        reference: Option<&[f64]>,
    ) -> Self {
        let series = series(cells);
        let tests = part_tests(cells, &series, kind);
        let mut values = Vec::with_capacity(firsts.len());
        let mut cell_norms: Vec<Norm> = (0..cells.len())
            .map(|cell| {
                values.clear();
                values
                    .extend(firsts.iter().map(|gains| gains[cell]).filter(|gain| gain.is_finite()));
                norm(&mut values)
            })
            .collect();
        for one in &series {
            share(&mut cell_norms, &one.cells);
        }
        let of_peers: Vec<f64> = cell_norms.iter().map(|norm| norm.center).collect();
        let mut peers = Self {
            centers: reference.map_or(of_peers, <[f64]>::to_vec),
            cell_spreads: cell_norms.iter().map(|norm| norm.spread).collect(),
            series,
            tests,
            norms: Vec::new(),
        };
        let of_machines: Vec<Vec<f64>> =
            firsts.iter().map(|gains| peers.statistics(gains)).collect();
        let mut norms: Vec<Norm> = (0..peers.tests.len())
            .map(|test| {
                values.clear();
                values.extend(of_machines.iter().map(|of| of[test]).filter(|it| it.is_finite()));
                norm(&mut values)
            })
            .collect();
        for alike in peers.alike_tests() {
            share(&mut norms, &alike);
        }
        for (norm, test) in norms.iter_mut().zip(&peers.tests) {
            if test.part == MachinePart::Machine {
                norm.spread = mixed(norm.spread, norm.values, USUAL_DIFFERENCE, PRIOR_MACHINES);
            }
            if reference.is_some() {
                // The reference is one measurement, and as noisy as each of theirs.
                norm.center = 0.0;
                norm.spread *= 2_f64.sqrt();
            }
        }
        peers.norms = norms;
        peers
    }

    /// Tests of the same sort in the same series, which scatter alike.
    fn alike_tests(&self) -> Vec<Vec<usize>> {
        let mut alike = std::collections::BTreeMap::<_, Vec<usize>>::new();
        for (position, test) in self.tests.iter().enumerate() {
            if test.part != MachinePart::Machine {
                alike.entry((test.series, test.part.sort())).or_default().push(position);
            }
        }
        alike.into_values().collect()
    }

    /// Name of the series of a cell.
    pub fn series_of(&self, cell: usize) -> &str {
        self.series
            .iter()
            .find(|series| series.cells.contains(&cell))
            .map_or("", |series| &series.name)
    }

    /// How much more than its peers' medians a machine gives, by test; NaN where it has too few cells. Of a part
    /// it is the mean of the cells that use it without that of the others.
    pub fn statistics(&self, gains: &[f64]) -> Vec<f64> {
        let mut kept = vec![f64::NAN; gains.len()];
        let totals: Vec<(f64, f64)> = self
            .series
            .iter()
            .map(|series| {
                let mut deviations: Vec<f64> = series
                    .cells
                    .iter()
                    .map(|&cell| gains[cell] - self.centers[cell])
                    .filter(|deviation| deviation.is_finite())
                    .collect();
                let Some(middle) = median_of(&mut deviations) else { return (0.0, 0.0) };
                let mut total = (0.0, 0.0);
                for &cell in &series.cells {
                    let most = (MOST_SPREADS * self.cell_spreads[cell]).max(MOST_DEVIATION);
                    kept[cell] =
                        (gains[cell] - self.centers[cell]).clamp(middle - most, middle + most);
                    if kept[cell].is_finite() {
                        total = (total.0 + kept[cell], total.1 + 1.0);
                    }
                }
                total
            })
            .collect();
        let of_test = |test: &PartTest| {
            let (sum, count) = totals[test.series];
            let here: Vec<f64> =
                test.inside.iter().map(|&cell| kept[cell]).filter(|it| it.is_finite()).collect();
            let (sum_here, count_here) = (here.iter().sum::<f64>(), here.len() as f64);
            if 2 * here.len() < test.inside.len() {
                return f64::NAN;
            }
            match (&test.part, test.inside.as_slice()) {
                (MachinePart::Machine, _) => sum / count,
                (MachinePart::Cell(_), &[cell]) => {
                    gains[cell] - self.centers[cell] - (sum - sum_here) / (count - count_here)
                }
                _ => sum_here / count_here - (sum - sum_here) / (count - count_here),
            }
        };
        self.tests.iter().map(of_test).collect()
    }

    /// How much a machine has of its peers' median in a part: the median over its cells without that over the
    /// others, which no limit of a deviation holds down; of the whole machine and of cells the figure itself.
    pub fn ratio(&self, test: &PartTest, gains: &[f64]) -> f64 {
        let middle = |cells: &mut dyn Iterator<Item = usize>| {
            let mut all: Vec<f64> = cells
                .map(|cell| gains[cell] - self.centers[cell])
                .filter(|it| it.is_finite())
                .collect();
            median_of(&mut all).unwrap_or(f64::NAN)
        };
        let here = middle(&mut test.inside.iter().copied());
        let rest = match test.part {
            MachinePart::Machine | MachinePart::Cell(_) => 0.0,
            _ => {
                let of_series = &self.series[test.series].cells;
                middle(&mut of_series.iter().copied().filter(|cell| !test.inside.contains(cell)))
            }
        };
        (here - rest).exp()
    }
}

/// Median and robust standard deviation; of few values the latter is widened by what their own median takes.
fn norm(values: &mut [f64]) -> Norm {
    let count = values.len() as f64;
    let Some(center) = median_of(values) else {
        return Norm { center: f64::NAN, spread: f64::NAN, values: 0.0 };
    };
    values.iter_mut().for_each(|value| *value = (*value - center).abs());
    let deviation = median_of(values).unwrap_or_default();
    let widened = OF_MAD * deviation * (count / (count - 1.0).max(1.0)).sqrt();
    Norm { center, spread: widened.max(LEAST_SPREAD), values: count }
}

/// Lets norms that scatter alike share their spreads, the more the fewer machines they rest on.
fn share(norms: &mut [Norm], alike: &[usize]) {
    let mut spreads: Vec<f64> =
        alike.iter().map(|&one| norms[one].spread).filter(|spread| spread.is_finite()).collect();
    let parts = spreads.len() as f64;
    let Some(usual) = median_of(&mut spreads) else { return };
    for &one in alike {
        let norm = &mut norms[one];
        norm.spread = mixed(norm.spread, norm.values, usual, PRIOR_PARTS);
        norm.values += PRIOR_PARTS.min(norm.values * (parts - 1.0));
    }
}

fn mixed(spread: f64, values: f64, prior: f64, weight: f64) -> f64 {
    ((values * spread * spread + weight * prior * prior) / (values + weight)).sqrt()
}

/// The median; the values are put in another order.
pub(crate) fn median_of(values: &mut [f64]) -> Option<f64> {
    let middle = values.len() / 2;
    let is_odd = values.len() % 2 == 1;
    if values.is_empty() {
        return None;
    }
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = || below.iter().copied().max_by(f64::total_cmp).unwrap_or(upper);
    Some(if is_odd { upper } else { f64::midpoint(lower(), upper) })
}

/// What a standardised value exceeds with this probability when its spread was estimated from this many values.
pub(crate) fn critical(probability: f64, values: f64) -> f64 {
    /// Of a normal sample's, the share that the median absolute deviation makes use of.
    const EFFICIENCY: f64 = 0.37;
    let normal = -normal_quantile(probability).unwrap_or(f64::NEG_INFINITY);
    let degrees = (EFFICIENCY * values).max(LEAST_DEGREES);
    let growth = (degrees - 1.5) / ((degrees - 1.0) * (degrees - 1.0));
    (degrees * (normal * normal * growth).exp_m1()).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed tables of Student's t: 0.999 and 0.9995 at 7, 10 and 30 degrees.
    #[test]
    fn critical_values_are_those_of_students_table() {
        for (probability, degrees, printed) in
            [(1e-3, 7.0, 4.785), (1e-3, 10.0, 4.144), (5e-4, 30.0, 3.646), (1e-3, 7.0, 4.785)]
        {
            let found = critical(probability, degrees / 0.37);
            assert!(
                (found / printed - 1.0).abs() < 0.02,
                "{probability} {degrees}: {found} for {printed}"
            );
        }
        assert!((critical(1e-6, 1e9) - 4.753).abs() < 1e-3);
    }

    #[test]
    fn a_median_needs_no_order() {
        assert_eq!(median_of(&mut [4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median_of(&mut [5.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median_of(&mut []), None);
    }
}
