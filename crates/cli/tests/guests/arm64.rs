//! The program that was built for AArch64, in a guest of that architecture. What it measures there
//! means nothing; where its pages are, which loops it ran and how it names the CPU does.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use nearfar_lab::{Programs, build_for_aarch64};
use nearfar_record::{TrafficMethod, read_record};
use serde_json::Value;

use crate::boot::User::{Nobody, Root};
use crate::boot::{Boot, OLD, Run};
use crate::expected::Expected;
use crate::{check, in_guest, left, table};

pub static PROGRAMS: LazyLock<Result<Programs, String>> = LazyLock::new(|| {
    let nearfar = Path::new(env!("CARGO_BIN_EXE_nearfar"));
    let gather = || Programs::for_aarch64(&build_for_aarch64(nearfar)?);
    gather().map_err(|error| format!("{error:#}"))
});

#[test]
#[ignore = "builds the program for AArch64: run by `make arm64`"]
fn every_pair_of_an_a64fx_is_proven_and_measured_by_its_vectors() {
    let neon = Expected { kernels: 1, ..Expected::all() };
    let runs = vec![
        Run::new("widest vectors", Root, Expected::all()),
        Run { options: "--kernel triad_nt --isa neon", ..Run::new("neon", Nobody, neon) },
    ];
    let ended = check(&Boot::new("a64fx", OLD, runs));
    for (number, variant) in ["sve", "neon"].into_iter().enumerate() {
        let record = read_record(left(&ended, &format!("{number}.jsonl")).as_bytes()).unwrap();
        let environment = &record.header.environment;
        assert_eq!(environment.architecture, "aarch64");
        assert_eq!(environment.cpu.vendor.as_deref(), Some("Fujitsu"));
        assert_eq!(environment.cpu.model_name.as_deref(), Some("A64FX"));
        let actors = || record.samples.iter().flat_map(|sample| &sample.actors);
        assert!(actors().count() > 0);
        for actor in actors() {
            assert_eq!(actor.variant, variant, "{}", actor.kernel);
            // Non-temporal stores are hints.
            let is_firm = actor.traffic_method == TrafficMethod::Nt;
            assert_eq!(is_firm, actor.kernel == "load", "{}", actor.kernel);
        }
    }
}

/// What both measured stands side by side, whatever it was measured by. Emulated, which is faster means nothing.
#[test]
#[ignore = "builds the program for AArch64: run by `make arm64`"]
fn a_record_of_aarch64_is_compared_with_one_of_x86() {
    let folder = tempfile::tempdir().unwrap();
    let [of_x86, of_arm64] = ["intel-2p", "a64fx"].map(|machine| {
        let measure = "nearfar characterize --only pairs --kernel load,triad --samples 8 \
                       --working-set 4MiB --window 5ms --out /out/r.jsonl >/out/said 2>&1";
        let (_, ended) = in_guest(machine, OLD, 384, &[], measure);
        let path = folder.path().join(format!("{machine}.jsonl"));
        let bytes =
            ended.files.get("r.jsonl").unwrap_or_else(|| panic!("{}", left(&ended, "said")));
        std::fs::write(&path, bytes).unwrap();
        path
    });
    let compare = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nearfar"));
        command.arg("compare").args([&of_x86, &of_arm64]).args(more).output().unwrap()
    };
    let told = compare(&[]);
    // 1: something is worse.
    assert!(matches!(told.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&told.stderr));
    table::say(&String::from_utf8_lossy(&told.stdout));
    let found: Value = serde_json::from_slice(&compare(&["--json"]).stdout).unwrap();
    // Their loops are others: what is compared is what a pair of its kind reaches by its best.
    assert_eq!(found["cases"], Value::Array(Vec::new()));
    let roles = found["roles"].as_array().unwrap();
    for kernel in ["load", "triad"] {
        let of_kernel = roles.iter().find(|role| role["kernel"] == kernel).unwrap();
        assert!(of_kernel["ratio"].as_f64().unwrap() > 0.0 && of_kernel["b_pairs"] == 4);
    }
}
