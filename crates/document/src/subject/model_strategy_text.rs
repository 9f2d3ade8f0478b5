//! The model of strategies in tables and words.

use nearfar_units::format_significant;

use super::figures::significant;
use super::model_strategy::{ExpectationView, StrategyView};
use crate::printable::printable;
use crate::terminal::paragraph::paragraph;
use crate::terminal::table::table;

/// The whole model.
pub(crate) fn text(view: &StrategyView) -> String {
    let three = |value| format_significant(value, 3);
    let mut text = "\n".to_string() + &paragraph("a line of data: ", &basis(view));
    let header = ["where", "", "latency, ns", "transfer, ns", "noise"].map(String::from).to_vec();
    let rows = view.costs.iter().map(|cost| {
        vec![
            cost.place.into(),
            place_words(cost.place).into(),
            three(cost.latency_ns),
            three(cost.transfer_ns),
            format!("±{} %", significant(cost.noise * 100.0, 2)),
        ]
    });
    text += &table(header, rows.collect(), 2);
    for expectation in &view.expectations {
        text += &strategies(expectation, share_that_decides(view, expectation));
    }
    let parameters: Vec<String> = view
        .parameters
        .iter()
        .map(|of| format!("{} {} ({} to {})", of.parameter, of.expected, of.least, of.most))
        .collect();
    text +=
        &format!("\n{}", paragraph("taken, not measured: ", &(parameters.join(", ") + "; ours.")));
    text.push('\n');
    text + &view
        .advice
        .iter()
        .map(|advice| paragraph("-> ", &printable(advice)))
        .collect::<String>()
}

fn basis(view: &StrategyView) -> String {
    let assumed = if view.is_line_assumed { " (taken: the machine does not say)" } else { "" };
    let from = match view.basis {
        "roofs" => "bandwidths are those of all clusters at once",
        _ => {
            "bandwidths are worked out from clusters that ran alone, which makes central and spread \
             look slower than they are; roofs (--suite standard) would measure them"
        }
    };
    format!(
        "time of a thread for {} bytes{assumed}, a thread on every core, {} nodes, {} {}; {from}.",
        view.line_bytes,
        view.memory_kind,
        printable(&view.kernel),
        printable(&view.variant)
    )
}

fn place_words(place: &str) -> &'static str {
    match place {
        "own" => "each on its own node",
        "remote" => "on another node, that being idle",
        "central" => "all on one node",
        _ => "page by page over all nodes",
    }
}

/// A fraction in whole percent with its sign; nothing but 0 without one.
fn percent(fraction: f64) -> String {
    let percent = (fraction * 100.0).round();
    if percent == 0.0 { "0 %".into() } else { format!("{percent:+} %") }
}

/// The share of regular accesses to data that was not placed on which the winner hangs: those that
/// are tried reach to both sides of it.
fn share_that_decides(view: &StrategyView, expectation: &ExpectationView) -> Option<f64> {
    let tried = view.parameters.iter().find(|of| of.parameter == "unplaced_share")?;
    let is_tried = |share: &f64| tried.least < *share && *share < tried.most;
    let is_open = expectation.access == "regular" && !expectation.is_decided;
    view.break_even_share.filter(|share| is_open && is_tried(share))
}

fn strategies(expectation: &ExpectationView, share: Option<f64>) -> String {
    let what = match expectation.access {
        "regular" => "each thread keeps to its part of the data",
        _ => "threads access all data in no order",
    };
    let header = ["", "ns", "gain over first-touch", "fastest"].map(String::from).to_vec();
    let rows = expectation.strategies.iter().map(|of| {
        let [low, high] = of.gain_interval.map(percent);
        let gain = match of.strategy {
            "first-touch" => "-".into(),
            _ => format!("{} ({low} to {high})", percent(of.gain)),
        };
        vec![
            of.strategy.into(),
            format_significant(of.line_ns, 3),
            gain,
            format!("{:.0} %", of.wins_share * 100.0),
        ]
    });
    let mut text = format!("\n{} accesses: {what}\n", expectation.access);
    text += &table(header, rows.collect(), 1);
    let [low, high] = expectation.margin_interval.map(percent);
    let verdict = match share {
        Some(share) => format!(
            "round-robin is ahead of memory-bind only if more than {} % is unplaced",
            significant(share * 100.0, 2)
        ),
        None if expectation.is_decided => "decided".into(),
        None => "not decided".into(),
    };
    let margin = percent(expectation.margin);
    let what = format!("the second takes {margin} longer ({low} to {high}): {verdict}");
    text + &paragraph(" ", &what)
}
