//! Users, limits and control groups.

use std::fs;
use std::path::{Path, PathBuf};

use nearfar_record::ReasonCode;

use crate::support::{
    AS_NOBODY, Place, SMALL, assert_all_measured, assert_said, can, is_root, measuring, refusals,
    say, text,
};

#[test]
fn nobody_measures_all_that_root_does() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let _one = measuring();
    let output = place.sh(&format!("exec {AS_NOBODY} ./nearfar {SMALL} --out r.jsonl"));
    assert_said(&output, 0, &[]);
    let of_nobody = place.record(&output);
    assert_all_measured(&of_nobody);
    let (_, of_root) = place.measure_under(None);
    let ids = |record: &nearfar_record::Record| -> Vec<String> {
        record.cases.iter().map(|case| case.id.clone()).collect()
    };
    assert_eq!(ids(&of_nobody), ids(&of_root));
    let doctor = place.sh(&format!("exec {AS_NOBODY} ./nearfar doctor"));
    assert_said(&doctor, 0, &["ok       the kernel allows move_pages"]);
}

/// No thread but the first can be started: refused, each case, and no panic.
#[test]
fn a_limit_on_processes_is_a_refusal() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let _one = measuring();
    let limited = format!("exec {AS_NOBODY} prlimit --nproc=1 ./nearfar");
    let output = place.sh(&format!("{limited} {SMALL} --out r.jsonl"));
    assert_said(&output, 3, &["refused by the machine"]);
    let record = place.record(&output);
    assert!(record.samples.is_empty());
    assert_eq!(refusals(&record).len(), record.cases.len());
    for reason in refusals(&record) {
        assert_eq!(reason.code, ReasonCode::Threads);
        for word in ["a thread cannot be started", "ulimit -u", "pids.max"] {
            assert!(reason.text.contains(word), "{}", reason.text);
        }
    }
    let output = place.sh(&format!("{limited} {SMALL} --dry-run --out never.jsonl"));
    assert_said(&output, 2, &["cannot measure here", "a thread cannot be started", "ulimit -u"]);
    assert_said(&place.sh(&format!("{limited} doctor")), 0, &[]);
}

/// From far too little address space to enough: each run measures all, or refuses what
/// has no room, or cannot begin; none dies otherwise.
#[test]
fn a_limit_on_address_space_is_a_refusal() {
    let place = Place::new();
    let _one = measuring();
    let mut seen = Vec::new();
    for kib in [26_000, 32_000, 36_000, 40_000, 44_000, 50_000, 60_000, 80_000, 120_000, 400_000] {
        fs::remove_file(place.path("r.jsonl")).ok();
        let output =
            place.sh(&format!("ulimit -v {kib}; exec ./nearfar {SMALL} --force --out r.jsonl"));
        let said = text(&output.stderr);
        if !place.path("r.jsonl").exists() {
            // The loader, or the program before it began.
            assert!(!said.is_empty() && !said.contains("panicked"), "{kib} KiB: {said}");
            continue;
        }
        let record = place.record(&output);
        match output.status.code() {
            Some(0) => assert_all_measured(&record),
            Some(3) => {
                for reason in refusals(&record) {
                    assert!(reason.text.contains("ulimit -v"), "{kib} KiB: {}", reason.text);
                }
            }
            other => panic!("{kib} KiB: {other:?}: {said}"),
        }
        seen.push(output.status.code());
    }
    assert_eq!(seen.last(), Some(&Some(0)));
    assert!(seen.contains(&Some(3)), "no limit was met by the arrays: {seen:?}");
}

/// A control group of this process's own for a controller, of version 1 or 2.
struct Group(PathBuf);

impl Group {
    fn new(controller: &str) -> Option<Self> {
        let of_version_1 = Path::new("/sys/fs/cgroup").join(controller);
        let parent =
            if of_version_1.exists() { of_version_1 } else { PathBuf::from("/sys/fs/cgroup") };
        let folder = parent.join(format!("nearfar-test-{controller}-{}", std::process::id()));
        match fs::create_dir(&folder) {
            Ok(()) => Some(Self(folder)),
            Err(error) => {
                say(&format!(
                    "skipped: no control group can be made: {}: {error}",
                    folder.display()
                ));
                None
            }
        }
    }

    /// Sets the first of these limits that there is.
    fn limit(&self, names: &[&str], value: &str) -> bool {
        let set = names.iter().any(|name| {
            let path = self.0.join(name);
            path.exists() && fs::write(path, value).is_ok()
        });
        if !set {
            say(&format!("skipped: {} takes no limit", self.0.display()));
        }
        set
    }

    /// A line that enters the group and becomes the program.
    fn run(&self, arguments: &str) -> String {
        format!("echo $$ >{}/cgroup.procs && exec ./nearfar {arguments}", self.0.display())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        fs::remove_dir(&self.0).ok();
    }
}

/// The arrays would not fit into the control group: refused, and nobody is killed.
#[test]
fn a_control_group_without_room_is_a_refusal_and_no_kill() {
    let Some(group) = Group::new("memory") else { return };
    if !group.limit(&["memory.max", "memory.limit_in_bytes"], "134217728") {
        return;
    }
    let place = Place::new();
    let _one = measuring();
    let output = place.sh(&group.run(&format!("{SMALL} --out r.jsonl")));
    assert_said(&output, 3, &["refused by the machine"]);
    let record = place.record(&output);
    for reason in refusals(&record) {
        assert_eq!(reason.code, ReasonCode::NoRoom);
        for word in ["the control group", "--working-set"] {
            assert!(reason.text.contains(word), "{}", reason.text);
        }
    }
    // With room for it the same is measured.
    assert!(group.limit(&["memory.max", "memory.limit_in_bytes"], "536870912"));
    let output = place.sh(&group.run(&format!("{SMALL} --force --out r.jsonl")));
    assert_said(&output, 0, &[]);
    assert_all_measured(&place.record(&output));
}

#[test]
fn a_control_group_without_threads_to_spare_is_a_refusal() {
    let Some(group) = Group::new("pids") else { return };
    if !group.limit(&["pids.max"], "1") {
        return;
    }
    let place = Place::new();
    let _one = measuring();
    let output = place.sh(&group.run(&format!("{SMALL} --out r.jsonl")));
    assert_said(&output, 3, &["refused by the machine"]);
    let record = place.record(&output);
    assert_eq!(refusals(&record).len(), record.cases.len());
    assert!(refusals(&record).iter().all(|reason| reason.code == ReasonCode::Threads));
}

/// As in a container with `--cpuset-cpus` of one CPU.
#[test]
fn one_cpu_under_a_filter_is_measured() {
    if !can("a single CPU", "taskset -c 0 true") {
        return;
    }
    let place = Place::new();
    let _one = measuring();
    let line = format!("exec taskset -c 0 ./nearfar {SMALL} --force --out r.jsonl");
    let output = place.sh_under(Some("mbind=EPERM,move_pages=EPERM"), &line);
    assert_said(&output, 0, &[]);
    let record = place.record(&output);
    assert_all_measured(&record);
    assert!(
        record.warnings.iter().any(|warning| warning.message.contains("CPUs 0"))
            || record.header.machine.cpus().len() == 1
    );
}
