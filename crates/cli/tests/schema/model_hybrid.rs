//! The views of `model hybrid` and of what `predict` asks it, with every optional field given
//! and null.

use nearfar_flow::read_machine;
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::{OverlapBounds, RecordFigures, hybrid};
use nearfar_record::{Coordinates, Experiment, HybridPoint, Inputs, Record, Suite, TransferKind};
use nearfar_report::{HybridAnswerView, HybridModelView, HybridPlacementView, PredictHybridView};
use serde_json::Value;

use crate::{assert_valid, program, validator};

/// Where null stands for something that is not known or does not apply.
pub const NULLS: &[&str] = &[
    "pairs[].fast_memory_bytes",
    "pairs[].default_node",
    "pairs[].corners[].interval_gb_per_s",
    "pairs[].overlaps[].overlap_theta",
    "pairs[].overlaps[].interval",
    "pairs[].overlaps[].standard_error",
    "pairs[].overlaps[].unbounded",
    "pairs[].overlaps[].unknown",
    "pairs[].errors",
    "pairs[].errors_unknown",
    "pairs[].held_out[].load_fast_share",
    "pairs[].held_out[].store_fast_share",
    "pairs[].held_out[].predicted_gb_per_s",
    "pairs[].held_out[].error",
    "pairs[].surface[].gb_per_s",
    "pairs[].answers[].recommended",
    "pairs[].answers[].placements[].load_fast_share",
    "pairs[].answers[].placements[].store_fast_share",
    "pairs[].answers[].placements[].interval_gb_per_s",
    "pairs[].answers[].placements[].unclaimed",
    "pairs[].answers[].placements[].unclaimed.load_fast_share",
    "pairs[].answers[].placements[].unclaimed.store_fast_share",
    "pairs[].answers[].placements[].unclaimed.interval_gb_per_s",
    "pairs[].answers[].placements[].load_policy",
    "pairs[].answers[].placements[].store_policy",
    "pairs[].answers[].placements[].weighted_gb_per_s",
];

/// The same in what `predict` prints.
pub const PREDICT_NULLS: &[&str] = &[
    "pairs[].errors",
    "pairs[].errors_unknown",
    "pairs[].answer.recommended",
    "pairs[].answer.placements[].load_fast_share",
    "pairs[].answer.placements[].store_fast_share",
    "pairs[].answer.placements[].interval_gb_per_s",
    "pairs[].answer.placements[].unclaimed",
    "pairs[].answer.placements[].unclaimed.load_fast_share",
    "pairs[].answer.placements[].unclaimed.store_fast_share",
    "pairs[].answer.placements[].unclaimed.interval_gb_per_s",
    "pairs[].answer.placements[].load_policy",
    "pairs[].answer.placements[].store_policy",
    "pairs[].answer.placements[].weighted_gb_per_s",
];

/// A record of a simulated machine whose hybrid model knows everything.
fn known() -> Record {
    let inputs = Inputs { experiments: vec![Experiment::Hybrid], ..suite_inputs(Suite::Standard) };
    simulate(&read_machine("skylake-hybrid").unwrap(), inputs, true).unwrap()
}

/// The same without what makes errors, intervals and one overlap known, of a machine of which
/// nothing is known, with a pair of memories more that has no model.
fn without_much(mut record: Record) -> Record {
    record.samples.retain(|sample| sample.round < 2);
    let is_left = |coordinates: &Coordinates| match coordinates {
        Coordinates::Hybrid(place) => match place.point {
            HybridPoint::Corner { .. } => true,
            HybridPoint::Pair { dominating, .. } => dominating != TransferKind::FastLoad,
            HybridPoint::Surface => place.loads != place.stores,
        },
        _ => false,
    };
    let left: Vec<String> = record
        .cases
        .iter()
        .filter(|case| case.coordinates.iter().any(is_left))
        .map(|case| case.id.clone())
        .collect();
    record.samples.retain(|sample| left.contains(&sample.case));
    let mut lone = record.cases[0].clone();
    lone.id = "hybrid/lone".into();
    for coordinates in &mut lone.coordinates {
        if let Coordinates::Hybrid(place) = coordinates {
            place.cluster = 7;
        }
    }
    let sample = record.samples.iter().find(|sample| sample.case == record.cases[0].id);
    let mut sample = sample.unwrap().clone();
    sample.case.clone_from(&lone.id);
    record.samples.push(sample);
    record.cases.push(lone);
    record.header.machine.nodes.clear();
    record.header.machine.cores.clear();
    record
}

/// The views by their schemas' names, without most of what stands there many times.
pub fn views() -> Vec<(&'static str, Value)> {
    let mut views = Vec::new();
    let known = known();
    let unknown = without_much(known.clone());
    for (record, bounds, most) in
        [(known, OverlapBounds::NotNegative, 1), (unknown, OverlapBounds::None, 2)]
    {
        let model = hybrid(&RecordFigures::new(&record), bounds).unwrap();
        let mut view = HybridModelView::new(&record, &model);
        let pair = &mut view.pairs[0];
        pair.corners.truncate(1);
        pair.overlaps.truncate(most);
        pair.held_out.truncate(most);
        pair.surface.retain(|point| most > 1 || point.gb_per_s.is_some());
        pair.surface.truncate(most);
        pair.answers.iter_mut().for_each(keep_few);
        // Reads only and writes only: neither has policies for both.
        pair.answers = vec![pair.answers[0].clone(), pair.answers[3].clone()];
        views.push(("hybrid", serde_json::to_value(view).unwrap()));
        for load_share in [0.0, 0.5, 1.0] {
            let mut view = PredictHybridView::new(&record, &model, load_share, &[0.5]).unwrap();
            view.pairs.iter_mut().for_each(|pair| keep_few(&mut pair.answer));
            views.push(("predict-hybrid", serde_json::to_value(view).unwrap()));
        }
    }
    views
}

/// One placement with something unclaimed, else the best one.
fn keep_few(answer: &mut HybridAnswerView) {
    let is_rich = |it: &HybridPlacementView| it.unclaimed.is_some() && !it.gains.is_empty();
    let chosen = answer.placements.iter().position(is_rich).unwrap_or(0);
    answer.placements = vec![answer.placements[chosen].clone()];
    answer.placements[0].gains.truncate(1);
    answer.advice.truncate(1);
}

#[test]
fn the_hybrid_model_of_simulated_machines() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.jsonl");
    let path = file.to_str().unwrap();
    for machine in ["knl-flat", "two-socket-cxl", "amd-2p"] {
        let arguments = ["--suite", "standard", "--only", "hybrid", "--simulate", machine];
        program::nearfar(&[&["characterize", "--force", "--out", path][..], &arguments].concat());
        let json = |arguments: &[&str]| program::json_of(&program::nearfar(arguments), &[0]);
        for more in [&[][..], &["--unbounded"]] {
            let model = json(&[&["model", path, "hybrid", "--json"][..], more].concat());
            assert_valid(&validator("hybrid"), &model);
        }
        let answer = json(&["predict", path, "--load-share", "0.5", "--fast-share", "1", "--json"]);
        assert_valid(&validator("predict-hybrid"), &answer);
    }
}
