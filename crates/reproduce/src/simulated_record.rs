//! A simulated machine, measured without noise by the engine into a record that is
//! only kept in memory.

use nearfar_flow::SimulatedMachine;
use nearfar_measure::simulated::SimulatedExecutor;
use nearfar_measure::{Engine, Interrupt, suite_inputs};
use nearfar_record::{
    Environment, Executor, Header, Inputs, Record, RecordWriter, SCHEMA, Simulation, Suite,
    Versions, WriteError,
};

/// Rounds of each case: the thesis takes the best of at least five runs.
const ROUNDS: u32 = 5;

/// Measures `pairs` with one kernel, all variants and all thread counts of the suite
/// `full`.
///
/// # Errors
/// When a line of the record cannot be put into JSON.
pub fn measure_simulated(simulated: &SimulatedMachine, kernel: &str) -> Result<Record, WriteError> {
    let interrupt = Interrupt::default();
    let record = Record::new(header(simulated, kernel));
    let seed = record.header.inputs.seed;
    let mut executor = SimulatedExecutor::new(simulated.clone(), false, seed, interrupt.clone());
    let mut writer = RecordWriter::nowhere();
    let mut watch = |_: nearfar_measure::Status<'_>| {};
    let mut engine = Engine::new(&mut executor, &mut writer, &interrupt, &mut watch, record);
    engine.begin(&[])?;
    Ok(engine.measure()?.record)
}

fn header(simulated: &SimulatedMachine, kernel: &str) -> Header {
    let machine = simulated.machine.clone();
    let memory_bytes = machine.nodes.iter().map(|node| node.memory_bytes).sum();
    Header {
        schema: SCHEMA.into(),
        versions: Versions { nearfar: env!("CARGO_PKG_VERSION").into(), hwloc: None },
        host: format!("simulated-{}", simulated.name),
        started: "2012-01-01T00:00:00Z".into(),
        executor: Executor::Simulated,
        simulation: Some(Simulation {
            name: simulated.name.clone(),
            title: simulated.title.clone(),
            noise: false,
            file: simulated.text.clone(),
        }),
        inputs: Inputs {
            kernels: Some(vec![kernel.into()]),
            windows_per_round: 1,
            min_rounds: ROUNDS,
            max_rounds: ROUNDS,
            ..suite_inputs(Suite::Full)
        },
        fingerprint: machine.fingerprint(),
        environment: Environment {
            memory_bytes,
            available_bytes: memory_bytes,
            ..Environment::default()
        },
        machine,
    }
}
