//! n threads near a memory node beside m threads of another cluster.
//! Units: useful bytes/s.          Source: saad2022, tables of total, local and remote bandwidth.
//! The paper counts lines that the last cache fetched, read traffic only; these are the bytes
//! that the program asked for.

use nearfar_record::{CaseSummary, Coordinates, Part, SharingCoordinates};

use crate::record_figures::{PlannedCase, RecordFigures};

#[derive(Debug, Clone, PartialEq)]
pub struct SharingCell {
    pub case: PlannedCase,
    /// Where it stands.
    pub place: SharingCoordinates,
    /// Both groups together; `None` without samples.
    pub total: Option<CaseSummary>,
    /// The local group; `None` without samples or local threads.
    pub local: Option<CaseSummary>,
    /// The remote group; `None` without samples or remote threads.
    pub remote: Option<CaseSummary>,
    /// Median sum of the remote group / its threads.
    pub remote_per_thread: Option<f64>,
}

/// The grids of a record, by node, clusters and kernel, then by n and m.
pub fn sharing_grid(figures: &RecordFigures<'_>) -> Vec<SharingCell> {
    let places = figures.places(|coordinates| match coordinates {
        Coordinates::Sharing(place) => Some(place),
        _ => None,
    });
    let mut cells: Vec<SharingCell> = places
        .map(|(place, case)| {
            // The actors are the groups that have threads, the local one first.
            let group = |position, threads| {
                (threads > 0).then(|| case.bandwidth(Part::Actor(position))).flatten()
            };
            let remote = group(usize::from(place.local_threads > 0), place.remote_threads);
            let threads = f64::from(place.remote_threads);
            SharingCell {
                case: case.planned(),
                place: place.clone(),
                total: case.bandwidth(Part::Case),
                local: group(0, place.local_threads),
                remote_per_thread: remote.as_ref().map(|remote| remote.sum.median / threads),
                remote,
            }
        })
        .collect();
    cells.sort_by(|one, other| {
        let key = |cell: &SharingCell| {
            let SharingCoordinates {
                memory_node,
                local_cluster,
                remote_cluster,
                local_threads,
                remote_threads,
                kernel,
                variant,
            } = cell.place.clone();
            let grid = (memory_node, local_cluster, remote_cluster, kernel, variant);
            (grid, local_threads, remote_threads)
        };
        key(one).cmp(&key(other))
    });
    cells
}
