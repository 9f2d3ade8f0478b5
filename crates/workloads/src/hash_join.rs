//! Hash join: tuples of a small relation go into a hash table, in which the partners of those of a
//! large one are looked up. Bound by the latency of memory, and by how many lines a core can wait for
//! at a time.
//!
//! Source: the join without partitions, by linear probing, of Schuh and others (SIGMOD 2016, NOP);
//! sizes of workload A of Balkesen and others (ICDE 2013).

use std::sync::atomic::{AtomicU64, Ordering};

use crate::array::{Array, ArrayPlan};
use crate::clock::Clock;
use crate::program::Program;
use crate::scramble::{scramble, scramble_bits};
use crate::size::Class;
use crate::team::{Team, cut};
use crate::traffic::{ArrayTraffic, PhaseTraffic};
use crate::verification::Check;

/// log2 of the tuples of the large relation that have the same key.
const LOG_PARTNERS: u32 = 4;

/// A key, which is not 0, and what belongs to it.
type Tuple = [u64; 2];

/// A tuple of the hash table; its key is 0 where there is none.
type Slot = [AtomicU64; 2];

/// A join of 2^n tuples of different keys with 16 times as many.
#[derive(Debug, Clone, Copy)]
pub struct HashJoin {
    log_keys: u32,
    log_partners: u32,
    /// The checksum by an independent program, where it is known.
    checksum: Option<u32>,
}

/// What a thread found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Found {
    matches: u64,
    checksum: u64,
}

impl Found {
    fn and(self, other: Self) -> Self {
        Self {
            matches: self.matches + other.matches,
            checksum: self.checksum.wrapping_add(other.checksum),
        }
    }
}

fn sum(of_threads: Vec<Found>) -> Found {
    of_threads.into_iter().fold(Found::default(), Found::and)
}

impl HashJoin {
    pub fn new(class: Class) -> Self {
        Self::of_log_keys(match class {
            Class::S => 12,
            Class::W => 18,
            Class::A => 22,
            // Workload A of the paper.
            Class::B => 24,
            Class::C => 26,
        })
    }

    /// # Panics
    /// When the small relation has fewer tuples than 2^4, or more than 2^36.
    pub fn of_log_keys(log_keys: u32) -> Self {
        assert!((4..=36).contains(&log_keys), "2^{log_keys} keys");
        let checksum = match log_keys {
            12 => Some(1_807_255_683),
            18 => Some(996_167_255),
            22 => Some(3_380_715_100),
            24 => Some(4_132_281_722),
            26 => Some(3_853_885_813),
            _ => None,
        };
        Self { log_keys, log_partners: LOG_PARTNERS, checksum }
    }

    /// Tuples of the small relation.
    fn built(&self) -> usize {
        1 << self.log_keys
    }

    /// Tuples of the large one.
    fn probed(&self) -> usize {
        self.built() << self.log_partners
    }

    /// Half of them stay empty.
    fn slots(&self) -> usize {
        2 * self.built()
    }

    /// Slots where a key is looked for, the likeliest first.
    #[inline]
    fn places<'a>(&self, table: &'a [Slot], key: u64) -> impl Iterator<Item = &'a Slot> {
        let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (63 - self.log_keys);
        #[expect(clippy::cast_possible_truncation, reason = "a usize has 64 bits here")]
        let first = hash as usize;
        (first..).map(|slot| &table[slot & (table.len() - 1)])
    }

    fn build(&self, tuples: &[Tuple], table: &[Slot]) {
        for &[key, payload] in tuples {
            for [own, value] in self.places(table, key) {
                if own.load(Ordering::Relaxed) == 0
                    && own.compare_exchange(0, key, Ordering::Relaxed, Ordering::Relaxed).is_ok()
                {
                    value.store(payload, Ordering::Relaxed);
                    break;
                }
            }
        }
    }

    #[inline(never)]
    fn probe(&self, tuples: &[Tuple], table: &[Slot]) -> Found {
        let mut found = Found::default();
        for &[key, payload] in tuples {
            for [other, value] in self.places(table, key) {
                let other = other.load(Ordering::Relaxed);
                if other == key {
                    let product = value.load(Ordering::Relaxed).wrapping_mul(payload);
                    found.matches += 1;
                    found.checksum = found.checksum.wrapping_add(product);
                    // Keys are there once only.
                    break;
                }
                if other == 0 {
                    break;
                }
            }
        }
        found
    }

    /// Keys of both relations: in random order, each once in the small relation and as often as any
    /// other in the large one.
    fn key(&self, place: usize, log_tuples: u32) -> u64 {
        (scramble_bits(place as u64, log_tuples) & (self.built() as u64 - 1)) + 1
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half")]
fn low(checksum: u64) -> u32 {
    checksum as u32
}

impl Program for HashJoin {
    fn arrays(&self, threads: usize) -> Vec<ArrayPlan> {
        let shared =
            |name, count, is_hot| ArrayPlan::shared::<Tuple>(name, (count, 1), threads, is_hot);
        vec![
            shared("build", self.built(), false),
            shared("probe", self.probed(), true),
            shared("table", self.slots(), true),
        ]
    }

    fn work(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
        let tuples = (self.built() + self.probed()) as f64;
        tuples / 1e6
    }

    fn unit(&self) -> &'static str {
        "Mtuple"
    }

    fn traffic(&self, cache_bytes: f64) -> Vec<PhaseTraffic> {
        let built = f64::from(self.log_keys).exp2();
        let probed = f64::from(self.log_keys + self.log_partners).exp2();
        let table = 32.0 * built;
        let stays = 16.0 * (built + probed) + table <= cache_bytes;
        let once = |tuples: f64| if stays { 0.0 } else { 16.0 * tuples };
        // A cache holds its share of the table, whichever lines those are, beside the tuples that
        // stream by: about a fifth of it, by a simulated cache.
        let missed = (1.0 - 0.8 * cache_bytes / table).max(0.0);
        let gathered = |lines| ArrayTraffic::gathered("table", lines);
        let inserted =
            ArrayTraffic { written_bytes: 64.0 * missed * built, ..gathered(missed * built) };
        let phase = |phase, arrays| PhaseTraffic { phase, flops: 0.0, arrays };
        vec![
            phase("build", vec![ArrayTraffic::read("build", once(built)), inserted]),
            phase(
                "probe",
                vec![ArrayTraffic::read("probe", once(probed)), gathered(missed * probed)],
            ),
        ]
    }

    fn run(&self, arrays: &mut [Array], team: &Team, clock: &mut Clock) -> Vec<Check> {
        let [build, probe, table] = arrays else { unreachable!("the arrays that were planned") };
        let built_shares = &team.shares(self.built());
        let probed_shares = &team.shares(self.probed());
        let slot_shares = &team.shares(self.slots());
        team.each(cut(build.of_mut::<Tuple>(), built_shares, 1), |thread, tuples| {
            for (tuple, place) in tuples.iter_mut().zip(built_shares[thread].clone()) {
                let key = self.key(place, self.log_keys);
                *tuple = [key, scramble(key)];
            }
        });
        // What the join must find, by the keys alone.
        let expected =
            sum(team.each(cut(probe.of_mut::<Tuple>(), probed_shares, 1), |thread, tuples| {
                let mut expected = Found::default();
                for (tuple, place) in tuples.iter_mut().zip(probed_shares[thread].clone()) {
                    let key = self.key(place, self.log_keys + self.log_partners);
                    *tuple = [key, place as u64];
                    let checksum = scramble(key).wrapping_mul(place as u64);
                    expected = expected.and(Found { matches: 1, checksum });
                }
                expected
            }));
        let (build, probe) = (build.of::<Tuple>(), probe.of::<Tuple>());
        let fill = |table: &mut Array| {
            let (slots, _) = table.atomic_u64().as_chunks();
            team.all(|thread| self.build(&build[built_shares[thread].clone()], slots));
        };
        // A warm-up.
        fill(table);
        team.each(cut(table.of_mut::<Tuple>(), slot_shares, 1), |_, own| own.fill([0; 2]));
        clock.start();
        clock.time("build", || fill(table));
        let (slots, _) = table.atomic_u64().as_chunks();
        let found = clock.time("probe", || {
            sum(team.all(|thread| self.probe(&probe[probed_shares[thread].clone()], slots)))
        });
        clock.stop();
        let table = table.of::<Tuple>();
        let filled = team.all(|thread| {
            table[slot_shares[thread].clone()].iter().filter(|[key, _]| *key != 0).count() as u64
        });
        let checksum = self.checksum.unwrap_or(low(expected.checksum));
        vec![
            Check::exact("tuples in the table", self.built() as u64, filled.into_iter().sum()),
            Check::exact("matches", expected.matches, found.matches),
            Check::exact(
                "sum of products of what matched, mod 2^32",
                checksum.into(),
                low(found.checksum).into(),
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
    fn other_tuples_or_too_few_are_found() {
        let join = HashJoin::new(Class::S);
        for threads in [1, 2, 3, 7] {
            assert!(is_verified(&checks_of(&join, threads)));
            let other = HashJoin::of_log_keys(11);
            assert!(is_verified(&checks_of(&other, threads)));
        }
        assert!(is_verified(&checks_of(&HashJoin::of_log_keys(4), 300)));
        assert!(!is_verified(&checks_of(&HashJoin { log_partners: 3, ..join }, 2)));
        assert!(!is_verified(&checks_of(&HashJoin { log_keys: 11, ..join }, 2)));
    }

    #[test]
    fn a_tuple_that_is_not_there_has_no_match() {
        let join = HashJoin::of_log_keys(4);
        let table: Vec<Slot> = (0..join.slots()).map(|_| Slot::default()).collect();
        join.build(&[[1, 10], [2, 20]], &table);
        let found = join.probe(&[[2, 3], [3, 5], [1, 1], [2, 1]], &table);
        assert_eq!(found, Found { matches: 3, checksum: 60 + 10 + 20 });
    }
}
