//! The runs of the simulated machine, measured by the engine, and what the model says of them.

use nearfar_flow::Outliers;
use nearfar_measure::suite_inputs;
use nearfar_model::{
    CaseDistribution, Distribution, KernelDistribution, RecordFigures, RunDistribution, RunMode,
    RunModes, distribution,
};
use nearfar_record::{Affinity, Experiment, Inputs, Suite};

use super::KEY;
use super::facts::Facts;
use crate::error::{ReproduceError, contradiction, refused};
use crate::simulated_record::{measure, simulated};

/// Of the order of the cases and of the noise.
const SEED: u64 = 1;

/// The model of the machine's runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Runs {
    model: Distribution,
    /// The low windows of the machine that was measured.
    pub(super) outliers: Outliers,
}

impl Runs {
    /// The paper's kernel, as often as the paper ran it, with the machine's noise.
    pub(super) fn measure(facts: &Facts) -> Result<Self, ReproduceError> {
        let simulated = simulated(&facts.scaling.machine)?;
        let inputs = Inputs {
            experiments: vec![Experiment::Scaling],
            kernels: Some(vec![facts.scaling.kernel.clone()]),
            runs: facts.scaling.runs,
            seed: SEED,
            ..suite_inputs(Suite::Standard)
        };
        let record = measure(&simulated, inputs, true)?;
        let model = distribution(&RecordFigures::new(&record))
            .map_err(refused(format!("the distribution of runs of {}", simulated.name)))?;
        Ok(Self { model, outliers: simulated.noise.outliers })
    }

    /// Of the paper's kernel.
    pub(super) fn kernel(&self) -> Result<&KernelDistribution, ReproduceError> {
        self.model.kernels.first().ok_or_else(|| contradiction(KEY, "there is no such kernel"))
    }

    /// Of this many threads of one affinity.
    pub(super) fn of(
        &self,
        threads: u32,
        affinity: Affinity,
    ) -> Result<Option<&RunDistribution>, ReproduceError> {
        let is_there =
            |case: &&CaseDistribution| (case.threads, case.affinity) == (threads, affinity);
        let case = self.kernel()?.cases.iter().find(is_there).ok_or_else(|| {
            contradiction(KEY, format!("no runs of {threads} threads, {}", affinity.as_str()))
        })?;
        Ok(case.runs.found())
    }
}

/// The modes that are shown, the lowest first.
pub(super) fn shown_modes(runs: Option<&RunDistribution>) -> &[RunMode] {
    runs.and_then(|runs| runs.modes.as_ref()).map_or(&[], RunModes::shown)
}
