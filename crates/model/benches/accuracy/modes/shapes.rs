//! Distributions with a single mode, of every kind that misleads, and mixtures with several.

use fastrand::Rng;
use nearfar_stats::normal_quantile;

/// A distribution by its name.
pub type Shape = (&'static str, fn(&mut Rng) -> f64);

/// The panel of distributions with a single mode.
pub const SINGLE: [Shape; 16] = [
    ("normal", normal),
    ("uniform", even),
    ("exponential", exponential),
    ("exponential, mirrored", |random| -exponential(random)),
    ("lognormal, sd 1", |random| normal(random).exp()),
    ("lognormal, sd 0.4", |random| (0.4 * normal(random)).exp()),
    ("Student's t, 3", student),
    ("Cauchy", |random| (std::f64::consts::PI * (even(random) - 0.5)).tan()),
    ("Laplace", |random| exponential(random) - exponential(random)),
    ("beta(2, 5)", beta),
    ("triangle", |random| even(random) + even(random)),
    ("chi-square, 1", |random| normal(random).powi(2)),
    ("gamma, 2", gamma),
    ("Pareto, 1.5", |random| even(random).powf(-1.0 / 1.5)),
    ("spike on wide normal", |random| {
        let wide = if random.bool() { 1.0 } else { 0.05 };
        wide * normal(random)
    }),
    ("uniform on wider uniform", |random| {
        let wide = if random.bool() { 1.0 } else { 0.2 };
        wide * (even(random) - 0.5)
    }),
];

/// Above 0 and below 1.
fn even(random: &mut Rng) -> f64 {
    random.f64().max(f64::MIN_POSITIVE)
}

pub fn normal(random: &mut Rng) -> f64 {
    normal_quantile(even(random)).unwrap()
}

fn exponential(random: &mut Rng) -> f64 {
    -even(random).ln()
}

fn gamma(random: &mut Rng) -> f64 {
    exponential(random) + exponential(random)
}

fn student(random: &mut Rng) -> f64 {
    let squares: f64 = (0..3).map(|_| normal(random).powi(2)).sum();
    normal(random) / (squares / 3.0).sqrt()
}

/// The second smallest of six even ones.
fn beta(random: &mut Rng) -> f64 {
    let mut drawn: [f64; 6] = std::array::from_fn(|_| random.f64());
    drawn.sort_by(f64::total_cmp);
    drawn[1]
}

/// Standard deviation 1, a long tail to the left, as of runs that are only ever held back.
pub fn skewed(random: &mut Rng) -> f64 {
    // A gamma distribution of shape 2 has variance 2.
    -gamma(random) / 2.0_f64.sqrt()
}
