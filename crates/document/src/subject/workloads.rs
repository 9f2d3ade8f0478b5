//! The papers' programs of a record: what each gets of far memory, and which strategy serves it best.

use nearfar_machine::PlacementStrategy;
use nearfar_model::{PlacedWorkload, WorkloadOnNode, WorkloadStrategies, Workloads};
use nearfar_units::format_significant;

use super::figures::{count, percent_words, rounded};
use super::who::Who;
use crate::document::Section;
use crate::table::{Cell, Column, Table};

/// Both figures of the thesis in one table, the strategies in another.
pub(crate) fn section(model: &Workloads, who: &Who) -> Section {
    let beside = match &model.alpha_kernel {
        Some(kernel) => format!("; alpha is the bandwidth of {kernel} there / that of own memory"),
        None => String::new(),
    };
    let about = format!(
        "Rates of whole programs, median over runs, each verified; performance is relative to own \
         memory{beside}."
    );
    let mut tables = Vec::new();
    if !model.placed.is_empty() {
        tables.push(placed(&model.placed, who));
    }
    if !model.strategies.is_empty() {
        tables.push(strategies(&model.strategies));
    }
    Section::new("workloads", "The papers' programs", about, tables).with_findings(findings(model))
}

/// What follows, in sentences.
pub(crate) fn findings(model: &Workloads) -> Vec<String> {
    let mut sentences = Vec::new();
    let rated: Vec<&PlacedWorkload> =
        model.placed.iter().filter(|it| it.worst().is_finite()).collect();
    if let (Some(most), Some(least)) = (rated.first(), rated.last())
        && rated.len() > 1
    {
        sentences.push(format!(
            "{} minds far memory most: {} of its performance on the worst node; {} least: {}.",
            name(most),
            percent_words(most.worst()),
            name(least),
            percent_words(least.worst()),
        ));
    }
    let errors: Vec<f64> = rated.iter().flat_map(|it| &it.nodes).filter_map(error).collect();
    if !errors.is_empty() {
        let mean = errors.iter().map(|error| error.abs()).sum::<f64>() / errors.len() as f64;
        sentences.push(format!(
            "Alpha alone foretells performance within {} in the mean over {}.",
            percent_words(mean),
            count(errors.len(), "placement")
        ));
    }
    sentences.extend(model.strategies.iter().filter_map(strategy_sentence).take(4));
    sentences
}

fn name(workload: &PlacedWorkload) -> String {
    format!("{} ({})", workload.workload, count(workload.threads as usize, "thread"))
}

/// By how much alpha misses performance on a far node.
fn error(node: &WorkloadOnNode) -> Option<f64> {
    let performance = node.performance.filter(|_| !node.is_local)?;
    Some(node.alpha_relative? - performance.ratio)
}

fn strategy_sentence(of: &WorkloadStrategies) -> Option<String> {
    let best = of.best?;
    let runs = of.runs.iter().find(|it| it.strategy == best)?;
    let gain = runs.against_first_touch?.ratio;
    if best == PlacementStrategy::FirstTouch || gain < 1.05 {
        return None;
    }
    let alike: Vec<&str> = of.as_fast.iter().map(|strategy| strategy.as_str()).collect();
    let alike =
        if alike.is_empty() { String::new() } else { format!(" (as fast: {})", alike.join(", ")) };
    let threads = count(of.threads as usize, "thread");
    Some(format!(
        "{} by {threads}: {best} is x {} of first-touch{alike}.",
        of.workload,
        rounded(gain, 2)
    ))
}

fn placed(placed: &[PlacedWorkload], who: &Who) -> Table {
    let columns =
        ["workload", "threads", "memory node", "rate", "unit", "of own", "alpha", "error"];
    let rows = placed.iter().flat_map(|workload| {
        workload.nodes.iter().map(move |node| {
            let ratio =
                |value: Option<f64>| value.map_or(Cell::Empty, |it| Cell::text(rounded(it, 3)));
            let own = if node.is_local { " (own)" } else { "" };
            vec![
                Cell::text(&workload.workload),
                Cell::text(workload.threads),
                Cell::text(format!("{}{own}", node.memory_node)),
                rate(node.rate.as_ref().map(|rate| rate.figure.median)),
                workload.unit.as_ref().map_or(Cell::Empty, |unit| Cell::text(format!("{unit}/s"))),
                ratio(node.performance.map(|it| it.ratio)),
                ratio(node.alpha_relative),
                ratio(error(node)),
            ]
        })
    });
    let caption = placed.first().map_or_else(String::new, |first| {
        format!("On {}, the most sensitive first", who.cpus(first.initiator))
    });
    Table::new(caption, columns.map(Column::words), rows)
}

fn rate(median: Option<f64>) -> Cell {
    median.map_or(Cell::Empty, |median| Cell::text(format_significant(median, 4)))
}

fn strategies(all: &[WorkloadStrategies]) -> Table {
    let names = PlacementStrategy::ALL.map(PlacementStrategy::as_str);
    let columns = ["workload", "threads", "unit"].into_iter().chain(names).chain(["best"]);
    let rows = all.iter().map(|of| {
        let unit = of.unit.as_ref().map_or(Cell::Empty, |unit| Cell::text(format!("{unit}/s")));
        let mut row = vec![Cell::text(&of.workload), Cell::text(of.threads), unit];
        row.extend(PlacementStrategy::ALL.map(|strategy| {
            let runs = of.runs.iter().find(|it| it.strategy == strategy);
            rate(runs.and_then(|it| it.rate.as_ref()).map(|rate| rate.figure.median))
        }));
        let alike = if of.as_fast.is_empty() { "" } else { " or others" };
        row.push(of.best.map_or(Cell::Empty, |best| Cell::text(format!("{best}{alike}"))));
        row
    });
    Table::new("Threads over the machine, by strategy", columns.map(Column::words), rows)
}
