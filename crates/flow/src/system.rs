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
//! One resource alone carries (D^-p + C^-p)^(-1/p) of the summed demand D. A resource of one
//! stream has h_r = (a_sr w_s / C_r)^p whatever the others have, so that a lone stream gets
//! x^-p = d^-p + sum_r (C_r / a_r)^-p. For large p the law is weighted
//! progressive filling (max-min fairness with weights w_s). Source: ours. A lone stream
//! and a lone resource have one solution. Of many together about one random system in 300
//! (`benches/settling.rs`) has several, and the order of resources decides which is found.

use std::ops::RangeInclusive;

use crate::error::FlowError;

/// A stream of data through resources.
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    /// What it moves when nothing is in its way, bytes/s.
    pub demand: f64,
    /// Its claim on a resource that is short, relative to the other streams'.
    pub weight: f64,
    /// Resources it uses, each once, and what each carries for a byte of it.
    pub usage: Vec<(usize, f64)>,
}

/// Resources and the streams that share them.
#[derive(Debug, Clone, PartialEq)]
pub struct System {
    /// Capacity of each resource, in the unit of usage x bytes/s.
    pub capacities: Vec<f64>,
    pub streams: Vec<Stream>,
    /// How hard resources saturate: the exponent p.
    pub saturation: f64,
}

/// Of these sums and ratios stay far within an f64.
const NUMBERS: RangeInclusive<f64> = 1e-100..=1e100;
const EXPONENTS: RangeInclusive<f64> = 0.1..=1000.0;

impl System {
    /// Whether its numbers can be solved with.
    pub(crate) fn check(&self) -> Result<(), FlowError> {
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
