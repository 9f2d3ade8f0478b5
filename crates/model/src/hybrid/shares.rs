//! How loads, stores and pages are shared out over two memories.

use nearfar_machine::MOST_PAGES_IN_TURN;
use nearfar_record::PageSplit;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// Shares of a program's bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridShares {
    /// Share of loads in all bytes, 0 to 1.
    pub load_share: f64,
    /// Share of the read buffers that is in the fast memory, 0 to 1; null where nothing is read.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub load_fast_share: f64,
    /// Share of the written buffers that is in the fast memory, 0 to 1; null where nothing is
    /// written.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub store_fast_share: f64,
}

/// The share of buffers that are not there is null.
impl Serialize for HybridShares {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut shares = serializer.serialize_struct("HybridShares", 3)?;
        shares.serialize_field("load_share", &self.load_share)?;
        shares.serialize_field("load_fast_share", &self.of_reads())?;
        shares.serialize_field("store_fast_share", &self.of_writes())?;
        shares.end()
    }
}

impl HybridShares {
    /// Both kinds of buffers shared out alike.
    pub fn together(load_share: f64, fast_share: f64) -> Self {
        Self { load_share, load_fast_share: fast_share, store_fast_share: fast_share }
    }

    /// Share of each kind of transfer in all bytes, in the order of
    /// [`nearfar_record::TransferKind::ALL`].
    pub fn by_kind(&self) -> [f64; 4] {
        let (loads, stores) = (self.load_share, 1.0 - self.load_share);
        [
            loads * self.load_fast_share,
            stores * self.store_fast_share,
            loads * (1.0 - self.load_fast_share),
            stores * (1.0 - self.store_fast_share),
        ]
    }

    /// Share of all bytes in the fast memory, 0 to 1.
    pub fn fast_share(&self) -> f64 {
        let [fast_loads, fast_stores, ..] = self.by_kind();
        fast_loads + fast_stores
    }

    /// Share of what is read that is in the fast memory; `None` where nothing is.
    pub fn of_reads(&self) -> Option<f64> {
        (self.load_share > 0.0).then_some(self.load_fast_share)
    }

    /// Share of what is written that is in the fast memory; `None` where nothing is.
    pub fn of_writes(&self) -> Option<f64> {
        (self.load_share < 1.0).then_some(self.store_fast_share)
    }

    /// Whether one share is for all buffers, or only one kind of buffers is there.
    pub fn are_one(&self) -> bool {
        let is_mixed = self.load_share > 0.0 && self.load_share < 1.0;
        !is_mixed || (self.load_fast_share - self.store_fast_share).abs() < 1e-9
    }

    /// Whether all are between 0 and 1.
    pub(crate) fn are_sound(&self) -> bool {
        [self.load_share, self.load_fast_share, self.store_fast_share]
            .iter()
            .all(|share| (0.0..=1.0).contains(share))
    }
}

/// The weights of two memories that come nearest to a share of the fast one, 0 to 1; of equally
/// near ones the smallest.
pub fn page_weights(fast_share: f64) -> PageSplit {
    let share = fast_share.clamp(0.0, 1.0);
    match nearfar_machine::page_weights(&[share, 1.0 - share])[..] {
        [fast, slow] if fast + slow > 0 => PageSplit { fast, slow },
        _ => PageSplit { fast: 0, slow: 1 },
    }
}

/// All weights of a sum of at most 64, those nearest to a share first, of equally near ones the
/// smallest; without those that smaller ones divide.
pub(super) fn nearest_weights(fast_share: f64) -> impl Iterator<Item = PageSplit> {
    let share = fast_share.clamp(0.0, 1.0);
    let splits = (1..=MOST_PAGES_IN_TURN)
        .flat_map(|sum| (0..=sum).map(move |fast| PageSplit { fast, slow: sum - fast }));
    let off = |split: &PageSplit| (share - split.fast_share()).abs();
    let mut splits: Vec<PageSplit> =
        splits.filter(|split| has_no_divisor(split.fast, split.slow)).collect();
    splits.sort_by(|one, other| off(one).total_cmp(&off(other)));
    splits.into_iter()
}

/// Euclid: whether nothing but 1 divides both.
fn has_no_divisor(one: u32, other: u32) -> bool {
    let (mut larger, mut smaller) = (one, other);
    while smaller != 0 {
        (larger, smaller) = (smaller, larger % smaller);
    }
    larger == 1
}
