//! Files of /proc and /sys that a container hides, as runtimes do it: /dev/null over a
//! file, an empty file system over a folder.

use std::fs;

use nearfar_record::{ProofMethod, ReasonCode, Record};
use serde_json::Value;

use crate::support::{
    Place, SMALL, assert_all_measured, assert_said, can, measuring, node_count, refusals, text,
};

/// Whether mounts can be made that nobody else sees. The network namespace keeps the
/// host's lock, which the other tests take, out of the way.
fn can_mount() -> bool {
    can("a mount namespace", "unshare -m -n mount -t tmpfs none /mnt")
}

/// A line that hides things and then becomes the program; `$$` is its process.
fn behind(mounts: &str, command: &str) -> String {
    format!("exec unshare -m -n bash -c '{mounts} && exec ./nearfar {command}'")
}

fn measure_behind(place: &Place, filter: Option<&str>, mounts: &str, status: i32) -> Record {
    // Mounting needs calls that no filter here touches.
    let line = behind(mounts, &format!("{SMALL} --force --out r.jsonl"));
    let output = place.sh_under(filter, &line);
    assert_said(&output, status, &[]);
    place.record(&output)
}

const ALL_REFUSED: &str = "mbind=EPERM,set_mempolicy=EPERM,get_mempolicy=EPERM,move_pages=EPERM";
const NO_NUMA_MAPS: &str = "mount --bind /dev/null /proc/$$/numa_maps";

/// Everything still runs behind each mask, and `doctor` says what is not known.
#[test]
fn hidden_files_are_unknown_and_not_made_up() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let _one = measuring();
    for (mounts, unknown) in [
        ("mount -t tmpfs none /sys", Some("transparent_huge_pages")),
        ("mount -t tmpfs none /sys/devices", Some("smt")),
        ("mount --bind /dev/null /proc/meminfo", Some("memory_bytes")),
        ("mount --bind /dev/null /proc/cpuinfo", Some("hypervisor")),
        ("mount --bind /dev/null /proc/stat", None),
        ("mount --bind /dev/null /proc/$$/status", None),
        ("mount --bind /dev/null /proc/$$/oom_score_adj", None),
        ("mount --bind /dev/null /proc/$$/mountinfo", None),
        ("mount -t tmpfs none /proc", Some("memory")),
        ("mount -t tmpfs none /sys && mount -t tmpfs none /proc", Some("memory")),
    ] {
        let record = measure_behind(&place, None, mounts, 0);
        assert_all_measured(&record);
        let shown = place.sh("exec ./nearfar show r.jsonl");
        assert_said(&shown, 0, &["GB/s"]);
        let topo = place.sh(&behind(mounts, "topo --json"));
        assert_said(&topo, 0, &[]);
        let doctor = place.sh(&behind(mounts, "doctor --json"));
        let view: Value = serde_json::from_slice(&doctor.stdout)
            .unwrap_or_else(|error| panic!("{mounts}: {error}: {}", text(&doctor.stderr)));
        let checks = view["checks"].as_array().unwrap();
        if let Some(unknown) = unknown {
            let found = checks.iter().find(|check| check["check"] == unknown);
            let found = found.unwrap_or_else(|| panic!("{mounts}: no {unknown} in {view}"));
            assert_eq!(found["standing"], "unknown", "{mounts}: {found}");
        }
    }
}

/// hwloc would abort the process.
#[test]
fn an_empty_folder_of_nodes_is_refused_with_what_to_do() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    for command in ["topo", "doctor", "characterize --out never.jsonl"] {
        let output = place.sh(&behind("mount -t tmpfs none /sys/devices/system/node", command));
        assert_said(&output, 2, &["/sys/devices/system/node lists no node", "mounted over"]);
    }
}

/// The last rung: every call refused and numa_maps hidden, but one node allowed.
#[test]
fn one_allowed_node_proves_where_nothing_else_can() {
    if node_count() > 1 || !can_mount() {
        return;
    }
    let place = Place::new();
    let _one = measuring();
    let record = measure_behind(&place, Some(ALL_REFUSED), NO_NUMA_MAPS, 0);
    assert_all_measured(&record);
    for actor in record.samples.iter().flat_map(|sample| &sample.actors) {
        assert_eq!(actor.proof.before.method, ProofMethod::OneAllowedNode);
        assert_eq!(actor.proof.after.method, ProofMethod::OneAllowedNode);
    }
}

/// As above, where the kernel says that there is another node: nothing is proven, all is
/// refused, each refusal with what every rung said.
#[test]
fn a_second_allowed_node_leaves_nothing_proven() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    fs::write(place.path("status"), "Name:\tnearfar\nMems_allowed_list:\t0-1\n").unwrap();
    fs::write(place.path("has_memory"), "0-1\n").unwrap();
    let two_nodes = "mount --bind status /proc/$$/status && \
                     mount --bind has_memory /sys/devices/system/node/has_memory";
    let _one = measuring();
    let record =
        measure_behind(&place, Some(ALL_REFUSED), &format!("{two_nodes} && {NO_NUMA_MAPS}"), 3);
    assert!(record.samples.is_empty());
    let reasons = refusals(&record);
    assert_eq!(reasons.len(), record.cases.len());
    for reason in reasons {
        assert_eq!(reason.code, ReasonCode::Unproven, "{}", reason.text);
        for word in ["move_pages", "get_mempolicy", "numa_maps", "one_allowed_node", "SYS_NICE"] {
            assert!(reason.text.contains(word), "'{}' without {word}", reason.text);
        }
    }
}

/// Without /sys one node is shown; where the kernel allows two, no figure could say
/// what is local.
#[test]
fn several_nodes_without_sysfs_are_not_measured() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    fs::write(place.path("status"), "Name:\tnearfar\nMems_allowed_list:\t0-1\n").unwrap();
    let mounts = "mount --bind status /proc/$$/status && mount -t tmpfs none /sys";
    let output = place.sh(&behind(mounts, "characterize --out never.jsonl"));
    assert_said(&output, 2, &["memory nodes 0-1 and sees 0 only", "mount /sys"]);
    assert!(!place.path("never.jsonl").exists());
    let output = place.sh(&behind(mounts, "topo"));
    assert_said(&output, 0, &["whatever nodes the machine has, one is shown"]);
}
