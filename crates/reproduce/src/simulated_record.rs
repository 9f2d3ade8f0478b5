//! Simulated machines, measured by the engine into records that are only kept in memory.

use std::collections::BTreeMap;

use nearfar_flow::{SimulatedMachine, read_machine};
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_record::{DeviceInputs, Experiment, Inputs, Record, Suite};

use crate::error::{ReproduceError, contradiction, refused};

/// Rounds of each case: the thesis takes the best of at least five runs.
const ROUNDS: u32 = 5;

/// What was measured of a paper's machines, by the paper's names for them.
#[derive(Debug, Clone)]
pub struct Machines<Measured> {
    /// Of the paper.
    key: &'static str,
    measured: BTreeMap<String, Measured>,
}

impl<Measured> Machines<Measured> {
    /// Measures each of these machines once.
    pub(crate) fn measure<'n>(
        key: &'static str,
        names: impl Iterator<Item = &'n String>,
        measure: impl Fn(&str) -> Result<Measured, ReproduceError>,
    ) -> Result<Self, ReproduceError> {
        let mut measured = BTreeMap::new();
        for name in names {
            if !measured.contains_key(name) {
                measured.insert(name.clone(), measure(name)?);
            }
        }
        Ok(Self { key, measured })
    }

    pub(crate) fn find(&self, name: &str) -> Result<&Measured, ReproduceError> {
        let what = || format!("the machine {name} was not measured");
        self.measured.get(name).ok_or_else(|| contradiction(self.key, what()))
    }
}

/// A built-in machine.
pub(crate) fn simulated(name: &str) -> Result<SimulatedMachine, ReproduceError> {
    read_machine(name).map_err(refused(format!("the simulated machine {name}")))
}

/// The record of a machine, with its noise or without.
pub(crate) fn measure(
    machine: &SimulatedMachine,
    inputs: Inputs,
    noise: bool,
) -> Result<Record, ReproduceError> {
    let what = || format!("the record of the simulated machine {}", machine.name);
    simulate(machine, inputs, noise).map_err(refused(what()))
}

/// Experiments by this many rounds of one window each.
pub(crate) fn rounds(experiments: Vec<Experiment>, rounds: u32, suite: Suite) -> Inputs {
    Inputs {
        windows_per_round: 1,
        min_rounds: rounds,
        max_rounds: rounds,
        experiments,
        ..suite_inputs(suite)
    }
}

/// Measures `pairs` with one kernel, all variants and all thread counts of the suite
/// `full`, without noise.
///
/// # Errors
/// When the machine's file speaks of a kernel that there is not, or a line of the record
/// cannot be put into JSON.
pub fn measure_simulated(
    machine: &SimulatedMachine,
    kernel: &str,
) -> Result<Record, ReproduceError> {
    let inputs = rounds(vec![Experiment::Pairs], ROUNDS, Suite::Full);
    measure(machine, Inputs { kernels: Some(vec![kernel.into()]), ..inputs }, false)
}

/// Measures `devices` with the copies of the suite `full`, of which the largest are SHOC's 512
/// MiB.
///
/// # Errors
/// As [`measure_simulated`].
pub fn measure_simulated_devices(machine: &SimulatedMachine) -> Result<Record, ReproduceError> {
    let accelerators = machine.devices.iter().map(|device| device.accelerator.clone()).collect();
    let devices = Some(DeviceInputs { accelerators, absent: Vec::new() });
    let inputs = rounds(vec![Experiment::Devices], ROUNDS, Suite::Full);
    measure(machine, Inputs { devices, ..inputs }, false)
}
