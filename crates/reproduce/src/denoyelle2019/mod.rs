//! N. Denoyelle et al., Modeling Non-Uniform Memory Access on Large Compute Nodes with the
//! Cache-Aware Roofline Model (2019): tables 1 to 6, what sections 4 and 5 say of peaks and
//! errors.

mod facts;
mod instructions;
mod machines;
mod overlap;
mod roofs;
mod validation;

pub use facts::Facts;
pub use machines::Measured;

use crate::error::ReproduceError;
use crate::paper::PaperFacts;
use crate::row::Row;

pub(crate) const KEY: &str = "denoyelle2019";

impl PaperFacts for Facts {
    const KEY: &'static str = KEY;
    const FILE: &'static str = include_str!("../../papers/denoyelle2019.json");
    type Measured = Measured;

    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    fn measure(&self) -> Result<Measured, ReproduceError> {
        Measured::of(self)
    }

    fn rows(&self, measured: &Measured) -> Result<Vec<Row>, ReproduceError> {
        let machines = &measured.roofs;
        let mut rows = roofs::machine_rows(self);
        for table in &self.instructions_per_cycle {
            rows.extend(instructions::rows(self, table, machines)?);
        }
        for table in &self.roofs {
            rows.extend(roofs::rows(self, table, machines)?);
        }
        rows.extend(roofs::pair_rows(&self.pairs, machines)?);
        rows.extend(validation::rows(&self.validation_error, machines)?);
        rows.extend(overlap::rows(&self.overlap_theta, &measured.overlaps)?);
        Ok(rows)
    }
}
