//! What streams get when they share resources that saturate smoothly.
//!
//! ```text
//! x_s = d_s (1 + (d_s / w_s)^p sum over r used by s of h_r)^(-1/p)
//! h_r >= 0 such that  sum_s a_sr x_s = T_r = (O_r^-p + C_r^-p)^(-1/p)
//! O_r = sum_s a_sr x_s with h_r = 0 and the other pressures as they are
//! ```
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | x_s, d_s | rate and demand of a stream | bytes/s |
//! | w_s | its fair weight; a common factor of all weights drops out | any |
//! | a_sr | what resource r carries for each byte of stream s | 1, or 1/C_r |
//! | C_r | capacity of the resource | of a_sr x_s |
//! | p | saturation exponent; the larger, the harder the limit | 1 |
//! | h_r | pressure of the resource on its streams | of w_s^-p |
//!
//! One resource alone carries (D^-p + C^-p)^(-1/p) of the summed demand D. A lone
//! stream gets x^-p = d^-p + sum_r (C_r / a_r)^-p. For large p the law is weighted
//! progressive filling (max-min fairness with weights w_s). Source: ours. That a
//! system has one solution only is not proven; the tests find none with two.
//!
//! The pressures are found resource by resource, over and over (Gauss-Seidel), each
//! by Newton's method inside a bracket. Everything is in logarithms: x^-p of a rate
//! in bytes/s is out of the range of an f64 from p = 31 on, and of ratios much
//! sooner.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::error::FlowError;

/// A stream of data through resources.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// What it moves when nothing is in its way, bytes/s.
    pub demand: f64,
    /// Its claim on a resource that is short, relative to the other streams'.
    pub weight: f64,
    /// Resources it uses, each once, and what each carries for a byte of it.
    pub usage: Vec<(usize, f64)>,
}

/// Resources and the streams that share them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// Capacity of each resource, in the unit of usage x bytes/s.
    pub capacities: Vec<f64>,
    /// The streams.
    pub streams: Vec<Stream>,
    /// How hard resources saturate: the exponent p.
    pub saturation: f64,
}

/// What the streams of a system get.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// Rate of each stream, bytes/s.
    pub rates: Vec<f64>,
    /// Times that all resources were gone through.
    pub sweeps: u32,
    /// Largest relative change of a rate in the last sweep.
    pub last_change: f64,
}

/// Rates are final when a sweep changes none by more than this fraction.
const TOLERANCE: f64 = 1e-11;
/// Random systems of up to 16 resources and 20 streams need 9 on average and, of 60,000
/// whose numbers lie within three decades, none more than 530.
const MOST_SWEEPS: u32 = 1000;
/// About one random system in 300 goes to and fro between two states for ever when each
/// pressure is set in full; half a step, or a quarter, then settles. So many sweeps are
/// given to halve the change before steps are halved.
const PATIENCE: u32 = 20;
const LEAST_RELAXATION: f64 = 1.0 / 32.0;
/// Of these sums and ratios stay far within an f64.
const NUMBERS: RangeInclusive<f64> = 1e-100..=1e100;
const EXPONENTS: RangeInclusive<f64> = 0.1..=1000.0;
/// A Newton step of this size in ln h moves a rate by less than rounding does.
const SMALLEST_STEP: f64 = 1e-13;
const MOST_STEPS: u32 = 200;
/// Below this ln (O/C)^p a resource takes less than 1e-13 of any rate, and the first
/// term of the series in h is exact to rounding.
const NO_PRESSURE: f64 = -30.0;

impl System {
    /// What each stream gets.
    ///
    /// # Errors
    /// [`FlowError::System`] where a number is not from 1e-100 to 1e100 (the exponent: 0.1
    /// to 1000), or a resource does not exist; [`FlowError::NotSettled`] where the rates
    /// still move after 1000 sweeps, which numbers many decades apart can cause.
    pub fn solve(&self) -> Result<Solution, FlowError> {
        self.check()?;
        let mut pressures = Pressures::none(self);
        let mut rates = pressures.rates();
        let mut steps = vec![0.0; rates.len()];
        let mut relaxation = 1.0;
        let mut earlier_change = f64::INFINITY;
        for sweep in 1..=MOST_SWEEPS {
            for resource in 0..self.capacities.len() {
                pressures.balance(resource, relaxation);
            }
            let before = std::mem::replace(&mut rates, pressures.rates());
            let earlier_steps = std::mem::take(&mut steps);
            steps =
                before.iter().zip(&rates).map(|(before, after)| (after / before).ln()).collect();
            let last_change = steps.iter().map(|step| step.abs()).fold(0.0, f64::max) / relaxation;
            if last_change < TOLERANCE {
                return Ok(Solution { rates, sweeps: sweep, last_change });
            }
            if sweep % PATIENCE == 0 {
                let goes_back =
                    steps.iter().zip(&earlier_steps).map(|(a, b)| a * b).sum::<f64>() < 0.0;
                if goes_back && last_change > earlier_change / 2.0 && relaxation > LEAST_RELAXATION
                {
                    relaxation /= 2.0;
                }
                earlier_change = last_change;
            }
        }
        Err(FlowError::NotSettled { sweeps: MOST_SWEEPS })
    }

    fn check(&self) -> Result<(), FlowError> {
        if !EXPONENTS.contains(&self.saturation) {
            let p = self.saturation;
            return Err(FlowError::System(format!("the saturation exponent is {p}")));
        }
        let positive = |value: f64, of: &dyn Fn() -> String| {
            if NUMBERS.contains(&value) {
                Ok(())
            } else {
                Err(FlowError::System(format!("{} is {value}", of())))
            }
        };
        for (index, &capacity) in self.capacities.iter().enumerate() {
            positive(capacity, &|| format!("the capacity of resource {index}"))?;
        }
        for (index, stream) in self.streams.iter().enumerate() {
            positive(stream.demand, &|| format!("the demand of stream {index}"))?;
            positive(stream.weight, &|| format!("the weight of stream {index}"))?;
            for (position, &(resource, usage)) in stream.usage.iter().enumerate() {
                positive(usage, &|| format!("what stream {index} uses of resource {resource}"))?;
                if resource >= self.capacities.len() {
                    return Err(FlowError::System(format!(
                        "stream {index} uses resource {resource}; there are {}",
                        self.capacities.len()
                    )));
                }
                if stream.usage[..position].iter().any(|&(earlier, _)| earlier == resource) {
                    return Err(FlowError::System(format!(
                        "stream {index} names resource {resource} twice"
                    )));
                }
            }
        }
        Ok(())
    }
}

/// The pressures of a system's resources as they are so far.
struct Pressures<'a> {
    system: &'a System,
    /// The users of each resource: stream and usage.
    users: Vec<Vec<(usize, f64)>>,
    /// p ln (d/w) of each stream.
    claims: Vec<f64>,
    /// ln h of each resource.
    ln_h: Vec<f64>,
}

/// A stream as one of its resources sees it, the other pressures fixed.
struct User {
    /// What the resource carries for it with no pressure of its own.
    carried: f64,
    /// So that the rate falls by the factor (1 + exp(ln h + steepness))^(-1/p).
    steepness: f64,
}

impl<'a> Pressures<'a> {
    fn none(system: &'a System) -> Self {
        let mut users = vec![Vec::new(); system.capacities.len()];
        for (index, stream) in system.streams.iter().enumerate() {
            for &(resource, usage) in &stream.usage {
                users[resource].push((index, usage));
            }
        }
        let claim = |stream: &Stream| system.saturation * (stream.demand.ln() - stream.weight.ln());
        Self {
            system,
            users,
            claims: system.streams.iter().map(claim).collect(),
            ln_h: vec![f64::NEG_INFINITY; system.capacities.len()],
        }
    }

    fn rates(&self) -> Vec<f64> {
        (0..self.system.streams.len())
            .map(|stream| self.rate(stream, softplus(self.claims[stream] + self.on(stream, None))))
            .collect()
    }

    /// Rate of a stream for ln (1 + (d/w)^p sum h).
    fn rate(&self, stream: usize, ln_slowdown: f64) -> f64 {
        self.system.streams[stream].demand * (-ln_slowdown / self.system.saturation).exp()
    }

    /// ln of the sum of the pressures on a stream, one resource left out.
    fn on(&self, stream: usize, without: Option<usize>) -> f64 {
        let terms = self.system.streams[stream]
            .usage
            .iter()
            .filter(|&&(resource, _)| Some(resource) != without)
            .map(|&(resource, _)| self.ln_h[resource]);
        ln_sum_exp(terms)
    }

    /// Moves one resource's pressure to where it carries what the law says, or a part of
    /// the way there.
    fn balance(&mut self, resource: usize, relaxation: f64) {
        let p = self.system.saturation;
        let users: Vec<User> = self.users[resource]
            .iter()
            .map(|&(stream, usage)| {
                let others = softplus(self.claims[stream] + self.on(stream, Some(resource)));
                User {
                    carried: usage * self.rate(stream, others),
                    steepness: self.claims[stream] - others,
                }
            })
            .collect();
        let offered: f64 = users.iter().map(|user| user.carried).sum();
        if offered > 0.0 {
            let excess = p * (offered.ln() - self.system.capacities[resource].ln());
            let balanced = pressure(&users, offered, excess, p);
            let now = &mut self.ln_h[resource];
            *now = if now.is_finite() { *now + relaxation * (balanced - *now) } else { balanced };
        }
    }
}

/// ln h at which the users together are slowed to the law's total:
/// (S/O)^-p - 1 = (O/C)^p, where S is what they move under h.
fn pressure(users: &[User], offered: f64, excess: f64, p: f64) -> f64 {
    let first_term = excess
        - ln_sum_exp(users.iter().map(|user| (user.carried / offered).ln() + user.steepness));
    if excess < NO_PRESSURE {
        return first_term;
    }
    // The total lies between what it would be if all were as steep as the flattest and as
    // the steepest user, and for one user ln((S/O)^-p - 1) is ln h + steepness.
    let steepness = || users.iter().map(|user| user.steepness);
    let mut low = excess - steepness().fold(f64::NEG_INFINITY, f64::max);
    let mut high = excess - steepness().fold(f64::INFINITY, f64::min);
    let mut ln_h = first_term.clamp(low, high);
    for _ in 0..MOST_STEPS {
        let (value, slope) = slowdown(users, offered, ln_h, p);
        let error = value - excess;
        if error > 0.0 {
            high = ln_h;
        } else {
            low = ln_h;
        }
        let newton = ln_h - error / slope;
        let next = if newton >= low && newton <= high { newton } else { low.midpoint(high) };
        let step = (next - ln_h).abs();
        ln_h = next;
        if step <= SMALLEST_STEP * ln_h.abs().max(1.0) {
            break;
        }
    }
    ln_h
}

/// ln((S/O)^-p - 1) and its derivative by ln h.
fn slowdown(users: &[User], offered: f64, ln_h: f64, p: f64) -> (f64, f64) {
    let (mut carried, mut lost, mut slope) = (0.0, 0.0, 0.0);
    for user in users {
        let push = ln_h + user.steepness;
        let ln_factor = -softplus(push) / p;
        let now = user.carried * ln_factor.exp();
        carried += now;
        // Not offered - carried: that would cancel where the pressure is small.
        lost -= user.carried * ln_factor.exp_m1();
        slope += now * logistic(push) / p;
    }
    let ln_ratio =
        if lost < offered / 2.0 { -(-lost / offered).ln_1p() } else { offered.ln() - carried.ln() };
    let power = p * ln_ratio;
    // ln(e^u - 1) without overflow.
    let value = if power < 1.0 { power.exp_m1().ln() } else { power + (-(-power).exp()).ln_1p() };
    (value, p * slope / carried / -(-power).exp_m1())
}

/// ln(1 + e^y).
fn softplus(y: f64) -> f64 {
    if y > 0.0 { y + (-y).exp().ln_1p() } else { y.exp().ln_1p() }
}

/// 1 / (1 + e^-y).
fn logistic(y: f64) -> f64 {
    if y > 0.0 { 1.0 / (1.0 + (-y).exp()) } else { y.exp() / (1.0 + y.exp()) }
}

/// ln of a sum of exponentials; minus infinity for none.
fn ln_sum_exp(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + terms.map(|term| (term - largest).exp()).sum::<f64>().ln()
}
