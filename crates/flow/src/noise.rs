//! How a simulated machine's figures scatter. The executor draws; the parameters are
//! here. Everything lowers bandwidth, nothing raises it: so it is on real machines.

use std::ops::RangeInclusive;

use serde::Deserialize;

use crate::bounds::{self, BadKey, FRACTION, REMAINDER};

/// How figures scatter: `[noise]` of a file. The default is no noise.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Noise {
    /// Standard deviation s of a normal number z by which each case in each round is
    /// lowered: rate (1 - s |z|).
    pub between_rounds: f64,
    /// The same for each window within a round.
    pub within_round: f64,
    /// Windows that are low and do not say why.
    pub outliers: Outliers,
    /// Windows that are low and say why.
    pub disturbed: Disturbed,
    /// Drift d: in round r, counted from 0, rates are divided by 1 + d r. By rounds and not by a
    /// clock, so that a run that is continued draws the same.
    pub drift_per_round: f64,
    /// Slower states that the machine falls into, each drawn apart from the others: in
    /// two at once it is slowed by both.
    pub modes: Vec<Mode>,
    /// What a run of threads that are not pinned falls into; none where pinning makes no
    /// difference.
    pub unbound: Vec<UnboundMode>,
}

/// Windows that are low and do not say why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Outliers {
    /// Fraction of the windows.
    pub share: f64,
    /// By what fraction they are low: evenly from the first to the second.
    pub lowered_by: (f64, f64),
}

/// Windows that are low and say why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Disturbed {
    /// Fraction of the windows.
    pub share: f64,
    pub by: Disturber,
    /// By what fraction they are low: evenly from the first to the second.
    pub lowered_by: (f64, f64),
}

/// What disturbs a window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disturber {
    /// The system takes the CPU from a thread.
    #[default]
    Switched,
    /// A hypervisor takes it.
    Stolen,
    /// The control group's quota is used up.
    Throttled,
}

/// A slower state.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// Fraction of the rounds, windows or cases that are in it.
    pub share: f64,
    /// Rate in it / full rate.
    pub factor: f64,
    /// What falls into it as a whole.
    pub per: ModeUnit,
}

/// A state that a run of threads that are not pinned falls into: how the system happened to
/// place them and their pages (vladimirov2012).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnboundMode {
    /// Fraction of the runs that fall into it.
    pub share: f64,
    /// Rate in it / that of the same threads pinned and scattered over the initiators. The best
    /// of many unpinned runs can be a little above 1.
    pub factor: f64,
    /// The numbers of threads that it is for, from and to; `None` for all.
    #[serde(default)]
    pub threads: Option<(u32, u32)>,
}

/// What is in one mode as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModeUnit {
    /// A round, with all its cases.
    Round,
    /// A case in one round, as after an unlucky placement of its pages.
    Case,
    Window,
}

/// Standard deviations as fractions; beyond a fifth a rate could come out below 0.
const DEVIATIONS: RangeInclusive<f64> = 0.0..=0.2;
/// How much lower a window can be and still have moved something.
const LOWERED_BY: RangeInclusive<f64> = 0.0..=0.99;

/// Of an unpinned run.
const UNBOUND_FACTORS: RangeInclusive<f64> = 0.01..=2.0;
const THREADS: RangeInclusive<u32> = 1..=8192;
/// Shares may add up to so much more than 1 by rounding.
const SHARE_TOLERANCE: f64 = 1e-9;
/// Each is compared with each.
const MOST_UNBOUND: usize = 64;

impl UnboundMode {
    fn is_for(&self, threads: u32) -> bool {
        self.threads.is_none_or(|(from, to)| (from..=to).contains(&threads))
    }
}

impl Noise {
    /// The factor of a run of this many threads that are not pinned, by a number drawn evenly from
    /// 0 to 1. What the shares leave of 1 runs as if it were pinned.
    pub fn unbound_factor(&self, threads: u32, draw: f64) -> f64 {
        let mut below = 0.0;
        for mode in self.unbound.iter().filter(|mode| mode.is_for(threads)) {
            below += mode.share;
            if draw < below {
                return mode.factor;
            }
        }
        1.0
    }

    /// Whether every number is allowed.
    pub(crate) fn check(&self) -> Result<(), BadKey> {
        let Self { outliers, disturbed, .. } = self;
        for (key, share, (least, most)) in [
            ("noise.outliers", outliers.share, outliers.lowered_by),
            ("noise.disturbed", disturbed.share, disturbed.lowered_by),
        ] {
            bounds::number(&format!("{key}.share"), share, &FRACTION)?;
            let key = format!("{key}.lowered_by");
            bounds::number(&key, least, &LOWERED_BY)?;
            bounds::number(&key, most, &(least..=*LOWERED_BY.end()))?;
        }
        for (key, mode) in bounds::entries("noise.modes", &self.modes)? {
            bounds::number(&format!("{key}.share"), mode.share, &FRACTION)?;
            bounds::number(&format!("{key}.factor"), mode.factor, &REMAINDER)?;
        }
        bounds::number("noise.between_rounds", self.between_rounds, &DEVIATIONS)?;
        bounds::number("noise.within_round", self.within_round, &DEVIATIONS)?;
        bounds::number("noise.drift_per_round", self.drift_per_round, &FRACTION)?;
        check_unbound(&self.unbound)
    }
}

fn check_unbound(modes: &[UnboundMode]) -> Result<(), BadKey> {
    bounds::at_most("noise.unbound", modes.len(), MOST_UNBOUND)?;
    for (key, mode) in bounds::entries("noise.unbound", modes)? {
        bounds::number(&format!("{key}.share"), mode.share, &FRACTION)?;
        bounds::number(&format!("{key}.factor"), mode.factor, &UNBOUND_FACTORS)?;
        let (from, to) = mode.threads.unwrap_or((1, *THREADS.end()));
        bounds::number(&format!("{key}.threads"), from, &THREADS)?;
        bounds::number(&format!("{key}.threads"), to, &(from..=*THREADS.end()))?;
        // Where shares add up to most, some mode begins.
        let beside = modes.iter().filter(|other| other.is_for(from));
        let sum: f64 = beside.map(|other| other.share).sum();
        if sum > 1.0 + SHARE_TOLERANCE {
            let why = format!("has shares that add up to {sum} for {from} threads; at most 1");
            return Err(BadKey::new("noise.unbound", why));
        }
    }
    Ok(())
}
