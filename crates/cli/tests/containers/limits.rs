//! Users, limits, control groups and full file systems.

use std::fs;
use std::path::{Path, PathBuf};

use nearfar_machine::CpuSet;
use nearfar_record::{Actor, Case, ReasonCode};
use serde_json::{Value, json};

use crate::support::{
    AS_NOBODY, Place, SMALL, assert_all_measured, assert_said, can, is_root, measuring, refusals,
    skip, text,
};

#[test]
fn nobody_measures_all_that_root_does() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    measuring(|| {
        let output = place.sh(&format!("exec {AS_NOBODY} ./nearfar {SMALL} --out r.jsonl"));
        assert_said(&output, 0, &[]);
        let of_nobody = place.record(&output);
        assert_all_measured(&of_nobody);
        let (_, of_root) = place.measure_under(None);
        let ids = |record: &nearfar_record::Record| -> Vec<String> {
            record.cases.iter().map(|case| case.id.clone()).collect()
        };
        assert_eq!(ids(&of_nobody), ids(&of_root));
        // What nobody is allowed is what root is, be it as little as in a container.
        let calls = |as_whom: &str| -> Vec<Value> {
            let output = place.sh(&format!("exec {as_whom} ./nearfar doctor --json"));
            let view: Value = serde_json::from_slice(&output.stdout).unwrap();
            let checks = view["checks"].as_array().unwrap().iter();
            let is_call = |check: &&Value| check["check"].as_str().unwrap().starts_with("call.");
            let standings =
                checks.filter(is_call).map(|check| json!([check["check"], check["standing"]]));
            standings.collect()
        };
        let of_nobody = calls(AS_NOBODY);
        assert_eq!(of_nobody, calls("env"));
        assert!(of_nobody.iter().any(|call| call[0] == "call.move_pages"), "{of_nobody:?}");
    });
}

/// No thread but the first can be started: refused, each case, and no panic.
#[test]
fn a_limit_on_processes_is_a_refusal() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    measuring(|| {
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
        assert_said(
            &output,
            2,
            &["cannot measure here", "a thread cannot be started", "ulimit -u"],
        );
        let doctor = place.sh(&format!("{limited} doctor"));
        assert_said(
            &doctor,
            1,
            &[" threads, one a CPU, can be started", "raise the limit on processes"],
        );
    });
}

/// What a limit on address space of this many KiB does: `None` before there is a record.
fn status_below(place: &Place, kib: u64) -> Option<i32> {
    fs::remove_file(place.path("r.jsonl")).ok();
    let output = place.sh(&format!("ulimit -v {kib}; exec ./nearfar {SMALL} --out r.jsonl"));
    let said = text(&output.stderr);
    if !place.path("r.jsonl").exists() {
        // Without room for even that, the kernel kills it before it or the loader speaks.
        let starts = place.sh(&format!("ulimit -v {kib}; exec ./nearfar --version"));
        let tells = !said.is_empty() || !starts.status.success();
        assert!(tells && !said.contains("panicked"), "{kib} KiB: {said}");
        return None;
    }
    match output.status.code() {
        Some(0) => assert_all_measured(&place.record(&output)),
        Some(3) => {
            for reason in refusals(&place.record(&output)) {
                assert!(reason.text.contains("ulimit -v"), "{kib} KiB: {}", reason.text);
            }
        }
        // In the narrow band in which the record is begun and not even a few hundred bytes are left,
        // the language's runtime ends the program, or the C library where a thread begins; what was
        // written stays readable, be it nothing yet.
        None if said.contains("memory allocation of") || said.contains("out of memory") => {
            if fs::metadata(place.path("r.jsonl")).unwrap().len() > 0 {
                place.record(&output);
            }
        }
        other => panic!("{kib} KiB: {other:?}: {said}"),
    }
    output.status.code()
}

/// From far too little address space to enough: each run measures all, or refuses what
/// has no room, or cannot begin; none dies otherwise. How much is enough depends on the
/// machine: its libraries, its nodes, and the threads and their stacks.
#[test]
fn a_limit_on_address_space_is_a_refusal() {
    let place = Place::new();
    measuring(|| {
        let mut refused = false;
        let mut kib: u64 = 16 << 10;
        // In steps and not by halves: what lies below a limit that ends the program in the narrow
        // band may still be refused. The steps are smaller than the arrays, whose limits are meant.
        loop {
            match status_below(&place, kib) {
                Some(0) => break,
                Some(_) => refused = true,
                None => {}
            }
            kib += (2 << 10).max(kib / 32);
            assert!(kib <= 1 << 32, "no limit is high enough to measure all");
        }
        assert!(refused, "no limit was met by the arrays");
    });
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
                skip(&format!("no control group can be made: {}: {error}", folder.display()));
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
            skip(&format!("{} takes no limit", self.0.display()));
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
    measuring(|| {
        let output = place.sh(&group.run(&format!("{SMALL} --out r.jsonl")));
        assert_said(&output, 3, &["refused by the machine"]);
        let record = place.record(&output);
        for reason in refusals(&record) {
            assert_eq!(reason.code, ReasonCode::NoRoom);
            for word in ["the control group", "--working-set", "256 MiB of it kept free"] {
                assert!(reason.text.contains(word), "{}", reason.text);
            }
        }
        // With room for it the same is measured.
        assert!(group.limit(&["memory.max", "memory.limit_in_bytes"], "536870912"));
        let output = place.sh(&group.run(&format!("{SMALL} --force --out r.jsonl")));
        assert_said(&output, 0, &[]);
        assert_all_measured(&place.record(&output));
    });
}

#[test]
fn a_control_group_without_threads_to_spare_is_a_refusal() {
    let Some(group) = Group::new("pids") else { return };
    if !group.limit(&["pids.max"], "1") {
        return;
    }
    let place = Place::new();
    measuring(|| {
        let output = place.sh(&group.run(&format!("{SMALL} --out r.jsonl")));
        assert_said(&output, 3, &["refused by the machine"]);
        let record = place.record(&output);
        assert_eq!(refusals(&record).len(), record.cases.len());
        assert!(refusals(&record).iter().all(|reason| reason.code == ReasonCode::Threads));
    });
}

/// As in a container with `--cpuset-cpus` of one CPU. Without mbind it is the only one
/// that can place pages, and so on its own node alone.
#[test]
fn one_cpu_under_a_filter_is_measured() {
    let all = nearfar_sys::thread_cpus().unwrap();
    let cpu = all.first().unwrap();
    if !can("a single CPU", &format!("taskset -c {cpu} true")) {
        return;
    }
    let place = Place::new();
    measuring(|| {
        let near = nearfar_sys::nodes_of_cpus(&CpuSet::single(cpu)).unwrap();
        let is_near = |case: &&Case| {
            let mut asked = case.actors.iter().filter_map(Actor::memory);
            asked.all(|memory| memory.nodes().unwrap() == near)
        };
        let line = format!("exec taskset -c {cpu} ./nearfar {SMALL} --force --out r.jsonl");
        let output = place.sh_under(Some("mbind=EPERM,move_pages=EPERM"), &line);
        let record = place.record(&output);
        let (placed, elsewhere): (Vec<&Case>, Vec<&Case>) = record.cases.iter().partition(is_near);
        assert_said(&output, if elsewhere.is_empty() { 0 } else { 3 }, &[]);
        assert!(!placed.is_empty());
        for case in placed {
            assert!(record.samples.iter().any(|sample| sample.case == case.id), "{}", case.id);
        }
        assert_eq!(refusals(&record).len(), elsewhere.len());
        assert!(refusals(&record).iter().all(|reason| reason.code == ReasonCode::Denied));
        let partial = format!("this process may use the CPUs {cpu} of ");
        let is_partial =
            record.warnings.iter().any(|warning| warning.message.starts_with(&partial));
        assert_eq!(is_partial, all.len() > 1);
        let shown = text(&place.sh("exec ./nearfar show r.jsonl").stdout);
        assert!(!shown.contains("all threads, sum"), "one CPU has no matrix of several: {shown}");
    });
}

/// A file system of a few pages fills up in the middle: what was measured before is
/// there, is shown, and is continued where there is room.
#[test]
fn a_file_system_that_fills_up_loses_nothing() {
    if !can("a mount namespace", "unshare -m -n mount -t tmpfs none /mnt") {
        return;
    }
    let place = Place::new();
    fs::create_dir(place.path("small")).unwrap();
    measuring(|| {
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
    });
}

/// Whose network is another sees no lock of the host; the record's own lock it sees.
#[test]
fn of_two_network_namespaces_one_goes_on_with_a_record() {
    if !can("a network namespace", "unshare -n true") {
        return;
    }
    let place = Place::new();
    measuring(|| {
        let begun = place.sh(&format!("exec ./nearfar {SMALL} --out whole.jsonl"));
        assert!(matches!(begun.status.code(), Some(0 | 3)), "{}", text(&begun.stderr));
        for _ in 0..3 {
            let both = place.sh(
                "cp whole.jsonl r.jsonl; for n in 1 2; do \
                 (unshare -n ./nearfar characterize --append r.jsonl --kernel load 2>said.$n >/dev/null; \
                 echo $?) & done; wait; cat said.* >&2",
            );
            let mut statuses: Vec<String> = text(&both.stdout).lines().map(String::from).collect();
            statuses.sort();
            let said = text(&both.stderr);
            let one_goes_on = ["0 2", "2 3"].contains(&&*statuses.join(" "));
            assert!(one_goes_on, "{statuses:?}: {said}");
            let of_the_other = ["another nearfar writes", "was written to since it was read"];
            assert!(of_the_other.iter().any(|words| said.contains(words)), "{said}");
            let record = place.record(&both);
            assert!(record.finished.is_some() && record.all_inputs().count() == 2);
        }
    });
}
