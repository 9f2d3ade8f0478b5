//! What would become of a machine's figures with another memory, mode or link.

use nearfar_model::{BandwidthOf, Because, Change, LatencyOf, Then, WhatIf};
use nearfar_record::{Estimate, Outcome};
use nearfar_units::{Quantity, format_significant};

use super::result::ModelResult;
use crate::answer::{Answer, Part, Shown};
use crate::figure::Figure;
use crate::table::{Cell, Column, Table};

/// A change below this is none, percent.
const SAME: f64 = 0.5;

/// For people.
pub fn changed_machine(of: &ModelResult<WhatIf>) -> Answer {
    let WhatIf { change, from, kernel, bandwidth, latency } = &of.result;
    let bandwidth =
        bandwidth.iter().map(|it| row(bandwidth_words(it.of), it.now.as_ref(), &it.then));
    let latency = latency.iter().map(|it| row(latency_words(it.of), it.now.as_ref(), &it.then));
    let (rows, unknown): (Vec<_>, Vec<_>) = bandwidth.chain(latency).unzip();
    let table = Table::new("", ["", "now", "then", "change", "why"].map(Column::words), rows);
    let length = table.rows.len();
    of.measured
        .answer()
        .and_gap()
        .and_says(format!(
            "With {} instead of {from}, by {kernel} of all threads and idle latency (of several nodes or \
             pairs the one in the middle):",
            to_words(change)
        ))
        .and_table(table, length)
        .and_all(Shown::Always, unknown.into_iter().flatten())
        .and_next([("nearfar compare BEFORE AFTER", "once it is so and measured again")])
}

/// A row, and why it holds no answer.
fn row<U: Quantity>(
    what: &str,
    now: Option<&Estimate<U>>,
    then: &Outcome<Then<U>>,
) -> (Vec<Cell>, Option<Part>) {
    let (answer, why) = match then {
        Outcome::Found(then) => {
            let change = now.map_or_else(String::new, |now| change_words(now, &then.figure));
            ([figure_words(&then.figure), change, because_words(then.because).into()], None)
        }
        Outcome::Unknown { unknown } => (
            ["not known".into(), String::new(), String::new()],
            Some(Part::words("not known: ", format!("{what}: {unknown}"))),
        ),
    };
    let now = now.map_or_else(|| "-".into(), |now| Figure::plain(now.value).text);
    ([what.into(), now].into_iter().chain(answer).map(Cell::Text).collect(), why)
}

/// `207 (191 to 225)`.
fn figure_words<U: Quantity>(of: &Estimate<U>) -> String {
    let Figure { text, interval_text, .. } = Figure::of(of);
    match interval_text {
        Some(interval) if interval != text => format!("{text} ({interval})"),
        _ => text,
    }
}

/// `-25 %`, `same`.
fn change_words<U: Quantity>(now: &Estimate<U>, then: &Estimate<U>) -> String {
    let percent = 100.0 * (then.value.in_unit() / now.value.in_unit() - 1.0);
    if percent.abs() < SAME {
        return "same".into();
    }
    let sign = if percent > 0.0 { "+" } else { "" };
    format!("{sign}{} %", format_significant(percent, 2))
}

/// What would be there.
fn to_words(change: &Change) -> String {
    match change {
        Change::Channels(1) => "1 channel a node".into(),
        Change::Channels(count) => format!("{count} channels a node"),
        Change::Modules(channel) => format!("modules of {}", channel.name),
        Change::NodesPerPackage(0) => "all sockets as one memory node".into(),
        Change::NodesPerPackage(1) => "1 memory node a package".into(),
        Change::NodesPerPackage(count) => format!("{count} memory nodes a package"),
        Change::CxlLink(link) => format!("a CXL link of {}", link.label()),
    }
}

fn bandwidth_words(of: BandwidthOf) -> &'static str {
    match of {
        BandwidthOf::OwnNode => "own memory, GB/s",
        BandwidthOf::AllOwn => "all on own, GB/s",
        BandwidthOf::OtherPackage => "other package, GB/s",
        BandwidthOf::Cxl => "CXL memory, GB/s",
    }
}

fn latency_words(of: LatencyOf) -> &'static str {
    match of {
        LatencyOf::Own => "own memory, ns",
        LatencyOf::OtherPackage => "other package, ns",
        LatencyOf::Cxl => "CXL memory, ns",
    }
}

fn because_words(of: Because) -> &'static str {
    match of {
        Because::MemoryLimits => "the memory limits",
        Because::MemoryThenLimits => "memory comes to limit",
        Because::CoresLimit => "the cores limit",
        Because::LinkLimits => "the link limits",
        Because::CoresUnknown => "unless the cores limit",
        Because::TransferOfALine => "a line's transfer",
        Because::MeanOfNodes => "mean of the nodes",
        Because::FlowLaw => "pages in turn (flow)",
        Because::MeasuredInTurn => "pages in turn, as measured",
        Because::SameChannels => "the same channels",
        Because::NearestPart => "the nearest part",
        Because::CxlLinkLimits => "the link limits",
        Because::LinkOrDevice => "the link is not full",
        Because::Untouched => "not concerned",
    }
}
