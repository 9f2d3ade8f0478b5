//! Which way to place a program's memory is expected to win.

use nearfar_machine::PlacementStrategy;
use nearfar_model::{
    Access, Basis, Expectation, LineCost, Strategy, StrategyAdvice, StrategyTime, StrategyVerdict,
};
use nearfar_record::Estimate;
use nearfar_units::{Nanoseconds, Ratio, format_significant};

use super::figures::{rounded, significant};
use crate::document::Section;
use crate::figure::Figure;
use crate::table::{Cell, Column, NS, Table, WORDS};

/// What a line of data costs, what that makes of each strategy, and what to do.
pub(crate) fn section(model: &Strategy) -> Section {
    Section::new(
        "strategy",
        "Ways to place a program's memory",
        format!(
            "Four ways to place memory (ribeiro2010), by the {} Quote the lower bound of a gain; \
             ignore gains under 5 %. Gains are of the time that the program waits for memory, and \
             smaller with fewer threads than cores.",
            basis(model)
        ),
        vec![
            costs(model),
            strategies(&model.regular, model.deciding_share),
            strategies(&model.irregular, None),
            parameters(model),
        ],
    )
    .with_findings(findings(model))
}

fn basis(model: &Strategy) -> String {
    let costs = &model.costs;
    let assumed = if costs.is_line_assumed { " (taken: the machine does not say)" } else { "" };
    let from = match costs.basis {
        Basis::Roofs => "bandwidths are those of all CPUs at once",
        Basis::Pairs => {
            "bandwidths are computed from groups of CPUs that ran alone, which makes central and spread \
             look slower than they are; roofs (--suite standard) would measure them"
        }
    };
    format!(
        "time of a thread for a line of data, {} bytes{assumed}, a thread on every core, {} nodes, {} \
         {}; {from}.",
        costs.line_bytes, costs.kind, costs.kernel, costs.variant
    )
}

fn costs(model: &Strategy) -> Table {
    let costs = &model.costs;
    let rows = [
        ("own", "each on its own node", costs.own),
        ("remote", "on another, idle node", costs.remote),
        ("central", "all on one node", costs.central),
        ("spread", "page by page over all nodes", costs.spread),
    ];
    let row = |(place, about, cost): (&str, &str, LineCost)| {
        let ns = |ns| Cell::Figure(Figure::plain(Nanoseconds(ns)));
        let noise = format!("±{} %", significant(cost.noise * 100.0, 2));
        vec![
            Cell::text(place),
            Cell::text(about),
            ns(cost.latency_ns),
            ns(cost.transfer_ns),
            Cell::text(noise),
        ]
    };
    Table::new(
        "Cost of a line of data by its location",
        Column::all(["where", "", "latency", "transfer", "noise"], [WORDS, WORDS, NS, NS, WORDS]),
        rows.map(row),
    )
}

fn strategies(expectation: &Expectation, deciding_share: Option<f64>) -> Table {
    let rows = expectation.ranking.iter().map(|of| {
        let gain = match of.strategy {
            PlacementStrategy::FirstTouch => "-".into(),
            _ => signed(&of.gain),
        };
        vec![
            Cell::text(of.strategy.as_str()),
            Cell::Figure(Figure::plain(of.time.value)),
            Cell::text(gain),
            Cell::text(format!("{:.0} %", of.wins_share * 100.0)),
        ]
    });
    let verdict = match (deciding_share, expectation.verdict) {
        (Some(share), _) => format!(
            "round-robin is ahead of memory-bind only if more than {} % is unplaced",
            significant(share * 100.0, 2)
        ),
        (None, StrategyVerdict::Decided) => "decided".into(),
        (None, _) => "not decided".into(),
    };
    Table::new(
        format!("{} accesses: {}", capital(expectation.access), words(expectation.access)),
        Column::all(
            ["strategy", "time", "gain over first-touch", "fastest"],
            [WORDS, NS, WORDS, WORDS],
        ),
        rows,
    )
    .with_notes(vec![format!(
        "The second takes {} longer: {verdict}.",
        signed(&expectation.margin)
    )])
}

fn capital(access: Access) -> &'static str {
    match access {
        Access::Regular => "Regular",
        Access::Irregular => "Irregular",
    }
}

fn words(access: Access) -> &'static str {
    match access {
        Access::Regular => "each thread keeps to its part of the data",
        Access::Irregular => "threads access all data in random order and wait for each access",
    }
}

fn parameters(model: &Strategy) -> Table {
    let rows = model.parameters.iter().map(|of| {
        let values = [of.expected, of.least, of.most].map(|value| value.to_string());
        std::iter::once(of.name.to_string()).chain(values).map(Cell::text).collect()
    });
    Table::new(
        "Taken, not measured: ours",
        ["parameter", "expected", "from", "to"].map(Column::words),
        rows,
    )
}

/// In whole percent with signs, a gain from 1 on as what it multiplies by: `+4 % (-1 % to +15 %)`,
/// `x 2.2 (+90 % to x 2.9)`; nothing but 0 has no sign.
fn signed(ratio: &Estimate<Ratio>) -> String {
    let percent = |ratio: Ratio| {
        let percent = (ratio.0 * 100.0).round();
        match percent {
            0.0 => "0 %".into(),
            100.0.. => format!("x {}", significant(1.0 + ratio.0, 2)),
            _ => format!("{percent:+} %"),
        }
    };
    let [low, high] = ratio.ends().map(percent);
    format!("{} ({low} to {high})", percent(ratio.value))
}

/// In whole percent: the number, its lowest, its highest.
fn percents(ratio: &Estimate<Ratio>) -> [String; 3] {
    let [low, high] = ratio.ends();
    [ratio.value, low, high].map(|ratio| rounded(ratio.0 * 100.0, 0))
}

/// The answer in a sentence.
pub(crate) fn answer(model: &Strategy) -> String {
    let of = |access| {
        let expectation = model.of(access);
        let best = expectation.best();
        let [gain, low, high] = percents(&best.gain);
        let gain = match best.strategy {
            PlacementStrategy::FirstTouch => "no gain".into(),
            _ => format!("{gain} % over first-touch, {low} to {high} %"),
        };
        // What is not ahead by more than what is not known does not stand alone.
        let second = match expectation.verdict {
            StrategyVerdict::Decided => String::new(),
            StrategyVerdict::TooNear | StrategyVerdict::Open => {
                format!(" or {}", expectation.second().strategy.as_str())
            }
        };
        format!("{}{second} ({gain})", best.strategy.as_str())
    };
    format!(
        "Fastest for regular accesses: {}; for irregular ones: {}.",
        of(Access::Regular),
        of(Access::Irregular)
    )
}

/// What to do, in sentences.
pub(crate) fn findings(model: &Strategy) -> Vec<String> {
    model.advice.iter().map(|advice| finding(model, advice)).collect()
}

fn finding(model: &Strategy, advice: &StrategyAdvice) -> String {
    match *advice {
        StrategyAdvice::PlaceRegular => {
            let bound = model.regular.of(PlacementStrategy::MemoryBind);
            format!(
                "Where {}: {}; {}; with all of it placed, interleaved pages take {:.0} % longer.",
                words(Access::Regular),
                how(model, bound.strategy, Access::Regular),
                gain(bound),
                model.placed_margin * 100.0
            )
        }
        StrategyAdvice::TakeFastest { access } => fastest(model, model.of(access)),
        StrategyAdvice::InterleaveAbove { share } => format!(
            "If more than {} % of the regular accesses go to data that was not placed (that one thread \
             initialised, or that was not bound), interleave after all, `{}`; below that, place it.",
            format_significant(share * 100.0, 2),
            model.interleave
        ),
        StrategyAdvice::SpareBinding => {
            "Interleaved pages are as fast here as own ones: however well regular data is placed, \
             binding gains nothing."
                .into()
        }
        StrategyAdvice::SpareInterleaving => {
            "However much of the regular data is not placed, interleaving all of it gains nothing."
                .into()
        }
    }
}

fn fastest(model: &Strategy, expectation: &Expectation) -> String {
    let (best, second) = (expectation.best(), expectation.second().strategy.as_str());
    let [longer, low, high] = percents(&expectation.margin);
    let other = match expectation.verdict {
        StrategyVerdict::Decided => format!("the second, {second}, takes {longer} % longer"),
        StrategyVerdict::TooNear => {
            format!("{second} takes {longer} % longer, within the error: take the simpler one")
        }
        StrategyVerdict::Open => format!(
            "{second} takes {longer} % longer ({low} to {high} % by what is assumed): try both"
        ),
    };
    format!(
        "Where {}: {}; {}; {other}.",
        words(expectation.access),
        how(model, best.strategy, expectation.access),
        gain(best)
    )
}

fn how(model: &Strategy, strategy: PlacementStrategy, access: Access) -> String {
    match (strategy, access) {
        (PlacementStrategy::FirstTouch, _) => {
            "leave the data where one thread initialises it".into()
        }
        (PlacementStrategy::RoundRobin, _) => {
            let nodes = model.interleave.memory.nodes();
            format!(
                "interleave its pages over the nodes, `numactl --interleave={}` or the binding `{}`",
                nodes.map_or("all".into(), |nodes| nodes.to_string()),
                model.interleave
            )
        }
        (PlacementStrategy::ParallelInit, _) => {
            "initialise the data in the loop that uses it (`#pragma omp parallel for \
             schedule(static)` for both)"
                .into()
        }
        (PlacementStrategy::MemoryBind, Access::Regular) => {
            let first = model.costs.initiators.first();
            format!(
                "pin the threads (`OMP_PLACES=cores OMP_PROC_BIND=close`) and initialise the data in \
                 the loop that uses it (`schedule(static)` for both), or bind a process to each node, \
                 `numactl --cpunodebind=N --membind=N`, as the binding `{}`",
                first.map_or_else(String::new, |first| first.binding.to_string())
            )
        }
        (PlacementStrategy::MemoryBind, Access::Irregular) => {
            "bind the main arrays to the nodes of their users and let pages follow".into()
        }
    }
}

fn gain(best: &StrategyTime) -> String {
    let [gain, low, high] = percents(&best.gain);
    match (best.strategy, best.claim) {
        (PlacementStrategy::FirstTouch, _) => "no other way is expected to be faster".into(),
        (_, Some(_)) => format!(
            "expect {gain} % over data that one thread initialised ({low} to {high} %); quote \
             {low} %"
        ),
        (_, None) => format!(
            "no significant gain over data that one thread initialised ({gain} %, {low} to {high} \
             %)"
        ),
    }
}
