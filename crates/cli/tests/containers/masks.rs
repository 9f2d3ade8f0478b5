//! Files of /proc and /sys that a container hides, as runtimes do it: /dev/null over a
//! file, an empty file system over a folder.

use std::fs;

use nearfar_record::{ProofMethod, ReasonCode, Record};
use serde_json::Value;

use crate::support::{
    Place, SMALL, assert_all_measured, assert_said, can, measuring, node_count, refusals,
    refused_by_host, text,
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

const NO_SYS: &str = "mount -t tmpfs none /sys";
const NO_PROC: &str = "mount -t tmpfs none /proc";

/// Everything still runs behind each mask, and `doctor` says what is not known. What is
/// not measured is a machine with several nodes, or maybe several, that are not seen.
#[test]
fn hidden_files_are_unknown_and_not_made_up() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    measuring(|| {
        let no_files = format!("{NO_SYS} && {NO_PROC}");
        for (mounts, unknown) in [
            (NO_SYS, Some("transparent_huge_pages")),
            ("mount -t tmpfs none /sys/devices", Some("smt")),
            ("mount --bind /dev/null /proc/meminfo", Some("memory_bytes")),
            ("mount --bind /dev/null /proc/cpuinfo", Some("hypervisor")),
            ("mount --bind /dev/null /proc/stat", None),
            ("mount --bind /dev/null /proc/$$/status", None),
            ("mount --bind /dev/null /proc/$$/oom_score_adj", None),
            ("mount --bind /dev/null /proc/$$/mountinfo", None),
            (NO_PROC, Some("memory")),
            (&no_files, Some("memory")),
        ] {
            let not_seen = mounts.contains("none /sys") && node_count() > 1
                || mounts == no_files && refused_by_host().contains("get_mempolicy");
            if not_seen {
                assert_said(&place.sh(&behind(mounts, SMALL)), 2, &["mount /sys"]);
            } else {
                assert_all_measured(&measure_behind(&place, None, mounts, 0));
                let shown = place.sh("exec ./nearfar show r.jsonl");
                assert_said(&shown, 0, &["GB/s"]);
            }
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
    });
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
    measuring(|| {
        let record = measure_behind(&place, Some(ALL_REFUSED), NO_NUMA_MAPS, 0);
        assert_all_measured(&record);
        for actor in record.samples.iter().flat_map(|sample| &sample.actors) {
            let proof = actor.proof.as_ref().unwrap();
            assert_eq!(proof.before.method, ProofMethod::OneAllowedNode);
            assert_eq!(proof.after.method, ProofMethod::OneAllowedNode);
        }
    });
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
    measuring(|| {
        let record =
            measure_behind(&place, Some(ALL_REFUSED), &format!("{two_nodes} && {NO_NUMA_MAPS}"), 3);
        assert!(record.samples.is_empty());
        let reasons = refusals(&record);
        assert_eq!(reasons.len(), record.cases.len());
        for reason in reasons {
            assert_eq!(reason.code, ReasonCode::Unproven, "{}", reason.text);
            for word in ["move_pages", "get_mempolicy", "numa_maps", "one_allowed_node", "SYS_NICE"]
            {
                assert!(reason.text.contains(word), "'{}' without {word}", reason.text);
            }
        }
    });
}

/// Without /sys, /proc and the call that needs neither, nobody says how many nodes there
/// are; one alone of them is enough on a machine with one.
#[test]
fn nodes_that_nothing_names_are_not_measured() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    measuring(|| {
        let no_status = "mount --bind /dev/null /proc/$$/status";
        for (filter, mounts) in [
            ("get_mempolicy=EPERM", format!("{NO_SYS} && {NO_PROC}")),
            ("get_mempolicy=OK", format!("{NO_SYS} && {NO_PROC}")),
            ("get_mempolicy=ENOSYS", format!("{no_status} && {NO_SYS}")),
            ("getcpu=ENOSYS", NO_SYS.into()),
            ("getcpu=OK", NO_SYS.into()),
        ] {
            let line = behind(&mounts, "characterize --out never.jsonl");
            let output = place.sh_under(Some(filter), &line);
            let call = filter.split('=').next().unwrap();
            let call = if node_count() > 1 { "node" } else { call };
            assert_said(&output, 2, &[call, "mount /sys"]);
            assert!(!place.path("never.jsonl").exists(), "{filter}");
        }
    });
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
    assert_said(&output, 2, &["memory nodes 0-1 and sees node 0 only", "mount /sys"]);
    assert!(!place.path("never.jsonl").exists());
    let output = place.sh(&behind(mounts, "topo"));
    assert_said(&output, 0, &["whatever nodes the machine has, one is shown"]);
}
