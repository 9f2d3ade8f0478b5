//! The pseudo-random numbers of the NAS Parallel Benchmarks: x' = a x mod 2^46, deviates x' 2^-46.

/// 5^13.
pub const MULTIPLIER: u64 = 1_220_703_125;

/// Where most of the benchmarks begin.
pub const SEED: u64 = 314_159_265;

const MASK: u64 = (1 << 46) - 1;

/// A stream of deviates in (0, 1).
#[derive(Debug, Clone, Copy)]
pub struct NasRandom {
    state: u64,
}

impl NasRandom {
    pub fn new(seed: u64) -> Self {
        Self { state: seed & MASK }
    }

    /// The same stream `count` deviates later.
    pub fn after(self, count: u64) -> Self {
        let (mut factor, mut power, mut rest) = (1_u64, MULTIPLIER, count);
        while rest > 0 {
            if rest & 1 == 1 {
                factor = factor.wrapping_mul(power) & MASK;
            }
            power = power.wrapping_mul(power) & MASK;
            rest >>= 1;
        }
        Self { state: self.state.wrapping_mul(factor) & MASK }
    }

    /// The next deviate.
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "46 bits are exact in 53")]
    pub fn draw(&mut self) -> f64 {
        const SCALE: f64 = 1.0 / (1_u64 << 46) as f64;
        // 2^46 divides 2^64, so that wrapping is exact.
        self.state = self.state.wrapping_mul(MULTIPLIER) & MASK;
        self.state as f64 * SCALE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumps_arrive_where_steps_do() {
        let mut stepped = NasRandom::new(SEED);
        for count in 0..1000 {
            assert_eq!(NasRandom::new(SEED).after(count).state, stepped.state);
            stepped.draw();
        }
    }
}
