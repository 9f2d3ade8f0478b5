//! The fewest causes that explain cells which fall short of their twins, taken one by
//! one: the place whose cells explain most, then what is left without them.
//! Fails when: one fault lies within another (a narrow path to a slow node): only the
//! wider one is named.

use std::collections::BTreeSet;

use nearfar_stats::estimate_median;

use crate::twins::{Comparison, FEWEST_CELLS, TwinCell, compare};

/// For one cell that contradicts a cause there must be so many that it explains.
const EXPLAINED_PER_CONTRADICTION: usize = 4;

/// A part of the machine that falls short of its twins.
#[derive(Debug, Clone, PartialEq)]
pub struct Shortfall {
    /// Which part.
    pub place: Place,
    /// A second part that would explain the same cells, where the figures cannot tell.
    pub or_place: Option<Place>,
    /// Median over the cells that fall short of cell / median of its twins.
    pub ratio: f64,
    /// Its 95 % interval over the cells; with fewer than six, the outermost ends of
    /// their own intervals.
    pub interval: (f64, f64),
    /// Cells that fall short.
    pub cells: usize,
    /// Cells of the place that were compared.
    pub of: usize,
    /// Twins of the cells that fall short, the fewest that one of them has. With one,
    /// figures cannot say which of the two is wrong: this is the lower one.
    pub fewest_twins: usize,
    /// Of a memory node: its size / median size of the other nodes of its kind; `None`
    /// of other places and where sizes are not known.
    pub memory_share: Option<f64>,
    /// Kernels with which it shows.
    pub kernels: BTreeSet<String>,
    /// Numbers of threads with which it shows.
    pub threads: BTreeSet<u32>,
}

/// A part of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A memory node, whoever accesses it.
    Memory {
        /// Its number.
        node: u32,
    },
    /// The cores of a cluster, whatever they access.
    Cluster {
        /// Its number.
        cluster: u32,
    },
    /// One initiator of several in its cluster, whatever it accesses.
    Initiator {
        /// Its number among its kind.
        index: u32,
        /// Its cluster.
        cluster: u32,
    },
    /// All pairs of two packages, both ways.
    PackageLink {
        /// The lower package.
        first: u32,
        /// The higher package.
        second: u32,
    },
    /// What one package asks of the memory of another.
    PackageToPackage {
        /// The package of the cores.
        from: u32,
        /// The package of the memory.
        to: u32,
    },
    /// What one cluster asks of the memory of another package.
    ClusterToPackage {
        /// The cluster.
        cluster: u32,
        /// The package of the memory.
        to: u32,
    },
    /// What one cluster asks of one memory node that is not its own.
    Path {
        /// The cluster.
        cluster: u32,
        /// The memory node.
        node: u32,
    },
}

impl Place {
    fn holds(self, cell: &TwinCell) -> bool {
        let packages = cell.cluster_package.zip(cell.node_package);
        match self {
            Self::Memory { node } => cell.node == node,
            Self::Cluster { cluster } => cell.cluster == cluster,
            Self::Initiator { index, .. } => cell.initiator == index,
            Self::PackageLink { first, second } => {
                packages == Some((first, second)) || packages == Some((second, first))
            }
            Self::PackageToPackage { from, to } => packages == Some((from, to)),
            Self::ClusterToPackage { cluster, to } => {
                cell.cluster == cluster && cell.node_package == Some(to)
            }
            Self::Path { cluster, node } => cell.cluster == cluster && cell.node == node,
        }
    }

    /// Every place that could explain a cell; `several` says whether its cluster has
    /// several initiators.
    fn around(cell: &TwinCell, several: bool) -> Vec<Self> {
        let TwinCell { initiator: index, cluster, node, .. } = *cell;
        let mut places = vec![Self::Memory { node }, Self::Cluster { cluster }];
        if several {
            places.push(Self::Initiator { index, cluster });
        }
        if let Some((from, to)) = cell.cluster_package.zip(cell.node_package)
            && from != to
        {
            places.push(Self::PackageLink { first: from.min(to), second: from.max(to) });
            places.push(Self::PackageToPackage { from, to });
            places.push(Self::ClusterToPackage { cluster, to });
        }
        if !cell.local {
            places.push(Self::Path { cluster, node });
        }
        places
    }
}

/// A place as a cause of what is not explained yet.
struct Cause {
    place: Place,
    /// Cells that fall short, by their index.
    low: Vec<usize>,
    /// Cells of the place.
    of: usize,
}

/// The causes, and the number of cells that fall short without one.
pub(crate) fn explain(cells: &[TwinCell]) -> (Vec<Shortfall>, usize) {
    let initiators: BTreeSet<(u32, u32)> =
        cells.iter().map(|cell| (cell.cluster, cell.initiator)).collect();
    let several = |cell: &TwinCell| {
        initiators.iter().filter(|(cluster, _)| *cluster == cell.cluster).count() > 1
    };
    let mut explained = vec![false; cells.len()];
    let mut findings: Vec<Shortfall> = Vec::new();
    loop {
        let compared = compare(cells, &explained);
        // Without the cells of a cause their twins' median rises, and more cells of the
        // same place can come to fall short: they are the same cause, shown less.
        let named = |cell: &TwinCell| findings.iter().any(|finding| finding.place.holds(cell));
        let low: Vec<usize> = (0..cells.len())
            .filter(|&cell| !explained[cell] && falls_short(compared[cell].as_ref()))
            .filter(|&cell| !named(&cells[cell]))
            .collect();
        let places: BTreeSet<Place> = low
            .iter()
            .flat_map(|&cell| Place::around(&cells[cell], several(&cells[cell])))
            .collect();
        let causes: Vec<Cause> =
            places.into_iter().filter_map(|place| cause(place, cells, &compared, &low)).collect();
        // Of those that explain as much the one that claims least; of equal ones the
        // first in the order of `Place`.
        let best = causes
            .iter()
            .min_by_key(|cause| (std::cmp::Reverse(cause.low.len()), cause.of, cause.place));
        let Some(best) = best else {
            return (findings, low.len());
        };
        let best = prefer_memory(best, &causes, cells);
        findings.extend(shortfall(best, &causes, cells, &compared));
        for &cell in &best.low {
            explained[cell] = true;
        }
    }
}

fn falls_short(comparison: Option<&Comparison>) -> bool {
    comparison.is_some_and(Comparison::falls_short)
}

/// A place as a cause; `None` where too few cells speak for it or too many against.
fn cause(
    place: Place,
    cells: &[TwinCell],
    compared: &[Option<Comparison>],
    low: &[usize],
) -> Option<Cause> {
    let low: Vec<usize> = low.iter().copied().filter(|&cell| place.holds(&cells[cell])).collect();
    let of: Vec<usize> = (0..cells.len()).filter(|&cell| place.holds(&cells[cell])).collect();
    let enough = low.len() >= FEWEST_CELLS.min(of.len());
    let against = of.iter().filter(|&&cell| contradicts(cell, &low, cells, compared)).count();
    (enough && against * EXPLAINED_PER_CONTRADICTION <= low.len()).then_some(Cause {
        place,
        low,
        of: of.len(),
    })
}

/// Whether a cell speaks against a cause of these low cells: it has clearly not lost
/// what they lost, although it moves more than any of them with the same kernel and
/// threads. A slower one may be limited elsewhere, and then the cause does not show in it.
fn contradicts(
    cell: usize,
    low: &[usize],
    cells: &[TwinCell],
    compared: &[Option<Comparison>],
) -> bool {
    let alike = |&&other: &&usize| {
        cells[other].kernel == cells[cell].kernel && cells[other].threads == cells[cell].threads
    };
    if low.contains(&cell) {
        return false;
    }
    let (Some(fastest), Some(mean)) = (
        low.iter().filter(alike).map(|&other| cells[other].ln).max_by(f64::total_cmp),
        mean_loss(low.iter().filter(alike), compared),
    ) else {
        return false;
    };
    let lost = compared[cell].map_or(0.0, |comparison| comparison.ln_ratio);
    cells[cell].ln > fastest && lost > mean / 2.0
}

/// Mean of ln(cell / twins) over cells.
fn mean_loss<'a>(
    low: impl Iterator<Item = &'a usize>,
    compared: &[Option<Comparison>],
) -> Option<f64> {
    let losses: Vec<f64> =
        low.filter_map(|&cell| compared[cell].map(|comparison| comparison.ln_ratio)).collect();
    #[expect(clippy::cast_precision_loss, reason = "a number of cells")]
    let count = losses.len() as f64;
    (count > 0.0).then(|| losses.iter().sum::<f64>() / count)
}

/// Where only a node's own cores show the loss, and not with one thread, the memory is
/// the cause and not the cores: one thread would feel slow cores first.
fn prefer_memory<'a>(best: &'a Cause, causes: &'a [Cause], cells: &[TwinCell]) -> &'a Cause {
    if best.low.iter().any(|&cell| cells[cell].threads == 1 || !cells[cell].local) {
        return best;
    }
    let memory =
        |cause: &&Cause| matches!(cause.place, Place::Memory { .. }) && cause.low == best.low;
    causes.iter().find(memory).unwrap_or(best)
}

fn shortfall(
    cause: &Cause,
    causes: &[Cause],
    cells: &[TwinCell],
    compared: &[Option<Comparison>],
) -> Option<Shortfall> {
    let low: Vec<(&TwinCell, Comparison)> =
        cause.low.iter().filter_map(|&cell| Some((&cells[cell], compared[cell]?))).collect();
    let ratios: Vec<f64> = low.iter().map(|(_, comparison)| comparison.ln_ratio.exp()).collect();
    let estimate = estimate_median(&ratios)?;
    let interval =
        if estimate.confidence >= 0.95 { estimate.interval } else { own_intervals(&low) };
    // One thread shows slow cores and slow memory alike.
    let both = |place: &Place| matches!(place, Place::Memory { .. } | Place::Cluster { .. });
    let alone = low.iter().all(|(cell, _)| cell.local)
        && low.iter().any(|(cell, _)| cell.threads == 1)
        && both(&cause.place);
    let or_place = causes
        .iter()
        .find(|other| {
            alone && other.place != cause.place && both(&other.place) && other.low == cause.low
        })
        .map(|other| other.place);
    Some(Shortfall {
        place: cause.place,
        or_place,
        ratio: estimate.median,
        interval,
        cells: low.len(),
        of: cause.of,
        fewest_twins: low.iter().map(|(_, comparison)| comparison.twins).min()?,
        memory_share: None,
        kernels: low.iter().map(|(cell, _)| cell.kernel.clone()).collect(),
        threads: low.iter().map(|(cell, _)| cell.threads).collect(),
    })
}

/// The outermost ends of the cells' own intervals, as ratios.
fn own_intervals(low: &[(&TwinCell, Comparison)]) -> (f64, f64) {
    let end = |ln: f64, cell: &TwinCell, comparison: Comparison| {
        (comparison.ln_ratio + ln - cell.ln).exp()
    };
    let lowest = low.iter().map(|&(cell, comparison)| end(cell.ln_interval.0, cell, comparison));
    let highest = low.iter().map(|&(cell, comparison)| end(cell.ln_interval.1, cell, comparison));
    (lowest.fold(f64::INFINITY, f64::min), highest.fold(0.0, f64::max))
}
