//! What is sent, and how it is told from what was there before.

/// 2^64 / the golden ratio, odd: a step of [`Hash`] loses nothing.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// A hash of words that depends on their order. Each step is invertible in both the hash and the word:
/// a change of one word alone always changes the hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hash(u64);

impl Hash {
    pub(crate) fn new() -> Self {
        Self(MULTIPLIER)
    }

    pub(crate) fn of(words: &[u64]) -> Self {
        let mut hash = Self::new();
        hash.add(words);
        hash
    }

    pub(crate) fn add(&mut self, words: &[u64]) {
        self.0 = words.iter().fold(self.0, |hash, word| {
            let mixed = (hash ^ word).wrapping_mul(MULTIPLIER);
            mixed ^ (mixed >> 32)
        });
    }
}

/// Words of which no byte is as in these.
pub(crate) fn invert(words: &mut [u64]) {
    for word in words {
        *word = !*word;
    }
}

/// What peers send each other: the words from this one on, each other than its neighbours.
pub(crate) fn fill_with_pattern(words: &mut [u64], first: usize) {
    for (index, word) in words.iter_mut().enumerate() {
        // Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).
        let mut mixed = (first as u64).wrapping_add(index as u64).wrapping_mul(MULTIPLIER);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        *word = mixed ^ (mixed >> 31);
    }
}

/// The first byte that differs.
pub(crate) fn first_difference(expected: &[u64], arrived: &[u64]) -> Option<usize> {
    let index = expected.iter().zip(arrived).position(|(one, other)| one != other)?;
    let differing = (expected[index] ^ arrived[index]).to_ne_bytes();
    let byte = differing.iter().position(|&byte| byte != 0)?;
    Some(index * size_of::<u64>() + byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bit_anywhere_or_another_order_changes_the_hash() {
        let mut words = vec![0; 500];
        fill_with_pattern(&mut words, 0);
        let hash = Hash::of(&words);
        for index in 0..words.len() {
            for bit in [0, 1, 31, 32, 62, 63] {
                words[index] ^= 1 << bit;
                assert_ne!(Hash::of(&words), hash, "word {index}, bit {bit}");
                words[index] ^= 1 << bit;
            }
        }
        words.swap(3, 4);
        assert_ne!(Hash::of(&words), hash);
        words.swap(3, 4);
        assert_eq!(Hash::of(&words), hash);
        assert_ne!(Hash::of(&words[1..]), hash);
        assert_ne!(Hash::of(&[0, 0]), Hash::of(&[0]));
    }

    #[test]
    fn a_hash_in_pieces_is_the_hash_of_the_whole() {
        let mut words = vec![0; 100];
        fill_with_pattern(&mut words, 7);
        let mut hash = Hash::new();
        for piece in words.chunks(33) {
            hash.add(piece);
        }
        assert_eq!(hash, Hash::of(&words));
    }

    #[test]
    fn the_pattern_does_not_depend_on_where_it_is_cut() {
        let (mut whole, mut part) = (vec![0; 64], vec![0; 24]);
        fill_with_pattern(&mut whole, 0);
        fill_with_pattern(&mut part, 40);
        assert_eq!(whole[40..], part);
        assert!(whole.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn the_first_byte_that_differs_is_named() {
        let expected = [1, 2, 3];
        assert_eq!(first_difference(&expected, &expected), None);
        let mut arrived = expected;
        arrived[1] = u64::from_ne_bytes([2u64.to_ne_bytes()[0], 0, 9, 0, 0, 0, 0, 0]);
        assert_eq!(first_difference(&expected, &arrived), Some(10));
        invert(&mut arrived);
        assert_eq!(first_difference(&expected, &arrived), Some(0));
    }
}
