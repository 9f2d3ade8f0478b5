//! R. K. Braithwaite, NUMA Data-Access Bandwidth Characterization and Modeling (2012):
//! tables 3.2 to 6.1 and A.2 to A.6, equations 4.10 to 4.18, section 6.3.

mod alphas;
mod cbench;
mod data_access;
mod facts;
mod machines;
mod programs;
mod reason;
mod run_statistics;
mod stream_classes;

pub use facts::Facts;
pub use machines::Measured;

use crate::error::ReproduceError;
use crate::paper::PaperFacts;
use crate::row::Row;

pub(crate) const KEY: &str = "braithwaite2012";

impl PaperFacts for Facts {
    const KEY: &'static str = KEY;
    const FILE: &'static str = include_str!("../../papers/braithwaite2012.json");
    type Measured = Measured;

    fn check(&self) -> Result<(), String> {
        self.check_digits()
    }

    fn measure(&self) -> Result<Measured, ReproduceError> {
        Measured::of(self)
    }

    fn rows(&self, measured: &Measured) -> Result<Vec<Row>, ReproduceError> {
        let mut rows = Vec::from(conventions(self));
        rows.extend(run_statistics::rows(&self.run_statistics));
        rows.extend(stream_classes::rows(self, "3.4", measured)?);
        rows.extend(alphas::absolute_rows(self, measured)?);
        rows.extend(data_access::rows(self, measured)?);
        let (chapter_5, appendix): (Vec<_>, Vec<_>) =
            self.cbench.iter().partition(|matrix| matrix.classes_table.starts_with('5'));
        rows.extend(cbench::rows(self, &chapter_5, measured)?);
        rows.extend(alphas::relative_rows(self, measured)?);
        rows.extend(programs::rows(self, measured)?);
        rows.extend(stream_classes::rows(self, "A.2", measured)?);
        rows.extend(cbench::rows(self, &appendix, measured)?);
        rows.extend(stream_classes::asymmetry_rows(&self.asymmetry, measured)?);
        Ok(rows)
    }
}

fn conventions(facts: &Facts) -> [Row; 2] {
    [
        Row::given(
            "convention, gamma, one channel of DDR3-2133, GB/s".into(),
            facts.gamma_gb_per_s,
            "an input: what alphas of memory are relative to",
        ),
        Row::given(
            "convention, phi, PCIe 2.0 x16, GB/s".into(),
            facts.phi_gb_per_s,
            "an input: what alphas of transfers are relative to; the link carries 8.0 GB/s each way",
        ),
    ]
}
