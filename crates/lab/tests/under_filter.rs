//! The program that runs a command under a filter.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::process::{Command, Output};

fn under(filter: &str, command: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_under_filter"));
    program.env("LC_ALL", "C").arg(filter).arg("--").args(command).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn each_call_is_answered_as_the_filter_says() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made");
    let path = made.to_str().unwrap();
    for (filter, status, words) in [
        ("mkdir=EPERM", 1, "Operation not permitted"),
        ("mkdir=ENOSPC,mkdirat=ENOSPC", 1, "No space left"),
        ("getpid=EIO,mkdir=ENOSYS,mount=OK", 1, "not implemented"),
        // Returned 0, and did nothing.
        ("mkdir=OK", 0, ""),
    ] {
        let output = under(filter, &["mkdir", path]);
        assert_eq!(output.status.code(), Some(status), "{filter}: {}", said(&output));
        assert!(said(&output).contains(words), "{filter}: {}", said(&output));
        assert!(!made.exists(), "{filter}");
    }
    assert_eq!(under("mbind=EPERM", &["mkdir", path]).status.code(), Some(0));
    assert!(made.exists(), "what no filter names passes");
}

#[test]
fn filters_add_up_and_the_calls_that_install_them_come_last() {
    let inner = env!("CARGO_BIN_EXE_under_filter");
    let folder = tempfile::tempdir().unwrap();
    let never = folder.path().join("never");
    let never = never.to_str().unwrap();
    let output = under("mkdir=EPERM", &[inner, "rmdir=EIO", "--", "mkdir", never]);
    assert!(said(&output).contains("not permitted"), "{}", said(&output));
    let output = under("prctl=EPERM,mkdir=EIO", &["mkdir", never]);
    assert!(said(&output).contains("Input/output error"), "{}", said(&output));
}

#[test]
fn what_is_no_filter_says_why() {
    for (filter, words) in [
        ("", "not CALL=ERROR"),
        ("mbind", "not CALL=ERROR"),
        ("mbind=EPREM", "none of OK, EPERM"),
        ("mbimd=EPERM", "mbimd"),
        ("m\"}bind=EPERM", "not the name of a system call"),
        ("mbind=EPERM,mbind=OK", "answered twice"),
    ] {
        let output = under(filter, &["true"]);
        assert_eq!(output.status.code(), Some(125), "{filter}");
        assert!(said(&output).contains(words), "{filter}: {}", said(&output));
    }
    let output = under("mbind=EPERM", &["/nowhere/command"]);
    assert_eq!(output.status.code(), Some(126));
    assert!(said(&output).contains("/nowhere/command"));
    let output = Command::new(env!("CARGO_BIN_EXE_under_filter")).arg("mbind=EPERM").output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert!(said(&output).contains("usage"));
}

#[test]
fn the_status_is_that_of_the_command() {
    assert_eq!(under("mbind=EPERM", &["sh", "-c", "exit 42"]).status.code(), Some(42));
}
