//! The modes of runs.

use nearfar_record::Estimate;
use nearfar_stats::{Mode, ModeEvidence, Modes, find_modes, median};
use nearfar_units::{BytesPerSecond, Ratio};
use serde::Serialize;

/// What runs show of their modes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum RunModes {
    /// Too few runs to say anything.
    TooFewRuns,
    /// There may be more than one.
    NoMoreThanOneShown { evidence: ModeEvidence },
    /// There are at least as many as are listed.
    Shown {
        evidence: ModeEvidence,
        /// The slowest first.
        modes: Vec<RunMode>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunMode {
    /// Where runs are densest.
    #[serde(rename = "place_gb_per_s")]
    pub place: BytesPerSecond,
    /// Runs in it, as far as it is parted from the others.
    pub runs: usize,
    /// These as a fraction of the runs.
    pub share: Estimate<Ratio>,
}

/// Rates are counted in blocks of a window and so known to about this part of them.
const STEP: f64 = 1e-3;

/// Of the share of a mode.
const CONFIDENCE: f64 = 0.95;

impl RunModes {
    /// Of the runs of a case, bytes/s; `None` where one is no number.
    pub(super) fn of(runs: &[f64], case: &str) -> Option<Self> {
        let step = median(runs).map_or(0.0, |median| STEP * median.abs());
        let mode = |mode: &Mode| RunMode {
            // Densities reach beyond the values that they are made of.
            place: BytesPerSecond(mode.place.max(0.0)),
            runs: mode.values,
            share: Estimate {
                confidence: Some(CONFIDENCE),
                ..Estimate::computed(mode.share, mode.interval, vec![case.into()])
            },
        };
        Some(match find_modes(runs, step)? {
            Modes::TooFew => Self::TooFewRuns,
            Modes::NotShown(evidence) => Self::NoMoreThanOneShown { evidence },
            Modes::Shown(evidence, modes) => {
                Self::Shown { evidence, modes: modes.iter().map(mode).collect() }
            }
        })
    }

    /// Those that are shown, the slowest first.
    pub fn shown(&self) -> &[RunMode] {
        match self {
            Self::Shown { modes, .. } => modes,
            Self::TooFewRuns | Self::NoMoreThanOneShown { .. } => &[],
        }
    }
}
