//! Small measurements of this machine.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nearfar_machine::{CpuSet, GroupBy, Machine, MemoryPolicy};
use nearfar_measure::native::NativeExecutor;
use nearfar_measure::{
    Engine, Executor, Failure, Interrupt, Window, WindowRequest, now_utc, read_environment,
    suite_inputs,
};
use nearfar_record::{
    Actor, Case, Executor as ExecutorKind, Experiment, Header, Inputs, Pages, Record, RecordWriter,
    Stream, Suite, TrafficMethod, read_record,
};
use nearfar_specimen::stream;

/// Bytes of the arrays.
pub const WORKING_SET: u64 = 8 << 20;

/// One measurement at a time: others would take its CPUs.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn machine() -> Machine {
    nearfar_topology::read_live(Path::new("/")).unwrap()
}

pub fn executor() -> NativeExecutor {
    let stores = TrafficMethod::EvasionPossible;
    NativeExecutor::new(machine(), stores, None, 7, Interrupt::default())
}

/// A kernel by one thread, pinned to a CPU.
pub fn case(kernel: &str, cpu: u32) -> Case {
    let node = machine().allowed_nodes.first().unwrap();
    let variants = nearfar_kernels::find(kernel).unwrap().variants();
    let (cpus, memory) = (CpuSet::single(cpu), MemoryPolicy::Preferred(node));
    let stream = Stream {
        working_set_bytes: WORKING_SET,
        llc_multiple: None,
        pages: Pages::Small,
        ..stream(kernel, &variants[0].to_string(), cpus, memory)
    };
    Case { id: kernel.into(), coordinates: Vec::new(), actors: vec![Actor::Stream(stream)] }
}

/// Runs a case in windows of 5 ms, one after the other.
pub fn run(executor: &mut NativeExecutor, case: &Case, count: u32) -> Result<Vec<Window>, Failure> {
    executor.begin_round(&[case]);
    let shortest = Duration::from_millis(5);
    executor.run(case, WindowRequest { round: 0, first: 0, count, shortest })
}

/// Inputs of a measurement that takes a fraction of a second.
pub fn inputs() -> Inputs {
    Inputs {
        experiments: vec![Experiment::Pairs],
        group_by: GroupBy::Memory,
        kernels: Some(vec!["load".into(), "triad".into()]),
        pages: Pages::Small,
        working_set_bytes: Some(WORKING_SET),
        window_ns: 5_000_000,
        windows_per_round: 2,
        min_rounds: 2,
        max_rounds: 2,
        ..suite_inputs(Suite::Quick)
    }
}

pub fn new_record() -> Record {
    Record::new(Header {
        environment: read_environment(Path::new("/")),
        ..Header::new("test", now_utc(), ExecutorKind::Native, inputs(), machine())
    })
}

/// Measures a new record by this executor, and reads it.
pub fn measure(path: &Path, executor: &mut dyn Executor) -> Record {
    let interrupt = Interrupt::default();
    let mut writer = RecordWriter::create(path, true).unwrap();
    let mut watch = |_: nearfar_measure::Status<'_>| {};
    let record = new_record();
    let mut engine = Engine::new(executor, &mut writer, &interrupt, &mut watch, record);
    engine.begin(&[]).unwrap();
    engine.measure().unwrap();
    read_record(std::fs::File::open(path).unwrap()).unwrap()
}
