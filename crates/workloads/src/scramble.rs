//! Numbers that look random, each by its place alone, so that every thread makes its own.

/// A number of 64 bits; different places have different ones (Steele and others, `SplitMix64`).
#[inline]
pub fn scramble(place: u64) -> u64 {
    let place = place.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let place = (place ^ place >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let place = (place ^ place >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    place ^ place >> 31
}

/// A number below 2^bits; different places below that have different ones.
#[inline]
pub fn scramble_bits(place: u64, bits: u32) -> u64 {
    // Each step can be undone: odd numbers have an inverse modulo 2^bits.
    let mask = (1 << bits) - 1;
    let times = |place: u64, odd: u64| place.wrapping_mul(odd) & mask;
    let fold = |place: u64| place ^ place >> bits.div_ceil(2);
    let place = fold(times(place, 0x9E37_79B9_7F4A_7C15));
    let place = fold(times(place, 0xD1B5_4A32_D192_ED03));
    times(place, 0x94D0_49BB_1331_11EB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_had_once() {
        for bits in 1..12 {
            let mut numbers: Vec<u64> =
                (0..1 << bits).map(|place| scramble_bits(place, bits)).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..1 << bits), "{bits} bits");
        }
    }

    #[test]
    fn numbers_are_those_of_the_generator() {
        // The first of SplitMix64 from 0.
        assert_eq!(scramble(0), 0xE220_A839_7B1D_CDAF);
    }
}
