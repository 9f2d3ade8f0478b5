//! What chance does to a window of a simulated machine. Everything is drawn from
//! the seed and the place it concerns (case, round, window), not from a running
//! sequence: a run that was interrupted and continued draws the same.

use std::hash::Hasher;
use std::time::Duration;

use nearfar_flow::{Disturber, ModeUnit, Noise};
use nearfar_machine::Fnv1a;
use nearfar_record::Disturbance;

/// Draws the noise of one machine.
#[derive(Debug, Clone)]
pub(super) struct Luck {
    noise: Noise,
    seed: u64,
}

/// One window of one round of a case.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub case: &'a str,
    pub round: u32,
    pub window: u32,
}

/// What is drawn apart: each has random numbers of its own.
#[derive(Debug, Clone, Copy)]
enum Draw {
    Round = 1,
    Window = 2,
    Outlier = 3,
    Disturbed = 4,
    Mode = 5,
    Unbound = 6,
}

impl Luck {
    pub fn new(noise: Noise, seed: u64) -> Self {
        Self { noise, seed }
    }

    /// Nothing is left to chance but what becomes of threads that are not pinned: that is how
    /// the machine behaves, and no noise.
    pub fn without_noise(noise: Noise, seed: u64) -> Self {
        Self::new(Noise { unbound: noise.unbound, ..Noise::default() }, seed)
    }

    /// The factor of the rates of an actor whose threads are not pinned, the same for a run of
    /// its case.
    pub fn of_unbound(&self, place: Place<'_>, actor: u64, threads: u32) -> f64 {
        let of_round = Place { window: 0, ..place };
        let draw = self.random(Draw::Unbound, of_round, actor).f64();
        self.noise.unbound_factor(threads, draw)
    }

    /// The factor of a whole window, all actors: at most 1.
    pub fn of_window(&self, place: Place<'_>) -> f64 {
        let noise = &self.noise;
        let of_round = Place { window: 0, ..place };
        let mut factor = lowered(noise.between_rounds, &mut self.random(Draw::Round, of_round, 0));
        factor *= lowered(noise.within_round, &mut self.random(Draw::Window, place, 0));
        factor *= 1.0 / (1.0 + noise.drift_per_round * f64::from(place.round));
        let mut random = self.random(Draw::Outlier, place, 0);
        if random.f64() < noise.outliers.share {
            factor *= 1.0 - between(noise.outliers.lowered_by, &mut random);
        }
        for (index, mode) in (0..).zip(&noise.modes) {
            let place = match mode.per {
                ModeUnit::Round => Place { case: "", ..of_round },
                ModeUnit::Case => of_round,
                ModeUnit::Window => place,
            };
            if self.random(Draw::Mode, place, index).f64() < mode.share {
                factor *= mode.factor;
            }
        }
        factor
    }

    /// What disturbed the window, and the factor by which that lowered it.
    pub fn disturbance(&self, place: Place<'_>, length: Duration) -> Option<(Disturbance, f64)> {
        let mut random = self.random(Draw::Disturbed, place, 0);
        let disturbed = &self.noise.disturbed;
        if random.f64() >= disturbed.share {
            return None;
        }
        let taken = between(disturbed.lowered_by, &mut random);
        let microseconds = length.mul_f64(taken).as_micros();
        let microseconds = u64::try_from(microseconds).unwrap_or(u64::MAX).max(1);
        let disturbance = match disturbed.by {
            Disturber::Switched => Disturbance::Switched { times: 1, microseconds },
            Disturber::Stolen => Disturbance::Stolen { microseconds },
            Disturber::Throttled => Disturbance::Throttled { microseconds },
        };
        Some((disturbance, 1.0 - taken))
    }

    fn random(&self, draw: Draw, place: Place<'_>, number: u64) -> fastrand::Rng {
        let mut hash = Fnv1a::default();
        hash.write_u64(self.seed);
        hash.write_u64(draw as u64);
        hash.write(place.case.as_bytes());
        hash.write_u32(place.round);
        hash.write_u32(place.window);
        hash.write_u64(number);
        fastrand::Rng::with_seed(mixed(hash.finish()))
    }
}

fn between((least, most): (f64, f64), random: &mut fastrand::Rng) -> f64 {
    least + (most - least) * random.f64()
}

/// 1 less half a normal distribution of this standard deviation: what disturbs a
/// memory lowers its bandwidth and never raises it.
fn lowered(deviation: f64, random: &mut fastrand::Rng) -> f64 {
    if deviation <= 0.0 {
        return 1.0;
    }
    (1.0 - deviation * normal(random).abs()).max(0.01)
}

/// A normally distributed number (Box and Muller 1958).
fn normal(random: &mut fastrand::Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}

/// FNV's low bits of short inputs are alike; a generator's seed must not be.
fn mixed(hash: u64) -> u64 {
    let mixed = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}
