//! What is read of the machine that the tests run on, whatever it is.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{nearfar, refuse, run, text};

fn topo(overrides: &[(&str, &str)]) -> Value {
    let output = run(nearfar().args(["topo", "--json"]).envs(overrides.iter().copied()));
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn overrides_of_hwloc_do_not_reach_the_live_machine() {
    let plain = topo(&[]);
    assert!(!plain["initiators"].as_array().unwrap().is_empty());
    assert_ne!(plain["allowed_cpus"], "");
    let synthetic = ("HWLOC_SYNTHETIC", "node:8 core:8 pu:1");
    assert_eq!(topo(&[synthetic, ("HWLOC_XMLFILE", "/dev/null")])["nodes"], plain["nodes"]);
    let doctor = run(nearfar().arg("doctor").envs([synthetic]));
    assert!(text(&doctor.stdout).contains("ignored from the environment: HWLOC_SYNTHETIC"));
}

#[test]
fn an_unknown_instruction_set_names_those_that_exist() {
    let known = nearfar_kernels::Variant::available().into_iter().map(|it| it.word());
    let told: Vec<&str> = known.chain(["mmx", "portable"]).collect();
    refuse(nearfar().args(["characterize", "--isa", "mmx"]), 2, &told);
}

/// Nothing is run, so that not even a program that there is not does harm.
#[test]
fn one_node_leaves_nothing_to_choose() {
    if nearfar_sys::usable_nodes(Path::new("/")).unwrap().len() != 1 {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for more in [&[][..], &["--matrix"], &["--counters"], &["--json"]] {
        let mut command = nearfar();
        command.arg("sensitivity").args(more).args(["--", "touch"]).arg(folder.path().join("ran"));
        let output = run(command.env("XDG_STATE_HOME", folder.path()));
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let said = text(&output.stdout);
        match serde_json::from_str::<Value>(&said) {
            Ok(json) => assert_eq!(json["programs"], Value::Array(Vec::new())),
            Err(_) => assert!(said.contains("there is nothing to choose"), "{said}"),
        }
    }
    let begun = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(begun, 0, "neither the program nor a record was begun");
}
