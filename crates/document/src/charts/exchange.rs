//! The matrix of CPUs that hand a line to each other.

use std::collections::BTreeSet;

use nearfar_machine::Machine;
use nearfar_model::HandOverFigures;

use super::heat_map::{HeatMap, Place};
use super::{Chart, Plot};
use crate::figure::{Figure, Unit};
use crate::subject::Sources;
use crate::subject::exchange::{by_words, cell};

/// Neighbours stand side by side: by package, node and CPU.
fn in_order(machine: &Machine, cpus: BTreeSet<u32>) -> Vec<String> {
    let place = |cpu: u32| {
        let package = machine.packages.iter().position(|it| it.cpus.contains(cpu));
        (package, machine.nodes.iter().position(|it| it.cpus.contains(cpu)), cpu)
    };
    let mut cpus: Vec<u32> = cpus.into_iter().collect();
    cpus.sort_by_key(|&cpu| place(cpu));
    cpus.into_iter().map(|cpu| format!("CPU {cpu}")).collect()
}

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
    let cpus: BTreeSet<u32> =
        model.pairs.iter().flat_map(|it| [it.place.first_cpu, it.place.second_cpu]).collect();
    let names = in_order(&sources.record.header.machine, cpus);
    map.set_rows(names.clone());
    map.set_columns(names);
    let mut pairs: Vec<&HandOverFigures> = model.pairs.iter().collect();
    pairs.sort_by_key(|pair| pair.place.memory_node);
    for pair in pairs {
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
        "A heat map: the CPU that begins in rows, the one that answers in columns, both by package, \
         node and number, the time of a hand-over one way written in each cell. Thick borders part the levels.",
        Plot::HeatMap(map),
    )
    .into_iter()
    .collect()
}

#[cfg(test)]
mod tests {
    use nearfar_flow::read_machine;

    use super::*;

    /// Hardware threads of one core have numbers that lie far apart.
    #[test]
    fn cpus_of_a_node_stand_together() {
        let machine = read_machine("two-socket-8-nodes").unwrap().machine;
        let names = in_order(&machine, BTreeSet::from([2, 17, 64, 130, 170, 192]));
        assert_eq!(names, ["CPU 2", "CPU 130", "CPU 17", "CPU 170", "CPU 64", "CPU 192"]);
    }
}
