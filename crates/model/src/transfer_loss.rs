//! What copies keep of their bandwidth beside what else runs, and what that keeps beside them.
//! Units: fractions of what each moves alone in the same record.
//! Source: ours. Holds for the loads that ran; nothing is extrapolated.

use nearfar_record::{CaseSummary, TransferCoordinates};

use crate::transfers::TransferFigures;

/// Copies at a place, and what ran at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct TransferLoss {
    /// Where it stands; its `beside` says what ran at the same time.
    pub place: TransferCoordinates,
    /// What the copies keep; `None` where they were not measured both ways.
    pub copies_kept: Option<KeptShare>,
    /// What the other keeps; `None` likewise.
    pub other_kept: Option<KeptShare>,
}

/// A share that is kept: what is moved beside / what is moved alone, medians over rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeptShare {
    /// The share; above 1 where noise, or the machine, has it so.
    pub share: f64,
    /// The same with both medians at the far ends of their intervals.
    pub interval: (f64, f64),
}

/// What each case with something beside a transfer says.
#[must_use]
pub fn transfer_losses(transfers: &[TransferFigures]) -> Vec<TransferLoss> {
    let loss = |transfer: &TransferFigures| {
        let beside = transfer.beside.as_ref()?;
        Some(TransferLoss {
            place: transfer.place.clone(),
            copies_kept: kept(transfer.by_host.as_ref(), beside.transfer_alone.as_ref()),
            other_kept: kept(beside.beside.as_ref(), beside.alone.as_ref()),
        })
    };
    transfers.iter().filter_map(loss).collect()
}

fn kept(beside: Option<&CaseSummary>, alone: Option<&CaseSummary>) -> Option<KeptShare> {
    let (beside, alone) = (beside?.sum, alone?.sum);
    // What moves nothing alone keeps no share of it.
    let is_sound = alone.median > 0.0 && alone.interval.0 > 0.0;
    let kept = KeptShare {
        share: beside.median / alone.median,
        interval: (beside.interval.0 / alone.interval.1, beside.interval.1 / alone.interval.0),
    };
    let all = [kept.share, kept.interval.0, kept.interval.1];
    (is_sound && all.iter().all(|it| it.is_finite())).then_some(kept)
}
