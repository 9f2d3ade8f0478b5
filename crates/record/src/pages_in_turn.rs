//! What the name of a variant says of the order in which a kernel walks through its arrays.

/// How many pages take turns in a variant of this name, a line of each: 4 in `avx512-pages4`. 1 where
/// the arrays are walked through in their order, as a program's plain loop does; only figures of that
/// stand for programs.
pub fn pages_in_turn(variant: &str) -> u32 {
    let pages = variant.split_once("-pages").and_then(|(_, pages)| pages.parse().ok());
    pages.unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_that_ends_in_a_number_of_pages_has_turns() {
        assert_eq!(["avx512-pages4", "avx2-pages2"].map(pages_in_turn), [4, 2]);
        let in_order = ["avx512", "portable", "", "gcc-pages", "-pages", "pages4", "a-pages4k"];
        assert_eq!(in_order.map(pages_in_turn), [1; 7]);
    }
}
