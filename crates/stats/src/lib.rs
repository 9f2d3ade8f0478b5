//! Statistics for repeated measurements on machines that are never quite quiet:
//! medians with distribution-free intervals, and ratios of medians by bootstrap.
//! Pure functions on slices; an empty slice gives `None`.

mod bootstrap;
mod median;

pub use bootstrap::{RatioEstimate, ratio_of_medians};
pub use median::{Estimate, estimate_median, median, median_interval, relative_spread};
