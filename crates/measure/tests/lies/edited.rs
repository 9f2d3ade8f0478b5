//! A record edited by hand so that it contradicts itself: every reader refuses it, with the
//! seals as they were and with seals that were made again.

use std::path::Path;

use nearfar_machine::MemoryPolicy;
use nearfar_measure::{Engine, Interrupt, Status};
use nearfar_record::{
    Absence, Absent, Actor, Case, Chase, Disturbance, Experiment, Header, Line, Pinning, Proof,
    ProofMethod, Reason, ReasonCode, RecordWriter, Resumed, Sample, Stream, TrafficMethod,
    read_record,
};

use crate::native;
use crate::seals::{reseal, with_old_seals};

/// What is done to the lines of a record.
type Edit = fn(&mut Vec<Line>);

fn header(lines: &mut [Line]) -> &mut Header {
    let Line::Header(header) = &mut lines[0] else { panic!("the first line is no header") };
    header
}

fn cases(lines: &mut [Line]) -> Vec<&mut Case> {
    let cases = lines.iter_mut().filter_map(|line| match line {
        Line::Case(case) => Some(case),
        _ => None,
    });
    cases.collect()
}

fn samples(lines: &mut [Line]) -> Vec<&mut Sample> {
    let samples = lines.iter_mut().filter_map(|line| match line {
        Line::Sample(sample) => Some(&mut **sample),
        _ => None,
    });
    samples.collect()
}

fn stream(lines: &mut [Line]) -> &mut Stream {
    let Actor::Stream(stream) = &mut cases(lines).swap_remove(0).actors[0] else {
        panic!("the first case is no stream")
    };
    stream
}

fn sample(lines: &mut [Line]) -> &mut Sample {
    samples(lines).swap_remove(0)
}

/// The positions of the samples' lines.
fn positions(lines: &[Line]) -> Vec<usize> {
    let sample =
        |(position, line): (usize, &Line)| matches!(line, Line::Sample(_)).then_some(position);
    lines.iter().enumerate().filter_map(sample).collect()
}

/// Gives the first sample's first thread this many times its bytes, and adds all up again.
fn multiply(lines: &mut [Line], factor: u64) {
    let actor = &mut sample(lines).actors[0];
    actor.threads[0].useful_bytes *= factor;
    actor.threads[0].flops *= factor;
    actor.useful_bytes = actor.threads.iter().map(|thread| thread.useful_bytes).sum();
    actor.flops = actor.threads.iter().map(|thread| thread.flops).sum();
    actor.accesses = actor.useful_bytes / 8;
    let more =
        if actor.traffic_bytes_min == actor.traffic_bytes_max { 0 } else { actor.useful_bytes / 3 };
    actor.traffic_bytes_min = actor.useful_bytes;
    actor.traffic_bytes_max = actor.useful_bytes + more;
}

fn absent(lines: &mut Vec<Line>, absence: Absence, code: ReasonCode, round: Option<u32>) {
    let Case { id: case, coordinates, .. } = cases(lines)[0].clone();
    let reason = Reason { code, text: "because".into() };
    let end = lines.len() - 1;
    lines.insert(end, Line::Absent(Absent { case, coordinates, absence, reason, round }));
}

fn chase(lines: &mut [Line]) -> &mut Chase {
    let Actor::Chase(chase) = &mut cases(lines).swap_remove(0).actors[0] else {
        panic!("the first case is no chase")
    };
    chase
}

fn proof(lines: &mut [Line]) -> &mut Proof {
    sample(lines).actors[0].proof.as_mut().expect("a stream's pages are proven")
}

/// Edits and what the reader says.
const EDITS: [(Edit, &str); 63] = [
    // The header.
    (|l| header(l).fingerprint = "0000000000000000".into(), "fingerprint"),
    (|l| header(l).machine.cores.truncate(0), "fingerprint"),
    (|l| header(l).inputs.min_rounds = 0, "0 to 2 rounds"),
    (|l| header(l).inputs.max_rounds = 1, "2 to 1 rounds"),
    (|l| header(l).inputs.windows_per_round = 0, "0 windows"),
    (|l| header(l).inputs.windows_per_round = 4_000_000_000, "4000000000 windows"),
    (|l| header(l).inputs.window_ns = 60_000_000_000, "none is shorter"),
    (|l| header(l).schema = "nearfar.record/9".into(), "nearfar.record/9"),
    (|l| header(l).inputs.runs = 0, "0 runs"),
    (|l| header(l).inputs.experiments = vec![Experiment::Mixes], "of pairs, which is not measured"),
    (|l| header(l).inputs.experiments.push(Experiment::Pairs), "the experiment pairs twice"),
    // A case.
    (|l| cases(l)[0].actors.clear(), "nothing moves data"),
    (|l| stream(l).threads = 0, "0 threads"),
    (|l| stream(l).working_set_bytes = 0, "working set of 0 bytes"),
    (|l| stream(l).working_set_bytes *= 4, "bytes of the working set of"),
    (|l| stream(l).working_set_bytes /= 1 << 20, "passes of"),
    (|l| stream(l).binding.cpus = "9999".parse().unwrap(), "its CPUs 9999 are not among"),
    (|l| stream(l).binding.cpus = "".parse().unwrap(), "are not among"),
    (|l| stream(l).binding.memory = MemoryPolicy::Preferred(4711), "memory nodes 4711"),
    (|l| stream(l).thread_cpus = vec![9999], "CPU 9999 is outside"),
    (|l| stream(l).thread_cpus.clear(), "0 CPUs of threads"),
    (|l| stream(l).pinning = Pinning::Unbound, "CPUs of threads where there are 0"),
    (|l| stream(l).llc_multiple = Some(-1.0), "-1 times the caches"),
    (
        |l| {
            let case = cases(l)[0].clone();
            l.insert(2, Line::Case(case));
        },
        "stands there twice",
    ),
    // A sample's place.
    (|l| sample(l).case = "pairs/initiator0/node0/nothing".into(), "which is not planned"),
    (|l| sample(l).round = 2, "round 2 of 2"),
    (|l| sample(l).window = 2, "window 2 of 2"),
    (|l| sample(l).sequence = 7, "where sample 0 should be"),
    (|l| samples(l)[1].sequence = 0, "comes after a later one"),
    (|l| sample(l).sequence = u64::MAX, "no sample's number"),
    (|l| samples(l)[1].window = 0, "stands there twice"),
    (
        |l| {
            let first = positions(l)[0];
            l.remove(first);
        },
        "sample 1 where sample 0 should be",
    ),
    (
        |l| {
            let at = positions(l);
            l.swap(at[0], at[1]);
        },
        "sample 1 where sample 0 should be",
    ),
    // Its time.
    (|l| sample(l).window_ns = 0, "without length"),
    (|l| sample(l).window_ns = 4_999_999, "none is shorter"),
    (|l| sample(l).window_ns = u64::MAX, "ends before it begins"),
    (|l| sample(l).window_ns += 1, "while the one before closes"),
    (|l| samples(l)[1].start_ns -= 1, "while the one before closes"),
    (|l| samples(l).pop().unwrap().start_ns += 1_000_000_000_000, "with windows over"),
    // Its counts.
    (|l| sample(l).actors[0].useful_bytes += 8, "threads' sum"),
    (|l| sample(l).actors[0].accesses += 1, "accesses"),
    (|l| sample(l).actors[0].traffic_bytes_max = 0, "above traffic_bytes_max"),
    (|l| sample(l).actors[0].traffic_bytes_max *= 3, "does not follow"),
    (|l| sample(l).actors[0].traffic_bytes_min /= 2, "does not follow"),
    (|l| sample(l).actors[0].threads[0].flops += 1, "flops is"),
    (|l| sample(l).actors[0].threads[0].core_ghz = Some(0.0), "a core at 0 GHz"),
    (|l| multiply(l, 100_000), "passes of"),
    (
        |l| {
            sample(l).actors[0].threads[0].passes = u64::MAX / 2;
            multiply(l, 100_000);
        },
        "no core can",
    ),
    (|l| sample(l).actors[0].threads[0].passes = 0, "before its first pass"),
    // Who did it, and where.
    (|l| sample(l).actors.clear(), "the sample's threads []"),
    (|l| sample(l).actors[0].threads.truncate(0), "the sample's threads"),
    (|l| sample(l).actors[0].variant = "mmx".into(), "in mmx ran where"),
    (
        |l| sample(l).actors[0].threads[0].cpu_after = Some(9999),
        "CPU 9999, which the record's machine",
    ),
    (|l| sample(l).actors[0].proof = None, "nothing proves where its pages were"),
    (
        |l| {
            let actor = &mut sample(l).actors[0];
            actor.write_proof = actor.proof.clone();
        },
        "are proven where there are none",
    ),
    (|l| proof(l).before.method = ProofMethod::Simulated, "'simulated'"),
    (|l| proof(l).before.page_bytes = 0, "pages of 0 bytes"),
    (|l| proof(l).after.pages.clear(), "0.0 % of the pages"),
    (|l| proof(l).before.unknown += 1_000_000, "% of the pages"),
    (
        |l| {
            let pages = &mut proof(l).after.pages;
            *pages = pages.values().map(|&pages| (4711, pages)).collect();
        },
        "node 4711, which the record's machine does not have (one that came online",
    ),
    (|l| sample(l).actors[0].page_sizes.huge_bytes = Some(u64::MAX), "in huge pages"),
    // What disturbed it.
    (|l| sample(l).disturbances.push(Disturbance::Moved { threads: 3 }), "its threads noted"),
    (|l| sample(l).actors[0].threads[0].minor_faults += 4, "its threads noted"),
];

/// Edits of a record of a chase.
const EDITS_OF_CHASES: [(Edit, &str); 4] = [
    (|l| chase(l).group_bytes = 0, "in groups of 0"),
    (|l| chase(l).thread_cpu = 9999, "CPU 9999 is outside"),
    (|l| sample(l).actors[0].traffic_bytes_max *= 3, "does not follow"),
    (
        |l| {
            let sample = sample(l);
            sample.actors[0].threads[0].flops = 8;
            sample.actors[0].flops = 8;
        },
        "8 operations of a chase",
    ),
];

/// Edits of the other lines.
const EDITS_OF_RUNS: [(Edit, &str); 8] = [
    (|l| absent(l, Absence::Refused, ReasonCode::OneNode, Some(0)), "'one_node' is not why"),
    (|l| absent(l, Absence::Omitted, ReasonCode::NoRoom, None), "'no_room' is not why"),
    (|l| absent(l, Absence::Omitted, ReasonCode::Budget, Some(1)), "begun in round 1"),
    (|l| absent(l, Absence::Refused, ReasonCode::NoRoom, Some(3)), "round 3 of 2"),
    (
        |l| {
            let header = l[0].clone();
            l.push(header);
        },
        "after the end of a run",
    ),
    (
        |l| {
            let header = l[0].clone();
            l.insert(1, header);
        },
        "a second header",
    ),
    (
        |l| {
            if let Some(Line::Finished(finished)) = l.last_mut() {
                finished.seconds = 0.0;
            }
        },
        "a run of 0 s",
    ),
    (
        |l| {
            let at = "2026-01-01T00:00:00Z".into();
            l.push(Line::Resumed(Resumed {
                at,
                samples: 1,
                torn_line_dropped: false,
                budget_ns: None,
            }));
        },
        "continued with 1 samples",
    ),
];

/// A measured record's lines, as they stand in its file and as they are.
fn measured(path: &Path) -> (Vec<String>, Vec<Line>) {
    let record = native::measure(path, &mut native::executor());
    assert!(record.samples.len() >= 8 && record.cases.len() >= 2, "the record is too small");
    lines_of(path)
}

/// Those of a record of one chase.
fn measured_chase(path: &Path) -> (Vec<String>, Vec<Line>) {
    let mut record = native::new_record();
    record.header.inputs.experiments = vec![Experiment::Latency];
    let (mut executor, interrupt) = (native::executor(), Interrupt::default());
    let mut writer = RecordWriter::create(path, true).unwrap();
    let mut watch = |_: Status<'_>| {};
    let mut engine = Engine::new(&mut executor, &mut writer, &interrupt, &mut watch, record);
    engine.begin(&[]).unwrap();
    assert_eq!(engine.measure().unwrap().refused, 0);
    lines_of(path)
}

fn lines_of(path: &Path) -> (Vec<String>, Vec<Line>) {
    let text = std::fs::read_to_string(path).unwrap();
    let texts: Vec<String> = text.lines().map(ToString::to_string).collect();
    let lines = texts.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    (texts, lines)
}

fn refusal(text: &[u8]) -> Option<String> {
    read_record(text).err().map(|error| error.to_string())
}

fn assert_refused(path: &Path, (texts, honest): &(Vec<String>, Vec<Line>), edits: &[(Edit, &str)]) {
    assert_eq!(refusal(&reseal(path, honest)), None);
    for (number, (edit, why)) in edits.iter().enumerate() {
        let mut lines = honest.clone();
        edit(&mut lines);
        assert_ne!(lines, *honest, "edit {number} ({why}) changes nothing");
        for text in [reseal(path, &lines), with_old_seals(texts, honest, &lines)] {
            let said =
                refusal(&text).unwrap_or_else(|| panic!("edit {number} ({why}) went through"));
            assert!(said.contains(why), "edit {number}: '{said}' does not say '{why}'");
        }
    }
}

#[test]
fn contradictions_are_refused_whatever_the_seals_say() {
    let _alone = native::alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let honest = measured(&path);
    assert_refused(&path, &honest, &EDITS);
    assert_refused(&path, &honest, &EDITS_OF_RUNS);
    let honest = measured_chase(&path);
    assert_refused(&path, &honest, &EDITS_OF_CHASES);
}

/// What a method of traffic allows follows from the bytes: none of the others does for triad.
#[test]
fn traffic_follows_from_its_method() {
    let _alone = native::alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let (_, honest) = measured(&path);
    for method in [TrafficMethod::Nt, TrafficMethod::Allocate] {
        let mut lines = honest.clone();
        for sample in samples(&mut lines) {
            if sample.actors[0].kernel == "triad" {
                sample.actors[0].traffic_method = method;
            }
        }
        let said = refusal(&reseal(&path, &lines)).unwrap();
        assert!(said.contains("by its method"), "{said}");
    }
}

/// Text that is no record at all.
#[test]
fn what_is_no_record_is_refused() {
    let _alone = native::alone();
    let folder = tempfile::tempdir().unwrap();
    let (texts, _) = measured(&folder.path().join("r.jsonl"));
    let text = texts.join("\n") + "\n";
    let long = format!("{text}{}\n", "x".repeat(nearfar_record::MAX_LINE_BYTES + 1));
    for (wrong, why) in [
        (String::new(), "empty"),
        ("{}\n".into(), "line 1"),
        (format!("{text}not json\n"), "cannot be understood"),
        (text.replacen("\"flops\":", "\"flips\":", 1), "flips"),
        (text.replacen("{\"sample\":", "{\"warning\":null,\"sample\":", 1), "null"),
        (text.replacen(",\"seal\":\"", ",\"seal\":\"z", 1), "16 hexadecimal digits"),
        (long, "16 MiB"),
    ] {
        let said = refusal(wrong.as_bytes()).unwrap_or_else(|| panic!("{why} went through"));
        assert!(said.contains(why), "'{said}' does not say '{why}'");
    }
}
