//! A simulated machine's record from its first line to its last.

use std::collections::BTreeMap;

use nearfar_flow::SimulatedMachine;
use nearfar_record::{
    Cpu, DeviceInputs, Environment, Executor, Experiment, Header, Inputs, Record, RecordWriter,
    Simulation,
};

use super::{SimulateError, SimulatedExecutor};
use crate::engine::Engine;
use crate::executor::Interrupt;
use crate::utc::now_utc;

/// A record of a simulated machine with nothing computed yet.
pub fn new_record(simulated: &SimulatedMachine, inputs: Inputs, noise: bool) -> Record {
    let machine = simulated.machine.clone();
    let inputs = with_devices(simulated, inputs);
    let memory_bytes = machine.nodes.iter().map(|node| node.memory_bytes).sum();
    let model_name = machine.packages.first().and_then(|package| package.model.clone());
    let host = format!("simulated-{}", simulated.name);
    Record::new(Header {
        simulation: Some(Simulation {
            name: simulated.name.clone(),
            title: simulated.title.clone(),
            noise,
            file: simulated.text.clone(),
        }),
        environment: Environment {
            cpu: Cpu { model_name, ..Cpu::default() },
            architecture: "simulated".into(),
            memory_bytes,
            available_bytes: memory_bytes,
            unknown: BTreeMap::from([(
                "environment".into(),
                "a simulated machine has no system around it".into(),
            )]),
            ..Environment::default()
        },
        ..Header::new(host, now_utc(), Executor::Simulated, inputs, machine)
    })
}

/// The same inputs with the machine's devices, where they are measured.
pub fn with_devices(simulated: &SimulatedMachine, inputs: Inputs) -> Inputs {
    let measures_devices = inputs.experiments.contains(&Experiment::Devices);
    let devices = measures_devices.then(|| DeviceInputs {
        accelerators: simulated.devices.iter().map(|it| it.accelerator.clone()).collect(),
        absent: Vec::new(),
    });
    Inputs { devices, ..inputs }
}

/// Works out all that a record asks for, into memory only.
///
/// # Errors
/// When the machine's file speaks of a kernel that there is not, or a line cannot be put into
/// JSON.
pub fn simulate(
    simulated: &SimulatedMachine,
    inputs: Inputs,
    noise: bool,
) -> Result<Record, SimulateError> {
    let interrupt = Interrupt::default();
    let seed = inputs.seed;
    let record = new_record(simulated, inputs, noise);
    let mut executor = SimulatedExecutor::new(simulated.clone(), noise, seed, interrupt.clone())?;
    let mut writer = RecordWriter::nowhere();
    let mut watch = |_: crate::Status<'_>| {};
    let mut engine = Engine::new(&mut executor, &mut writer, &interrupt, &mut watch, record);
    engine.begin(&[])?;
    Ok(engine.measure()?.record)
}
