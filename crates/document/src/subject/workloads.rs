//! The papers' programs of a record: what each gets of far memory, and which strategy serves it best.

use std::collections::BTreeSet;

use nearfar_machine::PlacementStrategy;
use nearfar_model::{
    ArrayAccess, PlacedWorkload, Relative, StrategyStatement, WorkloadOnNode, WorkloadStrategies,
    Workloads,
};
use nearfar_record::RunSummary;
use nearfar_units::Unit;

use super::figures::{count, percent_words, rounded};
use super::sensitivity_words::{USUALLY_SURE, least_sure, runs_words};
use super::who::Who;
use crate::document::Section;
use crate::figure::Figure;
use crate::table::{Cell, Column, Table};

/// Both figures of the thesis in one table, the strategies in another.
pub(crate) fn section(model: &Workloads, who: &Who) -> Section {
    let beside = match &model.alpha_kernel {
        Some(kernel) => format!(", next to bandwidth by {kernel} (its alpha, relative)"),
        None => String::new(),
    };
    let about = format!("Rates of whole programs on each memory node, medians over runs{beside}.");
    let mut tables = Vec::new();
    if !model.placed.is_empty() {
        tables.push(placed(&model.placed, model.alpha_kernel.as_deref(), who));
    }
    if !model.strategies.is_empty() {
        tables.push(strategies(&model.strategies));
        tables.extend(statements(&model.strategies));
    }
    let rates = model.placed.iter().flat_map(|it| &it.nodes).filter_map(|it| it.rate.as_ref());
    let of_strategies = model.strategies.iter().flat_map(|it| &it.runs);
    let rates = rates.chain(of_strategies.filter_map(|it| it.rate.as_ref()));
    let sure = least_sure(rates).filter(|sure| *sure < USUALLY_SURE);
    if let (Some(sure), Some(first)) = (sure, tables.first_mut()) {
        first.notes.push(format!("Intervals are {} sure at least.", percent_words(sure)));
    }
    Section::new("workloads", "The papers' programs", about, tables).with_findings(findings(model))
}

/// Gains by a strategy that are sentences.
const MOST_GAINS: usize = 4;

/// What follows, in sentences.
pub(crate) fn findings(model: &Workloads) -> Vec<String> {
    let mut sentences = Vec::new();
    let rated: Vec<&PlacedWorkload> =
        model.placed.iter().filter(|it| it.worst().is_finite()).collect();
    let others = rated.iter().flat_map(|it| &it.nodes).any(|node| !node.is_own);
    if let (Some(most), Some(least)) = (rated.first(), rated.last())
        && rated.len() > 1
        && others
    {
        sentences.push(format!(
            "Most sensitive to where memory is: {}, {} of its performance on the worst node; least: \
             {}, {}.",
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
            "Alpha alone predicts performance within {} on average over {}.",
            percent_words(mean),
            count(errors.len(), "placement")
        ));
    }
    let gains = model.strategies.iter().filter_map(strategy_sentence);
    let (told, more) = (gains.clone().take(MOST_GAINS), gains.count().saturating_sub(MOST_GAINS));
    sentences.extend(told);
    sentences
        .extend((more > 0).then(|| format!("{more} more gain by a strategy: the table has them.")));
    sentences.extend(statement_sentence(&model.strategies));
    sentences
}

fn statement_sentence(all: &[WorkloadStrategies]) -> Option<String> {
    let stated: Vec<&StrategyStatement> = all.iter().filter_map(|of| of.paper.as_ref()).collect();
    let of = |holds| stated.iter().filter(|it| it.holds == holds).count();
    (!stated.is_empty()).then(|| {
        format!(
            "What ribeiro2010 calls the best strategy is the fastest in {} of {}, is not in {}, and \
             cannot be told in {}.",
            of(Some(true)),
            count(stated.len(), "program"),
            of(Some(false)),
            of(None),
        )
    })
}

/// `1489 ±3.2 % Mop/s`.
fn rate_words(rate: &RunSummary, unit: &str) -> String {
    let mark = if rate.disturbed == rate.samples { " (disturbed)" } else { "" };
    format!("{} {unit}/s{mark}", runs_words(rate))
}

/// Performance beside another's.
pub(super) fn relative_figure(of: Relative) -> Figure {
    Figure::new(of.ratio, Some(of.interval.into()), Unit::One)
}

fn name(workload: &PlacedWorkload) -> String {
    format!("{} ({})", workload.workload, count(workload.threads as usize, "thread"))
}

/// By how much alpha misses performance on another node.
fn error(node: &WorkloadOnNode) -> Option<f64> {
    let performance = node.performance.filter(|_| !node.is_own)?;
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

/// Figure 6.3's form: bandwidth first, then each program, relative to own memory.
fn placed(placed: &[PlacedWorkload], kernel: Option<&str>, who: &Who) -> Table {
    let far: BTreeSet<u32> = placed
        .iter()
        .flat_map(|it| &it.nodes)
        .filter(|node| !node.is_own)
        .map(|node| node.memory_node)
        .collect();
    let columns = ["program", "threads", "with own memory"].map(String::from);
    let columns = columns.into_iter().chain(far.iter().map(|node| format!("node {node}")));
    let row = |name: &str,
               of: &PlacedWorkload,
               own: String,
               ratio: &dyn Fn(&WorkloadOnNode) -> Option<Figure>| {
        let node = |node: u32| of.nodes.iter().find(|it| it.memory_node == node);
        let cell = |&number: &u32| node(number).and_then(ratio).map_or(Cell::Empty, Cell::Figure);
        let mut cells = vec![Cell::text(name), Cell::text(of.threads), Cell::text(own)];
        cells.extend(far.iter().map(cell));
        cells
    };
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    if let Some(kernel) = kernel.filter(|_| !far.is_empty()) {
        let counts: BTreeSet<u32> = placed.iter().map(|it| it.threads).collect();
        let has_alpha =
            |it: &&PlacedWorkload| it.nodes.iter().any(|node| node.alpha_relative.is_some());
        for threads in counts {
            let of = placed.iter().filter(|it| it.threads == threads).find(has_alpha);
            rows.extend(of.map(|it| {
                row(&format!("bandwidth ({kernel})"), it, String::new(), &|node| {
                    node.alpha_relative.map(Figure::ratio)
                })
            }));
        }
    }
    rows.extend(placed.iter().map(|it| {
        let own = it.nodes.iter().find(|node| node.is_own).and_then(|node| node.rate.as_ref());
        let unit = it.unit.as_deref().unwrap_or_default();
        let own = own.map_or_else(String::new, |rate| rate_words(rate, unit));
        row(&it.workload, it, own, &|node| Some(relative_figure(node.performance?)))
    }));
    let caption = placed.first().map_or_else(String::new, |first| match far.is_empty() {
        true => format!("With own memory on {}", who.cpus(first.initiator)),
        false => format!(
            "Performance relative to own memory on {}, the most sensitive first",
            who.cpus(first.initiator)
        ),
    });
    Table::new(caption, columns.map(Column::words), rows)
}

fn strategies(all: &[WorkloadStrategies]) -> Table {
    let others = &PlacementStrategy::ALL[1..];
    let columns = ["program", "threads", "first-touch"].map(String::from);
    let columns = columns.into_iter().chain(others.iter().map(ToString::to_string));
    let rows = all.iter().map(|of| {
        let runs = |strategy| of.runs.iter().find(move |it| it.strategy == strategy);
        let first = runs(PlacementStrategy::FirstTouch).and_then(|it| it.rate.as_ref());
        let unit = of.unit.as_deref().unwrap_or_default();
        let first = first.map_or(Cell::Empty, |rate| Cell::text(rate_words(rate, unit)));
        let mut row = vec![Cell::text(&of.workload), Cell::text(of.threads), first];
        row.extend(others.iter().map(|&strategy| {
            let best =
                if of.best == Some(strategy) || of.as_fast.contains(&strategy) { "*" } else { "" };
            let against = runs(strategy).and_then(|it| it.against_first_touch);
            against.map_or(Cell::Empty, |it| {
                let figure = relative_figure(it);
                let spread = figure.spread().unwrap_or_default();
                Cell::text(format!("x {}{spread}{best}", figure.text))
            })
        }));
        row
    });
    let caption = "Threads over the machine, by strategy; * the fastest, and those as fast within their \
                   intervals";
    Table::new(caption, columns.map(Column::words), rows)
}

/// ribeiro2010's statements beside what was measured; `None` where it makes none.
fn statements(all: &[WorkloadStrategies]) -> Option<Table> {
    let columns =
        ["program", "threads", "access", "NUMA factor", "best in ribeiro2010", "here", "holds"];
    let row = |of: &WorkloadStrategies| {
        let statement = of.paper.as_ref()?;
        let access = match statement.access {
            ArrayAccess::Regular => "regular",
            ArrayAccess::Irregular => "irregular",
        };
        let stated: Vec<&str> = statement.stated.iter().map(|it| it.as_str()).collect();
        let gain = format!("x {} of {}", rounded(statement.gain.ratio, 2), statement.other);
        let holds = match statement.holds {
            Some(true) => "yes",
            Some(false) => "no",
            None => "within the intervals",
        };
        Some(vec![
            Cell::text(&of.workload),
            Cell::text(of.threads),
            Cell::text(access),
            Cell::text(rounded(statement.numa_factor.0, 2)),
            Cell::text(stated.join(", ")),
            Cell::text(gain),
            Cell::text(holds),
        ])
    };
    let rows: Vec<Vec<Cell>> = all.iter().filter_map(row).collect();
    let caption = "The best strategy by ribeiro2010 (section 5), at the largest NUMA factor";
    let columns = columns.map(|name| Column::words(String::from(name)));
    (!rows.is_empty()).then(|| Table::new(caption, columns, rows))
}
