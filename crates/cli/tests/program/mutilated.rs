//! Models, documents, advice and comparisons of records that lost samples and cases, or whose counts
//! make no sense: each says what it lacks, or gives finite figures in the form of its schema. Nothing
//! panics.
//!
//! serde writes a figure that is not finite as null, which a schema refuses wherever null does not
//! stand for something unknown.

use std::path::Path;

use fastrand::Rng;
use nearfar_advise::{Demand, Pattern, advise};
use nearfar_document::{
    AdvisedPlacement, Comparison, ModelResult, ModelsOfRecord, Report, ReportChoices, Room,
    model_answer, write_csv, write_markdown, write_metrics,
};
use nearfar_flow::{HandOvers, read_machine};
use nearfar_machine::CpuRelation;
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::{
    FittedModel, ModelChoices, ModelKind, PRACTICAL_FLOOR, RecordFigures, Unavailable,
};
use nearfar_record::{DeviceInputs, Experiment, Inputs, Record, Suite, read_record};
use serde::Serialize;

use crate::schema::hold;

/// Mutilations of each machine's record.
const TRIALS: u64 = 6;

/// Machines that have something for every model between them.
const MACHINES: [&str; 5] = ["e5520", "knl-flat", "itanium2", "e7-4870", "amd-2p"];

fn measured(machine: &str) -> Record {
    let mut machine = read_machine(machine).unwrap();
    let ns = [
        (CpuRelation::SameCore, 9.0),
        (CpuRelation::SameL3, 24.0),
        (CpuRelation::OtherPackage, 240.0),
    ];
    machine.exchange = HandOvers { ns: ns.into(), compare_swap: Some(1.2) };
    let accelerators = machine.devices.iter().map(|device| device.accelerator.clone()).collect();
    let inputs = Inputs {
        min_rounds: 3,
        max_rounds: 3,
        runs: 20,
        experiments: Experiment::OF_MACHINE.to_vec(),
        devices: Some(DeviceInputs { accelerators, absent: Vec::new() }),
        ..suite_inputs(Suite::Standard)
    };
    simulate(&machine, inputs, true).unwrap()
}

fn assert_finite(text: &str, what: &str) {
    for word in ["NaN", "inf ", "-inf", "inf\n"] {
        assert!(!text.contains(word), "{what}: {word:?} in\n{text}");
    }
}

fn assert_held(view: &impl Serialize) {
    hold(&serde_json::to_value(view).unwrap());
}

/// What each model says, held against its schema; the names of those that say something.
fn hold_models(record: &Record, what: &str) -> Vec<&'static str> {
    let (fitted, unavailable) = fits(record);
    for model in &fitted {
        assert_held(&ModelResult::of(record, model));
        assert_finite(
            &model_answer(record, model).text(ALL),
            &format!("{what}, {:?}", model.kind()),
        );
    }
    for Unavailable { model, why } in &unavailable {
        assert!(!why.why.is_empty() && !why.why.ends_with('.'), "{what}, {model:?}: {why:?}");
        let remedy = why.remedy.as_deref();
        assert!(remedy.is_none_or(|it| it.starts_with("nearfar ")), "{what}, {model:?}: {why:?}");
    }
    let report = Report::new(record, &ReportChoices::default());
    assert_held(&report);
    let mut markdown = Vec::new();
    write_markdown(&report.document, &mut markdown).unwrap();
    assert_finite(&String::from_utf8(markdown).unwrap(), what);
    hold_data(record, what);
    let all = ModelsOfRecord::new(record, &fitted, unavailable);
    assert_held(&all);
    assert!(!all.answer(record, &fitted).text(ALL).is_empty());
    fitted.iter().map(|model| model.kind().as_str()).collect()
}

const ALL: Room = Room { width: 100, full: true };

fn fits(record: &Record) -> (Vec<FittedModel>, Vec<Unavailable>) {
    let figures = RecordFigures::new(record);
    ModelKind::fit_all(&ModelKind::ALL, &figures, &ModelChoices::default()).unwrap()
}

/// What is advised for a program with these demands, if anything.
fn advised(record: &Record, random: &mut Rng, what: &str) -> bool {
    let demand = Demand {
        threads: Some(8),
        initiators: random.bool().then(|| vec![0]),
        working_set_bytes: Some(1 << random.u32(20..45)),
        load_share: random.bool().then(|| random.f64()),
        pattern: *random.choice(Pattern::ALL.iter()).unwrap(),
        seen: None,
    };
    match advise(&RecordFigures::new(record), &demand) {
        Ok(advice) => {
            let view = AdvisedPlacement::new(record, &demand, &[advice], Some(3));
            assert_held(&view);
            assert_finite(&view.answer().text(ALL), what);
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty(), "{what}");
            false
        }
    }
}

/// Whether a comparison of two records has cases.
fn compared(a: &Record, b: &Record, what: &str) -> bool {
    let view = Comparison::new(&a.clone().into(), &b.clone().into(), PRACTICAL_FLOOR);
    assert_held(&view);
    assert_finite(&view.answer().text(ALL), what);
    !view.found.cases.is_empty()
}

/// The formats for programs have no word for a figure that is not finite.
fn hold_data(record: &Record, what: &str) {
    let (mut csv, mut metrics) = (Vec::new(), Vec::new());
    write_csv(record, &mut csv).unwrap();
    write_metrics(record, &mut metrics).unwrap();
    for (text, begin) in [(csv, ','), (metrics, ' ')] {
        let text = String::from_utf8(text).unwrap();
        for word in ["NaN", "inf", "-inf"] {
            for end in [begin, '\n'] {
                assert!(!text.contains(&format!("{begin}{word}{end}")), "{what}: {word}");
            }
        }
    }
}

fn mutilate(record: &mut Record, random: &mut Rng) -> String {
    let kind = random.u32(..12);
    match kind {
        0 => {
            let kept = random.f64();
            record.samples.retain(|_| random.f64() < kept);
        }
        1 => {
            let kept = random.f64();
            record.cases.retain(|_| random.f64() < kept);
        }
        2 => {
            // One experiment by its beginning, or many.
            let letter = random.choice(["p", "s", "l", "r", "h", "m"]).unwrap();
            record.samples.retain(|sample| !sample.case.starts_with(letter));
        }
        3 => {
            let round = random.u32(..4);
            record.samples.retain(|sample| sample.round == round);
        }
        4 | 5 | 10 => {
            // None, more than can be, or the same everywhere: nothing tells one case from another.
            let (count, share) = match kind {
                4 => (0, random.f64()),
                5 => (u64::MAX / 4096, random.f64()),
                _ => (1 << 20, 1.0),
            };
            for sample in &mut record.samples {
                if random.f64() < share {
                    for thread in sample.actors.iter_mut().flat_map(|actor| &mut actor.threads) {
                        thread.useful_bytes = count;
                        thread.flops = count;
                    }
                }
            }
        }
        6 => {
            for sample in &mut record.samples {
                sample.window_ns = *random.choice([&1, &sample.window_ns, &u64::MAX]).unwrap();
            }
        }
        7 => {
            for sample in &mut record.samples {
                sample.actors.truncate(random.usize(..3));
            }
        }
        8 => {
            for case in &mut record.cases {
                case.actors.truncate(random.usize(..3));
            }
        }
        9 => {
            // Places that belong to other cases.
            let places: Vec<_> = record.cases.iter().map(|case| case.coordinates.clone()).collect();
            for case in &mut record.cases {
                if random.f64() < 0.2 {
                    case.coordinates.clone_from(random.choice(&places).unwrap());
                }
            }
        }
        _ => {
            for actor in record.samples.iter_mut().flat_map(|sample| &mut sample.actors) {
                actor.proof = None;
                actor.write_proof = None;
                actor.threads.truncate(random.usize(..3));
            }
        }
    }
    format!("mutilation {kind}")
}

#[test]
fn what_is_said_of_mutilated_records_is_finite_or_says_what_it_lacks() {
    let mut whole = std::collections::BTreeSet::new();
    let (mut with_advice, mut with_cases) = (0, 0);
    let network = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/record/network");
    let simulated = MACHINES.map(|machine| (machine, measured(machine)));
    // Messages go to another machine, which a simulated one has not.
    let over_loopback = ("network", read_record(std::fs::File::open(network).unwrap()).unwrap());
    for (machine, record) in simulated.into_iter().chain([over_loopback]) {
        whole.extend(hold_models(&record, machine));
        for trial in 0..TRIALS {
            let mut random = Rng::with_seed(trial);
            let mut broken = record.clone();
            let mut what = format!("{machine}, trial {trial}");
            for _ in 0..=random.usize(..2) {
                what = format!("{what}, {}", mutilate(&mut broken, &mut random));
            }
            hold_models(&broken, &what);
            with_advice += usize::from(advised(&broken, &mut random, &what));
            for (a, b) in [(&record, &broken), (&broken, &record), (&broken, &broken)] {
                with_cases += usize::from(compared(a, b, &what));
            }
        }
    }
    assert_eq!(whole.len(), ModelKind::ALL.len(), "models that no whole record has: {whole:?}");
    assert!(with_advice > 8 && with_cases > 24, "{with_advice}, {with_cases}");
}

#[test]
fn a_record_without_an_experiment_names_the_command_that_adds_it() {
    let inputs = Inputs {
        min_rounds: 3,
        max_rounds: 3,
        experiments: Vec::new(),
        ..suite_inputs(Suite::Quick)
    };
    let record = simulate(&read_machine("e5520").unwrap(), inputs, false).unwrap();
    let (fitted, unavailable) = fits(&record);
    assert!(fitted.is_empty(), "{fitted:?}");
    for Unavailable { model, why } in unavailable {
        // It has no device and no other machine, and its file says nothing of hand-overs, which no command
        // changes.
        if matches!(model, ModelKind::Devices | ModelKind::Exchange | ModelKind::Network) {
            assert_eq!(why.remedy, None, "{}", why.why);
            continue;
        }
        let remedy = why.remedy.unwrap_or_else(|| panic!("{model:?}: {}", why.why));
        let wanted = ["nearfar characterize --simulate e5520 ", "--only "];
        assert!(wanted.iter().all(|it| remedy.contains(it)), "{model:?}: {remedy}");
    }
}
