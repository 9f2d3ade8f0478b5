//! The paper's machines, simulated and measured without noise.

use nearfar_model::{Latency, Pairs, RecordFigures, Strategy, latency, pairs, strategy};
use nearfar_record::{Experiment, Inputs, Suite};

use crate::error::{ReproduceError, refused};
use crate::simulated_record::{measure, rounds, simulated};

/// What a machine's record says.
#[derive(Debug, Clone)]
pub struct Measured {
    pub(super) matrix: Pairs,
    pub(super) latency: Latency,
    pub(super) strategy: Strategy,
}

impl Measured {
    pub(super) fn of(name: &str) -> Result<Self, ReproduceError> {
        let experiments = vec![Experiment::Pairs, Experiment::Roofs, Experiment::Latency];
        let kernels = Some(vec!["load".into(), "store".into()]);
        // Without noise one round says all.
        let inputs = Inputs { kernels, ..rounds(experiments, 1, Suite::Standard) };
        let record = measure(&simulated(name)?, inputs, false)?;
        let figures = RecordFigures::new(&record);
        Ok(Self {
            matrix: pairs(&figures),
            latency: latency(&figures).map_err(refused(format!("latency of {name}")))?,
            strategy: strategy(&figures).map_err(refused(format!("strategies on {name}")))?,
        })
    }
}
