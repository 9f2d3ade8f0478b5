//! Where the record and the figures go when the usual places are not there.

use std::fs;

use crate::support::{AS_NOBODY, Place, SMALL, assert_said, can, is_root, measuring, text};

#[test]
fn without_a_home_the_message_names_out() {
    let place = Place::new();
    let _one = measuring();
    let output = place.sh(&format!("exec env -u HOME ./nearfar {SMALL}"));
    assert_said(&output, 2, &["neither XDG_STATE_HOME nor HOME is set", "--out FILE"]);
    // A name that is not absolute is none (XDG Base Directory Specification).
    let output = place.sh(&format!("exec env -u HOME XDG_STATE_HOME=state ./nearfar {SMALL}"));
    assert_said(&output, 2, &["neither XDG_STATE_HOME nor HOME is set", "--out FILE"]);
    assert!(!place.path("state").exists());
    let output = place.sh("exec env -u HOME ./nearfar show");
    assert_said(&output, 2, &["HOME"]);
}

#[test]
fn a_home_that_cannot_be_written_is_named_before_measuring() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let _one = measuring();
    // The home of nobody on most systems, and that of somebody else.
    for home in ["/nonexistent", "/proc"] {
        let output = place.sh(&format!("HOME={home} exec {AS_NOBODY} ./nearfar {SMALL}"));
        let folder = format!("{home}/.local/state/nearfar");
        assert_said(&output, 2, &["cannot make the folder", &folder, "--out FILE"]);
        assert!(!text(&output.stdout).contains("measured"));
    }
}

#[test]
fn a_read_only_home_is_named_and_out_helps() {
    if !can("a mount namespace", "unshare -m -n mount -t tmpfs none /mnt") {
        return;
    }
    let place = Place::new();
    fs::create_dir(place.path("home")).unwrap();
    let _one = measuring();
    let behind = |command: &str| {
        format!(
            "exec unshare -m -n bash -c 'mount -t tmpfs -o ro none home && HOME=$PWD/home exec \
             ./nearfar {command}'"
        )
    };
    let output = place.sh(&behind(SMALL));
    assert_said(&output, 2, &["home/.local/state/nearfar", "Read-only file system", "--out FILE"]);
    assert_said(&place.sh(&behind(&format!("{SMALL} --out r.jsonl"))), 0, &[]);
    let output = place.sh(&behind(&format!("{SMALL} --out home/r.jsonl")));
    assert_said(&output, 2, &["cannot create the record", "Read-only", "--out"]);
}

/// A file system of a few pages fills up in the middle: what was measured before is
/// there, is shown, and is gone on with where there is room.
#[test]
fn a_file_system_that_fills_up_loses_nothing() {
    if !can("a mount namespace", "unshare -m -n mount -t tmpfs none /mnt") {
        return;
    }
    let place = Place::new();
    fs::create_dir(place.path("small")).unwrap();
    let _one = measuring();
    let measure =
        "./nearfar characterize --window 1ms --samples 60 --working-set 4MiB --kernel load";
    // Room for what stands before the first sample, which is larger on larger machines,
    // and a few samples.
    assert_said(&place.sh(&format!("exec ./nearfar {SMALL} --out small.jsonl")), 0, &[]);
    let small = fs::read_to_string(place.path("small.jsonl")).unwrap();
    let kib = small.find("{\"sample\"").unwrap().div_ceil(1024) + 32;
    let line = format!(
        "exec unshare -m -n bash -c 'mount -t tmpfs -o size={kib}k none small; \
         {measure} --out small/r.jsonl; echo status $?; cp small/r.jsonl r.jsonl'"
    );
    let output = place.sh(&line);
    assert_said(&output, 0, &["status 3", "cannot append", "No space left", "--resume"]);
    let kept = fs::read_to_string(place.path("r.jsonl")).unwrap();
    assert!(kept.ends_with('\n') && kept.contains("{\"sample\""), "{} bytes", kept.len());
    assert_said(&place.sh("exec ./nearfar show r.jsonl"), 0, &["unfinished"]);
    assert_said(&place.sh("exec ./nearfar characterize --resume --out r.jsonl"), 0, &[]);
    assert!(fs::read_to_string(place.path("r.jsonl")).unwrap().starts_with(&kept));
}

/// The record has its own place: what is wrong with standard output does not touch it.
#[test]
fn a_full_or_closed_standard_output_keeps_the_record() {
    let place = Place::new();
    let _one = measuring();
    for (redirection, status, words) in [
        (
            ">/dev/full",
            3,
            &[
                "all that was measured is in r.jsonl",
                "cannot write to standard output",
                "No space left",
            ][..],
        ),
        (">&-", 0, &[][..]),
        ("<&- >&- 2>&-", 0, &[][..]),
    ] {
        let line = format!("exec ./nearfar {SMALL} --force --out r.jsonl {redirection}");
        let mut output = place.sh(&line);
        // Without standard error nobody hears that somebody else measures on this host: one that is
        // heard waits for the end of that.
        for _ in 0..20 {
            if !redirection.contains("2>&-") || output.status.code() != Some(2) {
                break;
            }
            place.sh(&format!("exec ./nearfar {SMALL} --force --out waited.jsonl"));
            output = place.sh(&line);
        }
        assert_said(&output, status, words);
        let record = place.record(&output);
        assert!(record.finished.is_some());
        crate::support::assert_all_measured(&record);
    }
    let output = place.sh(&format!("exec ./nearfar {SMALL} --out - >/dev/full"));
    assert_said(&output, 3, &["cannot write the record to standard output", "No space left"]);
    let output = place.sh("exec ./nearfar topo >/dev/full");
    assert_said(&output, 3, &["cannot write to standard output", "No space left"]);
    assert!(!text(&output.stderr).contains("measured"), "{}", text(&output.stderr));
}
