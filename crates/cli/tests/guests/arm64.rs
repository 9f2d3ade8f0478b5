//! The program that was built for AArch64, in a guest of that architecture. What it measures there
//! means nothing; where its pages are, which loops it ran and how it names the CPU does.

use std::path::Path;
use std::sync::LazyLock;

use nearfar_lab::{Programs, build_for_aarch64};
use nearfar_record::{TrafficMethod, read_record};

use crate::boot::User::{Nobody, Root};
use crate::boot::{Boot, OLD, Run};
use crate::expected::Expected;
use crate::{check, left};

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
