//! The clock at which a core runs now, by additions that wait for each other.

use nearfar_kernels::add_in_sequence;

use crate::executor::Failure;

/// Additions of a look: some twenty microseconds.
const ADDITIONS: u64 = 64 * 1024;

/// Looks of which the fastest counts: what takes the CPU away makes a clock seem slower, nothing
/// makes it seem faster.
const LOOKS: u32 = 4;

/// The clock in GHz, by a reading of the time in ns; `None` where there is no loop for it.
///
/// # Errors
/// When the time cannot be read.
pub(super) fn core_ghz(
    mut now: impl FnMut() -> Result<u64, Failure>,
) -> Result<Option<f64>, Failure> {
    let mut fastest: Option<f64> = None;
    for _ in 0..LOOKS {
        let began = now()?;
        let Some(additions) = add_in_sequence(ADDITIONS) else { return Ok(None) };
        let elapsed = now()?.saturating_sub(began).max(1);
        let ghz = additions as f64 / elapsed as f64;
        fastest = Some(fastest.map_or(ghz, |fastest| fastest.max(ghz)));
    }
    Ok(fastest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[test]
    fn the_fastest_look_counts() {
        // Looks of 65536, 32768, 16384 and 131072 ns; one addition each ns is 1 GHz.
        let times = [0, 65_536, 70_000, 102_768, 200_000, 216_384, 300_000, 431_072];
        let mut times = times.into_iter();
        let ghz = core_ghz(|| Ok(times.next().unwrap())).unwrap();
        assert_eq!(ghz, Some(4.0));
        assert_eq!(times.next(), None);
    }

    #[test]
    fn a_clock_that_fails_is_told() {
        assert_eq!(core_ghz(|| Err(Failure::Interrupted)), Err(Failure::Interrupted));
    }
}
