//! What `papers/vladimirov2012.json` holds.

use nearfar_record::Affinity;
use serde::Deserialize;

use super::KEY;
use crate::error::{ReproduceError, contradiction};
use crate::printed::Unit;

/// What `papers/vladimirov2012.json` holds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    pub(super) machine: MachineFacts,
    pub(super) method: MethodFacts,
    pub(super) scaling: ScalingFacts,
    pub(super) findings: FindingFacts,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct MachineFacts {
    /// Of the simulated machine.
    pub name: String,
    pub packages: u32,
    pub cores_per_package: u32,
    /// Hardware threads of each core.
    pub threads_per_core: u32,
    pub ghz: f64,
    /// Memory, 1e12 bytes.
    pub memory_tb: f64,
    /// Transfers of the memory, 1e6/s.
    pub memory_mt_per_s: f64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct MethodFacts {
    /// Of each array, 1e6 bytes.
    pub array_mb: f64,
    pub threads: Vec<u32>,
    /// Width of a histogram's bin.
    pub bin_gb_per_s: f64,
}

/// Figures of the runs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct ScalingFacts {
    pub machine: String,
    pub kernel: String,
    pub unit: Unit,
    /// Of each count and affinity.
    pub runs: u32,
    /// By threads and affinity.
    pub rows: Vec<ScalingRow>,
    pub best_scatter: BestScatter,
}

/// Runs of this many threads of one affinity; what is not printed is absent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct ScalingRow {
    pub threads: u32,
    /// How they are spread.
    pub affinity: Affinity,
    pub mean: f64,
    #[serde(default)]
    pub sd: Option<f64>,
    #[serde(default)]
    pub min: Option<f64>,
    #[serde(default)]
    pub max: Option<f64>,
    /// Where the histogram has its modes.
    #[serde(default)]
    pub modes: Vec<f64>,
}

/// The best scattered runs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct BestScatter {
    pub mean: f64,
    pub sd: f64,
}

/// What the paper concludes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct FindingFacts {
    /// What scattered threads gain on average, about.
    pub scatter_gain_percent: f64,
    /// Where the highest mode of unbound threads is, about.
    pub high_mode_gb_per_s: f64,
    /// What 20 compact threads have, about.
    pub compact_gb_per_s: f64,
}

impl Facts {
    /// The unbound runs that have modes, which the findings are about.
    ///
    /// # Errors
    /// When there are none.
    pub(super) fn unbound(&self) -> Result<&ScalingRow, ReproduceError> {
        let what = "no row of unbound threads has modes";
        self.runs_with_modes().ok_or_else(|| contradiction(KEY, what))
    }

    fn runs_with_modes(&self) -> Option<&ScalingRow> {
        let mut rows = self.scaling.rows.iter();
        rows.find(|row| row.affinity == Affinity::Unbound && !row.modes.is_empty())
    }

    pub(super) fn check_fit(&self) -> Result<(), String> {
        if self.machine.name != self.scaling.machine {
            return Err("it names two machines".into());
        }
        let Some(unbound) = self.runs_with_modes() else {
            return Err("no row of unbound threads has modes".into());
        };
        for row in &self.scaling.rows {
            let ends = (row.min.unwrap_or(row.mean), row.max.unwrap_or(row.mean));
            let mut all = row.modes.iter().chain([&row.mean]);
            let inside = all.all(|value| (ends.0..=ends.1).contains(value));
            if !(row.mean > 0.0 && (row.modes.is_empty() || inside)) {
                return Err(format!("{} threads have figures outside of their ends", row.threads));
            }
            if !self.method.threads.contains(&row.threads) {
                return Err(format!("{} threads were not run", row.threads));
            }
        }
        if !unbound.modes.contains(&self.findings.high_mode_gb_per_s) {
            return Err("the high mode is none of the modes".into());
        }
        Ok(())
    }
}
