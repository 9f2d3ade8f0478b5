//! Kernels and sandboxes without memory nodes: User Mode Linux, which is built without NUMA as WSL 2's kernel
//! is, and gVisor, which shows no /sys. One node is all there is, and every command has an answer.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::Place;

/// Every command with its status: it is run as `say STATUS COMMAND..`.
const COMMANDS: &str = r#"
say() {
    expected=$1; shift
    timeout 120 "$@" >$OUT/said 2>&1 </dev/null
    status=$?
    [ $status = $expected ] || { echo "WRONG $status instead of $expected: $*"; cat $OUT/said; }
    grep -l 'hwloc-\|Some(\|numa_maps' $OUT/said >/dev/null && { echo "RAW $*"; cat $OUT/said; }
}
for placement in local local:0 bind:0 preferred:0 interleave interleave:0; do
    say 0 $N run --placement $placement -- true
done
for placement in bind:1 local:1; do say 125 $N run --placement $placement -- true; done
say 0 $N run --each-node -- true
LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 say 0 $N run --near rank -- true
say 0 $N topo
say 0 $N ps
say 0 $N characterize --suite quick --only pairs --kernel load --samples 1 --working-set 8MiB --window 5ms \
    --out $OUT/r.jsonl
say 0 $N advise $OUT/r.jsonl
$N doctor >$OUT/doctor
echo finished
"#;

/// A script beside the program that asks all, with lines of its own before and behind.
fn script(place: &Place, begin: &str, out: &Path, end: &str) -> PathBuf {
    let (path, program) = (place.path("ask"), place.path("nearfar"));
    let settings = format!("N={} OUT={}", program.display(), out.display());
    fs::write(&path, format!("#!/bin/sh\n{begin}\n{settings}\n{COMMANDS}\n{end}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
#[ignore = "make outer: needs root and User Mode Linux"]
fn a_kernel_without_numa_is_one_node() {
    let place = Place::new();
    let log = place.path("log");
    let begin = format!(
        "export PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/tmp\n\
         mount -t proc proc /proc; mount -t sysfs sys /sys\nexec >{} 2>&1",
        log.display()
    );
    let init = script(&place, &begin, &place.path(""), "sync; exec busybox poweroff -f");
    let status = Command::new("linux.uml")
        .args(["mem=1500M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", "quiet"])
        .args(["con=null", "con0=null,fd:1"])
        .arg(format!("init={}", init.display()))
        .stdin(Stdio::null())
        .output();
    let status = status.unwrap_or_else(|why| panic!("linux.uml: {why}"));
    let said = fs::read_to_string(&log).unwrap_or_default();
    assert_eq!(said.trim(), "finished", "{status:?}");
    let doctor = fs::read_to_string(place.path("doctor")).unwrap();
    assert_eq!(doctor.matches("built without NUMA").count(), 1, "{doctor}");
    assert!(!doctor.contains("ENOSYS"), "{doctor}");
}

#[test]
#[ignore = "make outer: needs root and gVisor"]
fn a_sandbox_without_sys_is_one_node() {
    let place = Place::new();
    // What the sandbox writes stays in it.
    let script = script(&place, "mkdir -p /tmp/out", Path::new("/tmp/out"), "cat $OUT/doctor");
    let output = Command::new("runsc")
        .args(["--network=none", "--platform=ptrace", "--root"])
        .arg(place.path("state"))
        .arg("do")
        .arg(script)
        .stdin(Stdio::null())
        .output();
    let output = output.unwrap_or_else(|why| panic!("runsc: {why}"));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.starts_with("finished\n"), "{said} {}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("all CPUs are"), "{said}");
}
