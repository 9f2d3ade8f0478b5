//! Packages on each other's memory.

use super::heat_map::{Content, HeatMap, Place};
use super::{Chart, Plot};
use crate::document::Sources;
use crate::figure::{Counted, Figure, Unit};
use crate::table::Cell;

pub(super) fn charts(sources: &Sources<'_>) -> Vec<Chart> {
    let gb = Unit::GbPerS.as_str();
    let mut map = HeatMap::new(
        ["cores of", "memory of"],
        &["Way", "Kernel"],
        &[("together", gb, false), ("the row's cores", gb, false), ("the column's", gb, false)],
    );
    for link in &sources.show.links {
        let place = Place {
            choice: vec![link.way.as_str().replace('_', " "), link.kernel.clone()],
            row: format!("package {}", link.from_package),
            column: format!("package {}", link.to_package),
        };
        let sum = |view: &Option<_>| view.as_ref().map(Figure::sum);
        let others = vec![sum(&link.from), sum(&link.back)];
        let cell = Cell::of(&link.case, sum(&link.total), Counted::Bytes);
        if let Some(content) = Content::of(cell, others) {
            map.add(&place, content);
        }
    }
    if map.is_empty() {
        return Vec::new();
    }
    vec![Chart {
        id: "links-map",
        section: "links",
        title: "Packages on each other's memory",
        alternative: "A heat map: the package whose cores move data in rows, the package whose \
                      memory they use in columns, the bandwidth written in each cell."
            .into(),
        plot: Plot::HeatMap(map),
    }]
}
