//! Packages on the memory of others.

use nearfar_record::Way;

use super::sources::Sources;
use crate::document::Section;
use crate::figure::{Counted, Figure};
use crate::table::{Cell, Column, GB, Table, WORDS};

pub(crate) fn section(sources: &Sources<'_>) -> Option<Section> {
    let who = &sources.show.measured.who;
    let rows = sources.show.links.iter().map(|link| {
        let place = &link.place;
        let sum = |of: &Option<_>| of.as_ref().map(Figure::sum);
        let each = |of: &Option<_>| match place.way {
            Way::BothWays => Cell::of_some(&link.case, sum(of)),
            Way::OneWay => Cell::Empty,
        };
        vec![
            Cell::text(format!("{} - {}", place.from_package, place.to_package)),
            Cell::Text(place.initiator.map_or_else(|| "all".into(), |it| who.cpus(it))),
            Cell::Text(place.way.as_str().replace('_', " ")),
            Cell::Text(format!("{} {}", place.kernel, place.variant)),
            Cell::of(&link.case, sum(&link.total), Counted::Bytes),
            each(&link.from),
            each(&link.back),
        ]
    });
    let columns = Column::all(
        ["packages", "cores", "way", "kernel", "together", "the first", "the second"],
        [WORDS, WORDS, WORDS, WORDS, GB, GB, GB],
    );
    let table = Table::new("Useful bandwidth, all cores of a package or a part", columns, rows);
    Section::new(
        "links",
        "Packages on each other's memory",
        "All cores of one package on the memory of another, one way and both ways at once, and \
         those with one memory node of its own while the others rest.",
        table.unless_empty().into_iter().collect(),
    )
    .unless_empty()
}
