//! A simulated machine, measured without noise by the engine into a record that is
//! only kept in memory.

use nearfar_flow::SimulatedMachine;
use nearfar_measure::simulated::{SimulateError, simulate};
use nearfar_measure::suite_inputs;
use nearfar_record::{DeviceInputs, Experiment, Inputs, Record, Suite};

/// Rounds of each case: the thesis takes the best of at least five runs.
const ROUNDS: u32 = 5;

/// Measures `pairs` with one kernel, all variants and all thread counts of the suite
/// `full`.
///
/// # Errors
/// When the machine's file speaks of a kernel that there is not, or a line of the record
/// cannot be put into JSON.
pub fn measure_simulated(
    simulated: &SimulatedMachine,
    kernel: &str,
) -> Result<Record, SimulateError> {
    let inputs = Inputs { kernels: Some(vec![kernel.into()]), ..inputs(Experiment::Pairs) };
    simulate(simulated, inputs, false)
}

/// Measures `devices` with the copies of the suite `full`, of which the largest are SHOC's 512
/// MiB.
///
/// # Errors
/// As [`measure_simulated`].
pub fn measure_simulated_devices(simulated: &SimulatedMachine) -> Result<Record, SimulateError> {
    let accelerators = simulated.devices.iter().map(|device| device.accelerator.clone()).collect();
    let devices = Some(DeviceInputs { accelerators, absent: Vec::new() });
    simulate(simulated, Inputs { devices, ..inputs(Experiment::Devices) }, false)
}

fn inputs(experiment: Experiment) -> Inputs {
    Inputs {
        windows_per_round: 1,
        min_rounds: ROUNDS,
        max_rounds: ROUNDS,
        experiments: vec![experiment],
        ..suite_inputs(Suite::Full)
    }
}
