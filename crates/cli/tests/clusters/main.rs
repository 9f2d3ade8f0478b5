//! The launchers and checkers that runs of many machines are for: Slurm with several machines on this host, Open
//! MPI, pdsh, ReFrame, Kubernetes' schema. Machines are simulated; what is real is who starts them. (make outer)

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod slurm;
mod support;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;

use support::{MACHINE, NEARFAR, all, compared, plan, python, root, run, shell, text};

/// Open MPI's `--allow-run-as-root`, where no option can be added.
const AS_ROOT: [(&str, &str); 2] =
    [("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")];

#[test]
fn open_mpi_measures_a_host_once() {
    let folder = tempfile::tempdir().unwrap();
    let run_folder = folder.path().join("run");
    let mut command = Command::new("mpirun");
    command.args([
        "-np",
        "4",
        "--allow-run-as-root",
        "--oversubscribe",
        "--bind-to",
        "none",
        NEARFAR,
        "characterize",
    ]);
    let said = run(command.args(MACHINE).arg("--run").arg(&run_folder));
    assert_eq!(said.matches("128 cells").count(), 1, "{said}");
    assert_eq!(said.matches("the first one measures").count(), 3, "{said}");
    let (_, json) = compared(&run_folder);
    assert_eq!(json["machines"].as_array().unwrap().len(), 1);
    assert_eq!(json["machines"][0]["measurements"], 1);

    // The command as it is printed, on this host by its name.
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let run_folder = folder.path().join("planned");
    let printed = plan(&run_folder, &["--engine", "mpirun", "--machines", host.trim()]);
    let said = run(shell(&printed).envs(AS_ROOT));
    let (_, json) = compared(&run_folder);
    assert_eq!(json["missing"], serde_json::json!([]), "{said}");

    // Open MPI would end all other machines if one failed by its status.
    let run_folder = folder.path().join("failing");
    let arguments = ["--engine", "mpirun", "--program", "/no/such/program", "--machines"];
    let printed = plan(&run_folder, &[&arguments[..], &[host.trim()]].concat());
    let said = run(shell(&printed).envs(AS_ROOT));
    assert!(said.contains("/no/such/program"), "{said}");
    let (status, json) = compared(&run_folder);
    assert_eq!((status, &json["missing"]), (2, &serde_json::json!([host.trim()])), "{json:#}");
}

/// pdsh reads the command as it is printed and puts machines' names into it. What is behind `ssh` is this host's shell.
#[test]
fn pdsh_names_machines() {
    let folder = tempfile::tempdir().unwrap();
    let ssh = folder.path().join("ssh");
    let script = "#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\necho reached $1\nshift\n\
                  exec sh -c \"$*\"\n";
    fs::write(&ssh, script).unwrap();
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
    let run_folder = folder.path().join("a run");
    let printed = plan(&run_folder, &["--engine", "pdsh", "--machines", "n[1-3],login"]);
    let path = format!("{}:{}", folder.path().display(), env::var("PATH").unwrap());
    let said = run(shell(&printed).envs([("PATH", path.as_str()), ("PDSH_RCMD_TYPE", "ssh")]));
    let (_, json) = compared(&run_folder);
    assert_eq!(json["missing"], serde_json::json!([]), "{said}");
    let measured = all(&json["machines"], "machine");
    assert_eq!(measured, BTreeSet::from(["n1", "n2", "n3", "login"]), "{said}");
    for name in measured {
        assert!(said.contains(&format!("reached {name}")), "{said}");
    }
}

/// Each of Open MPI's processes is told its number and how many there are on this machine.
#[test]
fn open_mpi_names_local_ranks() {
    let mut command = Command::new("mpirun");
    command.args(["-np", "3", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]);
    let said = run(command.args([NEARFAR, "run", "--near", "rank", "--", "true"]));
    for rank in 0..3 {
        let told = format!("local rank {rank} of 3 (OMPI_COMM_WORLD_LOCAL_RANK) is on node");
        assert_eq!(said.matches(&told).count(), 1, "{said}");
    }
}

/// The manifest is what the published schema says, by a program that was not made for it.
#[test]
fn kubernetes_takes_the_job() {
    let folder = tempfile::tempdir().unwrap();
    for more in [&[][..], &["--image", "registry/nearfar:1", "--claim", "shared"]] {
        let arguments =
            [&["--engine", "kubernetes", "--machines", "w[1-40],gpu-1.site"], more].concat();
        let job = plan(&folder.path().join("run"), &arguments);
        let path = folder.path().join("job.json");
        fs::write(&path, &job).unwrap();
        run(Command::new(python("kubernetes-validate")).args(["--strict", "--quiet"]).arg(&path));
        let mut job: Value = serde_json::from_str(&job).unwrap();
        assert_eq!(job["spec"]["completions"], 41);
        job["spec"]["completionMode"] = 3.into();
        fs::write(&path, job.to_string()).unwrap();
        let refused = Command::new(python("kubernetes-validate"))
            .args(["--strict", "--quiet"])
            .arg(&path)
            .output()
            .unwrap();
        assert!(!refused.status.success(), "a wrong manifest passes");
    }
}

/// By the contracts of NHC (a function that calls `die`) and of node-problem-detector (exit status 0, 1, else; a
/// line of 80 characters), whose files are in `integrations`.
#[test]
fn health_checks_are_told_by_their_contracts() {
    let folder = tempfile::tempdir().unwrap();
    let run_folder = folder.path().join("run");
    let slow = support::slow(folder.path());
    for number in 1..=8 {
        let machine = if number == 3 { slow.as_str() } else { "amd-4p" };
        for seed in [number, 100 + number] {
            support::measure(&run_folder, &format!("n{number}"), machine, seed);
        }
    }
    assert_eq!(compared(&run_folder).0, 1);
    let nhc = |machine: &str| {
        let script = format!(
            "die() {{ echo \"died $1: $2\"; return \"$1\"; }}; nearfar() {{ {NEARFAR} \"$@\"; }}; . \
             {}/integrations/nhc/nearfar.nhc; check_nearfar {} 7d; echo status $?",
            root().display(),
            run_folder.display()
        );
        run(Command::new("bash").args(["-c", &script]).env("NODE_NAME", machine))
    };
    let bad = nhc("n3");
    assert!(
        bad.contains("died 1: check_nearfar:  nearfar BAD n3") && bad.contains("status 1"),
        "{bad}"
    );
    let by_domain = nhc("n3.cluster.example");
    assert!(by_domain.contains("nearfar BAD n3") && by_domain.contains("status 1"), "{by_domain}");
    assert_eq!(nhc("n4"), "status 0\n");
    assert_eq!(nhc("n99"), "status 0\n", "what is not known drains nothing");

    let plugin = fs::read(root().join("integrations/node-problem-detector/nearfar.json")).unwrap();
    let plugin: Value = serde_json::from_slice(&plugin).unwrap();
    let rule = &plugin["rules"][0];
    assert!(all(&plugin["conditions"], "type").contains(rule["condition"].as_str().unwrap()));
    let most =
        usize::try_from(plugin["pluginConfig"]["max_output_length"].as_u64().unwrap()).unwrap();
    for (machine, status) in [("n3", 1), ("n4", 0), ("n99", 2)] {
        let arguments = rule["args"].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
        let arguments =
            arguments.map(|it| it.replace("/shared/nearfar/latest", run_folder.to_str().unwrap()));
        let output =
            Command::new(NEARFAR).args(arguments).env("NODE_NAME", machine).output().unwrap();
        assert_eq!(output.status.code(), Some(status));
        let line = text(&output.stdout);
        assert!(line.trim_end().len() <= most && line.lines().count() == 1, "{line}");
    }
}
