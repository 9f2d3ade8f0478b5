//! The loops of an exchanged line.
//!
//! Loads acquire and stores release, as those of a program must that hands data over. Neither loop
//! waits by `yield` or `wfe`: how long these last, and what ends the second, differs among cores, and
//! would be measured instead of a hand-over.

use std::arch::is_aarch64_feature_detected;
use std::sync::atomic::AtomicU64;

/// Waits for a turn by loads and writes the next, `times` times (at least one), each turn two above
/// the one before. Ends early where a turn does not come within `patience` loads; gives how many were left.
pub(crate) fn write_turns(count: &AtomicU64, turn: u64, times: u64, patience: u64) -> u64 {
    // SAFETY: the address is an atomic's, which both sides access by whole, aligned words; times and
    // patience are above 0.
    unsafe { write_turns_at(count.as_ptr(), turn, times.max(1), patience.max(1)) }
}

/// The same by compare-and-swap, which waits and writes in one: an instruction where the CPU has it
/// (LSE, Armv8.1), else a pair that reserves the line and stores if nobody else wrote.
pub(crate) fn swap_turns(count: &AtomicU64, turn: u64, times: u64, patience: u64) -> u64 {
    let swap_turns_at = if is_aarch64_feature_detected!("lse") {
        swap_turns_by_instruction
    } else {
        swap_turns_by_reservation
    };
    // SAFETY: as for `write_turns`, and `cas` is there where it is used.
    unsafe { swap_turns_at(count.as_ptr(), turn, times.max(1), patience.max(1)) }
}

/// # Safety
///
/// `count` is that of an atomic, and neither `times` nor `patience` is 0.
#[unsafe(naked)]
unsafe extern "C" fn write_turns_at(count: *mut u64, turn: u64, times: u64, patience: u64) -> u64 {
    std::arch::naked_asm!(
        "2:",
        "mov x4, x3",
        ".p2align 5",
        "3:",
        "ldar x5, [x0]",
        "cmp x5, x1",
        "b.eq 4f",
        "subs x4, x4, #1",
        "b.ne 3b",
        "mov x0, x2",
        "ret",
        "4:",
        "add x5, x5, #1",
        "stlr x5, [x0]",
        "add x1, x1, #2",
        "subs x2, x2, #1",
        "b.ne 2b",
        "mov x0, x2",
        "ret",
    )
}

/// # Safety
///
/// As for `write_turns_at`, and the CPU has LSE.
#[unsafe(naked)]
unsafe extern "C" fn swap_turns_by_instruction(
    count: *mut u64,
    turn: u64,
    times: u64,
    patience: u64,
) -> u64 {
    std::arch::naked_asm!(
        ".arch_extension lse",
        "2:",
        "mov x4, x3",
        "add x6, x1, #1",
        ".p2align 5",
        "3:",
        "mov x5, x1",
        "casal x5, x6, [x0]",
        "cmp x5, x1",
        "b.eq 4f",
        "subs x4, x4, #1",
        "b.ne 3b",
        "mov x0, x2",
        "ret",
        "4:",
        "add x1, x1, #2",
        "subs x2, x2, #1",
        "b.ne 2b",
        "mov x0, x2",
        "ret",
        ".arch_extension nolse",
    )
}

/// A reservation that is lost counts as a try.
///
/// # Safety
///
/// As for `write_turns_at`.
#[unsafe(naked)]
unsafe extern "C" fn swap_turns_by_reservation(
    count: *mut u64,
    turn: u64,
    times: u64,
    patience: u64,
) -> u64 {
    std::arch::naked_asm!(
        "2:",
        "mov x4, x3",
        "add x6, x1, #1",
        ".p2align 5",
        "3:",
        "ldaxr x5, [x0]",
        "cmp x5, x1",
        "b.ne 5f",
        "stlxr w7, x6, [x0]",
        "cbz w7, 4f",
        "5:",
        "subs x4, x4, #1",
        "b.ne 3b",
        "clrex",
        "mov x0, x2",
        "ret",
        "4:",
        "add x1, x1, #2",
        "subs x2, x2, #1",
        "b.ne 2b",
        "mov x0, x2",
        "ret",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portable;

    /// Without LSE, which most CPUs have by now.
    #[test]
    fn the_loop_by_reservation_agrees_with_the_portable_one() {
        for (start, turn) in [(4, 4), (5, 4), (0, 1)] {
            let ours = AtomicU64::new(start);
            // SAFETY: an atomic's address; neither number is 0.
            let left = unsafe { swap_turns_by_reservation(ours.as_ptr(), turn, 3, 10) };
            let theirs = AtomicU64::new(start);
            assert_eq!(left, portable::swap_turns(&theirs, turn, 3, 10));
            assert_eq!(ours.into_inner(), theirs.into_inner());
        }
    }

    #[test]
    fn two_threads_hand_over_by_reservation() {
        let count = AtomicU64::new(0);
        let times = 2000;
        std::thread::scope(|scope| {
            for first in [0, 1] {
                let count = &count;
                scope.spawn(move || {
                    let mut done = 0;
                    while done < times {
                        let turn = first + 2 * done;
                        // SAFETY: an atomic's address; neither number is 0.
                        let left = unsafe {
                            swap_turns_by_reservation(count.as_ptr(), turn, times - done, 1000)
                        };
                        done = times - left;
                    }
                });
            }
        });
        assert_eq!(count.into_inner(), 2 * times);
    }
}
