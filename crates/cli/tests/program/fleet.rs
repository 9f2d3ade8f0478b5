//! Many machines by the program: simulated ones write into a folder as any other would.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::{available_parallelism, sleep};
use std::time::Duration;

use nearfar_machine::LocalRank;
use serde_json::Value;
use tempfile::TempDir;

use crate::records::record;
use crate::schema::hold;
use crate::support::{nearfar, refuse, run, text};

const SLOW: &str = "extends = \"amd-4p\"\nname = \"slow\"\ntitle = \"a slow module\"\n\
                    [[fault]]\nkind = \"slow_memory\"\nnode = 6\nfactor = 0.8\n";

/// Takes the variables of a launcher away that the tests themselves may run under.
fn without_launcher(command: &mut Command) {
    for variable in LocalRank::variables().chain(["SLURMD_NODENAME", "NODE_NAME", "PMIX_HOSTNAME"])
    {
        command.env_remove(variable);
    }
}

/// A run's folder, and what is put beside it.
struct Fleet {
    folder: TempDir,
}

impl Fleet {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn run(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    /// A measurement of a simulated machine.
    fn member(&self, name: &str, machine: &str, seed: u32) -> Command {
        let mut command = nearfar();
        without_launcher(&mut command);
        command.args([
            "characterize",
            "--simulate",
            machine,
            "--only",
            "pairs",
            "--kernel",
            "triad",
        ]);
        // With the seed 2 something disturbs a cell of a sound machine.
        command.args([
            "--samples",
            "5",
            "--seed",
            &(20 + seed).to_string(),
            "--machine",
            name,
            "--run",
        ]);
        command.arg(self.run());
        command
    }

    fn measure(&self, name: &str, machine: &str, seed: u32) {
        let output = run(&mut self.member(name, machine, seed));
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("128 cells"), "{}", text(&output.stdout));
    }

    fn slow(&self) -> String {
        let path = self.folder.path().join("slow.toml");
        fs::write(&path, SLOW).unwrap();
        path.to_str().unwrap().into()
    }

    fn compared(&self, status: i32) -> (Value, String) {
        let ask = |more: &[&str]| {
            let output = run(nearfar()
                .args(["fleet", "compare"])
                .arg(self.run())
                .args(more)
                .env("COLUMNS", "200"));
            assert_eq!(
                output.status.code(),
                Some(status),
                "{}{}",
                text(&output.stderr),
                text(&output.stdout)
            );
            text(&output.stdout)
        };
        let json = serde_json::from_str(&ask(&["--json"])).unwrap();
        hold(&json);
        (json, ask(&["--full"]))
    }

    fn verdict(&self, name: &str, age: &str) -> (i32, String) {
        let folder = self.run();
        let mut command = nearfar();
        let output = run(command.args(["fleet", "verdict"]).arg(folder).args([
            "--machine",
            name,
            "--max-age",
            age,
        ]));
        (output.status.code().unwrap(), text(&output.stdout))
    }

    /// The file of a machine with this ending.
    fn file(&self, name: &str) -> PathBuf {
        let shards = fs::read_dir(self.run()).unwrap().map(|entry| entry.unwrap().path());
        let mut found = shards.map(|shard| shard.join(name)).filter(|path| path.exists());
        found.next().unwrap_or_else(|| panic!("no {name}"))
    }

    fn edit(&self, name: &str, edit: impl FnOnce(&mut Value)) {
        let path = self.file(name);
        let mut summary: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        edit(&mut summary);
        fs::write(path, serde_json::to_vec(&summary).unwrap()).unwrap();
    }
}

fn plan(run_folder: &Path, more: &[&str]) -> String {
    let mut command = nearfar();
    command
        .args(["fleet", "plan", "--run"])
        .arg(run_folder)
        .args(["--program", "nearfar"])
        .args(more);
    let output = run(&mut command);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// A plan that could not be what was meant expects no machine.
#[test]
fn a_plan_that_cannot_be_meant_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    for (words, says) in [
        ("--engine slurm --machines n[1-2] --image site/nearfar", "--image is for --engine"),
        ("--engine pdsh --machines n1 --claim shared", "--claim is for --engine kubernetes"),
        ("--engine slurm --machines n1 --budget 0s", "a second or more"),
    ] {
        let mut command = nearfar();
        command.args(["fleet", "plan", "--run"]).arg(&run).args(words.split(' '));
        refuse(&mut command, 2, &[says]);
        assert!(!run.exists(), "{words}");
    }
}

#[test]
fn a_slow_machine_is_named_measured_again_and_told_to_health_checks() {
    let fleet = Fleet::new();
    let only = ["--", "--only", "pairs"];
    plan(&fleet.run(), &[&["--engine", "pdsh", "--machines", "n[1-10]"][..], &only].concat());
    // Who is measured again is measured as before, and by the engine that was named last.
    let again = plan(&fleet.run(), &["--engine", "slurm", "--machines", "n7"]);
    assert!(again.contains("--only pairs") && again.contains("--budget 120s"), "{again}");
    let mut other = nearfar();
    other.args(["fleet", "plan", "--engine", "pdsh", "--machines", "n7", "--run"]).arg(fleet.run());
    refuse(other.args(["--", "--only", "latency"]), 2, &["was planned with '--only pairs'"]);
    plan(&fleet.run(), &["--engine", "pdsh", "--machines", "n7"]);
    hold(&serde_json::from_slice(&fs::read(fleet.run().join("manifest.json")).unwrap()).unwrap());
    for number in 1..=9 {
        let machine = if number == 7 { fleet.slow() } else { "amd-4p".into() };
        fleet.measure(&format!("n{number}"), &machine, number);
    }
    hold(&serde_json::from_slice(&fs::read(fleet.file("n7.summary.json")).unwrap()).unwrap());
    // A standard of another kind is none for them: they were called good by their peers beside its name.
    let mut other = nearfar();
    other.args(["fleet", "compare"]).arg(fleet.run()).arg("--target").arg(record("sound"));
    refuse(&mut other, 2, &["is of other CPUs or nodes than every machine of the run"]);
    let (json, words) = fleet.compared(2);
    assert_eq!(json["missing"], serde_json::json!(["n10"]));
    for said in [
        "Missing: 1 of 10 expected: n10",
        "To be measured again: 1 machine: n7",
        "memory of node 6",
        "--engine pdsh --machines n7",
    ] {
        assert!(words.contains(said), "{said}: {words}");
    }
    assert_eq!(fleet.verdict("n7", "7d").0, 2);

    fleet.measure("n7", &fleet.slow(), 107);
    fleet.measure("n10", "amd-4p", 10);
    let (json, words) = fleet.compared(1);
    assert_eq!(json["verdicts"], serde_json::json!({"good": 9, "bad": 1}));
    assert!(words.contains("Bad: 1 machine: n7") && words.contains("twice"), "{words}");
    let (status, line) = fleet.verdict("n7", "7d");
    assert!(
        status == 1 && line.starts_with("nearfar BAD n7: memory of node 6 -"),
        "{status}: {line}"
    );
    assert!(line.len() <= 81, "{line}");
    assert_eq!(fleet.verdict("n8", "7d").0, 0);
    assert_eq!(fleet.verdict("n8", "0s").0, 2, "too old");
    assert_eq!(fleet.verdict("n99", "7d").0, 2);
    let verdicts = fleet.run().join("verdicts");
    let mut machines = 0;
    for file in fs::read_dir(verdicts).unwrap() {
        for line in fs::read_to_string(file.unwrap().path()).unwrap().lines() {
            hold(&serde_json::from_str(line).unwrap());
            machines += 1;
        }
    }
    assert_eq!(machines, 10);
}

#[test]
fn whatever_goes_wrong_is_told_and_nothing_is_lost() {
    let fleet = Fleet::new();
    plan(
        &fleet.run(),
        &["--engine", "slurm", "--machines", "n[1-8],killed,full,late,torn,empty,old"],
    );
    for number in 1..=8 {
        fleet.measure(&format!("n{number}"), "amd-4p", number);
    }
    // A second process of a machine ends quietly, and leaves nothing.
    let mut second = fleet.member("second", "amd-4p", 1);
    let output = run(second.env("SLURM_LOCALID", "1"));
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), String::new()));
    assert!(text(&output.stderr).contains("SLURM_LOCALID"), "{}", text(&output.stderr));

    // A machine that is stopped in mid-run.
    let real = fleet.folder.path().join("real.toml");
    fs::write(
        &real,
        "extends = \"amd-4p\"\nname = \"real\"\ntitle = \"real\"\nclock = { real_time = 1 }\n",
    )
    .unwrap();
    let mut killed = fleet
        .member("killed", real.to_str().unwrap(), 1)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = || {
        let shards = fs::read_dir(fleet.run()).unwrap().map(|entry| entry.unwrap().path());
        let mut running = shards.map(|shard| shard.join("killed.running.jsonl.zst"));
        running.any(|path| fs::metadata(path).is_ok_and(|found| found.len() > 0))
    };
    while !begun() {
        sleep(Duration::from_millis(10));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();

    // A disk that is full.
    let mut full = Command::new("sh");
    let inner = fleet.member("full", "amd-4p", 1);
    full.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "sh"])
        .arg(inner.get_program())
        .args(inner.get_args());
    let output = run(&mut full);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));

    // A clock that is wrong, files that are torn or of another version, a machine measured twice.
    for (number, name) in [(21, "late"), (22, "torn"), (23, "empty"), (24, "old"), (25, "n2")] {
        fleet.measure(name, "amd-4p", number);
    }
    fleet.edit("late.summary.json", |summary| summary["ended"] = "2061-01-01T00:00:00Z".into());
    fleet.edit("old.summary.json", |summary| {
        summary["schema"] = "nearfar.machine-summary/99".into()
    });
    let torn = fleet.file("torn.summary.json");
    let whole = fs::read(&torn).unwrap();
    fs::write(&torn, &whole[..whole.len() / 2]).unwrap();
    fs::write(fleet.file("empty.summary.json"), "").unwrap();
    fs::remove_file(fleet.file("empty.jsonl.zst")).unwrap();

    let (json, words) = fleet.compared(2);
    let told = |machine: &str, kind: &str, what: &str| {
        let found = json["problems"].as_array().unwrap().iter().any(|problem| {
            problem["machine"] == machine
                && problem["kind"] == kind
                && problem["what"].as_str().unwrap().contains(what)
        });
        assert!(found, "{machine} {kind} {what}: {:#}", json["problems"]);
    };
    told("killed", "unended", "began and did not end");
    told("full", "failed", "cannot");
    told("late", "wrong_clock", "after now");
    told("torn", "unreadable_summary", "made again from its record");
    told("old", "unreadable_summary", "nearfar.machine-summary/99");
    told("empty", "unreadable_summary", "empty");
    told("n2", "several_measurements", "2 times");
    let verdict = |name: &str| {
        let machines = json["machines"].as_array().unwrap();
        machines.iter().find(|machine| machine["machine"] == name).unwrap()["verdict"]
            .as_str()
            .unwrap()
            .to_string()
    };
    for name in ["n1", "n2", "late", "torn", "old"] {
        assert_eq!(verdict(name), "good", "{name}: {words}");
    }
    for name in ["killed", "full", "empty"] {
        assert_eq!(verdict(name), "unknown", "{name}: {words}");
    }
    assert!(fleet.file("killed.running.jsonl.zst").exists());
    assert!(
        fs::read(fleet.file("n2.jsonl.zst")).unwrap()
            != fs::read(fleet.file("n2~2.jsonl.zst")).unwrap()
    );
}

/// A launcher that binds gives one CPU; what that measures is not the machine.
#[test]
fn a_part_of_a_machine_is_refused_and_told() {
    if available_parallelism().is_ok_and(|count| count.get() < 2) {
        return;
    }
    let fleet = Fleet::new();
    let member = |more: &[&str]| {
        let mut command = Command::new("taskset");
        command.args([
            "-c",
            "0",
            env!("CARGO_BIN_EXE_nearfar"),
            "characterize",
            "--machine",
            "bound",
            "--run",
        ]);
        command.arg(fleet.run()).args([
            "--only",
            "pairs",
            "--kernel",
            "load",
            "--samples",
            "3",
            "--working-set",
            "1MiB",
        ]);
        without_launcher(&mut command);
        command.args(more);
        run(&mut command)
    };
    let output = member(&[]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("may use the CPUs 0 of"), "{}", text(&output.stderr));
    let (json, _) = fleet.compared(2);
    assert_eq!(json["problems"][0]["kind"], "partial");
    let output = member(&["--allow-partial"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let (json, _) = fleet.compared(2);
    assert_eq!(json["machines"][0]["verdict"], "unknown", "{json:#}");
    let why = json["machines"][0]["unknown"].as_str().unwrap();
    assert!(why.contains("a part of itself"), "{why}");
}

/// A folder that two runs are written into, compared over time and told in every form.
#[test]
fn runs_are_compared_over_time_and_written_in_every_form() {
    let fleet = Fleet::new();
    for number in 1..=8 {
        let machine = if number == 5 { fleet.slow() } else { "amd-4p".into() };
        fleet.measure(&format!("n{number}"), &machine, number);
    }
    let later = fleet.folder.path().join("later");
    fs::create_dir(&later).unwrap();
    for entry in fs::read_dir(fleet.run()).unwrap() {
        let shard = entry.unwrap().path();
        let copy = later.join(shard.file_name().unwrap());
        fs::create_dir(&copy).unwrap();
        for file in fs::read_dir(shard).unwrap() {
            let file = file.unwrap().path();
            fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
        }
    }
    let mut nowhere = nearfar();
    nowhere.args(["fleet", "verdict", "--machine", "n1"]).arg(fleet.folder.path().join("gone"));
    let nowhere = run(&mut nowhere);
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(text(&nowhere.stdout).contains("the folder of the run is not there"), "{nowhere:?}");
    let one = run(nearfar().args(["fleet", "drift"]).arg(fleet.run()));
    assert_eq!(one.status.code(), Some(2), "{one:?}");
    assert!(text(&one.stderr).contains("is one run"), "{one:?}");
    let same = fleet.run().join("..").join(fleet.run().file_name().unwrap());
    let mut twice = nearfar();
    twice.args(["fleet", "drift"]).arg(fleet.run()).arg(same);
    refuse(&mut twice, 2, &["is named twice"]);
    let output = run(nearfar().args(["fleet", "drift", "--json"]).arg(fleet.run()).arg(&later));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let drift: Value = serde_json::from_slice(&output.stdout).unwrap();
    hold(&drift);
    assert_eq!(drift["machines"].as_array().unwrap().len(), 8);
    let report = |format: &str| {
        let folder = fleet.run();
        let mut command = nearfar();
        let output = run(command
            .args(["fleet", "report", "-o", "-", "--format", format])
            .arg(folder)
            .arg("--history")
            .arg(&later));
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let superbench: Vec<Value> =
        report("jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(superbench.len(), 8);
    let name = superbench[0]
        .as_object()
        .unwrap()
        .keys()
        .find(|name| name.contains("numa_0_1_bw:0"))
        .unwrap();
    assert!(superbench[0][name].as_f64().unwrap() > 100.0, "MB/s: {}", superbench[0]);
    let csv = report("csv");
    assert_eq!(csv.lines().count(), 1 + 8 * 128);
    assert!(csv.lines().nth(1).unwrap().starts_with("n1,"), "{csv:.300}");
    let metrics = report("prom");
    assert!(
        metrics.contains("nearfar_fleet_machines{verdict=\"again\"} 1")
            && metrics.ends_with("# EOF\n"),
        "{metrics}"
    );
    assert!(report("md").contains("memory of node 6"));
    assert!(report("tex").contains("memory of node 6"));
    hold(&serde_json::from_str(&report("json")).unwrap());
}
