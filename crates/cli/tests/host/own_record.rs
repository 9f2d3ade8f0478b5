//! What `advise` and `run` make of a record of this machine.

use std::path::Path;

use crate::support::{SMALL, measuring, nearfar, run, text};

/// Where pages can lie on one node alone.
#[test]
fn one_node_leaves_auto_and_verify_nothing_to_choose() {
    if nearfar_sys::usable_nodes(Path::new("/")).unwrap().len() != 1 {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (own, ran) = (folder.path().join("own.jsonl"), folder.path().join("ran"));
    measuring(|| {
        let quick = ["characterize", "--suite", "quick", "--kernel", "load", "--out"];
        let output = run(nearfar().args(quick).arg(&own).args(SMALL));
        assert!(output.status.success(), "{}", text(&output.stderr));
        let advised =
            run(nearfar().arg("advise").arg(&own).args(["--verify", "--", "touch"]).arg(&ran));
        assert_eq!(advised.status.code(), Some(0), "{}", text(&advised.stderr));
        assert!(
            text(&advised.stdout).contains("Nothing was compared"),
            "{}",
            text(&advised.stdout)
        );
        assert!(!ran.exists());
        let mut placed = nearfar();
        placed.args(["run", "--placement", "auto", "--record"]).arg(&own);
        let placed = run(placed.args(["--", "sh", "-c", "exit 7"]));
        assert_eq!(placed.status.code(), Some(7), "{}", text(&placed.stderr));
        assert!(
            text(&placed.stderr).contains("auto: pages can only be on node"),
            "{}",
            text(&placed.stderr)
        );
    });
}
