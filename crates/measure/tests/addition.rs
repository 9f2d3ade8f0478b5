//! What is added to a record later, and records that are compressed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod support;

use std::fs;
use std::path::Path;

use nearfar_flow::SimulatedMachine;
use nearfar_measure::simulated::{SimulatedExecutor, new_record};
use nearfar_measure::{Engine, Interrupt, Outcome};
use nearfar_record::{
    Experiment, FileEnd, Inputs, Line, ReasonCode, Record, RecordState, RecordWriter, Suite,
    list_record, read_record,
};
use support::{inputs, machine, measure, measure_new, read};

const NOISE: &str = "noise = { between_rounds = 0.01, within_round = 0.004 }\n";

fn noisy() -> SimulatedMachine {
    noisy_with(2)
}

fn noisy_with(nodes: u32) -> SimulatedMachine {
    // Keys of the whole machine stand before its tables.
    let text = NOISE.to_string() + &machine(nodes, "").text;
    nearfar_flow::parse_machine("test.toml", &text).unwrap()
}

/// Other experiments and rounds than those that the record was begun with.
fn mixes() -> Inputs {
    Inputs {
        experiments: vec![Experiment::Mixes],
        windows_per_round: 3,
        min_rounds: 2,
        max_rounds: 2,
        ..inputs(Suite::Standard)
    }
}

/// Adds to the record in a file, as the program does.
fn append(
    path: &Path,
    machine: &SimulatedMachine,
    inputs: Inputs,
    interrupt_after: Option<u64>,
) -> Outcome {
    let record = read(path);
    let interrupt = Interrupt::default();
    let mut executor = SimulatedExecutor::new(machine.clone(), true, 3, interrupt.clone()).unwrap();
    if let Some(runs) = interrupt_after {
        executor.interrupt_after(runs);
    }
    let mut writer = RecordWriter::append(path, &record).unwrap();
    let mut watch = |_: nearfar_measure::Status<'_>| {};
    let mut engine = Engine::new(&mut executor, &mut writer, &interrupt, &mut watch, record);
    engine.append(inputs);
    engine.resume().unwrap();
    engine.measure().unwrap()
}

/// What was measured, by experiment, without when.
fn content(record: &Record, experiment: Experiment) -> Vec<String> {
    let is_of = |case: &str| case.starts_with(experiment.as_str());
    let mut lines: Vec<String> = record
        .samples
        .iter()
        .filter(|sample| is_of(&sample.case))
        .map(|it| format!("{} {} {} {:?}", it.case, it.round, it.window, it.actors))
        .collect();
    lines.sort();
    lines
}

#[test]
fn what_is_added_is_as_if_measured_alone_and_all_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let (both, alone) = (folder.path().join("both"), folder.path().join("alone"));
    measure_new(&both, &noisy(), inputs(Suite::Quick), None);
    let before = read(&both);
    let outcome = append(&both, &noisy(), mixes(), None);
    measure_new(&alone, &noisy(), mixes(), None);
    let (both, alone) = (read(&both), read(&alone));
    assert!(!outcome.addition_left && both.finished.is_some());
    let added = content(&both, Experiment::Mixes);
    assert!(added.len() > 6 && added == content(&alone, Experiment::Mixes));
    assert_eq!(content(&both, Experiment::Pairs), content(&before, Experiment::Pairs));
    assert_eq!(both.header.inputs.experiments, [Experiment::Pairs, Experiment::Mixes]);
    let asked: Vec<&Inputs> = both.all_inputs().collect();
    assert_eq!(asked, [&before.header.inputs, &mixes()]);
    assert_eq!(outcome.record.cases, both.cases);
    assert_eq!(both.earlier_cases(), before.cases);
}

/// More rounds of the cases that are there; the rounds that are there stay as they are.
#[test]
fn rounds_are_added_to_cases_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let of = |rounds, windows_per_round| Inputs {
        min_rounds: rounds,
        max_rounds: rounds,
        windows_per_round,
        ..inputs(Suite::Quick)
    };
    measure_new(&path, &noisy(), of(2, 2), None);
    let before = read(&path);
    append(&path, &noisy(), of(5, 1), None);
    let after = read(&path);
    assert_eq!(after.cases, before.cases);
    assert_eq!(after.samples[..before.samples.len()], before.samples);
    let case = &after.cases[0].id;
    let of_case = after.samples.iter().filter(|sample| &sample.case == case);
    let windows: Vec<(u32, u32)> = of_case.map(|sample| (sample.round, sample.window)).collect();
    assert_eq!(windows, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (3, 0), (4, 0)]);
}

#[test]
fn an_interrupted_addition_is_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let (cut, whole) = (folder.path().join("cut"), folder.path().join("whole"));
    for path in [&cut, &whole] {
        measure_new(path, &noisy(), inputs(Suite::Quick), None);
    }
    append(&whole, &noisy(), mixes(), None);
    assert!(append(&cut, &noisy(), mixes(), Some(3)).interrupted_by.is_some());
    let lacks = content(&read(&cut), Experiment::Mixes);
    let whole = content(&read(&whole), Experiment::Mixes);
    assert!(!lacks.is_empty() && lacks.len() < whole.len());
    measure(&cut, read(&cut), &noisy(), None);
    assert_eq!(content(&read(&cut), Experiment::Mixes), whole);
}

/// What an unfinished record lacks comes first; where that is interrupted too, nothing is added.
#[test]
fn an_unfinished_record_is_finished_before_something_is_added() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    measure_new(&path, &noisy(), inputs(Suite::Quick), Some(10));
    assert!(append(&path, &noisy(), mixes(), Some(10)).addition_left);
    assert_eq!(read(&path).all_inputs().count(), 1);
    assert!(!append(&path, &noisy(), mixes(), None).addition_left);
    let whole = folder.path().join("whole");
    measure_new(&whole, &noisy(), inputs(Suite::Quick), None);
    let (found, whole) = (read(&path), read(&whole));
    assert_eq!(content(&found, Experiment::Pairs), content(&whole, Experiment::Pairs));
    assert!(!content(&found, Experiment::Mixes).is_empty());
}

/// What a small suite leaves out no longer is left out once a larger one measured it.
#[test]
fn what_was_left_out_is_not_once_it_was_added() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let machine = noisy_with(4);
    let links = |suite| Inputs { experiments: vec![Experiment::Links], ..inputs(suite) };
    measure_new(&path, &machine, links(Suite::Standard), None);
    let left_out = |record: &Record| {
        let codes = record.absent.iter().map(|absent| absent.reason.code);
        codes.filter(|code| *code == ReasonCode::FullSuiteOnly).count()
    };
    let (standard, cases) = (left_out(&read(&path)), read(&path).cases.len());
    append(&path, &machine, links(Suite::Full), None);
    let full = read(&path);
    assert!(standard > 0 && full.cases.len() > cases, "{standard}");
    assert_eq!(left_out(&full), 0);
    // A resumed run does not bring it back.
    measure(&path, read(&path), &machine, None);
    assert_eq!(left_out(&read(&path)), 0);
}

#[test]
fn inputs_of_another_kind_are_no_addition() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    measure_new(&path, &noisy(), inputs(Suite::Quick), None);
    append(&path, &noisy(), mixes(), None);
    let text = fs::read_to_string(&path).unwrap();
    let edit = |edit: &dyn Fn(&mut Inputs)| {
        let lines = text.lines().map(|line| {
            let mut line: Line = serde_json::from_str(line).unwrap();
            if let Line::Appended(appended) = &mut line {
                edit(&mut appended.inputs);
            }
            serde_json::to_string(&line).unwrap() + "\n"
        });
        read_record(lines.collect::<String>().as_bytes()).map(|_| ()).map_err(|it| it.to_string())
    };
    assert_eq!(edit(&|_| {}), Ok(()));
    assert!(edit(&|inputs| inputs.seed += 1).unwrap_err().contains("the seed"));
    assert!(edit(&|inputs| inputs.max_rounds = 1).unwrap_err().contains("2 to 1 rounds"));
    assert!(edit(&|inputs| inputs.window_ns *= 10).unwrap_err().contains("none is shorter"));
    let other = edit(&|inputs| inputs.experiments = vec![Experiment::Pairs]);
    assert!(other.unwrap_err().contains("mixes, which is not measured"));
}

/// A small frame, a large one that is a single segment, blocks that are packed, raw and repeated.
#[test]
fn a_compressed_record_is_the_same_and_its_end_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, packed) = (folder.path().join("r.jsonl"), folder.path().join("r.jsonl.zst"));
    let latency = Inputs { experiments: vec![Experiment::Latency], ..inputs(Suite::Full) };
    for path in [&plain, &packed] {
        measure_new(path, &noisy(), latency.clone(), None);
        append(path, &noisy(), mixes(), None);
    }
    let (of_plain, of_packed) = (read(&plain), read(&packed));
    assert!(matches!(of_packed.end, FileEnd::Frames { .. }));
    assert_eq!(of_packed.samples, of_plain.samples);
    assert_eq!(of_packed.cases, of_plain.cases);
    let length = |path: &Path| fs::metadata(path).unwrap().len();
    assert!(8 * length(&packed) < length(&plain), "{} of {}", length(&packed), length(&plain));
    for path in [&plain, &packed] {
        let listed = list_record(path).unwrap();
        assert_eq!(listed.state, RecordState::Finished);
        assert_eq!(listed.samples, Some(of_plain.samples.len() as u64));
        assert_eq!(listed.cases, Some(of_plain.cases.len() as u64));
        assert_eq!(listed.compressed, path == &packed);
    }
}

/// Wherever a compressed record is torn, whole frames are read, and it is completed as if it had
/// never been.
#[test]
fn a_compressed_record_that_is_torn_is_read_and_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let (path, torn) = (folder.path().join("r.zst"), folder.path().join("torn.zst"));
    let machine = noisy_with(4);
    measure_new(&path, &machine, inputs(Suite::Quick), None);
    let whole = read(&path);
    let expected = content(&whole, Experiment::Pairs);
    let bytes = fs::read(&path).unwrap();
    let magic = [0x28, 0xb5, 0x2f, 0xfd];
    let frames: Vec<usize> =
        (0..bytes.len()).filter(|&at| bytes[at..].starts_with(&magic)).collect();
    assert!(frames.len() > 2, "{frames:?}");
    // Each of the frames lacks a byte, or is just begun; then anywhere.
    let ends = frames[1..].iter().flat_map(|&start| [start - 1, start, start + 3, start + 20]);
    let anywhere = (1..12).map(|part| bytes.len() * part / 12);
    let mut least = 0;
    let mut lengths: Vec<usize> = ends.chain(anywhere).collect();
    lengths.sort_unstable();
    for length in lengths {
        fs::write(&torn, &bytes[..length]).unwrap();
        let read_torn = read(&torn);
        // What a longer file holds a shorter one may lack, never the reverse.
        assert!(read_torn.samples.len() >= least, "torn at {length}");
        least = read_torn.samples.len();
        assert_eq!(read_torn.samples[..], whole.samples[..least]);
        let state = list_record(&torn).unwrap();
        assert_eq!(state.state, RecordState::Unfinished, "torn at {length}");
        measure(&torn, read_torn, &machine, None);
        let complete = read(&torn);
        assert!(content(&complete, Experiment::Pairs) == expected, "torn at {length}");
        assert!(!complete.torn && complete.finished.is_some());
    }
    // A byte that is another is told, and where.
    let mut damaged = bytes.clone();
    damaged[frames[1] + 40] ^= 0xff;
    let error = read_record(&damaged[..]).unwrap_err().to_string();
    assert!(error.starts_with("line ") && error.contains("damaged"), "{error}");
}

/// The lines that were pushed out stay where the program is killed: nothing is closed.
#[test]
fn a_round_stays_whatever_ends_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.zst");
    let record = new_record(&noisy(), inputs(Suite::Quick), true);
    let mut writer = RecordWriter::create(&path, false).unwrap();
    writer.write(&Line::Header(Box::new(record.header.clone()))).unwrap();
    assert_eq!(read(&path).header, record.header);
    let warning = nearfar_record::Warning {
        code: "one".into(),
        message: String::new(),
        remedy: String::new(),
        of_samples: false,
    };
    writer.write(&Line::Warning(warning)).unwrap();
    writer.settle().unwrap();
    std::mem::forget(writer);
    assert_eq!(read(&path).warnings.len(), 1);
}
