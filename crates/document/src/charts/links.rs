//! Packages on each other's memory, and a part of one on that of another.

use nearfar_model::LinkFigures;

use super::heat_map::{HeatMap, Place};
use super::{Chart, Plot};
use crate::figure::{Counted, Figure, Unit};
use crate::subject::{Sources, Who};
use crate::table::Cell;

pub(super) fn charts(sources: &Sources<'_>) -> Vec<Chart> {
    let links = &sources.show.links;
    let (packages, alone): (Vec<&LinkFigures>, Vec<&LinkFigures>) =
        links.iter().partition(|link| link.place.initiator.is_none());
    [of_packages(&packages), of_parts(&alone, &sources.show.measured.who)]
        .into_iter()
        .flatten()
        .collect()
}

fn of_packages(links: &[&LinkFigures]) -> Option<Chart> {
    let gb = Unit::GbPerS.as_str();
    let mut map = HeatMap::new(
        ["cores of", "memory of"],
        &["Way", "Kernel"],
        &[("together", gb, false), ("the row's cores", gb, false), ("the column's", gb, false)],
    );
    for link in links {
        let place = Place {
            choice: vec![link.place.way.as_str().replace('_', " "), link.place.kernel.clone()],
            row: format!("package {}", link.place.from_package),
            column: format!("package {}", link.place.to_package),
        };
        let sum = |view: &Option<_>| view.as_ref().map(Figure::sum);
        add(&mut map, &place, link, vec![sum(&link.from), sum(&link.back)]);
    }
    Chart::of(
        "links-map",
        "links",
        "Packages on each other's memory",
        "A heat map: the package whose cores move data in rows, the package whose \
                      memory they use in columns, the bandwidth written in each cell.",
        Plot::HeatMap(map),
    )
}

fn of_parts(links: &[&LinkFigures], who: &Who) -> Option<Chart> {
    let mut map = HeatMap::new(
        ["cores of", "memory of"],
        &["Kernel"],
        &[("bandwidth", Unit::GbPerS.as_str(), false)],
    );
    for (link, initiator) in links.iter().filter_map(|link| Some((link, link.place.initiator?))) {
        let place = Place {
            choice: vec![link.place.kernel.clone()],
            row: who.cpus(initiator),
            column: format!("package {}", link.place.to_package),
        };
        add(&mut map, &place, link, Vec::new());
    }
    Chart::of(
        "links-alone-map",
        "links",
        "A part of a package on another's memory",
        "A heat map: the CPUs that move data while the rest of their package \
                      is idle in rows, the package whose memory they use in columns, the bandwidth \
                      written in each cell.",
        Plot::HeatMap(map),
    )
}

/// Adds what a link's cores move together, or why that is not known.
fn add(map: &mut HeatMap, place: &Place, link: &LinkFigures, others: Vec<Option<Figure>>) {
    let cell = Cell::of(&link.case, link.total.as_ref().map(Figure::sum), Counted::Bytes);
    map.add(place, cell, others);
}
