//! What the kernels multiply by and store.

/// What a pass multiplies by and what it stores.
///
/// A store of zeros, or of the same value everywhere, can run at another speed than real data: on
/// an AMD EPYC virtual machine non-temporal stores of 0.0 ran at 87 GB/s and of 3.0 at 39. So the
/// stored lanes are normal numbers that differ, and change from pass to pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// The factor of `scale` and `triad`. A power of two, because only then do fused and separate
    /// multiply-add round alike, and all variants give the same bits.
    pub scalar: f64,
    /// What `store` writes: `lanes[i % 8]` at element `i` of the slice.
    pub lanes: [f64; 8],
}

impl Constants {
    /// The constants of one pass over the arrays: the scalar is 2.0; the lanes are in [1, 2), and
    /// no two of them are equal within 2^49 successive passes.
    pub fn for_pass(pass: u64) -> Constants {
        let first = pass.wrapping_mul(8);
        Constants {
            scalar: 2.0,
            lanes: std::array::from_fn(|k| lane(first.wrapping_add(k as u64))),
        }
    }
}

/// A number in [1, 2) for a counter, one to one for 2^52 counters.
fn lane(counter: u64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    // 2^52 over the golden ratio, made odd: multiplication by an odd number is one to one modulo
    // 2^52, and this one spreads neighbouring counters over the mantissas (Knuth, vol. 3, 6.4).
    const STEP: u64 = 0x9_E377_9B97_F4A7;
    f64::from_bits(1.0_f64.to_bits() | (counter.wrapping_mul(STEP) & MANTISSA))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn lanes_are_normal_all_differ_and_never_come_back() {
        let mut seen = HashSet::new();
        let passes = (0..2000).chain((1 << 32)..(1 << 32) + 100);
        for pass in passes {
            for lane in Constants::for_pass(pass).lanes {
                assert!((1.0..2.0).contains(&lane) && lane.is_normal(), "{lane}");
                assert!(seen.insert(lane.to_bits()), "{lane} of pass {pass} was there before");
            }
        }
    }

    #[test]
    fn mantissas_are_full() {
        // Of 8000 lanes each of the 52 bits is set in about half. The lowest bit alternates.
        let mut set = [0; 52];
        for lane in (0..1000).flat_map(|pass| Constants::for_pass(pass).lanes) {
            for (bit, count) in set.iter_mut().enumerate() {
                *count += lane.to_bits() >> bit & 1;
            }
        }
        assert!(set.iter().all(|count| (3600..=4400).contains(count)), "{set:?}");
    }

    #[test]
    fn the_scalar_is_a_power_of_two_in_every_pass() {
        for pass in [0, 1, 7, u64::MAX / 8, u64::MAX] {
            let scalar = Constants::for_pass(pass).scalar;
            assert_eq!(scalar.to_bits() << 12, 0, "{scalar}");
            assert!(scalar.is_normal() && scalar.to_bits() != 1.0_f64.to_bits());
        }
    }
}
