//! `sensitivity` in a guest: a program's pages and CPUs are where each placement says. Its times
//! mean nothing there. The same guest tries out what [`advise`] says of it.

use std::collections::BTreeSet;

use nearfar_lab::Ended;
use nearfar_record::{PageNodes, Record, TriedCounter, read_record};
use serde_json::Value;

use crate::boot::NEW;
use crate::{advise, in_guest, left, table};

/// Bytes of the program's buffer, of which it writes all.
const BUFFER_MIB: u64 = 8;

/// A shell whose child has the memory, and that prints a figure. Its pages are small ones, so that
/// those that are dealt out over nodes are so by the page.
const SCRIPT: &str = "
    echo never >/sys/kernel/mm/transparent_hugepage/enabled
    program='dd if=/dev/zero of=/dev/null bs=8M count=160 2>/dev/null; echo rate: 7'
    as-nobody nearfar sensitivity --matrix --rounds 1 --metric 'rate: ([0-9]+)' --unit MB/s \
        --out /out/matrix.jsonl --json -- sh -c \"$program\" >/out/matrix.json 2>/out/matrix.said
    echo $? >/out/matrix.status
    as-nobody nearfar sensitivity --initiator 2 --rounds 1 --label copy --counters \
        --out /out/levels.jsonl --json -- sh -c \"$program\" >/out/levels.json 2>/out/levels.said
    echo $? >/out/levels.status
";

/// What a run of the program printed and wrote.
fn printed_and_written(ended: &Ended, name: &str) -> (Value, Record) {
    let file = |ending: &str| left(ended, &format!("{name}.{ending}"));
    let said = file("said");
    assert_eq!(file("status"), "0", "{said}");
    let record = read_record(file("jsonl").as_bytes()).unwrap_or_else(|it| panic!("{it}\n{said}"));
    (serde_json::from_str(&file("json")).unwrap(), record)
}

fn bytes(pages: &PageNodes) -> u64 {
    pages.pages.values().sum::<u64>() * pages.page_bytes
}

/// Counters were asked for: each is believed or has the reason, and the runs have their times in
/// either case. (The reader holds counts of runs against the counters that are believed.)
fn judge_counters(view: &Value, record: &Record) {
    let counters = record.header.inputs.commands.as_ref().unwrap().counters.as_ref().unwrap();
    let quantities: Vec<_> = counters.iter().map(|counter| counter.quantity).collect();
    assert_eq!(quantities, TriedCounter::QUANTITIES);
    for counter in counters.iter().filter(|counter| counter.check.is_none()) {
        assert!(counter.unavailable.as_ref().is_some_and(|why| why.len() > 10), "{counter:?}");
    }
    assert_eq!(view["counters"].as_array().unwrap().len(), counters.len());
    for placement in view["programs"][0]["placements"].as_array().unwrap() {
        assert!(placement["runs"]["median"].as_f64().unwrap() > 0.0, "{placement}");
    }
}

#[test]
fn programs_are_where_placements_and_advice_say() {
    let script = format!("{SCRIPT}{}", advise::script("/out/matrix.jsonl"));
    let (machine, ended) = in_guest("amd-2p", NEW, 384, &[], &script);
    let (view, record) = printed_and_written(&ended, "matrix");
    assert_eq!((record.cases.len(), record.samples.len()), (16, 16));
    let mut pairs = BTreeSet::new();
    for sample in &record.samples {
        let case = record.cases.iter().find(|case| case.id == sample.case).unwrap();
        let binding = &case.command().unwrap().binding;
        let node = binding.memory.nodes().unwrap().first().unwrap();
        let run = sample.run.as_ref().unwrap();
        let pages = run.pages.as_ref().unwrap_or_else(|| panic!("{run:?}"));
        assert!(bytes(pages) >= BUFFER_MIB << 20, "{}: {pages:?}", case.id);
        assert!(pages.fraction_on(node) > 0.99, "{}: {pages:?}", case.id);
        assert!(!run.cpus_seen.is_empty() && run.cpus_seen.is_subset(&binding.cpus), "{run:?}");
        assert_eq!(run.metric, Some(7.0));
        pairs.insert((binding.cpus.to_string(), node));
    }
    assert_eq!(pairs.len(), 16);
    assert_eq!(view["best"].as_array().unwrap().len(), 16);
    // A figure that is the same everywhere is of one class.
    assert_eq!(view["classes"].as_array().unwrap().len(), 1, "{view}");

    let (view, record) = printed_and_written(&ended, "levels");
    let placements = view["programs"][0]["placements"].as_array().unwrap();
    let nodes: Vec<Option<u64>> = placements.iter().map(|it| it["memory_node"].as_u64()).collect();
    // By the firmware's distances: its own, 16, 22, and all in turn.
    assert_eq!(nodes, [Some(2), Some(3), Some(0), None]);
    for sample in &record.samples {
        let run = sample.run.as_ref().unwrap();
        let pages = run.pages.as_ref().unwrap_or_else(|| panic!("{run:?}"));
        if sample.case.ends_with("interleave") {
            for node in 0..4 {
                let share = pages.fraction_on(node);
                assert!((share - 0.25).abs() < 0.01, "{share} on node {node}: {pages:?}");
            }
        }
        assert!(run.cpus_seen.is_subset(&"4-5".parse().unwrap()), "{run:?}");
    }
    assert_eq!(placements[0]["performance"]["ratio"], 1.0);
    judge_counters(&view, &record);
    advise::judge(&machine, &ended);
    table::say(&format!(
        "amd-2p    {:27} sensitivity of a program on 16 pairs and 4 levels, in all {:.1} s",
        ended.release,
        ended.elapsed.as_secs_f64()
    ));
}
