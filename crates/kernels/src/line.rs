//! Cache lines.

/// Bytes of a cache line. Non-temporal stores want whole lines, each line once.
pub(crate) const LINE: usize = 64;

/// Elements before the first whole cache line of an array, or all if there is none.
pub(crate) fn elements_to_next_line(array: &[f64]) -> usize {
    let past = array.as_ptr().addr() % LINE;
    ((LINE - past) % LINE / size_of::<f64>()).min(array.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_before_a_line_is_less_than_one_and_the_rest_begins_one() {
        let memory = [0.0; 40];
        for start in 0..16 {
            for len in 0..16 {
                let array = &memory[start..start + len];
                let before = elements_to_next_line(array);
                assert!(before < 8 && before <= len);
                let begins = array[before..].as_ptr().addr().is_multiple_of(64);
                assert!(begins || before == len, "{start}, {len}: {before}");
            }
        }
    }
}
