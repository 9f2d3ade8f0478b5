//! The strategies in the order of what is expected of them, with how sure that is.

use nearfar_machine::PlacementStrategy;
use nearfar_record::Estimate;
use nearfar_units::{Nanoseconds, Ratio};
use serde::Serialize;

use super::line_costs::LineCosts;
use super::placement_time::{Access, Parameters};

/// A gain below this fraction is none.
pub const LEAST_GAIN: f64 = 0.05;

/// The strategies for one kind of access.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Expectation {
    /// How threads go over the data.
    pub access: Access,
    /// All strategies, the fastest first.
    #[serde(rename = "strategies")]
    pub ranking: [StrategyTime; 4],
    /// Time of the second / that of the first - 1; the interval is over all parameters and noise.
    pub margin: Estimate<Ratio>,
    /// How far a ratio of two times can be off by the noise of what was measured.
    pub noise: f64,
    /// What the margin means.
    pub verdict: StrategyVerdict,
}

/// Whether the first strategy is ahead of the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StrategyVerdict {
    /// Whatever the parameters, and by more than noise and 5 %.
    Decided,
    /// By less than noise or 5 %, which is too little to tell.
    TooNear,
    /// By more, but not whatever the parameters.
    Open,
}

/// What is expected of a strategy. Intervals are over all parameters and noise.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StrategyTime {
    pub strategy: PlacementStrategy,
    /// Time of a thread for a line.
    #[serde(rename = "line_ns")]
    pub time: Estimate<Nanoseconds>,
    /// Time of first-touch / this - 1.
    pub gain: Estimate<Ratio>,
    /// The gain that there is whatever the parameters and noise, which is what may be claimed;
    /// null where that is less than 5 %.
    pub claim: Option<f64>,
    /// Of all combinations of parameters the share in which all others are slower.
    pub wins_share: f64,
}

impl Expectation {
    pub fn best(&self) -> &StrategyTime {
        &self.ranking[0]
    }

    pub fn second(&self) -> &StrategyTime {
        &self.ranking[1]
    }

    /// Whether the first is ahead of the second whatever the parameters, and by more than noise
    /// and [`LEAST_GAIN`].
    pub fn is_decided(&self) -> bool {
        self.verdict == StrategyVerdict::Decided
    }

    pub fn of(&self, strategy: PlacementStrategy) -> &StrategyTime {
        self.ranking.iter().find(|time| time.strategy == strategy).unwrap_or(&self.ranking[0])
    }
}

/// Times that differ by less than this fraction are the same: sums of equal parts round.
const SAME: f64 = 1e-9;

pub(super) fn expectation(costs: &LineCosts, access: Access) -> Expectation {
    let times = |with: &Parameters| {
        PlacementStrategy::ALL.map(|strategy| costs.time(strategy, access, with))
    };
    let grid: Vec<[f64; 4]> = Parameters::grid().map(|with| times(&with)).collect();
    let is_fastest = |of: &[f64; 4], place: usize| {
        let mut others = (0..4).filter(|&other| other != place);
        others.all(|other| of[place] * (1.0 + SAME) < of[other])
    };
    let wins_share = [0, 1, 2, 3].map(|place| {
        grid.iter().filter(|of| is_fastest(of, place)).count() as f64 / grid.len() as f64
    });
    let expected = times(&Parameters::EXPECTED);
    let noise = costs.noise();
    // A time moves by the noise, a ratio of two by twice that.
    let span = |value: &dyn Fn(&[f64; 4]) -> f64, noise: f64| {
        let (low, high) = grid
            .iter()
            .map(value)
            .fold((value(&expected), value(&expected)), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        (low / (1.0 + noise), high * (1.0 + noise))
    };
    let less_one = |(low, high): (f64, f64)| (low - 1.0, high - 1.0);
    let mut order = [0, 1, 2, 3];
    // Of equal times the one goes first that is the fastest in more of the combinations.
    let least = expected.iter().copied().fold(f64::INFINITY, f64::min);
    let rank = |place: usize| (expected[place] / least / SAME).round();
    order.sort_by(|&one, &other| {
        rank(one).total_cmp(&rank(other)).then(wins_share[other].total_cmp(&wins_share[one]))
    });
    let ranking = order.map(|place| {
        let gains = if place == FIRST_TOUCH {
            (0.0, 0.0)
        } else {
            less_one(span(&|of| of[FIRST_TOUCH] / of[place], 2.0 * noise))
        };
        let gain = expected[FIRST_TOUCH] / expected[place] - 1.0;
        StrategyTime {
            strategy: PlacementStrategy::ALL[place],
            time: Estimate::computed(expected[place], span(&|of| of[place], noise), Vec::new()),
            gain: Estimate::computed(gain, gains, Vec::new()),
            claim: Some(gains.0).filter(|&least| least >= LEAST_GAIN),
            wins_share: wins_share[place],
        }
    });
    let [first, second, ..] = order;
    let margin = (expected[second] / expected[first] - 1.0).max(0.0);
    let margins = less_one(span(&|of| of[second] / of[first], 2.0 * noise));
    let noise = 2.0 * noise;
    let verdict = if margin < LEAST_GAIN.max(noise) {
        StrategyVerdict::TooNear
    } else if wins_share[first] >= 1.0 && margins.0 > 0.0 {
        StrategyVerdict::Decided
    } else {
        StrategyVerdict::Open
    };
    let margin = Estimate::computed(margin, margins, Vec::new());
    Expectation { access, ranking, margin, noise, verdict }
}

/// The place of first-touch among all.
const FIRST_TOUCH: usize = 0;
