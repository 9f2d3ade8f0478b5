//! Packages on each other's memory, and a part of one on that of another.

use std::collections::BTreeSet;

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

const BACK: &str = "the column's";

fn of_packages(links: &[&LinkFigures]) -> Option<Chart> {
    let gb = Unit::GbPerS.as_str();
    let mut map = HeatMap::new(
        ["cores of", "memory of"],
        &["Way", "Kernel"],
        &[("together", gb, false), ("the row's cores", gb, false), (BACK, gb, false)],
    );
    map.explain_statistic(BACK, "one way the cores of the column are idle");
    // Rows come by their numbers: columns as well, so that the diagonal is a package's own memory.
    map.set_columns(packages(links));
    map.explain_blanks(Some("a package on its own memory is under Bandwidth".into()));
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

/// The packages whose memory is used, by their numbers.
fn packages(links: &[&LinkFigures]) -> Vec<String> {
    let numbers: BTreeSet<u32> = links.iter().map(|link| link.place.to_package).collect();
    numbers.into_iter().map(|package| format!("package {package}")).collect()
}

fn of_parts(links: &[&LinkFigures], who: &Who) -> Option<Chart> {
    let mut map = HeatMap::new(
        ["cores of", "memory of"],
        &["Kernel"],
        &[("bandwidth", Unit::GbPerS.as_str(), false)],
    );
    map.set_columns(packages(links));
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

#[cfg(test)]
mod tests {
    use nearfar_flow::read_machine;
    use nearfar_measure::{simulated::simulate, suite_inputs};
    use nearfar_model::ModelChoices;
    use nearfar_record::{Experiment, Inputs, Suite};

    use super::*;

    /// Nothing remote stands where a reader of matrices looks for local memory.
    #[test]
    fn the_diagonal_is_a_packages_own_memory() {
        let inputs = suite_inputs(Suite::Standard);
        let inputs = Inputs { experiments: vec![Experiment::Links], ..inputs };
        let record = simulate(&read_machine("two-socket-8-nodes").unwrap(), inputs, true).unwrap();
        let charts = charts(&Sources::new(&record, &ModelChoices::default()));
        let map = charts.iter().find(|chart| chart.id == "links-map").unwrap();
        let map = serde_json::to_value(map).unwrap();
        assert_eq!(map["rows"], serde_json::json!(["package 0", "package 1"]));
        assert_eq!(map["rows"], map["columns"]);
        let layers = map["layers"].as_array().unwrap().iter();
        let cells: Vec<_> = layers.flat_map(|layer| layer["cells"].as_array().unwrap()).collect();
        assert!(!cells.is_empty());
        assert!(cells.iter().all(|cell| cell["row"] != cell["column"]), "{cells:?}");
    }
}
