//! The matrix of CPUs that hand a line to each other.

use super::heat_map::{HeatMap, Place};
use super::{Chart, Plot};
use crate::figure::{Figure, Unit};
use crate::subject::Sources;
use crate::subject::exchange::{by_words, cell};

pub(super) fn charts(sources: &Sources<'_>) -> Vec<Chart> {
    let Some(model) = sources.exchanges() else { return Vec::new() };
    let ns = Unit::Ns.as_str();
    let mut map = HeatMap::new(
        ["who begins", "who answers"],
        &["Way", "Line on"],
        &[
            ("median, one way", ns, true),
            ("low end of the interval", ns, true),
            ("high end of the interval", ns, true),
        ],
    );
    map.group_as("level");
    for pair in &model.pairs {
        let cpus = [pair.place.first_cpu, pair.place.second_cpu];
        let place = Place {
            choice: vec![
                by_words(pair.place.by).into(),
                format!("node {}", pair.place.memory_node),
            ],
            row: format!("CPU {}", cpus[0]),
            column: format!("CPU {}", cpus[1]),
        };
        let ends = pair.time.as_ref().map(|time| time.time.ends());
        let others = match ends {
            Some(ends) => ends.map(|end| Some(Figure::new(end.0, None, Unit::Ns))).to_vec(),
            None => Vec::new(),
        };
        let level = model.levels.iter().find(|level| level.pairs.contains(&cpus));
        map.add_of_group(&place, cell(pair), others, level.map(|level| level.level));
    }
    Chart::of(
        "exchange-map",
        "exchange",
        "Time to hand a cache line over",
        "A heat map: the CPU that begins in rows, the one that answers in columns, the time of a \
         hand-over one way written in each cell. Thick borders part the levels.",
        Plot::HeatMap(map),
    )
    .into_iter()
    .collect()
}
