//! The paper's machines, simulated and measured.

use nearfar_model::{
    HybridPair, OverlapBounds, RecordFigures, RoofFigures, Roofline, hybrid, roofline, roofs,
};
use nearfar_record::{Experiment, Inputs, Roof, RoofPurpose, Suite};

use crate::error::{ReproduceError, contradiction, refused};
use crate::simulated_record::{Machines, measure, rounds, simulated};

use super::KEY;
use super::facts::Facts;

/// Rounds with noise: as many as the engine takes of a case at least.
const NOISY_ROUNDS: u32 = 6;

/// What the records of the simulated machines say.
#[derive(Debug, Clone)]
pub struct Measured {
    pub(super) roofs: Machines<MeasuredRoofs>,
    pub(super) overlaps: Machines<MeasuredOverlap>,
}

/// The roofs of a machine: all initiators, nodes and numbers of initiators, loads and stores.
#[derive(Debug, Clone)]
pub struct MeasuredRoofs {
    /// Of a record without noise.
    pub(super) roofs: Vec<RoofFigures>,
    /// The same, with the simulated machine's noise.
    pub(super) noisy: Roofline,
}

/// The hybrid model of a machine's own sixteen points, with the whole surface beside them, of its
/// first initiator with two memories.
#[derive(Debug, Clone)]
pub struct MeasuredOverlap {
    /// Of a record without noise.
    pub(super) exact: HybridPair,
    /// The same, with the simulated machine's noise.
    pub(super) noisy: HybridPair,
}

impl Measured {
    pub(super) fn of(facts: &Facts) -> Result<Self, ReproduceError> {
        let with_roofs = facts.roofs.iter().map(|table| &table.machine);
        let with_overlap = facts.overlap_theta.machines.keys();
        Ok(Self {
            roofs: Machines::measure(KEY, with_roofs, MeasuredRoofs::of)?,
            overlaps: Machines::measure(KEY, with_overlap, |name| {
                let [exact, noisy] = [false, true].map(|noise| hybrid_of(name, noise));
                Ok(MeasuredOverlap { exact: exact?, noisy: noisy? })
            })?,
        })
    }
}

fn hybrid_of(name: &str, noise: bool) -> Result<HybridPair, ReproduceError> {
    let inputs = rounds(vec![Experiment::Hybrid], NOISY_ROUNDS, Suite::Full);
    let record = measure(&simulated(name)?, inputs, noise)?;
    let model = hybrid(&RecordFigures::new(&record), OverlapBounds::None)
        .map_err(refused(format!("the hybrid model of {name}")))?;
    let what = || format!("{name} has no two memories of one initiator");
    model.pairs.into_iter().next().ok_or_else(|| contradiction(KEY, what()))
}

impl MeasuredRoofs {
    fn of(name: &str) -> Result<Self, ReproduceError> {
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
    pub(super) fn roof(&self, initiator: u32, roof: Roof, kernel: &str) -> Option<&RoofFigures> {
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
    pub(super) fn bandwidth(&self, initiator: u32, roof: Roof, kernel: &str) -> Option<f64> {
        Some(self.roof(initiator, roof, kernel)?.bandwidth.as_ref()?.sum.median)
    }
}
