//! `nearfar ps` on this machine, whatever it has. What it finds on several nodes is tried in guests.

use serde_json::Value;

use crate::schema::hold;
use crate::support::{nearfar, refuse, run, text};

#[test]
fn this_machine_s_processes_are_listed_or_nothing_is_far() {
    let output = run(nearfar().args(["ps", "--all", "--json"]));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(hold(&list), "nearfar.ps/1");
    let said = text(&run(nearfar().arg("ps")).stdout);
    let has_one_node = list["nodes"].as_array().unwrap().len() == 1;
    assert_eq!(said.contains("nothing is far"), has_one_node, "{said}");
    assert!(said.lines().count() <= 40, "{said}");
    let own = std::process::id();
    let of_us = list["processes"].as_array().unwrap().iter().any(|it| it["pid"] == own);
    assert_eq!(of_us, !has_one_node, "{list:#}");
    refuse(nearfar().args(["ps", "--pid", "4194304"]), 2, &["no process 4194304"]);
    refuse(nearfar().args(["ps", "--pid", "all"]), 2, &["--pid"]);
    refuse(nearfar().args(["ps", "--budget", "5"]), 2, &["--budget"]);
}
