//! Work of one cycle each, by which the clock of a core is told.

/// Adds one register to another about so many times, each addition waiting for the one before;
/// gives how many there were. Each takes one cycle on every core that is known, so that the time it
/// takes tells the clock at which the core runs now. `None` where there is no such loop.
///
/// Both operands are registers: recent Intel cores add small constants before execution, several
/// in one cycle.
///
/// # Panics
///
/// If the sum is not that of so many additions.
pub fn add_in_sequence(additions: u64) -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    return Some(crate::x86_64::add_in_sequence(additions));
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = additions;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn there_are_at_least_as_many_additions_as_asked_for_and_hardly_more() {
        for asked in [0, 1, 63, 64, 65, 1000, 1_000_000] {
            let made = add_in_sequence(asked).unwrap();
            assert!((asked..asked.max(1) + 64).contains(&made), "{made} for {asked}");
        }
    }
}
