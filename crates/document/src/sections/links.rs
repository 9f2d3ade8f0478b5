//! Packages on the memory of others.

use nearfar_record::Way;

use crate::document::{Section, Sources};
use crate::figure::{Counted, Figure, Unit};
use crate::table::{Cell, Column, Table};

pub(super) fn section(sources: &Sources<'_>) -> Option<Section> {
    let links = &sources.show.links;
    if links.is_empty() {
        return None;
    }
    let rows = links.iter().map(|link| {
        let place = &link.place;
        let both = place.way == Way::BothWays;
        let sum = |of: &Option<_>| of.as_ref().map(Figure::sum);
        let cell = |of: &Option<_>| Cell::of_some(&link.case, sum(of));
        vec![
            Cell::text(format!("{} - {}", place.from_package, place.to_package)),
            Cell::text(place.initiator.map_or_else(|| "all".into(), |it| it.to_string())),
            Cell::text(place.way.as_str().replace('_', " ")),
            Cell::text(format!("{} {}", place.kernel, place.variant)),
            Cell::of(&link.case, sum(&link.total), Counted::Bytes),
            if both { cell(&link.from) } else { Cell::Empty },
            if both { cell(&link.back) } else { Cell::Empty },
        ]
    });
    Some(Section {
        id: "links",
        title: "Packages on each other's memory",
        about: "All cores of one package on the memory of another, one way and both ways at once, \
                and those of one of its initiators while the others rest."
            .into(),
        tables: vec![Table {
            caption: "Useful bandwidth, all cores of a package or of one initiator".into(),
            columns: vec![
                Column::words("packages"),
                Column::words("initiators"),
                Column::words("way"),
                Column::words("kernel"),
                Column::of("together", Unit::GbPerS),
                Column::of("the first", Unit::GbPerS),
                Column::of("the second", Unit::GbPerS),
            ],
            rows: rows.collect(),
            notes: Vec::new(),
        }],
        findings: Vec::new(),
        model_text: None,
    })
}
