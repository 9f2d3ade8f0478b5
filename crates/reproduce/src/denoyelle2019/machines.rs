//! The paper's machines, simulated and measured.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_model::{RecordFigures, RoofFigures, Roofline, roofline, roofs};
use nearfar_record::{Experiment, Inputs, Roof, RoofPurpose, Suite};

use crate::error::{ReproduceError, contradiction, refused};
use crate::simulated_record::{measure, rounds, simulated};

use super::KEY;
use super::facts::Facts;

/// Rounds with noise: as many as the engine takes of a case at least.
const NOISY_ROUNDS: u32 = 6;

/// The simulated machines by name, and what their records say.
#[derive(Debug)]
pub struct Machines(BTreeMap<String, Measured>);

/// A simulated machine and what its records say.
#[derive(Debug)]
pub(super) struct Measured {
    /// Of a record without noise.
    pub roofs: Vec<RoofFigures>,
    /// The same, with the simulated machine's noise.
    pub noisy: Roofline,
}

impl Machines {
    /// Measures `roofs` on every machine that a table is of: all initiators, nodes and numbers of
    /// initiators, loads and stores.
    ///
    /// # Errors
    /// When there is no such simulated machine, or it cannot be measured.
    pub fn measure(facts: &Facts) -> Result<Self, ReproduceError> {
        let names: BTreeSet<&String> = facts.roofs.iter().map(|table| &table.machine).collect();
        let mut machines = BTreeMap::new();
        for name in names {
            machines.insert(name.clone(), Measured::measure(name)?);
        }
        Ok(Self(machines))
    }

    pub(super) fn find(&self, name: &str) -> Result<&Measured, ReproduceError> {
        let found = self.0.get(name);
        found.ok_or_else(|| contradiction(KEY, format!("no table gives the roofs of {name}")))
    }
}

impl Measured {
    fn measure(name: &str) -> Result<Self, ReproduceError> {
        let machine = simulated(name)?;
        let record_of = |count: u32, noise: bool| {
            let kernels = Some(["load", "store"].map(String::from).to_vec());
            let inputs = rounds(vec![Experiment::Roofs], count, Suite::Full);
            measure(&machine, Inputs { kernels, ..inputs }, noise)
        };
        let (exact, noisy) = (record_of(1, false)?, record_of(NOISY_ROUNDS, true)?);
        let noisy = roofline(&RecordFigures::new(&noisy))
            .map_err(refused(format!("the roofline model of {name}")))?;
        Ok(Self { roofs: roofs(&RecordFigures::new(&exact)), noisy })
    }

    /// The best variant of a roof.
    pub fn roof(&self, initiator: u32, roof: Roof, kernel: &str) -> Option<&RoofFigures> {
        let rate = |of: &RoofFigures| {
            let summary = of.bandwidth.as_ref().or(of.flops.as_ref());
            summary.map_or(0.0, |summary| summary.sum.median)
        };
        let is_wanted = |of: &&RoofFigures| {
            (of.place.initiator, of.place.roof, of.place.kernel.as_str())
                == (initiator, roof, kernel)
                && of.place.purpose == RoofPurpose::Roof
        };
        self.roofs.iter().filter(is_wanted).max_by(|one, other| rate(one).total_cmp(&rate(other)))
    }

    /// Useful bytes/s of a roof by the best variant.
    pub fn bandwidth(&self, initiator: u32, roof: Roof, kernel: &str) -> Option<f64> {
        Some(self.roof(initiator, roof, kernel)?.bandwidth.as_ref()?.sum.median)
    }
}
