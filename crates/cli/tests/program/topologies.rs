//! `topo` on machines that nobody here has, and on files of strangers.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{nearfar, refuse, run, text};
use serde_json::Value;

#[test]
fn the_live_machine_has_a_initiator_for_every_allowed_cpu() {
    let output = run(nearfar().args(["topo", "--json"]));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let machine: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(machine["schema"], "nearfar.topo/2");
    assert!(!machine["initiators"].as_array().unwrap().is_empty());
    assert_ne!(machine["allowed_cpus"], "");
    let words = text(&run(nearfar().arg("topo")).stdout);
    assert!(words.contains("memory node") && words.contains("initiators"), "{words}");
}

#[test]
fn overrides_of_hwloc_do_not_reach_the_live_machine() {
    let plain = run(nearfar().args(["topo", "--json"]));
    let overridden = run(nearfar()
        .args(["topo", "--json"])
        .env("HWLOC_SYNTHETIC", "node:8 core:8 pu:1")
        .env("HWLOC_XMLFILE", "/dev/null"));
    let nodes = |output: &std::process::Output| {
        let machine: Value = serde_json::from_slice(&output.stdout).unwrap();
        machine["nodes"].as_array().unwrap().len()
    };
    assert_eq!(nodes(&plain), nodes(&overridden));
    let doctor = run(nearfar().arg("doctor").env("HWLOC_SYNTHETIC", "node:8 pu:1"));
    assert!(text(&doctor.stdout).contains("ignored from the environment: HWLOC_SYNTHETIC"));
}

#[test]
fn what_is_no_topology_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| -> PathBuf {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        path
    };
    let xml = |path: &Path, words: &[&str]| {
        refuse(nearfar().args(["topo", "--json", "--xml"]).arg(path), 2, words);
    };
    xml(Path::new("/nowhere.xml"), &["/nowhere.xml", "No such file"]);
    xml(&file("empty.xml", b""), &["empty.xml"]);
    xml(&file("binary.xml", &[0xff, 0, 1, 2]), &["binary.xml"]);
    xml(&file("page.xml", b"<html><body/></html>"), &["page.xml", "not an hwloc topology"]);
    xml(
        &file("new.xml", b"<?xml version=\"1.0\"?><topology version=\"3.0\"></topology>"),
        &["new.xml", "3.0"],
    );
    refuse(nearfar().args(["topo", "--synthetic", "node:x"]), 2, &["node:x"]);
    // Neither may the name of a file move the terminal's cursor.
    let output = run(nearfar().args(["topo", "--xml"]).arg(folder.path().join("a\u{1b}[2Jb.xml")));
    assert!(!text(&output.stderr).contains('\u{1b}'));
}

/// hwloc goes down into an object's children by calling itself.
#[test]
fn a_crash_of_hwloc_is_a_refusal() {
    const DEPTH: usize = 150_000;
    let folder = tempfile::tempdir().unwrap();
    let sets = "cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\"";
    let group = format!("<object type=\"Group\" {sets}>");
    let path = folder.path().join("deep.xml");
    let content = format!(
        "<topology version=\"2.0\"><object type=\"Machine\" {sets}>{}{}</object></topology>",
        group.repeat(DEPTH),
        "</object>".repeat(DEPTH)
    );
    fs::write(&path, content).unwrap();
    refuse(nearfar().args(["topo", "--xml"]).arg(path), 2, &["hwloc crashed", "deep.xml"]);
}

/// Files that mutations found, at which hwloc ends by an assertion.
#[test]
fn contradictions_that_hwloc_finds_are_refusals() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/contradictions");
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!files.is_empty());
    for path in files {
        refuse(nearfar().args(["topo", "--xml"]).arg(path), 2, &["hwloc", "contradiction"]);
    }
}

#[test]
fn a_cpu_with_another_set_than_its_number_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let sound = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../topology/tests/machines/far_node_and_nic.xml");
    let sound = fs::read_to_string(sound).unwrap();
    let odd = sound.replacen("type=\"PU\" os_index=\"4\"", "type=\"PU\" os_index=\"7\"", 1);
    assert_ne!(odd, sound);
    let path = folder.path().join("odd.xml");
    fs::write(&path, odd).unwrap();
    refuse(nearfar().args(["topo", "--xml"]).arg(path), 2, &["odd.xml", "contradict"]);
}

/// Reads every machine of the zoo beside the checkout, when it is there.
#[test]
fn every_machine_of_the_zoo_is_read_or_refused_with_a_reason() {
    let zoo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/zoo");
    let (mut read, mut refused) = (0, 0);
    for folder in ["xml", "from-sysfs", "qemu"] {
        let Ok(entries) = fs::read_dir(zoo.join(folder)) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            let output = run(nearfar().args(["topo", "--json", "--xml"]).arg(&path));
            match output.status.code() {
                Some(0) => {
                    let machine: Value = serde_json::from_slice(&output.stdout).unwrap();
                    assert!(!machine["nodes"].as_array().unwrap().is_empty());
                    let words = run(nearfar().args(["topo", "--xml"]).arg(&path));
                    assert!(words.status.success());
                    read += 1;
                }
                Some(2) => {
                    let said = text(&output.stderr);
                    assert!(said.starts_with("nearfar: ") && said.len() > 40, "{said}");
                    refused += 1;
                }
                status => panic!("{}: status {status:?}", path.display()),
            }
        }
    }
    say(&format!("zoo: {read} machines read, {refused} refused with a reason"));
    if zoo.is_dir() {
        assert!(read >= 20, "only {read} machines were read");
    }
}

/// The test runner hides what passing tests print; these counts are to be seen.
fn say(words: &str) {
    use std::io::Write;
    // eprintln! would be hidden as well.
    let mut stderr = std::io::stderr();
    stderr.write_all(format!("{words}\n").as_bytes()).unwrap();
}
