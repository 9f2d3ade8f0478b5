//! Workloads that devices compute, by the OpenCL of PoCL, which shows the CPUs as devices.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::nearfar;

/// The program with PoCL's own cache in `folder`.
fn workload(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = nearfar();
    command.env("POCL_CACHE_DIR", folder).env("POCL_DEVICES", "pthread");
    command.arg("workload").args(arguments);
    command
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let output = workload(folder, arguments).arg("--json").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let schema = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/schema")
        .join(format!("{}.json", report["schema"].as_str().unwrap().replace('/', "-")));
    let schema: Value = serde_json::from_slice(&fs::read(schema).unwrap()).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = schema.iter_errors(&report).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}\n{report:#}");
    report
}

/// Each run is verified, or there would be none.
#[test]
fn every_workload_is_computed_and_its_pages_are_proven() {
    let folder = tempfile::tempdir().unwrap();
    let list = json(folder.path(), &["list"]);
    let listed = list["device_workloads"].as_array().unwrap();
    assert_eq!(listed.len(), 8);
    for workload in listed {
        let name = workload["name"].as_str().unwrap();
        let report = json(folder.path(), &[name, "--device", "opencl0"]);
        assert_eq!(report["workload"], format!("{name}.1"));
        assert_eq!(report["unit"], workload["unit"]);
        let [run] = &report["runs"].as_array().unwrap()[..] else { panic!("{report}") };
        let figure = |name: &str| run[name].as_f64().unwrap();
        assert!(figure("kernel_rate") >= figure("rate_with_copies"), "{run}");
        assert!(figure("rate_with_copies") > 0.0, "{run}");
        assert!((0.0..1.0).contains(&figure("copy_share")), "{run}");
        let ratio = figure("rate_with_copies") / figure("kernel_rate");
        assert!((1.0 - ratio - figure("copy_share")).abs() < 1e-9, "{run}");
        assert!(run["run"]["compared"].as_u64().unwrap() > 0, "{run}");
        let error = run["run"]["largest_error"].as_f64().unwrap();
        assert!(error <= run["run"]["tolerance"].as_f64().unwrap(), "{run}");
        let mut bytes = 0;
        for array in run["arrays"].as_array().unwrap() {
            bytes += array["bytes"].as_u64().unwrap();
            for when in ["before", "after"] {
                let pages = array["proof"][when]["pages"].as_object().unwrap();
                let pages: u64 = pages.values().map(|count| count.as_u64().unwrap()).sum();
                let page = array["proof"][when]["page_bytes"].as_u64().unwrap();
                assert!(pages * page >= array["bytes"].as_u64().unwrap(), "{array}");
            }
        }
        let copied = ["bytes_to_device", "bytes_to_host"].map(|it| report[it].as_u64().unwrap());
        assert_eq!(bytes, copied.iter().sum::<u64>(), "{report}");
    }
}

#[test]
fn a_run_is_told_and_compared_with_each_node() {
    let folder = tempfile::tempdir().unwrap();
    let said = |arguments: &[&str]| {
        let output = workload(folder.path(), arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let one = said(&["scan", "--device", "opencl0"]);
    for words in ["scan.1 on opencl0", "with copies", "of the time", "verified", "copies back"] {
        assert!(one.contains(words), "'{words}' is not in {one}");
    }
    let each = ["scan.1", "--device", "opencl0", "--each-node"];
    let several = said(&each);
    let report = json(folder.path(), &each);
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs[0]["of_nearest"], 1.0);
    assert!(runs.iter().all(|run| run["placement"]["policy"].is_string()), "{report}");
    assert_eq!(several.contains("one memory node"), runs.len() == 1, "{several}");
}

#[test]
fn what_cannot_be_run_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = |command: &mut Command, status: i32| {
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(output.stdout.is_empty(), "{output:?}");
        said
    };
    let said = refusal(&mut workload(folder.path(), &["fft", "--device", "opencl7"]), 2);
    assert!(
        said.contains("no device 'opencl7'") && said.contains("OpenCL shows opencl0"),
        "{said}"
    );
    let empty = folder.path().join("none");
    fs::create_dir(&empty).unwrap();
    let mut command = workload(folder.path(), &["fft", "--device", "opencl0"]);
    let said = refusal(command.env("OCL_ICD_VENDORS", &empty), 2);
    assert!(said.contains("OpenCL shows none: "), "{said}");
    // Variables by which PoCL's compiler and its devices are told to be otherwise.
    for (variable, value, expected) in [
        ("POCL_EXTRA_BUILD_FLAGS", "-D__kernel=nonsense", "unknown type name 'nonsense'"),
        ("POCL_MAX_WORK_GROUP_SIZE", "32", "groups have at most 32 items, and gemm needs 256"),
    ] {
        let mut command = workload(folder.path(), &["gemm", "--device", "opencl0"]);
        let said = refusal(command.env(variable, value), 3);
        assert!(said.contains(expected), "{said}");
    }
}
