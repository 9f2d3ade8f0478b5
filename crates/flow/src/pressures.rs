//! The pressures of a system's resources, and at which of them one resource carries
//! what the law of [`crate::System`] says.

use std::f64::consts::LN_2;

use crate::system::{Stream, System};

/// A step of this size in ln h moves a rate by less than rounding does.
const SMALLEST_STEP: f64 = 1e-13;
/// After a step of Newton's method of this size the next, about its square, would be smaller still.
const LAST_NEWTON_STEP: f64 = 1e-8;
const MOST_STEPS: u32 = 200;
/// Below this ln ((d/w)^p h) a stream is slowed by less than 1e-13, and the first term of
/// the series in h is exact to rounding.
const NO_PRESSURE: f64 = -30.0;
/// Pressures beyond the reference by this in ln h are near the end of what an f64 holds.
const IN_RANGE: f64 = 500.0;
/// While the largest is so near it is not referred to anew.
const NEAR_REFERENCE: f64 = 50.0;
/// Sums of pressures below this part of the reference may have lost some to underflow.
const EXACT_FROM: f64 = 1e-250;

/// The pressures of a system's resources as they are so far.
pub(crate) struct Pressures<'a> {
    system: &'a System,
    /// Stream and usage of all users of all resources, resource by resource.
    users: Vec<(usize, f64)>,
    /// Where each resource's users begin; at last their number.
    first_users: Vec<usize>,
    /// The resources of several users.
    shared: Vec<usize>,
    /// p ln (d/w) of each stream.
    claims: Vec<f64>,
    /// ln h of each resource.
    ln_h: Vec<f64>,
    /// h of each resource / that of the reference: sums of pressures are what the solver takes most of,
    /// and need no exponentials with them.
    h: Vec<f64>,
    /// (d/w)^p h of each stream, h the reference.
    pushes: Vec<f64>,
    ln_reference: f64,
}

/// A stream as one of its resources sees it, the other pressures fixed.
struct User {
    /// What the resource carries for it with no pressure of its own.
    carried: f64,
    /// So that the rate falls by the factor (1 + exp(ln h + steepness))^(-1/p).
    steepness: f64,
}

impl<'a> Pressures<'a> {
    /// Nothing in the way of any stream but what it uses alone, the pressure of which is final.
    pub fn of_lone_users(system: &'a System) -> Self {
        let count = system.capacities.len();
        let mut first_users = vec![0; count + 1];
        for &(resource, _) in system.streams.iter().flat_map(|stream| &stream.usage) {
            first_users[resource + 1] += 1;
        }
        for resource in 0..count {
            first_users[resource + 1] += first_users[resource];
        }
        let mut users = vec![(0, 0.0); first_users[count]];
        let mut next = first_users.clone();
        for (index, stream) in system.streams.iter().enumerate() {
            for &(resource, usage) in &stream.usage {
                users[next[resource]] = (index, usage);
                next[resource] += 1;
            }
        }
        let p = system.saturation;
        let users_of = |resource: usize| &users[first_users[resource]..first_users[resource + 1]];
        let of_lone_user = |resource: usize| match users_of(resource) {
            &[(stream, usage)] => {
                let capacity = system.capacities[resource].ln();
                p * (usage.ln() + system.streams[stream].weight.ln() - capacity)
            }
            _ => f64::NEG_INFINITY,
        };
        let mut pressures = Self {
            system,
            shared: (0..count).filter(|&resource| users_of(resource).len() > 1).collect(),
            claims: claims(system).collect(),
            ln_h: (0..count).map(of_lone_user).collect(),
            h: vec![0.0; count],
            pushes: vec![0.0; system.streams.len()],
            ln_reference: f64::NEG_INFINITY,
            users,
            first_users,
        };
        pressures.refer_to_largest();
        pressures
    }

    /// Rate of every stream, bytes/s.
    pub fn rates(&self) -> Vec<f64> {
        (0..self.system.streams.len())
            .map(|stream| self.rate(stream, self.ln_slowdown(stream, None)))
            .collect()
    }

    /// Derivatives of ln of a stream's rate by ln h of each resource that it uses.
    pub fn push_on(&self, stream: usize) -> impl Iterator<Item = (usize, f64)> {
        let together = self.on(stream, None);
        let slope = logistic(self.claims[stream] + together) / self.system.saturation;
        let usage = self.system.streams[stream].usage.iter();
        usage.map(move |&(resource, _)| (resource, -slope * (self.ln_h[resource] - together).exp()))
    }

    /// Rate of a stream for ln (1 + (d/w)^p sum h).
    fn rate(&self, stream: usize, ln_slowdown: f64) -> f64 {
        self.system.streams[stream].demand * (-ln_slowdown / self.system.saturation).exp()
    }

    /// ln (1 + (d/w)^p sum h) of a stream, one resource left out.
    fn ln_slowdown(&self, stream: usize, without: Option<usize>) -> f64 {
        let sum = self.h_on(stream, without);
        let push = self.pushes[stream] * sum;
        let is_exact = sum >= EXACT_FROM && self.pushes[stream] >= EXACT_FROM;
        if is_exact && push.is_finite() {
            push.ln_1p()
        } else {
            softplus(self.claims[stream] + self.on(stream, without))
        }
    }

    /// The sum of the pressures on a stream / that of the reference, one resource left out.
    fn h_on(&self, stream: usize, without: Option<usize>) -> f64 {
        let usage = self.system.streams[stream].usage.iter().map(|&(resource, _)| resource);
        usage.filter(|&it| Some(it) != without).map(|resource| self.h[resource]).sum()
    }

    /// ln of the sum of the pressures on a stream, one resource left out.
    fn on(&self, stream: usize, without: Option<usize>) -> f64 {
        let sum = self.h_on(stream, without);
        if sum >= EXACT_FROM {
            return self.ln_reference + sum.ln();
        }
        let usage = self.system.streams[stream].usage.iter().map(|&(resource, _)| resource);
        ln_sum_exp(usage.filter(|&it| Some(it) != without).map(|resource| self.ln_h[resource]))
    }

    fn set(&mut self, resource: usize, ln_h: f64) {
        self.ln_h[resource] = ln_h;
        if ln_h > self.ln_reference + IN_RANGE {
            self.refer_to_largest();
        } else if self.ln_reference > f64::NEG_INFINITY {
            self.h[resource] = (ln_h - self.ln_reference).exp();
        }
    }

    fn refer_to_largest(&mut self) {
        let largest = self.ln_h.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if (largest - self.ln_reference).abs() < NEAR_REFERENCE {
            return;
        }
        self.ln_reference = largest;
        if largest > f64::NEG_INFINITY {
            self.h = self.ln_h.iter().map(|ln_h| (ln_h - largest).exp()).collect();
            self.pushes = self.claims.iter().map(|claim| (claim + largest).exp()).collect();
        }
    }

    /// Goes through all resources that are shared: moves the pressure of each to where it carries
    /// what the law says.
    pub fn sweep(&mut self) {
        self.refer_to_largest();
        let mut users = Vec::new();
        for position in 0..self.shared.len() {
            let resource = self.shared[position];
            self.see_users(resource, &mut users);
            if let Some(balanced) = self.balanced_for(resource, &users) {
                self.set(resource, balanced);
            }
        }
    }

    /// ln h at which a resource carries what the law says, the other pressures as they are;
    /// `None` for one that nothing uses.
    pub fn balanced(&self, resource: usize) -> Option<f64> {
        self.balanced_for(resource, &self.users_of(resource))
    }

    fn balanced_for(&self, resource: usize, users: &[User]) -> Option<f64> {
        let p = self.system.saturation;
        let offered: f64 = users.iter().map(|user| user.carried).sum();
        let excess = p * (offered.ln() - self.system.capacities[resource].ln());
        (offered > 0.0).then(|| pressure(users, offered, excess, p, self.ln_h[resource]))
    }

    /// Derivative of the balanced ln h by ln of the resource's capacity C. It solves
    /// f = ln((S/O)^-p - 1) - p ln(O/C) = 0, so that it is -p / (df/d ln h); `None` for one
    /// that nothing uses.
    pub fn slope_by_capacity(&self, resource: usize) -> Option<f64> {
        let p = self.system.saturation;
        let users = self.users_of(resource);
        let offered: f64 = users.iter().map(|user| user.carried).sum();
        let balanced = self.balanced_for(resource, &users)?;
        let is_exact = is_first_term_exact(&users, balanced);
        let slope = if is_exact { 1.0 } else { slowdown(&users, offered, balanced, p).1 };
        Some(-p / slope)
    }

    fn users_of(&self, resource: usize) -> Vec<User> {
        let mut users = Vec::new();
        self.see_users(resource, &mut users);
        users
    }

    /// The users of a resource in place of those that were seen before.
    fn see_users(&self, resource: usize, seen: &mut Vec<User>) {
        seen.clear();
        seen.extend(self.streams_of(resource).iter().map(|&(stream, usage)| {
            let others = self.ln_slowdown(stream, Some(resource));
            User {
                carried: usage * self.rate(stream, others),
                steepness: self.claims[stream] - others,
            }
        }));
    }

    /// The streams that use a resource, and how much.
    fn streams_of(&self, resource: usize) -> &[(usize, f64)] {
        &self.users[self.first_users[resource]..self.first_users[resource + 1]]
    }

    /// The resources that several streams use.
    pub fn shared(&self) -> &[usize] {
        &self.shared
    }

    /// ln h of these resources.
    pub fn at(&self, used: &[usize]) -> Vec<f64> {
        used.iter().map(|&resource| self.ln_h[resource]).collect()
    }

    /// Sets ln h of these resources.
    pub fn put(&mut self, used: &[usize], ln_h: &[f64]) {
        for (&resource, &value) in used.iter().zip(ln_h) {
            self.set(resource, value);
        }
    }

    /// The balanced ln h of these resources, each with the others as they are.
    pub fn all_balanced(&self, used: &[usize]) -> Vec<f64> {
        let of = |&resource: &usize| self.balanced(resource).unwrap_or(self.ln_h[resource]);
        used.iter().map(of).collect()
    }

    /// Derivatives of the balanced ln h of resource r by the ln h of each of `used`. It solves
    /// f = ln((S/O)^-p - 1) - p ln(O/C) = 0, so that by another k it is -(df/dk) / (df/dr);
    /// S and O change by what k takes of each user.
    pub fn slopes(&self, resource: usize, used: &[usize]) -> Vec<f64> {
        let p = self.system.saturation;
        let users = self.users_of(resource);
        let offered: f64 = users.iter().map(|user| user.carried).sum();
        let excess = p * (offered.ln() - self.system.capacities[resource].ln());
        let balanced = pressure(&users, offered, excess, p, self.ln_h[resource]);
        // What slows the users as much as `balanced` does slows S by 1 + exp(excess).
        let ln_slowdown = softplus(excess) / p;
        let push = |user: &User| balanced + user.steepness;
        let first_terms = is_first_term_exact(&users, balanced);
        let weigh = |user: &User| {
            let part = user.carried / offered;
            if first_terms {
                // First terms of both series.
                part * (push(user) - excess).exp()
            } else {
                part * (ln_slowdown - softplus(push(user)) / p).exp() * logistic(push(user))
                    / logistic(excess)
            }
        };
        let own: f64 = users.iter().map(weigh).sum();
        let mut slopes = vec![0.0; self.ln_h.len()];
        for (&(stream, _), user) in self.streams_of(resource).iter().zip(&users) {
            let part = user.carried / offered;
            let lost = if first_terms {
                1.0 - (p + 1.0) * (push(user) - excess).exp()
            } else {
                let ln_left = ln_slowdown - softplus(push(user)) * (1.0 + 1.0 / p);
                p * ln_left.exp_m1() / logistic(excess)
            };
            let taken = part * (p + lost) / own;
            for &(other, _) in &self.system.streams[stream].usage {
                if other != resource {
                    // A rate falls by the part of 1 + (d/w)^p sum h that is h_other's, over p.
                    slopes[other] -= taken * (self.ln_h[other] + user.steepness).exp() / p;
                }
            }
        }
        used.iter().map(|&other| slopes[other]).collect()
    }
}

/// p ln (d/w) of each stream.
fn claims(system: &System) -> impl Iterator<Item = f64> {
    let claim = |stream: &Stream| system.saturation * (stream.demand.ln() - stream.weight.ln());
    system.streams.iter().map(claim)
}

/// Its mean over the streams: ln h moves against it where p or the weights do.
pub(crate) fn mean_claim(system: &System) -> f64 {
    claims(system).sum::<f64>() / system.streams.len() as f64
}

/// ln h at which the users together are slowed to the law's total:
/// (S/O)^-p - 1 = (O/C)^p, where S is what they move under h. It is looked for from `near` on, where
/// that can be.
fn pressure(users: &[User], offered: f64, excess: f64, p: f64, near: f64) -> f64 {
    // For one user ln((S/O)^-p - 1) is ln h + steepness.
    if let [user] = users {
        return excess - user.steepness;
    }
    // The total lies between what it would be if all were as steep as the flattest and as
    // the steepest user.
    let steepness = || users.iter().map(|user| user.steepness);
    let mut low = excess - steepness().fold(f64::NEG_INFINITY, f64::max);
    let mut high = excess - steepness().fold(f64::INFINITY, f64::min);
    if high - low <= SMALLEST_STEP * low.abs().max(1.0) {
        return low;
    }
    let first_term = || {
        let of_user = |user: &User| (user.carried / offered).ln() + user.steepness;
        excess - ln_sum_exp(users.iter().map(of_user))
    };
    // It slows the steepest user at least by the excess.
    if excess < NO_PRESSURE {
        let first_term = first_term();
        if is_first_term_exact(users, first_term) {
            return first_term;
        }
    }
    let is_between = near > low && near < high;
    let mut ln_h = if is_between { near } else { first_term().clamp(low, high) };
    let mut earlier_error = f64::INFINITY;
    for _ in 0..MOST_STEPS {
        let (value, slope) = slowdown(users, offered, ln_h, p);
        let error = value - excess;
        if error > 0.0 {
            high = ln_h;
        } else {
            low = ln_h;
        }
        let newton = ln_h - error / slope;
        // Between a steep and a flat part Newton's steps can go to and fro without end.
        let goes_well = error.abs() < earlier_error / 2.0;
        let (next, last_step) = if goes_well && newton >= low && newton <= high {
            (newton, LAST_NEWTON_STEP)
        } else {
            (low.midpoint(high), SMALLEST_STEP * ln_h.abs().max(1.0))
        };
        earlier_error = error.abs();
        let step = (next - ln_h).abs();
        ln_h = next;
        if step <= last_step {
            break;
        }
    }
    ln_h
}

/// Whether every user is slowed by so little. That the total is does not suffice: one that
/// carries little of it can be slowed much.
fn is_first_term_exact(users: &[User], ln_h: f64) -> bool {
    users.iter().all(|user| ln_h + user.steepness < NO_PRESSURE)
}

/// ln((S/O)^-p - 1) and its derivative by ln h.
fn slowdown(users: &[User], offered: f64, ln_h: f64, p: f64) -> (f64, f64) {
    let (mut carried, mut lost, mut slope) = (0.0, 0.0, 0.0);
    for user in users {
        let (softplus, logistic) = softplus_and_logistic(ln_h + user.steepness);
        let ln_factor = -softplus / p;
        // Neither from the other where that would cancel.
        let (factor, lost_part) = if ln_factor > -LN_2 {
            let lost_part = -ln_factor.exp_m1();
            (1.0 - lost_part, lost_part)
        } else {
            let factor = ln_factor.exp();
            (factor, 1.0 - factor)
        };
        carried += user.carried * factor;
        lost += user.carried * lost_part;
        slope += user.carried * factor * logistic / p;
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
    softplus_and_logistic(y).0
}

/// 1 / (1 + e^-y).
fn logistic(y: f64) -> f64 {
    softplus_and_logistic(y).1
}

/// Both by one exponential: the solver spends its time here.
fn softplus_and_logistic(y: f64) -> (f64, f64) {
    let below_one = (-y.abs()).exp();
    let of_larger = 1.0 / (1.0 + below_one);
    (y.max(0.0) + below_one.ln_1p(), if y > 0.0 { of_larger } else { below_one * of_larger })
}

/// ln of a sum of exponentials; minus infinity for none.
fn ln_sum_exp(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + terms.map(|term| (term - largest).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What slows all alike slows the total alike: by digits that neither small nor large pressures lose.
    #[test]
    fn users_that_are_slowed_alike_are_slowed_as_one() {
        for p in [0.5, 2.0, 8.0, 40.0] {
            for tenths in -200..7000 {
                let push = f64::from(tenths) / 10.0;
                // Beyond it a rate is below what an f64 holds.
                if push > 600.0 * p {
                    break;
                }
                let user = |carried| User { carried, steepness: push - 3.0 };
                let users = [user(1e9), user(3e9), user(5e7)];
                let (value, slope) = slowdown(&users, 4.05e9, 3.0, p);
                assert!((value - push).abs() <= 1e-11 * push.abs().max(1.0), "{p} {push} {value}");
                assert!((slope - 1.0).abs() < 1e-9, "{p} {push} {slope}");
            }
        }
    }

    #[test]
    fn sums_of_pressures_hold_over_hundreds_of_decades() {
        let usage: Vec<(usize, f64)> = (0..4).map(|resource| (resource, 1.0)).collect();
        let stream = Stream { demand: 1e10, weight: 1e10, usage };
        let system = System { capacities: vec![1e9; 4], streams: vec![stream], saturation: 4.0 };
        for ln_h in [
            [-9000.0, -9001.0, -9700.0, -9000.5],
            [-9000.0, 3.0, 2.5, -700.0],
            [1.0, 2.0, 900.0, 1800.0],
            [5.0, f64::NEG_INFINITY, -1.0, -0.5],
        ] {
            let mut pressures = Pressures::of_lone_users(&system);
            pressures.put(&[0, 1, 2, 3], &ln_h);
            for without in [None, Some(0), Some(1), Some(2), Some(3)] {
                let others = (0..4).filter(|&resource| Some(resource) != without);
                let expected = ln_sum_exp(others.map(|resource| ln_h[resource]));
                let found = pressures.on(0, without);
                assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{ln_h:?}");
                let (found, expected) = (pressures.ln_slowdown(0, without), softplus(expected));
                assert!((found - expected).abs() <= 1e-12 * expected.max(1.0), "{ln_h:?}");
            }
        }
    }
}
