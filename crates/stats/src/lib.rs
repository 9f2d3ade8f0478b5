//! Statistics for repeated measurements on machines that are never quite quiet:
//! medians with distribution-free intervals, ratios of medians by bootstrap, pooled
//! noise, classes of numbers, and least squares. Pure functions on slices; what has no answer is `None`.

mod dip;
mod draws;
mod kernel_density;
mod least_squares;
mod mean_of_calm;
mod median;
mod modes;
mod moments;
mod noise;
mod normal;
mod partition;
mod quantile;

pub use dip::{LEAST_DIP_P, dip};
pub use draws::{
    RatioEstimate, drawn_estimates, drawn_residuals, percentile_error, percentile_interval,
    ratio_of_medians,
};
pub use least_squares::{
    Fit, FitRule, LinearFit, Loss, fit, fit_with_derivatives, solve_least_squares,
};
pub use mean_of_calm::mean_of_calm;
pub use median::{Estimate, OF_MAD, estimate_median, median, median_interval, relative_spread};
pub use modes::{FEWEST_FOR_MODES, Mode, ModeEvidence, Modes, find_modes};
pub use moments::{MomentRatios, ratios_of_moments};
pub use noise::{deviation_of_largest, pooled_deviation, relative_deviation};
pub use normal::{expected_range, normal_quantile};
pub use partition::{GAP_IN_STANDARD_ERRORS, Part, PartitionRule, partition};
pub use quantile::quantile;
