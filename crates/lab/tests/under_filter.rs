//! The program that runs a command under a filter; this test also has cargo build it.

use std::process::Command;

#[test]
fn each_call_is_answered_as_the_filter_says() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made");
    for (filter, status, words) in [
        ("mkdir=EPERM", 1, "Operation not permitted"),
        ("getpid=EIO,mkdir=ENOSYS,mount=OK", 1, "not implemented"),
        // Returned 0, and did nothing.
        ("mkdir=OK", 0, ""),
        ("mbind=EPERM", 0, ""),
    ] {
        let mut program = Command::new(env!("CARGO_BIN_EXE_under_filter"));
        program.env("LC_ALL", "C").args([filter, "--", "mkdir"]).arg(&made);
        let output = program.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{filter}: {said}");
        assert!(said.contains(words), "{filter}: {said}");
        assert_eq!(made.exists(), filter == "mbind=EPERM", "what no filter names passes");
    }
}
