//! The views of `model distribution`, with every optional field given and null.

use nearfar_machine::Machine;
use nearfar_model::{
    AffinityEffect, CpuSequence, Distribution, KernelDistribution, Knee, Mode, ModeEvidence, Modes,
    PlannedCase, RunDistribution, RunSpread, RunStatistics, ScalingFigures, ScalingRuns,
    ThreadAdvice, ThreadSettings,
};
use nearfar_record::{
    Absence, Absent, Affinity, Reason, ReasonCode, Record, ScalingCoordinates, read_record,
    summarize_case,
};
use nearfar_report::DistributionView;
use serde_json::Value;

use crate::{assert_valid, every_line, program, record_text, validator};

/// Where null stands for something that is not known or does not apply.
pub const NULLS: &[&str] = &[
    "kernels[].cases[].llc_multiple",
    "kernels[].cases[].omitted[].round",
    "kernels[].cases[].refused[].round",
    "kernels[].cases[].only_disturbed",
    "kernels[].cases[].paced",
    "kernels[].cases[].paced.deviation_gb_per_s",
    "kernels[].cases[].sum",
    "kernels[].cases[].sum.deviation_gb_per_s",
    "kernels[].cases[].modes",
    "kernels[].cases[].modes.evidence",
    "kernels[].effects[].spread_ratio",
    "kernels[].effects[].spread_ratio_interval",
    "kernels[].advice",
    "kernels[].advice.unbound_gb_per_s",
    "kernels[].advice.effect",
    "kernels[].advice.effect.spread_ratio",
    "kernels[].advice.effect.spread_ratio_interval",
    "kernels[].advice.settings",
    "kernels[].advice.settings.thread_cpus",
    "kernels[].advice.settings.omp_places_of_cpus",
    "kernels[].advice.settings.gomp_cpu_affinity",
    "more_runs",
];

fn record(machine: Machine) -> Record {
    let mut header = every_line::known_header();
    header.fingerprint = machine.fingerprint();
    header.machine = machine;
    read_record(record_text(&every_line::record(header)).as_slice()).unwrap()
}

fn evidence() -> ModeEvidence {
    ModeEvidence { left_out: 1, dip: 0.1, dip_p: 0.001, valley: 7.5, valley_threshold: 3.6 }
}

fn runs(affinity: Affinity, figures: Option<ScalingFigures>) -> ScalingRuns {
    let absent = |absence, round| Absent {
        case: "scaling/copy".into(),
        absence,
        reason: Reason { code: ReasonCode::Budget, text: "why".into() },
        round,
        coordinates: Vec::new(),
    };
    let case = PlannedCase {
        id: format!("scaling/copy/sse2/t20/{}", affinity.as_str()),
        llc_multiple: figures.is_some().then_some(4.0),
        absent: match figures {
            None => vec![
                absent(Absence::Omitted, None),
                absent(Absence::Refused, Some(3)),
                absent(Absence::Refused, None),
            ],
            Some(_) => Vec::new(),
        },
    };
    let (kernel, variant) = ("copy".into(), "sse2".into());
    ScalingRuns {
        case,
        place: ScalingCoordinates { affinity, threads: 20, kernel, variant },
        figures,
    }
}

fn statistics(known: bool) -> RunStatistics {
    let runs = if known { vec![62e9, 71e9] } else { vec![67e9] };
    RunStatistics::of(runs).unwrap()
}

fn distributed(record: &Record, affinity: Affinity, modes: Option<Modes>) -> RunDistribution {
    let summary = summarize_case(&record.samples).unwrap();
    let known = modes.is_some();
    let (paced, sum) = (statistics(known), statistics(known));
    let quantiles = [60e9, 62e9, 66e9, 70e9, 72e9];
    RunDistribution {
        runs: runs(affinity, Some(ScalingFigures { paced, sum, summary })),
        spread: Some(RunSpread { paced_quantiles: quantiles, sum_quantiles: quantiles, modes }),
    }
}

fn effect(known: bool) -> AffinityEffect {
    AffinityEffect {
        threads: 20,
        affinity: Affinity::Scatter,
        gain: if known { 0.178 } else { -0.7 },
        gain_interval: if known { (0.17, 0.18) } else { (-0.71, -0.69) },
        spread_ratio: known.then_some(0.05),
        spread_ratio_interval: known.then_some((0.04, 0.06)),
    }
}

fn advice(known: bool) -> ThreadAdvice {
    let settings = |cpus| ThreadSettings {
        omp_num_threads: "20".into(),
        omp_places: "cores",
        omp_proc_bind: "spread",
        kmp_affinity: "granularity=core,scatter",
        cpus,
    };
    ThreadAdvice {
        threads: 20,
        affinity: Affinity::Scatter,
        expected: 78.9e9,
        range: (78e9, 79e9),
        runs: 1000,
        effect: known.then(|| effect(true)),
        unbound: known.then_some(67e9),
        settings: Some(settings(known.then(|| CpuSequence { cpus: vec![0, 10, 20, 30] }))),
    }
}

/// Whether everything that can be null is given, or is null, and an advice without settings.
fn model(record: &Record, known: bool) -> Distribution {
    let mode = |place, values| Mode { place, values, share: 0.5, interval: (0.4, 0.6) };
    let shown = Modes::Shown(evidence(), vec![mode(62e9, 500), mode(71e9, 499)]);
    let mut cases = vec![
        distributed(record, Affinity::Unbound, Some(shown)),
        distributed(record, Affinity::Compact, Some(Modes::NotShown(evidence()))),
        distributed(record, Affinity::Scatter, Some(Modes::TooFew)),
    ];
    if !known {
        cases.push(distributed(record, Affinity::Scatter, None));
        cases.push(RunDistribution { runs: runs(Affinity::Unbound, None), spread: None });
    }
    let kernel = |advice| KernelDistribution {
        kernel: "copy".into(),
        variant: "sse2".into(),
        runs: cases.clone(),
        // The second differs by too little.
        effects: vec![
            effect(known),
            AffinityEffect { gain: 0.01, gain_interval: (0.006, 0.013), ..effect(known) },
        ],
        knees: vec![Knee {
            affinity: Affinity::Scatter,
            threads: 20,
            mean: 78.9e9,
            best_threads: 40,
            best_mean: 80e9,
        }],
        advice,
    };
    let unbound = ThreadAdvice { affinity: Affinity::Unbound, settings: None, ..advice(false) };
    let mut kernels = vec![kernel(Some(advice(known)))];
    if !known {
        kernels.extend([kernel(None), kernel(Some(unbound))]);
    }
    Distribution { kernels, more_runs: known.then(|| "a command".into()) }
}

/// The views by their schemas' names.
pub fn views() -> Vec<(&'static str, Value)> {
    let record = record(every_line::known_machine());
    [true, false]
        .map(|known| {
            let view = DistributionView::new(&record, &model(&record, known));
            ("distribution", serde_json::to_value(view).unwrap())
        })
        .into()
}

#[test]
fn the_distribution_of_a_simulated_machine() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.jsonl");
    let path = file.to_str().unwrap();
    let machine =
        ["characterize", "--simulate", "e7-4870", "--only", "scaling", "--kernel", "copy"];
    program::nearfar(&[&machine[..], &["--runs", "30", "--out", path]].concat());
    let output = program::nearfar(&["model", path, "distribution", "--json"]);
    assert_valid(&validator("distribution"), &program::json_of(&output, &[0]));
}
