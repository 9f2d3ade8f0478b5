//! Machines that the record could as well be of. A placement that is good on all of them on average
//! loses less to noise, and to what no case tells, than the best one of the fit.

use fastrand::Rng;
use nearfar_flow::Capacities;
use nearfar_model::FittedFlow;
use nearfar_stats::normal_quantile;

/// Machines are drawn in pairs, one off the fit one way, the other the other.
const PAIRS: u64 = 6;

/// Twelve such machines, always the same of the same fit.
pub fn possible_machines(fitted: &FittedFlow) -> Vec<Capacities> {
    let mut random = Rng::with_seed(0);
    let mut all = Vec::new();
    for _ in 0..PAIRS {
        // Within 0.001 to 0.999 there is always a quantile.
        let drawn = std::iter::repeat_with(|| normal_quantile(0.001 + 0.998 * random.f64()));
        let one_way: Vec<f64> = drawn.flatten().take(fitted.freedoms()).collect();
        let other_way: Vec<f64> = one_way.iter().map(|it| -it).collect();
        all.extend([fitted.possible(&one_way), fitted.possible(&other_way)]);
    }
    all
}
