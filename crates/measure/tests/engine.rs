//! The engine as a whole, on a simulated machine and a virtual clock.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use nearfar_flow::{SimulatedMachine, parse_machine};
use nearfar_model::{RecordFigures, pairs};
use nearfar_record::{
    Absence, FileEnd, Inputs, ReasonCode, Record, Stage, Suite, read_record, summarize_case,
};
use support::{inputs, machine, measure, measure_new, read};

const NODE_1_FULL: &str = "[[fault]]\nkind = \"full_memory\"\nnode = 1\n";

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// The record of a run as a whole.
fn measured(machine: &SimulatedMachine, inputs: Inputs) -> Record {
    let folder = folder();
    let path = folder.path().join("r.jsonl");
    measure_new(&path, machine, inputs, None);
    read(&path)
}

fn median_of(record: &Record, case: &str) -> f64 {
    let samples: Vec<_> = record.samples.iter().filter(|sample| sample.case == case).collect();
    summarize_case(samples).unwrap().sum.median
}

#[test]
fn every_pair_is_measured_in_every_round_exactly_once() {
    let record = measured(&machine(4, ""), inputs(Suite::Quick));
    // 4 initiators x 4 nodes x 3 kernels x {1, 4} threads.
    assert_eq!(record.cases.len(), 4 * 4 * 3 * 2);
    let mut windows: BTreeMap<(&str, u32), u32> = BTreeMap::new();
    for sample in &record.samples {
        *windows.entry((&sample.case, sample.round)).or_default() += 1;
    }
    // Without noise the first look, after six rounds, ends it.
    assert_eq!(windows.len(), record.cases.len() * 6);
    assert!(windows.values().all(|&count| count == 2));
    let sequences: Vec<u64> = record.samples.iter().map(|sample| sample.sequence).collect();
    assert!(sequences.iter().copied().eq(0..record.samples.len() as u64));
    assert!(record.finished.is_some());
}

#[test]
fn rates_are_recovered() {
    let record = measured(&machine(2, ""), inputs(Suite::Quick));
    let close = |case: &str, wanted: f64| {
        let found = median_of(&record, case);
        assert!((found / wanted - 1.0).abs() < 1e-6, "{case}: {found:e} instead of {wanted:e}");
    };
    close("pairs/initiator0/node0/load/avx512/t1", 10e9);
    close("pairs/initiator0/node1/triad/avx512/t1", 4e9);
    close("pairs/initiator1/node1/triad_nt/avx512/t4", 25e9);
    close("pairs/initiator1/node0/load/avx512/t4", 16e9);
}

#[test]
fn the_order_is_random_and_repeatable() {
    let order = |seed: u64| {
        let record = measured(&machine(2, ""), Inputs { seed, ..inputs(Suite::Quick) });
        let of_round = |round: u32| -> Vec<String> {
            let samples = record.samples.iter().filter(|s| s.round == round && s.window == 0);
            samples.map(|sample| sample.case.clone()).collect()
        };
        (of_round(0), of_round(1))
    };
    let (first, second) = order(1);
    assert_eq!((first.clone(), second.clone()), order(1));
    assert_ne!(first, second, "two rounds in the same order");
    assert_ne!(first, order(2).0, "two seeds with the same order");
}

#[test]
fn noise_keeps_measuring_until_the_most_rounds() {
    let noisy = machine(1, "[noise]\nbetween_rounds = 0.2\n");
    let record = measured(&noisy, inputs(Suite::Quick));
    let rounds: BTreeSet<u32> = record.samples.iter().map(|sample| sample.round).collect();
    assert_eq!(rounds.last(), Some(&7));
    let omitted: Vec<_> = record.absent.iter().map(|absent| absent.reason.code).collect();
    assert_eq!(omitted, [ReasonCode::OneNode]);
}

#[test]
fn disturbed_windows_are_kept_and_left_out() {
    let disturbed =
        machine(1, "[noise.disturbed]\nshare = 0.5\nby = \"switched\"\nlowered_by = [0.01, 0.1]\n");
    let record = measured(&disturbed, inputs(Suite::Quick));
    let marked = record.samples.iter().filter(|sample| sample.is_disturbed()).count();
    assert!(marked > 0 && marked < record.samples.len());
    let case = &record.cases[0].id;
    let samples: Vec<_> = record.samples.iter().filter(|sample| &sample.case == case).collect();
    let summary = summarize_case(samples.iter().copied()).unwrap();
    let clean = samples.iter().filter(|sample| !sample.is_disturbed());
    let clean_rounds: BTreeSet<u32> = clean.map(|sample| sample.round).collect();
    assert_eq!(summary.sum.count, clean_rounds.len());
    assert_eq!(summary.samples, samples.len());
    assert!(record.warnings.iter().any(|warning| warning.code == "disturbed"));
}

#[test]
fn what_the_machine_refuses_is_recorded_and_the_rest_measured() {
    let record = measured(&machine(2, NODE_1_FULL), inputs(Suite::Quick));
    let refused: Vec<_> =
        record.absent.iter().filter(|absent| absent.absence == Absence::Refused).collect();
    // 2 initiators x 1 full node x 3 kernels x 2 thread counts, each once and not in every round.
    assert_eq!(refused.len(), 12);
    assert!(refused.iter().all(|absent| absent.reason.code == ReasonCode::NoRoom));
    assert!(refused.iter().all(|absent| absent.round == Some(0)));
    let measured: BTreeSet<&str> = record.samples.iter().map(|s| s.case.as_str()).collect();
    assert_eq!(measured.len(), 12);
    assert!(measured.iter().all(|case| case.contains("/node0/")));
}

#[test]
fn standard_screens_variants_and_keeps_two() {
    let record = measured(&machine(4, ""), inputs(Suite::Standard));
    let stage_of = |case: &nearfar_record::Case| {
        let pair = case.coordinates[0].as_pair().unwrap();
        (pair.stage, pair.memory_node)
    };
    let screened: BTreeSet<u32> = record
        .cases
        .iter()
        .map(stage_of)
        .filter(|(stage, _)| *stage == Stage::Screening)
        .map(|(_, node)| node)
        .collect();
    // The nearest node of initiator 0, and one of the farthest.
    assert_eq!(screened.len(), 2);
    assert!(screened.contains(&0) && !screened.contains(&1), "screened on {screened:?}");
    let variants: BTreeSet<(String, String)> = record
        .cases
        .iter()
        .filter(|case| stage_of(case).0 == Stage::Matrix)
        .map(|case| {
            let pair = case.coordinates[0].as_pair().unwrap();
            (pair.kernel.clone(), pair.variant.clone())
        })
        .collect();
    // load, copy, triad have four variants, the two non-temporal ones three; two of each stay.
    assert_eq!(variants.len(), 5 * 2);
    let dropped =
        record.absent.iter().filter(|absent| absent.reason.code == ReasonCode::ScreenedOut);
    assert_eq!(dropped.count(), 3 * 2 + 2);
}

/// Programs walk in order: one variant that does is kept whatever is faster, and comes first.
#[test]
fn of_variants_that_take_pages_in_turn_screening_keeps_one_at_most() {
    let text = r#"
        name = "turns"
        title = "a machine that copies faster by pages in turn"
        cpu_model = "A CPU of the tests"
        variants = ["avx2", "sse2", "portable", "avx2-pages2", "avx2-pages4"]
        cache = { l3 = "16 MiB" }
        node = [{ package = 0, memory = "16 GiB", cores = 4, l3_domains = 2 }]
        [[bandwidth]]
        one_thread = { portable = 7, sse2 = 8, avx2 = 9, avx2-pages2 = 11, avx2-pages4 = 12 }
        all_threads = 25.0
    "#;
    let machine = parse_machine("turns.toml", text).unwrap();
    let record = measured(&machine, inputs(Suite::Standard));
    let matrix = record.cases.iter().map(|case| case.coordinates[0].as_pair().unwrap());
    let kept: Vec<&str> = matrix
        .filter(|pair| {
            (pair.stage, pair.kernel.as_str(), pair.threads) == (Stage::Matrix, "load", 1)
        })
        .map(|pair| pair.variant.as_str())
        .collect();
    assert_eq!(kept, ["avx2", "avx2-pages4"]);
    let cells = pairs(&RecordFigures::new(&record));
    let cell = cells.cell(0, 0, "load", 1).unwrap();
    assert_eq!(cell.best().unwrap().variant, "avx2");
    assert_eq!(cell.highest().unwrap().variant, "avx2-pages4");
}

#[test]
fn a_budget_ends_it_between_rounds() {
    let folder = folder();
    let path = folder.path().join("r.jsonl");
    // A round over 6 cases of 2 windows of 50 ms takes 0.6 s of the virtual clock.
    let inputs = Inputs { budget_ns: Some(2_000_000_000), ..inputs(Suite::Quick) };
    let outcome = measure_new(&path, &machine(1, ""), inputs, None);
    let record = read(&path);
    assert_eq!(record.finished.as_ref().unwrap().rounds, 3);
    assert!(outcome.elapsed.as_secs_f64() <= 2.0);
    assert!(outcome.record.warnings.iter().any(|warning| warning.code == "budget_ended"));
    assert!(outcome.record.warnings.iter().any(|warning| warning.code == "few_rounds"));
    // Going on without a budget completes it.
    let resumed = {
        let mut record = read(&path);
        record.header.inputs.budget_ns = None;
        record
    };
    measure(&path, resumed, &machine(1, ""), None);
    let record = read(&path);
    let rounds: BTreeSet<u32> = record.samples.iter().map(|sample| sample.round).collect();
    assert_eq!(rounds.len(), 6);
    // What the first run said of its end holds no longer.
    let stale = |code: &str| record.warnings.iter().any(|warning| warning.code == code);
    assert!(!stale("budget_ended") && !stale("few_rounds"));
    assert!(record.absent.iter().all(|absent| absent.reason.code != ReasonCode::Budget));
    assert!((record.seconds - 3.6).abs() < 0.1, "both runs measured {} s", record.seconds);
}

#[test]
fn a_refusal_stands_until_the_case_is_measured() {
    let folder = folder();
    let path = folder.path().join("r.jsonl");
    let full = machine(2, NODE_1_FULL);
    let outcome = measure_new(&path, &full, inputs(Suite::Quick), None);
    assert_eq!(outcome.refused, 12);
    let outcome = measure(&path, read(&path), &machine(2, ""), None);
    assert_eq!(outcome.refused, 0);
    let record = read(&path);
    assert!(record.absent.iter().all(|absent| absent.absence == Absence::Omitted));
    assert_complete(&record, 2 * 2 * 3 * 2);
}

#[test]
fn a_signal_ends_it_and_resume_completes_it() {
    let folder = folder();
    let path = folder.path().join("r.jsonl");
    let machine = machine(2, "");
    let outcome = measure_new(&path, &machine, inputs(Suite::Quick), Some(17));
    assert_eq!(outcome.interrupted_by, Some(2));
    let cut = read(&path);
    assert_eq!(cut.samples.len(), 17 * 2);
    assert_eq!(cut.finished.as_ref().unwrap().interrupted_by, Some(2));
    measure(&path, read(&path), &machine, None);
    assert_complete(&read(&path), 2 * 2 * 3 * 2);
}

/// Every case has every window of every round once.
fn assert_complete(record: &Record, cases: usize) {
    assert_eq!(record.cases.len(), cases);
    let windows: BTreeSet<(&str, u32, u32)> =
        record.samples.iter().map(|s| (s.case.as_str(), s.round, s.window)).collect();
    assert_eq!(windows.len(), record.samples.len(), "a window stands there twice");
    assert_eq!(windows.len(), cases * 6 * 2, "a window is missing");
}

#[test]
fn resume_completes_a_record_that_was_cut_anywhere() {
    let folder = folder();
    let path = folder.path().join("r.jsonl");
    let machine = machine(1, "");
    measure_new(&path, &machine, inputs(Suite::Quick), None);
    let whole = fs::read(&path).unwrap();
    let header = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let mut random = fastrand::Rng::with_seed(11);
    let mut cuts: Vec<usize> = (0..60).map(|_| random.usize(header..whole.len())).collect();
    cuts.extend([header, header + 1, whole.len() - 1]);
    for cut in [0, 1, header / 2, header - 1] {
        let error = read_record(&whole[..cut]).unwrap_err().to_string();
        assert!(error.contains("empty") || error.contains("begin again with --force"), "{error}");
    }
    for cut in cuts {
        fs::write(&path, &whole[..cut]).unwrap();
        let torn = read(&path);
        let FileEnd::Lines { length } = torn.end else { panic!("not plain: {:?}", torn.end) };
        let kept = usize::try_from(length).unwrap();
        assert_eq!(torn.torn, whole[cut - 1] != b'\n');
        assert!(kept <= cut && whole[kept - 1] == b'\n');
        measure(&path, torn.clone(), &machine, None);
        let resumed = fs::read(&path).unwrap();
        assert_eq!(&resumed[..kept], &whole[..kept], "a line that was there has changed");
        let record = read(&path);
        assert_eq!(&record.samples[..torn.samples.len()], torn.samples.as_slice());
        assert_complete(&record, 6);
        assert_eq!(record.resumed.len(), 1);
        assert_eq!(record.resumed[0].torn_line_dropped, torn.torn);
    }
}
