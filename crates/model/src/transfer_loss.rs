//! What copies keep of their bandwidth beside what else runs, and what that keeps beside them.
//! Units: fractions of what each moves alone in the same record.
//! Source: ours. Holds for the loads that ran; nothing is extrapolated.

use nearfar_record::{CaseSummary, Estimate, TransferCoordinates};
use nearfar_units::Ratio;
use serde::Serialize;

use crate::transfers::{AloneFigures, TransferFigures};

/// Copies at a place, and what ran at the same time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransferLoss {
    /// Where it stands; its `beside` says what ran at the same time.
    #[serde(flatten)]
    pub place: TransferCoordinates,
    /// Part of what they move alone that the copies keep, by medians over rounds, above 1 where noise, or
    /// the machine, has it so; null where they were not measured both ways.
    pub copies_kept: Option<Estimate<Ratio>>,
    /// What the other keeps; null likewise.
    pub other_kept: Option<Estimate<Ratio>>,
}

/// What each case with something beside a transfer says.
pub fn transfer_losses(transfers: &[TransferFigures]) -> Vec<TransferLoss> {
    let loss = |transfer: &TransferFigures| {
        let beside = transfer.beside.as_ref()?;
        let kept = |beside, alone: &Option<AloneFigures>| {
            let AloneFigures { case, summary } = alone.as_ref()?;
            kept(beside, summary, vec![transfer.case.id.clone(), case.clone()])
        };
        Some(TransferLoss {
            place: transfer.place.clone(),
            copies_kept: kept(transfer.by_host.as_ref(), &beside.transfer_alone),
            other_kept: kept(beside.beside.as_ref(), &beside.alone),
        })
    };
    transfers.iter().filter_map(loss).collect()
}

/// The interval has both medians at the far ends of theirs.
fn kept(
    beside: Option<&CaseSummary>,
    alone: &CaseSummary,
    cases: Vec<String>,
) -> Option<Estimate<Ratio>> {
    let (beside, alone) = (beside?.sum, alone.sum);
    // What moves nothing alone keeps no share of it.
    let is_sound = alone.median > 0.0 && alone.interval.0 > 0.0;
    let interval = (beside.interval.0 / alone.interval.1, beside.interval.1 / alone.interval.0);
    let share = beside.median / alone.median;
    let all = [share, interval.0, interval.1];
    (is_sound && all.iter().all(|it| it.is_finite()))
        .then(|| Estimate::computed(share, interval, cases))
}
