//! A cell of a grid: n local beside m remote threads.

use nearfar_record::{CaseSummary, Estimate};
use nearfar_units::BytesPerSecond;
use serde::Serialize;

use super::law::Shares;
use super::lone_curve::Support;
use crate::sharing_grid::SharingCell;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeasuredCell {
    /// Both groups.
    #[serde(rename = "total_gb_per_s")]
    pub total: Estimate<BytesPerSecond>,
    /// Threads x the slowest of all.
    #[serde(rename = "paced_gb_per_s")]
    pub paced: Estimate<BytesPerSecond>,
    /// The local group; null without local threads.
    #[serde(rename = "local_gb_per_s")]
    pub local: Option<Estimate<BytesPerSecond>>,
    /// The remote group; null without remote threads.
    #[serde(rename = "remote_gb_per_s")]
    pub remote: Option<Estimate<BytesPerSecond>>,
    /// Remote / total; null where nothing moved.
    pub beta: Option<f64>,
}

/// A cell of a grid.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedCell {
    /// n.
    pub local_threads: u32,
    /// m.
    pub remote_threads: u32,
    /// What was measured; null for a cell that is only predicted.
    pub measured: Option<MeasuredCell>,
    /// By the law that is reported; of a cell with one group its lone figure, and null where that
    /// was measured.
    pub predicted: Option<Shares>,
    /// Both groups by that law, and where that lies.
    #[serde(rename = "predicted_total_gb_per_s")]
    pub predicted_total: Option<Estimate<BytesPerSecond>>,
    /// By the other law; null with one group.
    pub by_other_law: Option<Shares>,
    /// predicted / measured - 1 of the total, or null.
    pub total_error: Option<f64>,
    /// Whether it was measured, lies between cells that were fitted, or beyond.
    pub support: Support,
    /// Where the lone figures of the prediction come from: the worse of the two.
    pub lone_support: Support,
    /// By how much the two laws differ at most in a group or the total, a fraction; null with one
    /// group.
    pub law_difference: Option<f64>,
    /// Whether it was not measured and the laws differ so much that it should be.
    pub is_worth_measuring: bool,
    /// Why a cell of the plan has no figures; null for all others.
    pub why_absent: Option<String>,
}

impl SharedCell {
    /// What each group gets: measured, or else predicted.
    pub fn shares(&self) -> Option<Shares> {
        self.measured.as_ref().map(MeasuredCell::sums).or(self.predicted)
    }
}

impl MeasuredCell {
    pub(super) fn of(cell: &SharingCell) -> Option<Self> {
        let sum = |group: &Option<CaseSummary>| {
            group.as_ref().map(|it| Estimate::of_rounds(&it.sum, &cell.case.id))
        };
        let mut measured = Self {
            total: sum(&cell.total)?,
            paced: Estimate::of_rounds(&cell.total.as_ref()?.paced, &cell.case.id),
            local: sum(&cell.local),
            remote: sum(&cell.remote),
            beta: None,
        };
        measured.beta = Some(measured.sums().beta()).filter(|beta| beta.is_finite());
        Some(measured)
    }

    /// A group that is not there moves nothing.
    pub(super) fn sums(&self) -> Shares {
        let sum = |group: &Option<Estimate<BytesPerSecond>>| {
            group.as_ref().map_or(BytesPerSecond(0.0), |it| it.value)
        };
        Shares { local: sum(&self.local), remote: sum(&self.remote) }
    }

    /// Sums of both groups; `None` where one is missing or nothing moved.
    pub(super) fn shares(&self) -> Option<Shares> {
        let shares = self.sums();
        let moves = |sum: BytesPerSecond| sum.0 > 0.0 && sum.0.is_finite();
        (moves(shares.local) && moves(shares.remote)).then_some(shares)
    }
}

/// A prediction that can be off by this fraction.
pub(super) fn around(middle: f64, room: Option<f64>) -> Estimate<BytesPerSecond> {
    let ends = |room: f64| [middle * (1.0 - room).max(0.0), middle * (1.0 + room)];
    Estimate {
        value: middle.into(),
        interval: room.map(|room| ends(room).map(BytesPerSecond)),
        confidence: None,
        cases: Vec::new(),
    }
}
