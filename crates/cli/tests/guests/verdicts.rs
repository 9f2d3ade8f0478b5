//! Whether the verdict of `nearfar run --report` covers all memory, kind by kind: a program maps memory that is on
//! the node that was asked for, or that somebody has put elsewhere before, and asks the kernel itself where its
//! pages are.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::boot::NEW;
use crate::{in_guest, left, table};

/// Emulated, looks from outside are rare: processes are counted at their end. Kinds that are placed by who touches them, then files that lie where they were written.
const SCRIPT: &str = r#"
    echo 40 >/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages
    mkdir -p /tmp/data /tmp/pool /tmp/memory
    mount -t hugetlbfs none /tmp/pool
    mount -t tmpfs none /tmp/memory
    judge() {
        name=$1; placement=$2; shift 2
        nearfar run --follow --placement $placement --report=/out/verdict.$name.json -- kinds "$@" \
            >/out/verdict.$name 2>/out/verdict.$name.err
        nearfar run --follow --placement $placement --report -- kinds "$@" \
            >/dev/null 2>/out/verdict.$name.said
    }
    for kind in private shared memfd sysv huge; do judge $kind local:1 $kind 48 1; done
    judge interleaved interleave private 48 1
    for node in 0 1; do
        nearfar run --placement bind:$node --cpus $((4 * node)) -- kinds tmpfs 48 1 /dev/shm/on.$node >/dev/null
        nearfar run --placement bind:$node --cpus $((4 * node)) -- kinds file 48 1 /tmp/data/on.$node >/dev/null
    done
    judge tmpfs-near local:1 tmpfs 48 1 /dev/shm/on.1
    judge tmpfs-far local:1 tmpfs 48 1 /dev/shm/on.0
    judge file-near local:1 file 48 1 /tmp/data/on.1
    judge file-far local:1 file 48 1 /tmp/data/on.0
    judge hugefile local:1 hugefile 32 1 /tmp/pool/a
    for node in 0 1; do
        nearfar run --placement bind:$node --cpus $((4 * node)) -- kinds tmpfs 48 1 /tmp/memory/on.$node >/dev/null
    done
    judge memory-near local:1 tmpfs 48 1 /tmp/memory/on.1
    judge memory-far local:1 tmpfs 48 1 /tmp/memory/on.0
    judge written local:1 written 48 1 /tmp/data/on.0
    judge rewritten local:1 rewritten 48 1 /tmp/data/on.0
    nearfar run --placement bind:0 --cpus 4 -- kinds private 96 8000 >/dev/null &
    pid=$!
    sleep 3
    nearfar move --pid $pid bind:1 >/out/moved 2>&1
    echo $? >/out/moved.status
    nearfar run --cpus 4 -- kinds file 48 8000 /tmp/data/on.0 >/dev/null &
    pid=$!
    sleep 3
    nearfar move --pid $pid bind:1 >/out/unmoved 2>&1
    echo $? >/out/unmoved.status
    nearfar run --placement bind:0 -- nearfar run --follow --report=/out/inherited.json -- kinds private 16 1 >/dev/null
"#;

#[test]
fn the_verdict_covers_memory_of_every_kind() {
    let (_, ended) = in_guest("intel-2p", NEW, 640, &[], SCRIPT);
    for (name, is_as_asked) in [
        ("private", true),
        ("shared", true),
        ("memfd", true),
        ("sysv", true),
        ("huge", true),
        ("interleaved", true),
        ("tmpfs-near", true),
        ("tmpfs-far", false),
        ("file-near", true),
        ("file-far", false),
        ("hugefile", true),
        ("memory-near", true),
        ("memory-far", false),
        ("written", false),
        ("rewritten", true),
    ] {
        let error = left(&ended, &format!("verdict.{name}.err"));
        // What the program heard of the kernel.
        let pages: BTreeMap<u32, u64> = left(&ended, &format!("verdict.{name}"))
            .split_whitespace()
            .map(|word| {
                let (node, pages) = word.split_once(':').unwrap();
                (node.parse().unwrap(), pages.parse().unwrap())
            })
            .collect();
        let all: u64 = pages.values().sum();
        let on_1 = *pages.get(&1).unwrap_or(&0) as f64 / all as f64;
        let truly = match name {
            "interleaved" => (on_1 - 0.5).abs() < 0.05,
            _ => on_1 > 0.99,
        };
        assert_eq!(truly, is_as_asked, "{name}: {pages:?} {error}");
        let report = left(&ended, &format!("verdict.{name}.json"));
        let report: Value =
            serde_json::from_str(&report).unwrap_or_else(|why| panic!("{name}: {why}: {error}"));
        let verdict = &report["memory"]["verdict"];
        assert_eq!(verdict["is_as_asked"], is_as_asked, "{name}: {pages:?} {report:#}");
        let counted: u64 =
            verdict["bytes_by_node"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
        // Which pages of a file were changed in part is not told.
        let changed = report["memory"]["changed_file_bytes"].as_u64().unwrap();
        assert!(counted + changed >= all * 4096, "{name}: {counted} of {all} pages: {report:#}");
        if name.starts_with("memory-") {
            assert_eq!(report["memory"]["shared"][0]["kind"], "tmpfs", "{report:#}");
        }
        let said = left(&ended, &format!("verdict.{name}.said"));
        let verdict = said.lines().find(|line| line.contains("as asked: ")).unwrap_or_default();
        assert_eq!(verdict.contains("NOT as asked: "), !is_as_asked, "{name}: {said}");
        assert!(said.matches(" lies against ").count() <= 1, "{name}: {said}");
    }
    assert_eq!(left(&ended, "moved.status").trim(), "0", "{}", left(&ended, "moved"));
    assert!(left(&ended, "moved").contains("as asked: "), "{}", left(&ended, "moved"));
    let unmoved = left(&ended, "unmoved");
    assert_eq!(left(&ended, "unmoved.status").trim(), "1", "{unmoved}");
    assert!(unmoved.contains("NOT as asked") && unmoved.contains("--files"), "{unmoved}");
    let inherited: Value = serde_json::from_str(&left(&ended, "inherited.json")).unwrap();
    assert_eq!(inherited["placement"], "bind:0", "{inherited:#}");
    assert_eq!(inherited["memory"]["verdict"]["is_as_asked"], true, "{inherited:#}");
    table::say(&format!(
        "intel-2p  {:27} verdicts on 15 kinds of memory are the kernel's",
        ended.release
    ));
}
