//! The module as Python's programs use it: `python/tests`, the examples of `python/README.md`, and what mypy and ruff
//! say of it (`make python`).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use nearfar_fleet::{
    Identity, MachineName, MachineSummary, MeasurementEnd, MeasurementStatus, RunFolder,
};
use nearfar_flow::read_machine;
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_record::{Experiment, Inputs, Suite};

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python").canonicalize().unwrap()
}

fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap()
}

/// A folder with the package as a wheel lays it out: its sources beside the library that was built.
fn package() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("nearfar");
    fs::create_dir(&package).unwrap();
    for file in fs::read_dir(sources().join("nearfar")).unwrap() {
        let file = file.unwrap();
        symlink(file.path(), package.join(file.file_name())).unwrap();
    }
    let test = std::env::current_exe().unwrap();
    let library = test.parent().unwrap().join("lib_nearfar.so");
    assert!(library.exists(), "{}", library.display());
    symlink(library, package.join("_nearfar.abi3.so")).unwrap();
    folder
}

/// Runs a module of Python's in a folder, which finds the package first.
fn run(module: &str, arguments: &[&str], folder: &Path) {
    let mut command = Command::new(target().join("python-module/bin/python"));
    command.args(["-X", "utf8", "-m", module]).args(arguments).current_dir(folder);
    let caches = target().join("python-module/caches");
    // A notebook's kernel is a process of its own, which looks there.
    command.env("PYTHONPATH", folder);
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("MYPY_CACHE_DIR", caches.join("mypy"));
    command.env("RUFF_CACHE_DIR", caches.join("ruff"));
    let output =
        command.output().expect("`scripts/python-packages module` installs Python's programs");
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{module}: {}", String::from_utf8_lossy(&said));
}

/// Two runs of eleven machines, the second of which one has a slow memory in.
fn measure_fleet(folder: &Path) {
    for (run, month) in [(1, "march"), (2, "april")] {
        let run_folder = RunFolder::new(&folder.join(month));
        for number in 0..11 {
            let is_slow = run == 2 && number == 7;
            let name = if is_slow { "two-socket-8-nodes-degraded" } else { "two-socket-8-nodes" };
            let inputs = Inputs {
                seed: 100 * run + number,
                experiments: [Experiment::Pairs].into(),
                ..suite_inputs(Suite::Quick)
            };
            let record = simulate(&read_machine(name).unwrap(), inputs, true).unwrap();
            let machine: MachineName = format!("n{number}").parse().unwrap();
            let end = MeasurementEnd {
                ended: format!("2026-0{}-01T00:00:00Z", 2 + run),
                status: MeasurementStatus::Measured,
                why: None,
                partial: None,
                record: None,
            };
            let summary = MachineSummary::new(machine.clone(), &record, Identity::default(), end);
            run_folder.begin(&machine).unwrap().write_summary(&summary).unwrap();
        }
    }
}

#[test]
fn records_models_and_rankings_are_what_the_tests_of_python_say() {
    let package = package();
    measure_fleet(package.path());
    let [tests, readme] = ["tests", "README.md"].map(|it| sources().join(it).display().to_string());
    let options = ["-p", "no:cacheprovider", "-q", "--doctest-glob=*.md"];
    let doctest = ["-o", "doctest_optionflags=ELLIPSIS", &tests, &readme];
    run("pytest", &[&options[..], &doctest].concat(), package.path());
}

#[test]
fn types_hold() {
    run("mypy", &["--strict", "nearfar", "tests", "write_results.py"], &sources());
}

#[test]
fn style_holds() {
    run("ruff", &["check", "."], &sources());
    run("ruff", &["format", "--check", "."], &sources());
}
