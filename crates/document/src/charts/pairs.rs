//! The matrix of groups of CPUs and memory nodes.

use std::collections::HashMap;

use crate::subject::classes::kernels_and_threads;
use crate::subject::pairs::row_words;
use nearfar_model::{Class, best_pairs};

use super::heat_map::{HeatMap, Place};
use super::{Chart, Plot};
use crate::figure::{Counted, Figure, Unit};
use crate::subject::Sources;
use crate::table::Cell;

const LOW: &str = "low end of the sum's interval";
const HIGH: &str = "high end of the sum's interval";

pub(super) fn charts(sources: &Sources<'_>) -> Vec<Chart> {
    let gb = Unit::GbPerS.as_str();
    let mut map = HeatMap::new(
        ["who accesses", "whose memory"],
        &["Kernel", "Threads"],
        &[
            ("median of the sum", gb, false),
            ("paced: threads x the slowest", gb, false),
            (LOW, gb, false),
            (HIGH, gb, false),
        ],
    );
    let classes = classes(sources);
    if !classes.is_empty() {
        map.group_as("class");
    }
    map.explain_blanks(crate::subject::pairs::why_thinned(sources));
    for cell in &sources.show.pairs {
        let place = Place {
            choice: vec![cell.kernel.clone(), cell.threads.to_string()],
            row: row_words(cell, &sources.show.measured.who),
            column: format!("node {}", cell.memory_node),
        };
        let Some(figure) = cell.cell.best() else {
            map.add(&place, Cell::absent(&cell.cell.refused), Vec::new());
            continue;
        };
        let sum = Figure::sum(&figure.summary).of_samples(&figure.case, Counted::Bytes);
        let ends = sum.interval.map(|ends| ends.map(|end| Figure::new(end, None, sum.unit)));
        let [low, high] = ends.map_or([None, None], |ends| ends.map(Some));
        let others = vec![Some(Figure::paced(&figure.summary)), low, high];
        let class = classes.get(&(cell.row.index, cell.memory_node)).copied();
        map.add_of_group(&place, Cell::Figure(sum), others, class);
    }
    for name in [LOW, HIGH] {
        map.explain_statistic(name, "too few rounds for an interval");
    }
    // What the answer above tells is seen first.
    if let Some(best) = best_pairs(&sources.show.pairs) {
        let told = best.pairs.iter().filter(|pair| !pair.is_other).map(|pair| pair.cell.threads);
        if let Some(threads) = told.max() {
            map.show_first(&[best.kernel.to_string(), threads.to_string()]);
        }
    }
    Chart::of(
        "pairs-map",
        "pairs",
        "Bandwidth of each pair, best variant",
        format!(
            "A heat map: CPUs in rows, memory in columns, the bandwidth written in each cell. \
             Thick borders part the bandwidth classes{}.",
            class_words(sources)
        ),
        Plot::HeatMap(map),
    )
    .into_iter()
    .collect()
}

/// Of what the classes are, which holds whatever is chosen.
fn class_words(sources: &Sources<'_>) -> String {
    sources.classes().map_or_else(String::new, |model| {
        format!(", which are of the best round of {}", kernels_and_threads(model))
    })
}

/// The class of each pair, where the whole machine has one set of classes.
fn classes(sources: &Sources<'_>) -> HashMap<(u32, u32), usize> {
    let of_machine = sources.classes().filter(|model| !model.rule.per_group);
    let sets = of_machine.into_iter().flat_map(|model| &model.sets);
    let of_class = |class: &'_ Class| {
        let pairs = class.pairs.iter();
        pairs.map(|pair| ((pair.cpu_group, pair.memory_node), class.class)).collect::<Vec<_>>()
    };
    sets.flat_map(|set| &set.classes).flat_map(of_class).collect()
}

#[cfg(test)]
mod tests {
    use nearfar_flow::read_machine;
    use nearfar_measure::{simulated::simulate, suite_inputs};
    use nearfar_model::ModelChoices;
    use nearfar_record::{Experiment, Inputs, Suite};

    use super::*;

    /// The map begins with the figures that stand above it.
    #[test]
    fn what_the_answer_tells_is_shown_first() {
        for (machine, told) in [("xeon-8568-cxl", ["load", "48"]), ("amd-2p", ["triad", "4"])] {
            let inputs = suite_inputs(Suite::Standard);
            let inputs = Inputs { experiments: vec![Experiment::Pairs], ..inputs };
            let record = simulate(&read_machine(machine).unwrap(), inputs, true).unwrap();
            let sources = Sources::new(&record, &ModelChoices::default());
            let map = serde_json::to_value(&charts(&sources)[0]).unwrap();
            let layers = map["layers"].as_array().unwrap();
            assert!(layers.iter().any(|layer| layer["choice"] == map["first"]), "{machine}");
            for (selector, told) in told.into_iter().enumerate() {
                let options = map["selectors"][selector]["options"].as_array().unwrap();
                let position = options.iter().position(|option| option == told).unwrap();
                assert_eq!(map["first"][selector], position, "{machine}");
            }
        }
    }
}
