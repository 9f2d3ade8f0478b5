//! The hybrid model on records whose truth is known, and on such as strangers send.

mod advice;
mod bounds;
mod recovery;
mod strangers;
mod truth;

use nearfar_model::{Hybrid, HybridPair, Inapplicable, OverlapBounds, RecordFigures, hybrid};
use nearfar_record::Record;

fn model(record: &Record, bounds: OverlapBounds) -> Result<Hybrid, Inapplicable> {
    hybrid(&RecordFigures::new(record), bounds)
}

/// The only pair of a record.
fn pair(record: &Record, bounds: OverlapBounds) -> HybridPair {
    let model = model(record, bounds).unwrap();
    assert_eq!((model.pairs.len(), model.left_out.len()), (1, 0));
    model.pairs.into_iter().next().unwrap()
}

fn overlap(pair: &HybridPair, dominating: usize, beside: usize) -> Result<f64, String> {
    let kinds = nearfar_record::TransferKind::ALL;
    let found = pair
        .overlaps
        .iter()
        .find(|it| (it.dominating, it.beside) == (kinds[dominating], kinds[beside]));
    let fit = found.unwrap().fit.as_result();
    fit.map(|fit| fit.overlap_theta.value.0).map_err(String::from)
}

/// That all overlaps are those of the truth.
fn assert_overlaps(pair: &HybridPair, truth: &nearfar_flow::Overlap) {
    for (one, other) in ordered_pairs() {
        let found = overlap(pair, one, other).unwrap();
        let expected = truth.overlap_theta[one][other];
        assert!((found - expected).abs() < 1e-4, "{one} {other}: {found} and not {expected}");
    }
}

fn ordered_pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..4).flat_map(|one| (0..4).map(move |other| (one, other))).filter(|(one, other)| one != other)
}
