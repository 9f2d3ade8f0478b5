//! A. Vladimirov, Terabyte RAM Servers: Memory Bandwidth Benchmark and How to Boost RAM Bandwidth
//! by 20% with a Single Command (2012): runs of STREAM's copy by threads and affinity.

mod facts;
mod rows;
mod runs;

pub use facts::Facts;
pub use runs::Runs;

use crate::error::ReproduceError;
use crate::paper::PaperFacts;
use crate::row::Row;

pub(crate) const KEY: &str = "vladimirov2012";

impl PaperFacts for Facts {
    const KEY: &'static str = KEY;
    const FILE: &'static str = include_str!("../../papers/vladimirov2012.json");
    type Measured = Runs;

    fn check(&self) -> Result<(), String> {
        self.check_fit()
    }

    fn measure(&self) -> Result<Runs, ReproduceError> {
        Runs::measure(self)
    }

    fn rows(&self, runs: &Runs) -> Result<Vec<Row>, ReproduceError> {
        rows::rows(self, runs)
    }
}
