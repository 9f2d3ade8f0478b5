//! Shared memory of every kind under `nearfar run`: it obeys the placement of the program that touches it, and
//! is told apart.

use nearfar_lab::Ended;
use serde_json::Value;

use crate::left;

const BYTES: u64 = 16 << 20;

/// Ten huge pages on each node, of which the program needs two on each. It is counted when it ends.
pub const SCRIPT: &str = "
    for node in 0 1 2 3; do
        echo 10 >/sys/devices/system/node/node$node/hugepages/hugepages-2048kB/nr_hugepages
    done
    as-nobody nearfar run --follow --placement interleave --report=/out/kinds.json -- load 1 kinds 16 0 \\
        2>/out/kinds.said
    echo 0 >/proc/sys/vm/nr_hugepages
";

/// A quarter of each kind on each node; of 8 huge pages two.
pub fn judge(ended: &Ended) {
    let said = left(ended, "kinds.said");
    let report: Value = serde_json::from_str(&left(ended, "kinds.json"))
        .unwrap_or_else(|error| panic!("{error}: {said}"));
    assert_eq!(report["status"], 0, "{said} {report:#}");
    for kind in ["system_v", "posix", "memfd", "unnamed", "huge_pages"] {
        let all = report["memory"]["shared"].as_array().unwrap();
        let found = all.iter().find(|it| it["kind"] == kind);
        let found = found.unwrap_or_else(|| panic!("no {kind}: {report:#}"));
        let of_node = |node: u32| found["bytes_by_node"][node.to_string()].as_u64().unwrap_or(0);
        let bytes: Vec<u64> = (0..4).map(of_node).collect();
        assert_eq!(bytes.iter().sum::<u64>(), BYTES, "{kind}: {report:#}");
        // A policy's turn goes on from one mapping to the next.
        assert!(
            bytes.iter().all(|bytes| bytes.abs_diff(BYTES / 4) <= 4 << 10),
            "{kind}: {bytes:?}"
        );
    }
}
