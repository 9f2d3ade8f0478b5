//! The paper's machines, simulated and measured without noise.

use std::collections::BTreeMap;

use nearfar_flow::read_machine;
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::{Latency, Pairs, RecordFigures, Strategy, latency, pairs, strategy};
use nearfar_record::{Experiment, Inputs, Suite};

use super::KEY;
use super::facts::Facts;
use crate::error::ReproduceError;

/// The machines by the paper's names.
#[derive(Debug, Clone, PartialEq)]
pub struct Machines(BTreeMap<String, Measured>);

/// What a machine's record says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    pub matrix: Pairs,
    pub latency: Latency,
    pub strategy: Strategy,
}

impl Machines {
    /// Measures every machine of the paper.
    ///
    /// # Errors
    /// When there is no such simulated machine, or it cannot be measured or modelled.
    pub fn measure(facts: &Facts) -> Result<Self, ReproduceError> {
        let mut machines = BTreeMap::new();
        for (name, machine) in &facts.machines {
            machines.insert(name.clone(), Measured::measure(&machine.simulated)?);
        }
        Ok(Self(machines))
    }

    pub(super) fn find(&self, name: &str) -> Result<&Measured, ReproduceError> {
        self.0.get(name).ok_or_else(|| ReproduceError::Contradiction {
            key: KEY.into(),
            what: format!("the machine {name} was not measured"),
        })
    }
}

impl Measured {
    fn measure(name: &str) -> Result<Self, ReproduceError> {
        let simulated = read_machine(name).map_err(|source| ReproduceError::Machine {
            machine: name.into(),
            source: Box::new(source),
        })?;
        // Without noise one round says all.
        let inputs = Inputs {
            kernels: Some(vec!["load".into(), "store".into()]),
            windows_per_round: 1,
            min_rounds: 1,
            max_rounds: 1,
            experiments: vec![Experiment::Pairs, Experiment::Roofs, Experiment::Latency],
            ..suite_inputs(Suite::Standard)
        };
        let record = simulate(&simulated, inputs, false)
            .map_err(|source| ReproduceError::Simulate { machine: name.into(), source })?;
        let figures = RecordFigures::new(&record);
        let without =
            |model| move |source| ReproduceError::Model { what: name.into(), model, source };
        Ok(Self {
            matrix: pairs(&RecordFigures::new(&record)),
            latency: latency(&figures).map_err(without("latency"))?,
            strategy: strategy(&figures).map_err(without("strategy"))?,
        })
    }
}
