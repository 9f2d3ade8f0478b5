//! The data that the kernels read.

use std::ops::Range;

/// Prime, and so prime to the 512 elements of a page: neighbouring pages are never equal, and a
/// fault in addressing shows in the checksum.
const PERIOD: usize = 4093;

/// The data in the source arrays: random numbers in [1, 2) with full mantissas, repeating after
/// 4093 elements, so that any element and the checksum of any range are known without the array.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// One period.
    table: Vec<f64>,
}

impl Pattern {
    /// The pattern of a seed. The same seed gives the same numbers on every machine.
    pub fn new(seed: u64) -> Pattern {
        let mut state = seed;
        Pattern { table: (0..PERIOD).map(|_| random_in_one_to_two(&mut state)).collect() }
    }

    /// The element at `index`.
    pub fn value(&self, index: u64) -> f64 {
        self.table[slot(index)]
    }

    /// Writes the elements from `first_index` on into `slice`.
    pub fn fill(&self, slice: &mut [f64], first_index: u64) {
        let start = slot(first_index);
        let (head, rest) = slice.split_at_mut(slice.len().min(PERIOD - start));
        head.copy_from_slice(&self.table[start..start + head.len()]);
        for part in rest.chunks_mut(PERIOD) {
            part.copy_from_slice(&self.table[..part.len()]);
        }
    }

    /// The exclusive or of the bits of the elements in `range`, in the time of one period.
    pub fn xor(&self, range: Range<u64>) -> u64 {
        let len = range.end.saturating_sub(range.start);
        let bits = |index| self.value(index).to_bits();
        let rest = (0..len % PERIOD as u64)
            .fold(0, |folded, offset| folded ^ bits(range.start % PERIOD as u64 + offset));
        if (len / PERIOD as u64).is_multiple_of(2) {
            rest
        } else {
            self.table.iter().fold(rest, |folded, value| folded ^ value.to_bits())
        }
    }

    /// The sum of `value(b + i) * value(c + i)` over all `i` below `len`, in the time of one
    /// period. Its rounding error is below 1e-12 of the sum.
    pub fn dot(&self, b: u64, c: u64, len: u64) -> f64 {
        let (b, c) = (b % PERIOD as u64, c % PERIOD as u64);
        let sum = |end: u64| -> f64 {
            (0..end).map(|offset| self.value(b + offset) * self.value(c + offset)).sum()
        };
        let periods = len / PERIOD as u64;
        periods as f64 * sum(PERIOD as u64) + sum(len % PERIOD as u64)
    }

    /// The sum of `f(value)` over the eight elements of `lines` lines, of which the first begins
    /// at `first_index` and each other `every` lines after the one before; in the time of a few
    /// periods.
    pub(crate) fn sum_of_lines(
        &self,
        first_index: u64,
        every: u64,
        lines: u64,
        f: impl Fn(f64) -> f64,
    ) -> f64 {
        let period = PERIOD as u64;
        let (first, step) = (first_index % period, 8 * (every % period) % period);
        let sum = |lines: u64| -> f64 {
            let starts = (0..lines).map(|line| first + line * step);
            starts.flat_map(|start| start..start + 8).map(|index| f(self.value(index))).sum()
        };
        // The period is prime, so that after as many lines every place has been each of the eight.
        (lines / period) as f64 * sum(period) + sum(lines % period)
    }
}

/// Where in the period an element is.
fn slot(index: u64) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "below the period")]
    let slot = (index % PERIOD as u64) as usize;
    slot
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), of which the upper 52 bits become a mantissa.
fn random_in_one_to_two(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^= bits >> 31;
    f64::from_bits(1.0_f64.to_bits() | (bits >> 12))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn filled(pattern: &Pattern, first_index: u64, len: usize) -> Vec<f64> {
        let mut values = vec![f64::NAN; len];
        pattern.fill(&mut values, first_index);
        values
    }

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    #[test]
    fn the_period_is_prime() {
        assert!((2..PERIOD).all(|divisor| !PERIOD.is_multiple_of(divisor)));
    }

    #[test]
    fn values_are_in_one_to_two_differ_and_depend_on_the_seed() {
        let pattern = Pattern::new(11);
        assert!(pattern.table.iter().all(|value| (1.0..2.0).contains(value)));
        let distinct: HashSet<u64> = pattern.table.iter().map(|value| value.to_bits()).collect();
        assert_eq!(distinct.len(), PERIOD);
        let other = Pattern::new(12);
        assert!(pattern.table.iter().zip(&other.table).all(|(a, b)| a.to_bits() != b.to_bits()));
        assert_eq!(pattern, Pattern::new(11));
    }

    #[test]
    fn splitmix64_gives_the_numbers_of_its_reference_implementation() {
        // First three outputs of splitmix64.c (Vigna, prng.di.unimi.it) for seed 1234567.
        let reference = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973_u64];
        let pattern = Pattern::new(1_234_567);
        for (index, wanted) in (0..).zip(reference) {
            assert_eq!(pattern.value(index).to_bits() & ((1 << 52) - 1), wanted >> 12);
        }
    }

    #[test]
    fn no_page_equals_one_of_the_next_eight() {
        let pattern = Pattern::new(3);
        let pages: Vec<Vec<u64>> =
            (0..64).map(|page| bits(&filled(&pattern, page * 512, 512))).collect();
        for (page, values) in pages.iter().enumerate() {
            for other in &pages[page + 1..pages.len().min(page + 9)] {
                assert_ne!(values, other, "page {page}");
            }
        }
    }

    #[test]
    fn fill_writes_what_value_says_at_any_index_and_length() {
        let pattern = Pattern::new(4);
        let mut random = fastrand::Rng::with_seed(4);
        for case in 0..200 {
            let len = if case < 20 { case } else { random.usize(..3 * PERIOD) };
            let first = match case % 3 {
                0 => random.u64(..10_000),
                1 => PERIOD as u64 * random.u64(..1000),
                _ => u64::MAX - random.u64(20_000..30_000),
            };
            let wanted: Vec<u64> =
                (first..).take(len).map(|index| pattern.value(index).to_bits()).collect();
            assert_eq!(bits(&filled(&pattern, first, len)), wanted, "from {first}, {len}");
        }
    }

    #[test]
    fn a_slice_filled_in_parts_equals_one_filled_at_once() {
        let pattern = Pattern::new(5);
        let whole = filled(&pattern, 99, 20_000);
        let mut parts = vec![0.0; 20_000];
        for (start, part) in (99..).step_by(777).zip(parts.chunks_mut(777)) {
            pattern.fill(part, start);
        }
        assert_eq!(bits(&parts), bits(&whole));
    }

    #[test]
    fn xor_of_a_range_is_that_of_its_elements() {
        let pattern = Pattern::new(6);
        let mut random = fastrand::Rng::with_seed(6);
        for _ in 0..300 {
            let start = random.u64(..1 << 40);
            let end = start + random.u64(..5 * PERIOD as u64);
            let wanted = (start..end).fold(0, |xor, index| xor ^ pattern.value(index).to_bits());
            assert_eq!(pattern.xor(start..end), wanted, "{start}..{end}");
        }
        assert_eq!(pattern.xor(5..5), 0);
        assert_eq!(pattern.xor(Range { start: 9, end: 2 }), 0);
    }

    #[test]
    fn dot_of_a_range_is_that_of_its_elements() {
        let pattern = Pattern::new(7);
        let mut random = fastrand::Rng::with_seed(7);
        for case in 0..300 {
            let (b, c) = (random.u64(..1 << 60), random.u64(..1 << 50));
            let len = if case < 10 { case } else { random.u64(..5 * PERIOD as u64) };
            let wanted: f64 = (0..len).map(|i| pattern.value(b + i) * pattern.value(c + i)).sum();
            let dot = pattern.dot(b, c, len);
            assert!((dot - wanted).abs() <= 1e-12 * wanted, "{b}, {c}, {len}: {dot}, {wanted}");
        }
    }
}
