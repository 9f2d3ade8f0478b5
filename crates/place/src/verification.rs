//! Whether a placement makes a program faster: the program's time under it and without it, in turns.

use nearfar_stats::{median, median_interval};
use serde::Serialize;

/// Numbers of rounds after which the times are looked at. Eight are the fewest whose smallest and
/// largest value hold the median with [`CONFIDENCE`].
const LOOKS: [u32; 5] = [8, 12, 16, 22, 30];

/// Of each look, so that with five looks a difference is found where there is none in at most 5 of
/// 100 comparisons.
const CONFIDENCE: f64 = 0.99;

/// A difference that does not matter.
const SAME: f64 = 0.02;

/// One of the two ways to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Under the placement.
    Placed,
    /// As it would run without nearfar.
    Default,
}

/// What comparing found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verification {
    /// Runs on each side.
    pub rounds: u32,
    /// Median time under the placement, s.
    pub placed_median_seconds: f64,
    /// Median time without it, s.
    pub default_median_seconds: f64,
    /// Median over rounds of time without it / time under it: above 1 it is faster. Of the two
    /// runs of a round, because what else the machine does changes more slowly than that.
    pub ratio: f64,
    /// Interval of the ratio, 95 % with all looks together.
    pub interval: (f64, f64),
    /// What that means.
    pub verdict: Verdict,
}

/// What a comparison means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The placement is faster, by more than 2 %.
    Faster,
    /// The placement is slower, by more than 2 %.
    Slower,
    /// The two differ by less than 2 %.
    Same,
    /// The times scatter too much to say.
    Undecided,
}

impl Verdict {
    fn of(ratio: f64, (low, high): (f64, f64)) -> Self {
        if low >= 1.0 - SAME && high <= 1.0 + SAME {
            Self::Same
        } else if low > 1.0 && ratio > 1.0 + SAME {
            Self::Faster
        } else if high < 1.0 && ratio < 1.0 - SAME {
            Self::Slower
        } else {
            Self::Undecided
        }
    }
}

/// Compares by running: `seconds` runs the program once and says how long it took. Which side goes
/// first changes from round to round. Ends when there is a verdict, or after 30 rounds; `None` where
/// no time was taken.
///
/// # Errors
/// What `seconds` says.
pub fn verify<E>(
    mut seconds: impl FnMut(Side) -> Result<f64, E>,
) -> Result<Option<Verification>, E> {
    let (mut placed, mut default) = (Vec::new(), Vec::new());
    let mut found = None;
    let mut rounds = 0;
    for look in LOOKS {
        while rounds < look {
            if rounds % 2 == 0 {
                placed.push(seconds(Side::Placed)?);
                default.push(seconds(Side::Default)?);
            } else {
                default.push(seconds(Side::Default)?);
                placed.push(seconds(Side::Placed)?);
            }
            rounds += 1;
        }
        found = verification(rounds, &placed, &default);
        if found.as_ref().is_some_and(|found| found.verdict != Verdict::Undecided) {
            break;
        }
    }
    Ok(found)
}

fn verification(rounds: u32, placed: &[f64], default: &[f64]) -> Option<Verification> {
    let ratios: Vec<f64> =
        default.iter().zip(placed).map(|(default, placed)| default / placed).collect();
    let ratio = median(&ratios).filter(|ratio| ratio.is_finite())?;
    let (interval, _) = median_interval(&ratios, CONFIDENCE)?;
    Some(Verification {
        rounds,
        placed_median_seconds: median(placed)?,
        default_median_seconds: median(default)?,
        ratio,
        interval,
        verdict: Verdict::of(ratio, interval),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times that differ by a factor and scatter evenly by so much around it.
    fn verdict(factor: f64, scatter: f64) -> Verification {
        let mut turn = 0_u32;
        let found = verify(|side| -> Result<f64, ()> {
            turn += 1;
            let noise = 1.0 + scatter * (f64::from(turn * 7 % 11) / 10.0 - 0.5);
            Ok(noise * if side == Side::Default { factor } else { 1.0 })
        });
        found.unwrap().unwrap()
    }

    #[test]
    fn differences_are_told_from_noise() {
        for (factor, scatter, expected) in [
            (1.3, 0.05, Verdict::Faster),
            (0.7, 0.05, Verdict::Slower),
            (1.0, 0.01, Verdict::Same),
            (1.05, 0.8, Verdict::Undecided),
        ] {
            let found = verdict(factor, scatter);
            assert_eq!(found.verdict, expected, "{found:?}");
            assert_eq!(found.rounds, if expected == Verdict::Undecided { 30 } else { 8 });
        }
        let found = verdict(1.3, 0.05);
        assert!((found.ratio - 1.3).abs() < 0.05 && found.interval.0 <= found.ratio);
    }

    /// Chance alone says faster or slower in at most 5 of 100 comparisons.
    #[test]
    fn equal_programs_are_seldom_told_apart() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut told_apart = || {
            let found = verify(|_| Ok::<f64, ()>(1.0 + 0.3 * random.f64())).unwrap().unwrap();
            matches!(found.verdict, Verdict::Faster | Verdict::Slower)
        };
        let wrong = (0..1000).filter(|_| told_apart()).count();
        assert!(wrong <= 50, "{wrong} of 1000");
    }

    #[test]
    fn a_run_that_fails_ends_it() {
        let mut runs = 0;
        let ended = verify(|_| {
            runs += 1;
            if runs < 5 { Ok(1.0) } else { Err("it failed") }
        });
        assert_eq!((ended, runs), (Err("it failed"), 5));
    }
}
