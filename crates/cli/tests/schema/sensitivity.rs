//! The view of programs at their placements, with every optional field given and null.

use std::collections::BTreeMap;

use nearfar_record::{Better, Line, read_record};
use nearfar_report::{
    AbsentView, BestOfPairView, CountedFigureView, CountedRunsView, MemoryShareView, MetricView,
    PlacedRunsView, PlacementBoundsView, ProgramClassView, ProgramPairView, ProgramView,
    RunFigureView, SensitivityView,
};
use serde_json::Value;

use crate::{every_line, record_text};

/// Where null stands.
pub const NULLS: &[&str] = &[
    "record",
    "nothing_to_choose",
    "reference",
    "alphas",
    "metric",
    "unit",
    "counters",
    "counters[].meaning",
    "counters[].source",
    "counters[].check",
    "counters[].unavailable",
    "programs[].sensitivity",
    "programs[].sensitivity_unknown",
    "programs[].placements[].cpu_node",
    "programs[].placements[].memory_node",
    "programs[].placements[].figure",
    "programs[].placements[].performance",
    "programs[].placements[].performance_interval",
    "programs[].placements[].placed_share",
    "programs[].placements[].seen_bytes",
    "programs[].placements[].not_seen",
    "programs[].placements[].counted",
    "programs[].placements[].counted.llc_miss_rate",
    "programs[].placements[].counted.llc_misses_per_1000_instructions",
    "programs[].placements[].counted.instructions_per_cycle",
    "programs[].placements[].counted.uncounted",
    "programs[].placements[].counted.least_counted_share",
    "programs[].placements[].bounds",
    "programs[].placements[].standing",
    "programs[].placements[].expected",
    "programs[].placements[].refused[].round",
    "best[].cpu_node",
];

/// Numbers that can be negative.
pub const SIGNED: &[&str] =
    &["programs[].sensitivity.time_share", "programs[].sensitivity.interval[]"];

/// A view with all that there can be, and one of a machine with nothing to choose.
pub fn views() -> Vec<(&'static str, Value)> {
    let header = Line::Header(Box::new(every_line::known_header()));
    let record = read_record(record_text(&[header]).as_slice()).unwrap();
    let nothing = SensitivityView {
        counters: None,
        ..SensitivityView::new(&record, Err("one memory node".into()), None)
    };
    let full = SensitivityView {
        record: Some("runs.jsonl".into()),
        nothing_to_choose: None,
        reference: Some("r.jsonl".into()),
        alphas: Some(vec![1.0, 0.5]),
        metric: Some(MetricView { pattern: "rate: (.*)".into() }),
        unit: None,
        better: Better::Lower,
        counters: every_line::commands().counters,
        programs: [true, false].map(program).into(),
        best: [Some(0), None].map(best).into(),
        classes: vec![ProgramClassView {
            class: 0,
            best: 12.5,
            worst: 12.25,
            alpha_relative: 1.0,
            border_within_noise: true,
            pairs: vec![ProgramPairView { cluster: 0, memory_node: 1 }],
        }],
        ..nothing.clone()
    };
    [nothing, full].map(|view| ("sensitivity", serde_json::to_value(view).unwrap())).into()
}

fn figure() -> RunFigureView {
    RunFigureView {
        median: 12.5,
        interval: [12.25, 12.75],
        confidence: 0.96875,
        least: 12.0,
        most: 13.5,
        runs: 6,
    }
}

fn program(known: bool) -> ProgramView {
    let share = MemoryShareView {
        time_share: -0.25,
        interval: [-0.5, -0.125],
        worst_error: 0.0625,
        placements: 2,
    };
    ProgramView {
        label: "solver".into(),
        sensitivity: known.then_some(share),
        sensitivity_unknown: (!known).then_some("the record's classes were not given"),
        placements: match known {
            true => vec![placed(true)],
            false => [Some(false), Some(true), None].map(placed_and_counted).into(),
        },
    }
}

/// Of which counters say all, nothing, or were not read.
fn placed_and_counted(by: Option<bool>) -> PlacedRunsView {
    PlacedRunsView { counted: by.map(counted), ..placed(false) }
}

fn counted(known: bool) -> CountedRunsView {
    let figure = |median: f64| CountedFigureView {
        median,
        interval: [median - 0.125, median + 0.125],
        confidence: 0.96875,
        runs: 6,
    };
    let why = "misses of the last-level cache: not believed";
    let names = ["llc_miss_rate", "llc_misses_per_1000_instructions", "instructions_per_cycle"];
    CountedRunsView {
        llc_miss_rate: known.then(|| figure(0.25)),
        llc_misses_per_1000_instructions: known.then(|| figure(1.5)),
        instructions_per_cycle: known.then(|| figure(0.75)),
        counted_runs: 6,
        runs: 8,
        uncounted: (!known).then(|| "cycles: it was never its turn to be counted".into()),
        least_counted_share: known.then_some(0.5),
        unknown: match known {
            true => BTreeMap::new(),
            false => names.map(|name| (name, why.to_string())).into(),
        },
    }
}

fn placed(known: bool) -> PlacedRunsView {
    let bounds =
        PlacementBoundsView { shares: vec![0.5, 0.5], d: 0.75, d_serial: 0.625, d_overlap: 0.875 };
    PlacedRunsView {
        case: "commands/solver/cluster0/node1".into(),
        cluster: 0,
        cpu_node: known.then_some(0),
        memory_node: known.then_some(1),
        binding: "cpus=0-1 mem=preferred:1".into(),
        is_local: known,
        figure: known.then(figure),
        performance: known.then_some(0.75),
        performance_interval: known.then_some([0.625, 0.875]),
        placed_share: known.then_some(0.5),
        seen_bytes: known.then_some(4096.5),
        not_seen: (!known).then(|| "it ended before".into()),
        strayed_runs: 1,
        counted: known.then(|| counted(true)),
        bounds: known.then_some(bounds),
        standing: known.then_some("within"),
        expected: known.then_some([0.625, 0.75]),
        refused: vec![AbsentView {
            case: "commands/solver/cluster0/node1".into(),
            code: "command_failed",
            reason: "status 1".into(),
            round: known.then_some(0),
        }],
    }
}

fn best(cpu_node: Option<u32>) -> BestOfPairView {
    BestOfPairView {
        cluster: 0,
        cpu_node,
        memory_node: 1,
        label: "solver".into(),
        figure: figure(),
    }
}
