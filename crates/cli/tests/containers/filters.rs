//! System calls that a filter refuses (the default profiles of container runtimes), that
//! a sandbox does not have, or that it only pretends to make.

use std::collections::BTreeSet;

use nearfar_record::{ProofMethod, ReasonCode, Record};
use serde_json::Value;

use crate::support::{
    Place, assert_all_measured, assert_said, measuring, node_count, refusals, refused_by_host,
    skip, text,
};

const CALLS: [&str; 4] = ["mbind", "set_mempolicy", "get_mempolicy", "move_pages"];

/// Sets of the calls, and the filters that refuse them: every set with EPERM, as of a
/// container's profile; with ENOSYS, as of a sandbox, one for each rung of the ladder.
fn combinations() -> Vec<(&'static str, Vec<&'static str>, Option<String>)> {
    let all = 1_usize << CALLS.len();
    let with_eperm = (0..all).map(|bits| ("EPERM", bits));
    let with_enosys = [0b0001, 0b1001, 0b1100, 0b1111].map(|bits| ("ENOSYS", bits));
    with_eperm
        .chain(with_enosys)
        .map(|(error, bits)| {
            let refused: Vec<&str> =
                (0..CALLS.len()).filter(|bit| bits >> bit & 1 == 1).map(|bit| CALLS[bit]).collect();
            let filter: Vec<String> =
                refused.iter().map(|call| format!("{call}={error}")).collect();
            (error, refused, (bits > 0).then(|| filter.join(",")))
        })
        .collect()
}

/// The first rung of DESIGN's ladder that is left where the filter and the machine
/// itself refuse these.
fn rung(refused: &[&str], by_host: &BTreeSet<&str>) -> ProofMethod {
    let refused = |call| refused.contains(&call) || by_host.contains(call);
    match (refused("move_pages"), refused("get_mempolicy")) {
        (false, _) => ProofMethod::MovePages,
        (true, false) => ProofMethod::GetMempolicy,
        (true, true) => ProofMethod::NumaMaps,
    }
}

/// Every sample is proven by this method, before and after, with its pages on the node
/// that its case names.
fn assert_proven(record: &Record, method: ProofMethod) {
    assert!(!record.samples.is_empty());
    for sample in &record.samples {
        let case = record.cases.iter().find(|case| case.id == sample.case).unwrap();
        for (planned, actor) in case.actors.iter().zip(&sample.actors) {
            let (Some(memory), Some(proof)) = (planned.memory(), &actor.proof) else { continue };
            let asked = memory.nodes().unwrap();
            for proof in [&proof.before, &proof.after] {
                assert_eq!(proof.method, method, "{}", sample.case);
                let on: f64 = asked.iter().map(|node| proof.fraction_on(node)).sum();
                assert!(on >= 0.999, "{}: {on} of the pages on {asked}", sample.case);
            }
        }
    }
}

/// Warnings by which nothing but the filter could differ between two runs: not those of
/// load and noise, nor of settings that a daemon may change meanwhile.
fn lasting_warnings(record: &Record) -> BTreeSet<&str> {
    let passing = [
        "load_average",
        "disturbed",
        "few_huge_pages",
        "few_rounds",
        "cpu_quota",
        "governors",
        "ksm",
        "no_transparent_huge_pages",
        "numa_balancing",
    ];
    let codes = record.warnings.iter().map(|warning| warning.code.as_str());
    codes.filter(|code| !passing.contains(code)).collect()
}

/// On a machine with one node every case is local: whatever is refused, all of them are
/// measured, and proven by the best method that is left.
#[test]
fn every_combination_of_refused_calls_is_measured_by_the_next_rung() {
    if node_count() > 1 {
        skip("this machine has several nodes; the guests have rows for that");
        return;
    }
    let place = Place::new();
    measuring(|| {
        let by_host = refused_by_host();
        let (_, unfiltered) = place.measure_under(None);
        let mut methods = BTreeSet::new();
        for (_, refused, filter) in combinations() {
            let (output, record) = place.measure_under(filter.as_deref());
            assert_said(&output, 0, &[]);
            assert_all_measured(&record);
            let method = rung(&refused, &by_host);
            assert_proven(&record, method);
            assert_eq!(record.absent, unfiltered.absent, "{refused:?}");
            assert_eq!(lasting_warnings(&record), lasting_warnings(&unfiltered), "{refused:?}");
            methods.insert(method);
        }
        assert!(methods.contains(&ProofMethod::NumaMaps), "{methods:?}");
    });
}

/// `topo` needs none of the calls; `doctor` names each with its remedy.
#[test]
fn doctor_names_what_is_refused_and_the_remedy() {
    let place = Place::new();
    let topology = |filter: Option<&str>| {
        let output = place.sh_under(filter, "exec ./nearfar topo --json");
        assert_said(&output, 0, &[]);
        text(&output.stdout)
    };
    let plain = topology(None);
    let by_host = refused_by_host();
    for (error, refused, filter) in combinations() {
        assert_eq!(topology(filter.as_deref()), plain);
        let output = place.sh_under(filter.as_deref(), "exec ./nearfar doctor --json");
        let view: Value = serde_json::from_slice(&output.stdout).unwrap();
        let checks = view["checks"].as_array().unwrap();
        let failed = checks.iter().any(|check| check["standing"] == "failed");
        assert_eq!(output.status.code(), Some(i32::from(failed)));
        for (call, remedy) in [
            ("mbind", "--cap-add SYS_NICE"),
            ("get_mempolicy", "--cap-add SYS_NICE"),
            ("move_pages", "--security-opt seccomp=FILE"),
        ] {
            let name = format!("call.{call}");
            let check = checks.iter().find(|check| check["check"] == name.as_str()).unwrap();
            let by_filter = refused.contains(&call);
            if !by_filter && !by_host.contains(call) {
                assert_eq!(check["standing"], "fine", "{refused:?}: {check}");
                continue;
            }
            let standing = if node_count() > 1 { "failed" } else { "warning" };
            assert_eq!(check["standing"], standing, "{check}");
            if by_filter {
                let remedy = if error == "EPERM" { remedy } else { "sandbox" };
                assert!(check["finding"].as_str().unwrap().contains(error), "{check}");
                assert!(check["remedy"].as_str().unwrap().contains(remedy), "{check}");
            }
        }
    }
}

/// Calls that return 0 and do nothing: an answer that was never written is no proof.
#[test]
fn calls_that_only_pretend_prove_nothing() {
    if node_count() > 1 {
        skip("this machine has several nodes; the guests have rows for that");
        return;
    }
    let place = Place::new();
    measuring(|| {
        let by_host = refused_by_host();
        // get_mempolicy is asked only of pages that mincore calls resident.
        for (filter, without) in [
            ("mbind=OK", &[][..]),
            ("move_pages=OK", &["move_pages"]),
            ("move_pages=OK,get_mempolicy=OK", &["move_pages", "get_mempolicy"]),
            ("move_pages=EPERM,get_mempolicy=OK", &["move_pages", "get_mempolicy"]),
            ("move_pages=EPERM,mincore=OK", &["move_pages", "get_mempolicy"]),
            (
                "mbind=OK,set_mempolicy=OK,get_mempolicy=OK,move_pages=OK,mincore=OK",
                &["move_pages", "get_mempolicy"],
            ),
        ] {
            let (output, record) = place.measure_under(Some(filter));
            assert_said(&output, 0, &[]);
            assert_all_measured(&record);
            assert_proven(&record, rung(without, &by_host));
        }
    });
}

/// Calls without which threads cannot be placed or watched: all cases are refused, each
/// with what failed and what to do.
#[test]
fn calls_that_measuring_needs_are_named_when_they_are_refused() {
    let place = Place::new();
    measuring(|| {
        for (filter, code, words) in [
            (
                "sched_setaffinity=EPERM",
                ReasonCode::Denied,
                ["sched_setaffinity", "EPERM", "profile"],
            ),
            (
                "sched_setaffinity=OK",
                ReasonCode::Denied,
                ["sched_setaffinity", "the kernel made it", "Cpus_allowed_list"],
            ),
            ("madvise=EPERM", ReasonCode::Denied, ["madvise", "EPERM", "--pages small"]),
            ("getrusage=EPERM", ReasonCode::Denied, ["getrusage", "EPERM", "allow the call"]),
        ] {
            let (output, record) = place.measure_under(Some(filter));
            assert_said(&output, 3, &["refused by the machine"]);
            assert!(record.samples.is_empty(), "{filter}");
            let reasons = refusals(&record);
            assert_eq!(reasons.len(), record.cases.len(), "{filter}");
            for reason in reasons {
                assert_eq!(reason.code, code, "{filter}: {}", reason.text);
                for word in words {
                    assert!(
                        reason.text.contains(word),
                        "{filter}: '{}' without {word}",
                        reason.text
                    );
                }
            }
        }
    });
}

/// Nothing can be begun: status 2, no record, what to do.
#[test]
fn calls_without_which_nothing_can_begin_are_named() {
    let place = Place::new();
    measuring(|| {
        let begin = "exec ./nearfar characterize --out never.jsonl";
        for (filter, line, words) in [
            ("socket=EPERM", begin, ["no other nearfar", "not permitted", "allow Unix sockets"]),
            ("sched_getaffinity=EPERM", begin, ["sched_getaffinity", "EPERM", "profile"]),
            (
                "sched_getaffinity=ENOSYS",
                "exec ./nearfar topo",
                ["sched_getaffinity", "ENOSYS", "profile"],
            ),
            (
                "sched_getaffinity=EPERM",
                "exec ./nearfar doctor",
                ["sched_getaffinity", "EPERM", "profile"],
            ),
        ] {
            let output = place.sh_under(Some(filter), line);
            assert_said(&output, 2, &words);
            assert!(!place.path("never.jsonl").exists());
        }
    });
}

/// Calls that are a convenience: without them all is measured.
#[test]
fn calls_that_are_a_convenience_are_done_without() {
    let place = Place::new();
    measuring(|| {
        for filter in [
            "perf_event_open=EPERM,prctl=EPERM,membarrier=EPERM,flock=EPERM",
            "clone3=ENOSYS,statx=ENOSYS,getrandom=ENOSYS,rseq=ENOSYS,getcpu=ENOSYS",
            "mincore=ENOSYS,sysinfo=EPERM,ftruncate=EPERM,prlimit64=EPERM",
        ] {
            let (output, record) = place.measure_under(Some(filter));
            assert_said(&output, 0, &[]);
            assert_all_measured(&record);
        }
    });
}
