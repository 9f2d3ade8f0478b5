//! GUPS: words of a large table are updated at random. Bound by the latency of memory, and by how many
//! lines a core can wait for at a time.
//!
//! Source: HPC Challenge 1.5, `RandomAccess` (Luszczek and others, SC 2006).

use std::sync::atomic::{AtomicU64, Ordering};

use crate::array::{Array, ArrayPlan};
use crate::clock::Clock;
use crate::program::Program;
use crate::size::Class;
use crate::team::{Team, cut};
use crate::traffic::{ArrayTraffic, PhaseTraffic};
use crate::verification::Check;

/// The numbers are powers of x in GF(2)[x] modulo x^64 + this: x^2 + x + 1.
const POLYNOMIAL: u64 = 7;

/// The power of x that is 1 again.
const PERIOD: u64 = 1_317_624_576_693_539_401;

/// Numbers that a thread draws before it needs the next of the same stream: so no update waits for
/// another one.
const STREAMS: usize = 128;

const UPDATES_PER_WORD: u32 = 4;

/// Share of the words that may be wrong: threads do not lock, and so lose updates at times.
const LOST: f64 = 0.01;

/// Most that the number of words that were changed may be off.
const UNCERTAIN: f64 = 0.01;

/// Words of tables of 2^10 words and more that are changed, by an independent program in C. The first
/// numbers have few bits and miss many words; in tables larger than these they count for less than 1 %.
const CHANGED: [u32; 12] =
    [363, 949, 2610, 5995, 13_318, 28_158, 59_602, 122_810, 249_746, 504_585, 1_016_101, 2_042_246];

/// Updates of a table of 2^n words, four times as many as it has words.
#[derive(Debug, Clone, Copy)]
pub struct Gups {
    log_words: u32,
    updates_per_word: u32,
    polynomial: u64,
}

impl Gups {
    pub fn new(class: Class) -> Self {
        Self::of_log_words(match class {
            Class::S => 16,
            Class::W => 22,
            Class::A => 26,
            Class::B => 28,
            Class::C => 30,
        })
    }

    /// HPC Challenge takes the largest table that half of the memory holds.
    ///
    /// # Panics
    /// When the table has fewer words than 2^10, or more than 2^40.
    pub fn of_log_words(log_words: u32) -> Self {
        assert!((10..=40).contains(&log_words), "2^{log_words} words");
        Self { log_words, updates_per_word: UPDATES_PER_WORD, polynomial: POLYNOMIAL }
    }

    fn words(&self) -> usize {
        1 << self.log_words
    }

    fn updates(&self) -> usize {
        (self.updates_per_word as usize) << self.log_words
    }

    fn count(&self) -> f64 {
        f64::from(self.log_words).exp2()
    }

    /// Words that all updates should change.
    fn changed(&self) -> f64 {
        let known = CHANGED.get(self.log_words as usize - 10);
        // A word is left out as often as Poisson has it.
        let missed = (-f64::from(UPDATES_PER_WORD)).exp();
        known.map_or(self.count() * (1.0 - missed), |&known| f64::from(known))
    }

    fn step(&self, number: u64) -> u64 {
        (number << 1) ^ ((number >> 63) * self.polynomial)
    }

    /// The product of two numbers.
    fn times(&self, number: u64, other: u64) -> u64 {
        let bits = (0..64).rev();
        bits.fold(0, |sum, bit| self.step(sum) ^ ((other >> bit & 1) * number))
    }

    /// x to this power.
    fn power(&self, exponent: u64) -> u64 {
        let (mut product, mut square, mut rest) = (1, 2, exponent);
        while rest > 0 {
            if rest & 1 == 1 {
                product = self.times(product, square);
            }
            square = self.times(square, square);
            rest >>= 1;
        }
        product
    }

    /// Does all updates once, by streams that the threads share out.
    fn update(&self, table: &[AtomicU64], team: &Team, change: impl Fn(&AtomicU64, u64) + Sync) {
        assert!(table.len().is_power_of_two(), "a table of {} words", table.len());
        let shares = crate::team::shares(self.updates(), STREAMS * team.threads());
        team.all(|thread| {
            let own = &shares[STREAMS * thread..STREAMS * (thread + 1)];
            let mut numbers: [u64; STREAMS] =
                std::array::from_fn(|stream| self.power(own[stream].start as u64));
            // The first streams may be longer by one.
            let least = own[STREAMS - 1].len();
            let longer = own.iter().filter(|share| share.len() > least).count();
            let draw = |numbers: &mut [u64]| {
                for number in numbers {
                    *number = self.step(*number);
                    #[expect(clippy::cast_possible_truncation, reason = "a usize has 64 bits")]
                    change(&table[*number as usize & (table.len() - 1)], *number);
                }
            };
            (0..least).for_each(|_| draw(&mut numbers));
            draw(&mut numbers[..longer]);
        });
    }
}

impl Program for Gups {
    fn arrays(&self, threads: usize) -> Vec<ArrayPlan> {
        vec![ArrayPlan::shared::<u64>("table", (self.words(), 1), threads, true)]
    }

    fn work(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
        let updates = self.updates() as f64;
        updates / 1e6
    }

    fn unit(&self) -> &'static str {
        "Mupdate"
    }

    fn traffic(&self, cache_bytes: f64) -> Vec<PhaseTraffic> {
        // A cache holds its share of the table, whichever lines those are.
        let missed = (1.0 - cache_bytes / (8.0 * self.count())).max(0.0);
        let lines = 1e6 * self.work() * missed;
        let table =
            ArrayTraffic { written_bytes: 64.0 * lines, ..ArrayTraffic::gathered("table", lines) };
        vec![PhaseTraffic { phase: "update", flops: 0.0, arrays: vec![table] }]
    }

    fn run(&self, arrays: &mut [Array], team: &Team, clock: &mut Clock) -> Vec<Check> {
        let [array] = arrays else { unreachable!("the arrays that were planned") };
        let shares = team.shares(self.words());
        team.each(cut(array.of_mut::<u64>(), &shares, 1), |thread, own| {
            own.iter_mut().zip(shares[thread].clone()).for_each(|(word, at)| *word = at as u64);
        });
        let table = array.atomic_u64();
        clock.start();
        clock.time("update", || {
            self.update(table, team, |word, number| {
                word.store(word.load(Ordering::Relaxed) ^ number, Ordering::Relaxed);
            });
        });
        clock.stop();
        let as_at_first = || {
            let of_threads = team.all(|thread| {
                let own = shares[thread].clone();
                let is_same = |at: &usize| table[*at].load(Ordering::Relaxed) == *at as u64;
                own.filter(is_same).count() as u64
            });
            of_threads.into_iter().sum::<u64>()
        };
        let changed = self.words() as u64 - as_at_first();
        // The same updates again undo them: those that were lost are then done once.
        self.update(table, team, |word, number| {
            word.fetch_xor(number, Ordering::Relaxed);
        });
        let right = as_at_first();
        let lost = if team.threads() > 1 { LOST } else { 0.0 };
        #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
        let (changed, right) = (changed as f64, right as f64);
        vec![
            Check::relative("words right", self.count(), right, lost),
            Check::relative("words changed", self.changed(), changed, UNCERTAIN),
            Check::exact(
                "power of x that is 1 again is the period",
                1,
                u64::from(self.power(PERIOD) == 1),
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::tests::checks_of;
    use crate::verification::is_verified;

    #[test]
    fn other_numbers_or_too_few_updates_are_found() {
        let gups = Gups::new(Class::S);
        assert!(is_verified(&checks_of(&gups, 2)));
        assert!(!is_verified(&checks_of(&Gups { polynomial: 5, ..gups }, 2)));
        assert!(!is_verified(&checks_of(&Gups { updates_per_word: 3, ..gups }, 2)));
    }

    #[test]
    fn the_table_is_that_of_an_independent_program_however_many_threads() {
        // Sums of the words, each times an odd number by its place, by a program in Python.
        for (log_words, known) in [(10, 0xC619_840D_943D_E51F), (12, 0x7E91_43B8_7449_8574)] {
            for threads in [1, 3, 7] {
                let gups = Gups::of_log_words(log_words);
                let words = gups.words() as u64;
                let table: Vec<AtomicU64> = (0..words).map(AtomicU64::new).collect();
                let team = Team::of_threads(threads).unwrap();
                gups.update(&table, &team, |word, number| {
                    word.fetch_xor(number, Ordering::Relaxed);
                });
                let words = table.into_iter().map(AtomicU64::into_inner).zip(0..);
                let sum = words.fold(0_u64, |sum, (word, at): (u64, u64)| {
                    sum.wrapping_add(word.wrapping_mul(2 * at + 1))
                });
                assert_eq!(sum, known, "2^{log_words} words, {threads} threads");
            }
        }
    }
}
