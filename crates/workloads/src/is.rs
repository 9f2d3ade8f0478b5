//! IS: integers ranked by a counting sort in buckets. Bound by streams of keys and by their scatter
//! to a thousand places at a time.
//!
//! Source: NAS Parallel Benchmarks 3.4, IS; braithwaite2012, figures 6.3 and 6.4.

use std::ops::Range;
use std::sync::atomic::Ordering;

use crate::arithmetic::real;
use crate::array::{Array, ArrayPlan};
use crate::clock::Clock;
use crate::nas_random::{NasRandom, SEED};
use crate::program::Program;
use crate::size::Class;
use crate::team::{Team, cut, shares};
use crate::traffic::{ArrayTraffic, PhaseTraffic};
use crate::verification::Check;

const ITERATIONS: usize = 10;

const MOST_BUCKETS: usize = 1 << 10;

/// Keys of a bucket by its number.
type Counts = [u32; MOST_BUCKETS];

/// A key whose rank is known: it shifts by one in every iteration.
#[derive(Debug, Clone, Copy)]
struct Probe {
    place: usize,
    /// Its rank in iteration 0, which is not run.
    rank: i64,
    slope: i64,
}

/// IS of a class.
#[derive(Debug, Clone, Copy)]
pub struct Is {
    log_keys: u32,
    /// log2 of what all keys are below.
    log_range: u32,
    log_buckets: u32,
    probes: [Probe; 5],
}

impl Is {
    pub fn new(class: Class) -> Self {
        let probe = |place, rank, slope| Probe { place, rank, slope };
        // The ranks are the benchmark's, moved to iteration 0 in classes W and A.
        let (log_keys, log_range, log_buckets, probes) = match class {
            Class::S => (
                16,
                11,
                9,
                [
                    probe(48_427, 0, 1),
                    probe(17_148, 18, 1),
                    probe(23_627, 346, 1),
                    probe(62_548, 64_917, -1),
                    probe(4431, 65_463, -1),
                ],
            ),
            Class::W => (
                20,
                16,
                10,
                [
                    probe(357_773, 1249 - 2, 1),
                    probe(934_767, 11_698 - 2, 1),
                    probe(875_723, 1_039_987, -1),
                    probe(898_999, 1_043_896, -1),
                    probe(404_505, 1_048_018, -1),
                ],
            ),
            Class::A => (
                23,
                19,
                10,
                [
                    probe(2_112_377, 104 - 1, 1),
                    probe(662_041, 17_523 - 1, 1),
                    probe(5_336_171, 123_928 - 1, 1),
                    probe(3_642_833, 8_288_932 + 1, -1),
                    probe(4_250_760, 8_388_264 + 1, -1),
                ],
            ),
            Class::B => (
                25,
                21,
                10,
                [
                    probe(41_869, 33_422_937, -1),
                    probe(812_306, 10_244, 1),
                    probe(5_102_857, 59_149, 1),
                    probe(18_232_239, 33_135_281, -1),
                    probe(26_860_214, 99, 1),
                ],
            ),
            Class::C => (
                27,
                23,
                10,
                [
                    probe(44_172_927, 61_147, 1),
                    probe(72_999_161, 882_988, 1),
                    probe(74_326_391, 266_290, 1),
                    probe(129_606_274, 133_997_595, -1),
                    probe(21_736_814, 133_525_895, -1),
                ],
            ),
        };
        Self { log_keys, log_range, log_buckets, probes }
    }

    fn keys(&self) -> usize {
        1 << self.log_keys
    }

    fn buckets(&self) -> usize {
        1 << self.log_buckets
    }

    /// Values of a bucket.
    fn width(&self) -> usize {
        1 << self.bucket_shift()
    }

    /// A key's bucket is what this shift leaves of it.
    fn bucket_shift(&self) -> u32 {
        self.log_range - self.log_buckets
    }

    /// The fraction of keys that are expected in the first this many buckets: a key is the sum of
    /// four even deviates.
    fn expected_below(&self, buckets: usize) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "at most 2^10")]
        let x = 4.0 * buckets as f64 / self.buckets() as f64;
        let terms = [(0.0, 1.0), (1.0, -4.0), (2.0, 6.0), (3.0, -4.0)];
        terms.iter().map(|&(from, factor)| factor * f64::max(x - from, 0.0).powi(4)).sum::<f64>()
            / 24.0
    }

    /// Each thread's buckets: of about as many keys each.
    fn bucket_shares(&self, threads: usize) -> Vec<Range<usize>> {
        let buckets = self.buckets();
        #[expect(clippy::cast_precision_loss, reason = "threads are few")]
        let begin = |thread: usize| {
            let below = thread as f64 / threads as f64;
            (0..buckets).find(|&bucket| self.expected_below(bucket) >= below).unwrap_or(buckets)
        };
        let mut at = 0;
        (1..=threads)
            .map(|next| {
                let end = if next == threads { buckets } else { begin(next) };
                std::mem::replace(&mut at, end)..end
            })
            .collect()
    }

    /// Writes the keys, by the threads that count them.
    fn make(&self, keys: &mut [u32], shares: &[Range<usize>], team: &Team) {
        let quarter = f64::from(1_u32 << self.log_range) / 4.0;
        team.each(cut(keys, shares, 1), |thread, keys| {
            let mut random = NasRandom::new(SEED).after(4 * shares[thread].start as u64);
            for key in keys {
                let mut sum = random.draw() + random.draw();
                sum += random.draw();
                sum += random.draw();
                *key = whole(quarter * sum);
            }
        });
    }

    /// Ranks all keys: afterwards `sorted` has them by buckets, and of each value `ranks` says how
    /// many keys are not above it. Where each bucket begins in `sorted`.
    fn rank(
        &self,
        (keys, sorted, ranks): (&[u32], &mut Array, &mut [u32]),
        (shares, bucket_shares): (&[Range<usize>], &[Range<usize>]),
        team: &Team,
        clock: &mut Clock,
    ) -> Vec<usize> {
        let shift = self.bucket_shift();
        let bucket_of = |key: u32| (key >> shift) as usize % MOST_BUCKETS;
        let counts: Vec<Counts> = clock.time("count", || {
            team.all(|thread| {
                let mut counts = [0; MOST_BUCKETS];
                keys[shares[thread].clone()].iter().for_each(|&key| counts[bucket_of(key)] += 1);
                counts
            })
        });
        let begins = clock.time("scatter", || {
            let (starts, begins) = starts(&counts);
            // Each place is one thread's; plain stores, that need not be cut into pieces.
            let sorted = sorted.atomic_u32();
            team.all(|thread| {
                let mut next: Counts = starts[thread];
                for &key in &keys[shares[thread].clone()] {
                    let place = &mut next[bucket_of(key)];
                    sorted[*place as usize].store(key, Ordering::Relaxed);
                    *place += 1;
                }
            });
            begins
        });
        let sorted: &[u32] = sorted.of();
        clock.time("rank", || {
            let width = self.width();
            team.each(cut(ranks, bucket_shares, width), |thread, ranks| {
                let own = bucket_shares[thread].clone();
                for (bucket, ranks) in own.zip(ranks.chunks_exact_mut(width)) {
                    let keys = &sorted[begins[bucket]..begins[bucket + 1]];
                    ranks.fill(0);
                    keys.iter().for_each(|&key| ranks[key as usize & (width - 1)] += 1);
                    let mut below = number(begins[bucket]);
                    for rank in ranks {
                        below += *rank;
                        *rank = below;
                    }
                }
            });
        });
        begins
    }

    /// How many of the probes have the ranks that they should after this iteration.
    fn right_ranks(&self, iteration: usize, probed: [u32; 5], ranks: &[u32]) -> u64 {
        let is_right = |(probe, key): (&Probe, u32)| {
            let below = key.checked_sub(1).map(|below| i64::from(ranks[below as usize]));
            (key as usize) < self.keys()
                && below == Some(probe.rank + probe.slope * i64::from(number(iteration)))
        };
        self.probes.iter().zip(probed).filter(|&pair| is_right(pair)).count() as u64
    }

    /// Puts the keys in order by their ranks; the number of keys that are below the one before.
    fn out_of_order(
        &self,
        (keys, sorted, ranks): (&mut [u32], &[u32], &mut [u32]),
        (begins, bucket_shares): (&[usize], &[Range<usize>]),
        team: &Team,
    ) -> u64 {
        let width = self.width();
        let key_shares: Vec<Range<usize>> =
            bucket_shares.iter().map(|own| begins[own.start]..begins[own.end]).collect();
        keys.fill(0);
        let parts = cut(keys, &key_shares, 1).into_iter().zip(cut(ranks, bucket_shares, width));
        team.each(parts, |thread, (keys, ranks)| {
            let share = key_shares[thread].clone();
            let first_value = bucket_shares[thread].start * width;
            for &key in &sorted[share.clone()] {
                let rank = &mut ranks[key as usize - first_value];
                *rank = rank.wrapping_sub(1);
                if let Some(slot) = keys.get_mut((*rank as usize).wrapping_sub(share.start)) {
                    *slot = key;
                }
            }
        });
        keys.windows(2).filter(|pair| pair[1] < pair[0]).count() as u64
    }
}

/// For each thread where its keys of each bucket begin: those of one bucket, in the threads' order, lie
/// before those of the next. Where each bucket begins, and the last one ends.
fn starts(counts: &[Counts]) -> (Vec<Counts>, Vec<usize>) {
    let mut starts = vec![[0; MOST_BUCKETS]; counts.len()];
    let mut begins = Vec::with_capacity(MOST_BUCKETS + 1);
    let mut at = 0;
    for bucket in 0..MOST_BUCKETS {
        begins.push(at as usize);
        for (start, counts) in starts.iter_mut().zip(counts) {
            start[bucket] = at;
            at += counts[bucket];
        }
    }
    begins.push(at as usize);
    (starts, begins)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^23")]
fn whole(value: f64) -> u32 {
    value as u32
}

#[expect(clippy::cast_possible_truncation, reason = "keys are at most 2^27")]
fn number(place: usize) -> u32 {
    place as u32
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2^27")]
fn nearest(count: f64) -> usize {
    count.round() as usize
}

impl Program for Is {
    fn arrays(&self, threads: usize) -> Vec<ArrayPlan> {
        let buckets = self.bucket_shares(threads);
        let (keys, width) = (self.keys(), self.width());
        let begin = |bucket| 4 * nearest(self.expected_below(bucket) * real(keys));
        vec![
            ArrayPlan::shared::<u32>("key_array", (keys, 1), threads, true),
            ArrayPlan {
                name: "key_buff2",
                bytes: 4 * keys,
                is_hot: true,
                owners: buckets.iter().map(|own| begin(own.start)..begin(own.end)).collect(),
            },
            ArrayPlan {
                name: "key_buff1",
                bytes: 4 << self.log_range,
                is_hot: false,
                owners: buckets
                    .iter()
                    .map(|own| 4 * width * own.start..4 * width * own.end)
                    .collect(),
            },
        ]
    }

    fn work(&self) -> f64 {
        real(ITERATIONS * self.keys()) / 1e6
    }

    fn unit(&self) -> &'static str {
        "Mop"
    }

    fn traffic(&self, cache_bytes: f64) -> Vec<PhaseTraffic> {
        let keys = 4.0 * real(self.keys());
        let ranks = 4.0 * f64::from(self.log_range).exp2();
        let stays = 2.0 * keys + ranks <= cache_bytes;
        let times = if stays { 0.0 } else { real(ITERATIONS) };
        // The scatter finds the keys where the count left them.
        let again = if 2.0 * keys <= cache_bytes { 0.0 } else { times };
        let scattered = ArrayTraffic {
            random_lines: times * keys / 64.0,
            ..ArrayTraffic::written("key_buff2", times * keys)
        };
        let phase = |phase, arrays| PhaseTraffic { phase, flops: 0.0, arrays };
        vec![
            phase("count", vec![ArrayTraffic::read("key_array", times * keys)]),
            phase("scatter", vec![ArrayTraffic::read("key_array", again * keys), scattered]),
            phase(
                "rank",
                vec![
                    ArrayTraffic::read("key_buff2", times * keys),
                    ArrayTraffic::written("key_buff1", times * ranks),
                ],
            ),
        ]
    }

    fn run(&self, arrays: &mut [Array], team: &Team, clock: &mut Clock) -> Vec<Check> {
        let [keys, sorted, ranks] = arrays else { unreachable!("the arrays that were planned") };
        let (keys, ranks) = (keys.of_mut::<u32>(), ranks.of_mut());
        let shares = &shares(self.keys(), team.threads());
        let bucket_shares = &self.bucket_shares(team.threads());
        self.make(keys, shares, team);
        let range = 1 << self.log_range;
        let mut iterate = |iteration: usize, clock: &mut Clock| {
            keys[iteration] = number(iteration);
            keys[iteration + ITERATIONS] = range - number(iteration);
            let probed = self.probes.map(|probe| keys[probe.place % keys.len()]);
            let arrays = (&*keys, &mut *sorted, &mut *ranks);
            let begins = self.rank(arrays, (shares, bucket_shares), team, clock);
            (begins, self.right_ranks(iteration, probed, ranks))
        };
        iterate(1, clock);
        clock.start();
        let (mut begins, mut right) = (Vec::new(), 0);
        for iteration in 1..=ITERATIONS {
            let done = iterate(iteration, clock);
            begins = done.0;
            right += done.1;
        }
        clock.stop();
        let arrays = (keys, sorted.of(), ranks);
        let out_of_order = self.out_of_order(arrays, (&begins, bucket_shares), team);
        vec![
            Check::exact("right ranks", 5 * ITERATIONS as u64, right),
            Check::exact("keys out of order", 0, out_of_order),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::tests::checks_of;
    use crate::verification::is_verified;

    #[test]
    fn other_keys_or_a_rank_off_by_one_are_found() {
        let is = Is::new(Class::S);
        assert!(is_verified(&checks_of(&is, 2)));
        assert!(!is_verified(&checks_of(&Is { log_keys: 15, ..is }, 2)));
        let mut off = is;
        off.probes[3].rank += 1;
        assert!(!is_verified(&checks_of(&off, 2)));
    }

    #[test]
    fn keys_that_overtake_each_other_are_counted() {
        let is = Is { log_keys: 2, log_range: 11, ..Is::new(Class::S) };
        let team = Team::of_threads(1).unwrap();
        let mut begins = vec![4; is.buckets() + 1];
        begins[0] = 0;
        let (mut keys, mut ranks) = ([0; 4], [0; 1 << 11]);
        for (third, expected) in [(3, 0), (4, 1)] {
            ranks[..4].copy_from_slice(&[1, 2, third, 4]);
            let arrays = (&mut keys[..], &[0, 1, 2, 3][..], &mut ranks[..]);
            let whole = 0..is.buckets();
            let found = is.out_of_order(arrays, (&begins, &[whole]), &team);
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn shares_of_buckets_have_about_as_many_keys_and_leave_none_out() {
        let is = Is::new(Class::A);
        for threads in [1, 2, 3, 7, 2000] {
            let shares = is.bucket_shares(threads);
            assert_eq!((shares.len(), shares[0].start), (threads, 0));
            assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert_eq!(shares.last().unwrap().end, is.buckets());
            if threads < 10 {
                for share in shares {
                    let part = is.expected_below(share.end) - is.expected_below(share.start);
                    assert!((part * real(threads) - 1.0).abs() < 0.05, "{part} of {threads}");
                }
            }
        }
    }
}
