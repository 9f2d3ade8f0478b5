//! Copies to devices, by the OpenCL of PoCL, which shows the CPUs as devices.

use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use nearfar_lab::{measuring, wait_for_turn};
use serde_json::Value;

use crate::{nearfar, run};

/// The program with PoCL's own cache in `folder`, and devices by its variable.
fn with_pocl(folder: &Path, devices: &str) -> Command {
    let mut command = nearfar();
    command.env("POCL_CACHE_DIR", folder).env("POCL_DEVICES", devices);
    command
}

fn show(path: &str) -> Value {
    let output = run(nearfar().args(["show", path, "--json"]));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Both ways, both memories, sizes, beside streams, a second device, and between devices: every
/// byte checked and every page proven, or the case would be refused.
#[test]
fn every_kind_of_copy_runs_by_opencl() {
    measuring(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl").display().to_string();
        let mut command = with_pocl(folder.path(), "pthread pthread");
        command.args([
            "characterize",
            "--only",
            "devices",
            "--suite",
            "standard",
            "--samples",
            "1",
        ]);
        run(command.args(["--window", "5ms", "--out", &path]));
        let view = show(&path);
        let absent = view["absent"].as_array().unwrap();
        assert!(absent.iter().all(|it| it["absence"] == "omitted"), "{absent:?}");
        let copies = view["devices"].as_array().unwrap();
        let has = |wanted: &dyn Fn(&Value) -> bool| {
            let found: Vec<&Value> = copies.iter().filter(|&copy| wanted(copy)).collect();
            assert!(!found.is_empty(), "{copies:#?}");
            for copy in found {
                assert!(
                    copy["bandwidth_gb_per_s"]["sum"]["value"].as_f64().unwrap() > 0.0,
                    "{copy}"
                );
                // PoCL gives no time of a copy between devices.
                let by_device = copy["device_clock_gb_per_s"].as_f64();
                assert!(by_device.map_or(copy["peer"].is_string(), |rate| rate > 0.0), "{copy}");
            }
        };
        for device in ["opencl0", "opencl1"] {
            for direction in ["to_device", "to_host", "both_ways"] {
                has(&|copy| {
                    copy["device"] == device
                        && copy["direction"] == direction
                        && copy["host_memory"] == "pinned"
                        && copy["bytes"] == 64 << 20
                });
            }
            has(&|copy| copy["device"] == device && copy["host_memory"] == "pageable");
            has(&|copy| copy["device"] == device && copy["bytes"] == 1024);
            has(&|copy| copy["device"] == device && copy["peer"].is_string());
        }
        // Streams and a second thread need a second core.
        let cores =
            view["devices"].as_array().unwrap().iter().any(|copy| copy["beside"].is_object());
        let left_out = view["absent"].to_string();
        assert!(cores || left_out.contains("one_core"), "{left_out}");
        for line in fs::read_to_string(&path).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            for actor in line["sample"]["actors"].as_array().into_iter().flatten() {
                let is_copy = actor["transfer"].is_object();
                assert!(!is_copy || actor["transfer"]["copies"].as_u64() > Some(0), "{line}");
            }
        }
    });
}

/// Near a device is where its copies were the fastest; without any it is the firmware's word.
#[test]
fn near_a_device_is_by_its_copies() {
    measuring(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl").display().to_string();
        let measure = |only: &str| {
            let mut command = with_pocl(folder.path(), "pthread");
            command.args(["characterize", "--only", only, "--suite", "quick", "--samples", "1"]);
            run(command.args(["--kernel", "load", "--window", "5ms", "--force", "--out", &path]));
        };
        let near = |options: &[&str]| {
            let mut command = with_pocl(folder.path(), "pthread");
            command.env("XDG_STATE_HOME", folder.path()).args(["run", "--near", "opencl:0"]);
            let output = command.args(options).args(["--", "true"]).output().unwrap();
            (output.status.code(), String::from_utf8_lossy(&output.stderr).to_string())
        };
        let by_firmware = near(&[]);
        assert!(by_firmware.1.contains(", by firmware"), "{by_firmware:?}");
        measure("devices");
        let by_copies = near(&["--record", &path]);
        assert_eq!(by_copies.0, Some(0), "{by_copies:?}");
        assert!(by_copies.1.contains("by the copies in"), "{by_copies:?}");
        measure("pairs");
        let without = near(&["--record", &path]);
        assert_eq!(without.0, Some(125), "{without:?}");
        assert!(without.1.contains("no copies to devices"), "{without:?}");
    });
}

/// Where nothing shows a device, the record says of each interface why, and the rest is measured.
#[test]
fn without_a_driver_the_reasons_are_in_the_record() {
    measuring(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl").display().to_string();
        let empty = folder.path().join("none");
        std::fs::create_dir(&empty).unwrap();
        let mut command = nearfar();
        command.env("OCL_ICD_VENDORS", &empty);
        command.args(["characterize", "--only", "pairs,devices", "--suite", "quick"]);
        command.args(["--kernel", "load", "--working-set", "8MiB", "--window", "5ms"]);
        run(command.args(["--out", &path]));
        let view = show(&path);
        assert!(!view["pairs"].as_array().unwrap().is_empty());
        let absent = view["absent"].as_array().unwrap().iter();
        let of_devices: Vec<&Value> = absent.filter(|it| it["case"] == "devices").collect();
        let [of_devices] = of_devices[..] else { panic!("{}", view["absent"]) };
        assert_eq!(of_devices["reason"]["code"], "no_device");
        let reason = of_devices["reason"]["text"].as_str().unwrap();
        // A machine with NVIDIA's driver has CUDA's devices, and this test is not for it.
        assert!(["cuda: ", "hip: ", "opencl: "].iter().all(|it| reason.contains(it)), "{reason}");
    });
}

/// Starts a measurement of copies, which has come to its first sample.
fn start(folder: &Path, record: &Path) -> Child {
    let begun = Instant::now();
    loop {
        let mut command = with_pocl(folder, "pthread");
        command.args(["characterize", "--only", "devices", "--samples", "10000"]);
        command.args(["--window", "5ms", "--force", "--out"]);
        let mut child = command.arg(record).spawn().unwrap();
        while child.try_wait().unwrap().is_none() {
            if fs::read_to_string(record).is_ok_and(|text| text.contains("{\"sample\"")) {
                return child;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        // Another measurement holds the host's lock.
        assert!(!record.exists(), "the measurement ended by itself");
        wait_for_turn(begun);
    }
}

/// A driver may put handlers of its own in the place of ours.
#[test]
fn a_signal_while_copies_are_measured_keeps_the_record() {
    measuring(|| {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("r.jsonl");
        for (signal, status) in [("INT", 130), ("TERM", 143)] {
            let mut child = start(folder.path(), &record);
            let kill = format!("kill -{signal} {}", child.id());
            assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
            assert_eq!(child.wait().unwrap().code(), Some(status));
            assert!(fs::read_to_string(&record).unwrap().contains("\"interrupted_by\""));
            fs::remove_file(&record).unwrap();
        }
    });
}
