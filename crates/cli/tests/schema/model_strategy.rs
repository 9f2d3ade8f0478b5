//! The views of `model strategy`, with every optional field given and null, and what the program
//! prints.

use nearfar_machine::{MemoryKind, Source};
use nearfar_record::read_record;
use nearfar_report::{
    ExpectationView, LineCostView, MeasuredView, ParameterView, StrategyTimeView, StrategyView,
};
use serde_json::Value;

use crate::{assert_valid, every_line, program, record_text, validator};

/// Where null stands for something that is not known or does not apply.
pub const NULLS: &[&str] = &["break_even_share"];

/// The views by their schemas' names.
pub fn views() -> Vec<(&'static str, Value)> {
    let header = every_line::unknown_header(Source::Simulated("x".into()));
    let record = read_record(record_text(&every_line::record(header)).as_slice()).unwrap();
    let view = |basis, access, break_even_share| {
        let view = StrategyView {
            schema: "nearfar.strategy/1",
            measured: MeasuredView::new(&record),
            basis,
            kernel: "load".into(),
            variant: "avx2".into(),
            memory_kind: MemoryKind::Dram,
            line_bytes: 64,
            is_line_assumed: false,
            costs: ["own", "remote", "central", "spread"].map(cost).into(),
            parameters: vec![ParameterView {
                parameter: "hot_share",
                least: 0.1,
                expected: 0.25,
                most: 0.5,
            }],
            expectations: vec![expectation(access)],
            break_even_share,
            placed_margin: 0.21,
            bind: vec!["cpus=0-3 mem=bind:0".into()],
            interleave: "cpus=0-15 mem=interleave:0-3".into(),
            advice: vec!["Do this.".into()],
        };
        ("strategy", serde_json::to_value(view).unwrap())
    };
    vec![view("roofs", "regular", Some(0.25)), view("pairs", "irregular", None)]
}

fn cost(place: &'static str) -> LineCostView {
    LineCostView { place, latency_ns: 203.0, transfer_ns: 140.0, noise: 0.01 }
}

fn expectation(access: &'static str) -> ExpectationView {
    let names = ["memory-bind", "parallel-init", "round-robin", "first-touch"];
    ExpectationView {
        access,
        strategies: names
            .map(|strategy| StrategyTimeView {
                strategy,
                line_ns: 175.0,
                line_interval_ns: [150.0, 210.0],
                gain: 1.8,
                gain_interval: [-0.1, 2.2],
                is_claimed: false,
                wins_share: 1.0,
            })
            .into(),
        margin: 0.04,
        margin_interval: [-0.01, 0.13],
        noise: 0.02,
        is_decided: false,
    }
}

#[test]
fn strategies_that_the_program_prints() {
    let folder = tempfile::tempdir().unwrap();
    let validator = validator("strategy");
    for (machine, suite, basis) in
        [("opteron-8", "standard", "roofs"), ("itanium2", "quick", "pairs")]
    {
        let path = folder.path().join(machine);
        let path = path.to_str().unwrap();
        let arguments = ["characterize", "--simulate", machine, "--suite", suite, "--out", path];
        program::nearfar(&arguments);
        let arguments = ["model", path, "strategy", "--json"];
        let view = program::json_of(&program::nearfar(&arguments), &[0]);
        assert_valid(&validator, &view);
        assert_eq!(view["basis"], basis, "{machine}");
    }
}
