//! Bit masks of CPUs and nodes as the kernel's calls take them: words of the
//! machine's `unsigned long`, lowest number first.

use std::ffi::c_ulong;

use nearfar_machine::IndexSet;

const WORD_BITS: u32 = c_ulong::BITS;

/// The words that hold all members of `set`; at least one word.
pub(crate) fn words<Kind>(set: &IndexSet<Kind>) -> Vec<c_ulong> {
    let count = set.last().unwrap_or(0) / WORD_BITS + 1;
    let mut words: Vec<c_ulong> = (0..count).map(|_| 0).collect();
    for index in set.iter() {
        if let Some(word) = words.get_mut((index / WORD_BITS) as usize) {
            *word |= 1 << (index % WORD_BITS);
        }
    }
    words
}

/// The numbers whose bits are set.
pub(crate) fn members<Kind>(words: &[c_ulong]) -> IndexSet<Kind> {
    let mut set = IndexSet::new();
    for (base, &word) in (0..).step_by(WORD_BITS as usize).zip(words) {
        set.extend((0..WORD_BITS).filter(|bit| word >> bit & 1 == 1).map(|bit| base + bit));
    }
    set
}

/// Number of bits in `words`.
pub(crate) fn bits(words: &[c_ulong]) -> usize {
    words.len() * WORD_BITS as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearfar_machine::CpuSet;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn members_are_what_was_put_in(numbers in prop::collection::btree_set(0_u32..70_000, 0..50)) {
            let set: CpuSet = numbers.iter().copied().collect();
            let words = words(&set);
            prop_assert_eq!(members(&words), set);
            let ones: u32 = words.iter().map(|word| word.count_ones()).sum();
            prop_assert_eq!(ones as usize, numbers.len());
        }
    }

    #[test]
    fn lowest_number_is_the_lowest_bit_of_the_first_word() {
        let set: CpuSet = [0, 3, WORD_BITS + 1].into_iter().collect();
        assert_eq!(words(&set), [0b1001, 0b10]);
        assert_eq!(words(&CpuSet::new()), [0]);
    }
}
