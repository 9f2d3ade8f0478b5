//! One line handed back and forth between two CPUs.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::architecture::{swap_turns, write_turns};
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use crate::portable::{swap_turns, write_turns};

/// How a side takes its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handing {
    /// It loads until it sees its turn, and stores the other's.
    StoreLoad,
    /// It tries to exchange its turn for the other's until that succeeds.
    CompareSwap,
}

/// A line in memory that two sides share: a count of the times that it was handed over.
///
/// ```
/// use nearfar_kernels::{ExchangedLine, Handing};
///
/// let mut memory = vec![0.0; 8];
/// let line = ExchangedLine::new(&mut memory).ok_or("no room")?;
/// let [mut first, mut second] = line.sides();
/// // Whoever waits in vain gives up after some time.
/// assert_eq!(second.hand_over(Handing::StoreLoad, 1), 0);
/// assert_eq!(first.hand_over(Handing::StoreLoad, 5), 1);
/// assert_eq!(second.hand_over(Handing::CompareSwap, 1), 1);
/// assert!(first.is_on_course() && second.is_on_course());
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ExchangedLine<'a> {
    count: &'a AtomicU64,
    /// The memory that it lies in, which nobody else may touch.
    memory: PhantomData<&'a mut [f64]>,
}

impl<'a> ExchangedLine<'a> {
    /// At the beginning of this memory, which should be that of a line; `None` where there is none.
    pub fn new(memory: &'a mut [f64]) -> Option<Self> {
        let place = memory.first_mut()?;
        *place = f64::from_bits(0);
        // SAFETY: eight bytes, aligned to eight as an f64 is on every 64-bit architecture, borrowed
        // for as long as the line lives: all sides go by this one atomic.
        let count = unsafe { AtomicU64::from_ptr(std::ptr::from_mut(place).cast()) };
        Some(Self { count, memory: PhantomData })
    }

    /// Who begins, and who answers.
    pub fn sides(self) -> [Side<'a>; 2] {
        [0, 1].map(|first| Side { count: self.count, first, done: 0 })
    }
}

/// One of the two that hand a line to each other.
#[derive(Debug)]
pub struct Side<'a> {
    count: &'a AtomicU64,
    /// The count at its first turn.
    first: u64,
    done: u64,
}

impl Side<'_> {
    /// Loads, or tries to exchange, for one turn before it gives up: some ten to a hundred
    /// microseconds, far more than a hand-over takes and less than a block of a window.
    pub const PATIENCE: u64 = 1 << 14;

    /// Hands the line over `times` times, or fewer where the other side keeps it for longer than
    /// [`Side::PATIENCE`]; how often. Whoever gave up goes on with the same turn at the next call.
    pub fn hand_over(&mut self, handing: Handing, times: u64) -> u64 {
        if times == 0 {
            return 0;
        }
        let turn = self.first + 2 * self.done;
        let left = match handing {
            Handing::StoreLoad => write_turns(self.count, turn, times, Self::PATIENCE),
            Handing::CompareSwap => swap_turns(self.count, turn, times, Self::PATIENCE),
        };
        self.done += times - left;
        times - left
    }

    /// Times that it has handed the line over.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Whether the line holds what it must after so many hand-overs: what this side wrote last, or
    /// what the other answered.
    pub fn is_on_course(&self) -> bool {
        let turn = self.first + 2 * self.done;
        let count = self.count.load(Ordering::Relaxed);
        count == turn || count + 1 == turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Handing; 2] = [Handing::StoreLoad, Handing::CompareSwap];

    type Way = fn(&AtomicU64, u64, u64, u64) -> u64;

    /// Two threads hand the line to each other to the end, however they are scheduled.
    #[test]
    fn both_sides_count_the_same_hand_overs() {
        for handing in BOTH {
            let mut memory = vec![7.5; 8];
            let line = ExchangedLine::new(&mut memory).unwrap();
            let times = 2000;
            std::thread::scope(|scope| {
                for mut side in line.sides() {
                    scope.spawn(move || {
                        while side.done() < times {
                            let left = times - side.done();
                            side.hand_over(handing, left.min(300));
                            assert!(side.is_on_course());
                        }
                    });
                }
            });
            assert_eq!(memory[0].to_bits(), 2 * times, "{handing:?}");
            assert!(memory[1..].iter().all(|it| it.to_bits() == 7.5_f64.to_bits()));
        }
    }

    #[test]
    fn who_waits_in_vain_goes_on_where_it_was() {
        for handing in BOTH {
            let mut memory = [0.0; 8];
            let [mut first, mut second] = ExchangedLine::new(&mut memory).unwrap().sides();
            assert_eq!(second.hand_over(handing, 3), 0);
            for _ in 0..5 {
                assert_eq!(first.hand_over(handing, 4), 1);
                assert_eq!(first.hand_over(handing, 1), 0);
                assert_eq!(second.hand_over(handing, 4), 1);
            }
            assert_eq!((first.done(), second.done()), (5, 5));
            assert_eq!(second.hand_over(handing, 0), 0);
        }
    }

    #[test]
    fn a_count_that_strayed_is_noticed() {
        let mut memory = [0.0; 8];
        let line = ExchangedLine::new(&mut memory).unwrap();
        let [mut first, second] = line.sides();
        first.hand_over(Handing::StoreLoad, 1);
        assert!(first.is_on_course() && second.is_on_course());
        line.count.store(17, Ordering::Relaxed);
        assert!(!first.is_on_course() && !second.is_on_course());
    }

    #[test]
    fn the_loops_of_this_cpu_and_of_every_cpu_agree() {
        for (start, turn) in [(4, 4), (5, 4), (0, 1)] {
            let run = |way: Way| {
                let count = AtomicU64::new(start);
                (way(&count, turn, 3, 10), count.into_inner())
            };
            let stores: [Way; 2] = [write_turns, crate::portable::write_turns];
            let swaps: [Way; 2] = [swap_turns, crate::portable::swap_turns];
            let (stores, swaps) = (stores.map(run), swaps.map(run));
            assert_eq!(stores[0], stores[1]);
            assert_eq!(swaps[0], swaps[1]);
            assert_eq!(stores, swaps);
        }
    }

    #[test]
    fn no_memory_is_no_line() {
        assert!(ExchangedLine::new(&mut []).is_none());
    }
}
