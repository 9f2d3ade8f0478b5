//! What `papers/vladimirov2012.json` holds.

use nearfar_record::Affinity;
use serde::Deserialize;

use super::KEY;
use crate::error::ReproduceError;
use crate::printed::Unit;

/// What `papers/vladimirov2012.json` holds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// The paper's key.
    pub key: String,
    /// Author, title, place and year.
    pub title: String,
    pub machine: MachineFacts,
    pub method: MethodFacts,
    /// Figures of the runs.
    pub scaling: ScalingFacts,
    /// What the paper concludes.
    pub findings: FindingFacts,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineFacts {
    /// Of the simulated machine.
    pub name: String,
    pub cpu: String,
    pub packages: u32,
    pub cores_per_package: u32,
    /// Hardware threads of each core.
    pub threads_per_core: u32,
    /// Clock.
    pub ghz: f64,
    /// Memory, 1e12 bytes.
    pub memory_tb: f64,
    /// Transfers of the memory, 1e6/s.
    pub memory_mt_per_s: f64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MethodFacts {
    /// The program.
    pub benchmark: String,
    /// Of each array, 1e6 bytes.
    pub array_mb: f64,
    /// Thread counts.
    pub threads: Vec<u32>,
    /// Width of a histogram's bin.
    pub bin_gb_per_s: f64,
}

/// Figures of the runs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScalingFacts {
    /// The simulated machine.
    pub machine: String,
    pub kernel: String,
    /// Of all figures.
    pub unit: Unit,
    /// Of each count and affinity.
    pub runs: u32,
    /// By threads and affinity.
    pub rows: Vec<ScalingRow>,
    /// The best scattered runs.
    pub best_scatter: BestScatter,
}

/// Runs of so many threads of one affinity; what is not printed is absent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScalingRow {
    pub threads: u32,
    /// How they are spread.
    pub affinity: Affinity,
    pub mean: f64,
    /// Standard deviation.
    #[serde(default)]
    pub sd: Option<f64>,
    /// Smallest.
    #[serde(default)]
    pub min: Option<f64>,
    /// Largest.
    #[serde(default)]
    pub max: Option<f64>,
    /// Where the histogram has its modes.
    #[serde(default)]
    pub modes: Vec<f64>,
}

/// The best scattered runs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BestScatter {
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
}

/// What the paper concludes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindingFacts {
    /// What scattered threads gain on average, about.
    pub scatter_gain_percent: f64,
    /// Where the highest mode of unbound threads is, about.
    pub high_mode_gb_per_s: f64,
    /// What 20 compact threads have, about.
    pub compact_gb_per_s: f64,
}

/// The paper's numbers.
///
/// # Errors
/// When the file is not of the form that the program knows, or contradicts itself.
pub fn facts() -> Result<Facts, ReproduceError> {
    Facts::parse(include_str!("../../../../papers/vladimirov2012.json"))
}

impl Facts {
    /// Reads a file's text.
    ///
    /// # Errors
    /// As [`facts`].
    pub fn parse(text: &str) -> Result<Self, ReproduceError> {
        let facts: Self = serde_json::from_str(text)
            .map_err(|source| ReproduceError::Facts { key: KEY.into(), source })?;
        facts.check()?;
        Ok(facts)
    }

    /// The unbound runs that have modes, which the findings are about.
    ///
    /// # Errors
    /// When there are none.
    pub(super) fn unbound(&self) -> Result<&ScalingRow, ReproduceError> {
        let rows = self.scaling.rows.iter();
        let mut unbound =
            rows.filter(|row| row.affinity == Affinity::Unbound && !row.modes.is_empty());
        unbound.next().ok_or_else(|| contradiction("no row of unbound threads has modes"))
    }

    fn check(&self) -> Result<(), ReproduceError> {
        if self.key != KEY {
            return Err(contradiction(format!("its key is {}", self.key)));
        }
        if self.machine.name != self.scaling.machine {
            return Err(contradiction("it names two machines"));
        }
        let unbound = self.unbound()?;
        for row in &self.scaling.rows {
            let ends = (row.min.unwrap_or(row.mean), row.max.unwrap_or(row.mean));
            let mut all = row.modes.iter().chain([&row.mean]);
            let inside = all.all(|value| (ends.0..=ends.1).contains(value));
            if !(row.mean > 0.0 && (row.modes.is_empty() || inside)) {
                let what = format!("{} threads have figures outside of their ends", row.threads);
                return Err(contradiction(what));
            }
            if !self.method.threads.contains(&row.threads) {
                return Err(contradiction(format!("{} threads were not run", row.threads)));
            }
        }
        if !unbound.modes.contains(&self.findings.high_mode_gb_per_s) {
            return Err(contradiction("the high mode is none of the modes"));
        }
        Ok(())
    }
}

pub(super) fn contradiction(what: impl Into<String>) -> ReproduceError {
    ReproduceError::Contradiction { key: KEY.into(), what: what.into() }
}
