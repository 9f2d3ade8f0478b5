//! The paper's machines, simulated and measured without noise.

use std::collections::BTreeMap;

use nearfar_model::{Latency, Pairs, RecordFigures, Strategy, latency, pairs, strategy};
use nearfar_record::{Experiment, Inputs, Suite};

use super::KEY;
use super::facts::Facts;
use crate::error::{ReproduceError, contradiction, refused};
use crate::simulated_record::{measure, rounds, simulated};

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
        let found = self.0.get(name);
        found.ok_or_else(|| contradiction(KEY, format!("the machine {name} was not measured")))
    }
}

impl Measured {
    fn measure(name: &str) -> Result<Self, ReproduceError> {
        let experiments = vec![Experiment::Pairs, Experiment::Roofs, Experiment::Latency];
        let kernels = Some(vec!["load".into(), "store".into()]);
        // Without noise one round says all.
        let inputs = Inputs { kernels, ..rounds(experiments, 1, Suite::Standard) };
        let record = measure(&simulated(name)?, inputs, false)?;
        let figures = RecordFigures::new(&record);
        Ok(Self {
            matrix: pairs(&RecordFigures::new(&record)),
            latency: latency(&figures).map_err(refused(format!("latency of {name}")))?,
            strategy: strategy(&figures).map_err(refused(format!("strategies on {name}")))?,
        })
    }
}
