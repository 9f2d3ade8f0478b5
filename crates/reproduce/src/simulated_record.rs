//! A simulated machine, measured without noise by the engine into a record that is
//! only kept in memory.

use nearfar_flow::SimulatedMachine;
use nearfar_measure::simulated::{SimulateError, simulate};
use nearfar_measure::suite_inputs;
use nearfar_record::{Experiment, Inputs, Record, Suite};

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
    let inputs = Inputs {
        kernels: Some(vec![kernel.into()]),
        windows_per_round: 1,
        min_rounds: ROUNDS,
        max_rounds: ROUNDS,
        experiments: vec![Experiment::Pairs],
        ..suite_inputs(Suite::Full)
    };
    simulate(simulated, inputs, false)
}
