//! Whether a placement makes a program faster: the program's time under it and without it, in turns.

use nearfar_stats::{median, ratio_of_medians};

/// Numbers of rounds after which the times are looked at: looking after every round would find a
/// difference sooner or later where there is none.
const LOOKS: [u32; 5] = [6, 10, 15, 20, 30];

/// A difference that does not matter.
const SAME: f64 = 0.02;

const SEED: u64 = 1;

/// One of the two ways to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Under the placement.
    Placed,
    /// As it would run without nearfar.
    Default,
}

/// What comparing found.
#[derive(Debug, Clone, PartialEq)]
pub struct Verification {
    /// Runs on each side.
    pub rounds: u32,
    /// Median time under the placement, s.
    pub placed_seconds: f64,
    /// Median time without it, s.
    pub default_seconds: f64,
    /// Median time without it / median time under it: above 1 it is faster.
    pub ratio: f64,
    /// 95 % interval of the ratio.
    pub interval: (f64, f64),
    /// What that means.
    pub verdict: Verdict,
}

/// What a comparison means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The placement is faster.
    Faster,
    /// The placement is slower.
    Slower,
    /// The two differ by less than 2 %.
    Same,
    /// The times scatter too much to say.
    Undecided,
}

impl Verdict {
    /// Its word in a report.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Same => "same",
            Self::Undecided => "undecided",
        }
    }

    fn of((low, high): (f64, f64)) -> Self {
        if low >= 1.0 - SAME && high <= 1.0 + SAME {
            Self::Same
        } else if low > 1.0 {
            Self::Faster
        } else if high < 1.0 {
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
    let ratio = ratio_of_medians(default, placed, SEED)?;
    Some(Verification {
        rounds,
        placed_seconds: median(placed)?,
        default_seconds: median(default)?,
        ratio: ratio.ratio,
        interval: ratio.interval,
        verdict: Verdict::of(ratio.interval),
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
            assert_eq!(found.rounds, if expected == Verdict::Undecided { 30 } else { 6 });
        }
        let found = verdict(1.3, 0.05);
        assert!((found.ratio - 1.3).abs() < 0.05 && found.interval.0 <= found.ratio);
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
