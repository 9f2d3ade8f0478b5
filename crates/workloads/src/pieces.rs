//! Cuts several arrays of the same things at once.

use std::ops::Range;

use crate::team::cut;

/// For each share its pieces of all arrays: `unit` elements of each for a thing.
pub fn pieces<'a, T, const N: usize>(
    arrays: [&'a mut [T]; N],
    shares: &[Range<usize>],
    unit: usize,
) -> Vec<[&'a mut [T]; N]> {
    let mut cuts = arrays.map(|array| cut(array, shares, unit).into_iter());
    shares.iter().map(|_| cuts.each_mut().map(|pieces| pieces.next().unwrap_or_default())).collect()
}

/// The same arrays, to write for a while.
pub fn again<'a, T, const N: usize>(arrays: &'a mut [&mut [T]; N]) -> [&'a mut [T]; N] {
    arrays.each_mut().map(|array| &mut **array)
}
