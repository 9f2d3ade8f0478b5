//! A machine that nobody has and a run of the engine on it.

use std::fs;
use std::path::Path;

use nearfar_flow::{SimulatedMachine, parse_machine};
use nearfar_measure::simulated::{SimulatedExecutor, new_record};
use nearfar_measure::{Engine, Interrupt, Outcome, suite_inputs};
use nearfar_record::{Experiment, Inputs, Record, RecordWriter, Suite, read_record};

/// `nodes` nodes of four cores, two nodes a package, an L3 of 16 MiB for every two
/// cores. One thread gets 10 GB/s from local and 4 GB/s from other memory, all of an
/// initiator 25 GB/s from local memory. `more` is the end of its file.
pub fn machine(nodes: u32, more: &str) -> SimulatedMachine {
    let mut text = String::from(
        r#"
            name = "test"
            title = "a machine of the tests"
            cpu_model = "A CPU of the tests"
            variants = ["avx512", "avx2", "sse2", "portable"]
            cache = { l3 = "16 MiB" }
            kernels.store_nt = { factor = 1.0, variants = ["avx512", "avx2", "sse2"] }
            kernels.copy_nt = { factor = 1.0, variants = ["avx512", "avx2", "sse2"] }
            kernels.scale_nt = { factor = 1.0, variants = ["avx512", "avx2", "sse2"] }
            kernels.add_nt = { factor = 1.0, variants = ["avx512", "avx2", "sse2"] }
            kernels.triad_nt = { factor = 1.0, variants = ["avx512", "avx2", "sse2"] }
        "#,
    );
    let row = |from: u32| -> String {
        let distance = |to: u32| match (from == to, from / 2 == to / 2) {
            (true, _) => "10",
            (false, true) => "16",
            (false, false) => "22",
        };
        let row: Vec<&str> = (0..nodes).map(distance).collect();
        format!("[{}]", row.join(", "))
    };
    let rows: Vec<String> = (0..nodes).map(row).collect();
    text += &format!("distances = [{}]\n", rows.join(", "));
    for node in 0..nodes {
        let package = node / 2;
        text += &format!(
            "[[node]]\npackage = {package}\nmemory = \"16 GiB\"\ncores = 4\nl3_domains = 2\n"
        );
    }
    for (least_nodes, relation, one, all) in
        [(1, "local", 10.0, 25.0), (2, "same_package", 4.0, 16.0), (3, "other_package", 4.0, 16.0)]
    {
        if nodes >= least_nodes {
            text += &format!("[[bandwidth]]\nrelation = \"{relation}\"\none_thread = {one:?}\n");
            text += &format!("all_threads = {all:?}\n");
        }
    }
    parse_machine("test.toml", &(text + more)).unwrap()
}

/// Only `pairs`.
pub fn inputs(suite: Suite) -> Inputs {
    Inputs {
        experiments: vec![Experiment::Pairs],
        windows_per_round: 2,
        min_rounds: 6,
        max_rounds: 8,
        seed: 7,
        ..suite_inputs(suite)
    }
}

/// Measures a new record into `path`.
pub fn measure_new(
    path: &Path,
    machine: &SimulatedMachine,
    inputs: Inputs,
    interrupt_after: Option<u64>,
) -> Outcome {
    measure(path, new_record(machine, inputs, true), machine, interrupt_after)
}

/// Measures into `path`: a new record, or the one that is there.
pub fn measure(
    path: &Path,
    record: Record,
    machine: &SimulatedMachine,
    interrupt_after: Option<u64>,
) -> Outcome {
    let interrupt = Interrupt::default();
    let mut executor = SimulatedExecutor::new(machine.clone(), true, 3, interrupt.clone()).unwrap();
    if let Some(runs) = interrupt_after {
        executor.interrupt_after(runs);
    }
    let resumed = !record.is_new();
    let mut writer = if resumed {
        RecordWriter::append(path, &record).unwrap()
    } else {
        RecordWriter::create(path, true).unwrap()
    };
    let mut watch = |_: nearfar_measure::Status<'_>| {};
    let mut engine = Engine::new(&mut executor, &mut writer, &interrupt, &mut watch, record);
    if resumed {
        engine.resume().unwrap();
    } else {
        engine.begin(&[]).unwrap();
    }
    engine.measure().unwrap()
}

pub fn read(path: &Path) -> Record {
    read_record(fs::File::open(path).unwrap()).unwrap()
}
