//! Data-access performance: D and the bounds by time.
//! Units: fractions of the theoretical maximum.     Source: braithwaite2012, eq. 4.6.
//! Holds when: classes, and with them alphas, are those of the program's own accesses
//! (kernel, threads) and no resource is shared between them.
//! Fails when: D is taken for a bandwidth. It is a mean of rates weighted by bytes;
//! bytes that wait for each other take the mean of times, which is `d_serial`.

use serde::Serialize;

/// What a program gets whose accesses are shared out over classes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataAccess {
    /// Share of the accesses by class; their sum is 1.
    pub shares: Vec<f64>,
    /// Sum of alpha x share (eq. 4.6): the paper's figure.
    pub d: f64,
    /// 1 / sum(share / alpha): accesses one after the other, no overlap.
    pub d_serial: f64,
    /// 1 / max(share / alpha): accesses to different classes overlap fully.
    pub d_overlap: f64,
}

/// Why alphas and shares give no D.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DataAccessError {
    #[error(
        "{} and {}: give one share for each class, 0 for a class that is not used",
        count(*.alphas, "alpha", "alphas"), count(*.shares, "share", "shares")
    )]
    Lengths { alphas: usize, shares: usize },
    #[error(
        "the alpha {alpha} of class {class} is not between {MIN_ALPHA} and {MAX_ALPHA}; it is a \
         bandwidth divided by the theoretical maximum, not a bandwidth"
    )]
    Alpha { class: usize, alpha: f64 },
    #[error("the share {share} of class {class} is not between 0 and 1")]
    Share { class: usize, share: f64 },
    #[error("the shares sum to {sum}, not to 1 (within {SHARE_ROUNDING})")]
    Sum { sum: f64 },
}

/// Alphas above 1 are real: all threads of a node against one channel, HBM against DDR. A
/// thousand is beyond the fastest GPU's memory (8 TB/s) against the slowest channel that has
/// a name here (DDR3-800, 6.4 GB/s: 1250 would need both), and below any figure in MB/s.
const MAX_ALPHA: f64 = 1000.0;

/// A millionth of the slowest channel that has a name here is 6.4 kB/s, below any memory.
/// Such an alpha was given in a wrong unit.
const MIN_ALPHA: f64 = 1e-6;

/// Shares are printed with few digits; their sum may miss 1 by this much.
const SHARE_ROUNDING: f64 = 1e-3;

/// D and its bounds for a program that sends these shares of its accesses to the
/// classes with these alphas. Shares that miss 1 by rounding are divided by their sum, so that
/// `d_serial <= d <= max(alpha)` and `d_serial <= d_overlap` always hold.
///
/// # Errors
/// When the numbers do not fit together; see [`DataAccessError`].
pub fn data_access(alpha: &[f64], share: &[f64]) -> Result<DataAccess, DataAccessError> {
    if alpha.len() != share.len() {
        return Err(DataAccessError::Lengths { alphas: alpha.len(), shares: share.len() });
    }
    for (class, &alpha) in alpha.iter().enumerate() {
        if !(MIN_ALPHA..=MAX_ALPHA).contains(&alpha) {
            return Err(DataAccessError::Alpha { class, alpha });
        }
    }
    for (class, &share) in share.iter().enumerate() {
        if !(0.0..=1.0).contains(&share) {
            return Err(DataAccessError::Share { class, share });
        }
    }
    let sum: f64 = share.iter().sum();
    // The second term is for sums such as 0.999 that binary fractions do not hold.
    if (sum - 1.0).abs() > SHARE_ROUNDING + 1e-12 {
        return Err(DataAccessError::Sum { sum });
    }
    let shares: Vec<f64> = share.iter().map(|share| share / sum).collect();
    let (mut d, mut time, mut longest) = (0.0, 0.0, 0.0_f64);
    for (alpha, share) in alpha.iter().zip(&shares) {
        d += alpha * share;
        time += share / alpha;
        longest = longest.max(share / alpha);
    }
    Ok(DataAccess { shares, d, d_serial: 1.0 / time, d_overlap: 1.0 / longest })
}

/// `1 share`, `2 shares`.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
