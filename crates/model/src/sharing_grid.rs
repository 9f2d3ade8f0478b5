//! n threads near a memory node beside m threads of another initiator.
//! Units: useful bytes/s.          Source: saad2022, tables of total, local and remote bandwidth.
//! The paper counts lines that the last cache fetched, read traffic only; these are the bytes
//! that the program asked for.

use nearfar_record::{CaseSummary, Coordinates, Part, SharingCoordinates};
use nearfar_units::BytesPerSecond;
use serde::Serialize;

use crate::record_figures::{PlannedCase, RecordFigures};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharingCell {
    #[serde(flatten)]
    pub case: PlannedCase,
    /// Where it stands.
    #[serde(flatten)]
    pub place: SharingCoordinates,
    /// Both groups together; null without samples.
    #[serde(rename = "total_gb_per_s")]
    pub total: Option<CaseSummary>,
    /// The local group; null without samples or local threads.
    #[serde(rename = "local_gb_per_s")]
    pub local: Option<CaseSummary>,
    /// The remote group; null without samples or remote threads.
    #[serde(rename = "remote_gb_per_s")]
    pub remote: Option<CaseSummary>,
    /// Median sum of the remote group / its threads, or null.
    #[serde(rename = "remote_per_thread_gb_per_s")]
    pub remote_per_thread: Option<BytesPerSecond>,
}

/// The grids of a record, by node, initiators and kernel, then by n and m.
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
                remote_per_thread: remote
                    .as_ref()
                    .map(|remote| BytesPerSecond(remote.sum.median / threads)),
                remote,
            }
        })
        .collect();
    cells.sort_by_cached_key(|cell| {
        let place = cell.place.clone();
        let grid = (place.memory_node, place.local_initiator, place.remote_initiator);
        (grid, place.kernel, place.variant, place.local_threads, place.remote_threads)
    });
    cells
}
