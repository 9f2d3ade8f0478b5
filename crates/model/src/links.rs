//! All cores of one package, or of one of its initiators, on the memory of another, one way and
//! both ways at once.
//! Units: useful bytes/s.          Source: ours; the link matrix of the flow model.
//! Fails when: a node's controller, and not the link, is the narrower part; the local figures
//! of `pairs` and `roofs` show it.

use nearfar_machine::CpuSet;
use nearfar_record::{CaseSummary, Coordinates, LinkCoordinates, Part};
use serde::Serialize;

use crate::record_figures::{PlannedCase, RecordFigures};

/// A package on the memory of another.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkFigures {
    #[serde(flatten)]
    pub case: PlannedCase,
    /// Where it stands.
    #[serde(flatten)]
    pub place: LinkCoordinates,
    /// All cores of the case; null without samples.
    #[serde(rename = "total_gb_per_s")]
    pub total: Option<CaseSummary>,
    /// The cores of `from_package`; null without samples.
    #[serde(rename = "from_gb_per_s")]
    pub from: Option<CaseSummary>,
    /// The cores of the other package, both ways; null one way or without samples.
    #[serde(rename = "back_gb_per_s")]
    pub back: Option<CaseSummary>,
}

/// The links of a record, by kernel, then whole packages before initiators alone, one way before
/// both, and by package.
pub fn links(figures: &RecordFigures<'_>) -> Vec<LinkFigures> {
    let machine = &figures.record().header.machine;
    let places = figures.places(|coordinates| match coordinates {
        Coordinates::Links(place) => Some(place),
        _ => None,
    });
    let mut all: Vec<LinkFigures> = places
        .map(|(place, case)| {
            let package =
                machine.packages.iter().find(|package| package.os_index == place.from_package);
            let none = CpuSet::new();
            let cpus = package.map_or(&none, |package| &package.cpus);
            LinkFigures {
                case: case.planned(),
                place: place.clone(),
                total: case.bandwidth(Part::Case),
                from: case.bandwidth_of(|actor| actor.cpus().intersects(cpus)),
                back: case.bandwidth_of(|actor| !actor.cpus().intersects(cpus)),
            }
        })
        .collect();
    all.sort_by_cached_key(|link| {
        let LinkCoordinates { from_package, to_package, initiator, way, kernel, variant, .. } =
            link.place.clone();
        (kernel, variant, initiator.is_some(), way, from_package, initiator, to_package)
    });
    all
}
