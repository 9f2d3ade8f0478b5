//! Chase of k lists at a time: each thread follows k linked lists of its own, whose lines lie in random
//! order. Bound by the latency of memory alone where k is 1, and less so the more lists there are to
//! wait for at a time.
//!
//! Source: the pointer chase of `lat_mem_rd` (McVoy and Staelin, USENIX 1996), of several lists as in
//! multichase; cycles by Sattolo (Information Processing Letters 22, 1986).

use std::ops::Range;

use crate::array::{Array, ArrayPlan};
use crate::clock::Clock;
use crate::program::Program;
use crate::scramble::scramble;
use crate::size::Class;
use crate::team::{Team, cut, shares};
use crate::traffic::{ArrayTraffic, PhaseTraffic};
use crate::verification::Check;

/// log2 of the fewest steps of a run.
const LOG_STEPS: u32 = 25;

/// Its first word is the place of the next line, counted from its thread's first.
type Line = [u64; 8];

/// Chase through 2^n lines of 64 bytes, k lists a thread.
#[derive(Debug, Clone, Copy)]
pub struct ChaseK {
    log_lines: u32,
    lists: usize,
}

/// What came of some lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Chased {
    /// Lists that ended where they began.
    closed: u64,
    /// Of the places that were visited.
    sum: u64,
}

impl Chased {
    fn and(self, other: Self) -> Self {
        Self { closed: self.closed + other.closed, sum: self.sum.wrapping_add(other.sum) }
    }
}

fn sum(of_threads: impl IntoIterator<Item = Chased>) -> Chased {
    of_threads.into_iter().fold(Chased::default(), Chased::and)
}

impl ChaseK {
    /// # Panics
    /// When there are not 1, 2, 4, 8, 16 or 32 lists a thread.
    pub fn new(class: Class, lists: usize) -> Self {
        let log_lines = match class {
            Class::S => 12,
            Class::W => 18,
            Class::A => 22,
            Class::B => 24,
            Class::C => 26,
        };
        Self::of_log_lines(log_lines, lists)
    }

    /// # Panics
    /// When the lines are more than 2^36, or there are not 1, 2, 4, 8, 16 or 32 lists a thread.
    pub fn of_log_lines(log_lines: u32, lists: usize) -> Self {
        assert!(log_lines <= 36, "2^{log_lines} lines");
        assert!(lists.is_power_of_two() && lists <= 32, "{lists} lists a thread");
        Self { log_lines, lists }
    }

    /// Lines of all threads.
    fn lines(&self) -> usize {
        1 << self.log_lines
    }

    /// How often each list is followed from its begin to its begin.
    fn passes(&self) -> usize {
        1 << LOG_STEPS.saturating_sub(self.log_lines)
    }

    /// Follows all lists of a thread this many times.
    fn chase(&self, lines: &[Line], passes: usize) -> Chased {
        match self.lists {
            1 => follow::<1>(lines, passes),
            2 => follow::<2>(lines, passes),
            4 => follow::<4>(lines, passes),
            8 => follow::<8>(lines, passes),
            16 => follow::<16>(lines, passes),
            _ => follow::<32>(lines, passes),
        }
    }

    /// What threads that have this many lines each should find.
    fn expected(&self, lines_of_threads: impl Iterator<Item = usize>) -> Chased {
        sum(lines_of_threads.map(|lines| {
            let places = lines as u64 * (lines as u64).saturating_sub(1) / 2;
            Chased { closed: self.lists as u64, sum: places.wrapping_mul(self.passes() as u64) }
        }))
    }
}

/// Makes one list of some lines of a thread, each of which it visits once before it begins again.
fn weave(lines: &mut [Line], list: Range<usize>, seed: u64) {
    let lines = &mut lines[list.clone()];
    lines.iter_mut().zip(list).for_each(|(line, place)| line[0] = place as u64);
    for last in (1..lines.len()).rev() {
        let random = scramble(seed.wrapping_add(last as u64));
        #[expect(clippy::cast_possible_truncation, reason = "below the number of lines")]
        let other = ((u128::from(random) * last as u128) >> 64) as usize;
        let place = lines[last][0];
        lines[last][0] = std::mem::replace(&mut lines[other][0], place);
    }
}

/// Follows the lists, each a step at a time: none waits for another one.
#[inline(never)]
fn follow<const LISTS: usize>(lines: &[Line], passes: usize) -> Chased {
    let lists = shares(lines.len(), LISTS);
    let mut places: [usize; LISTS] = std::array::from_fn(|list| lists[list].start);
    let mut sum = 0_u64;
    let mut step = |place: &mut usize| {
        #[expect(clippy::cast_possible_truncation, reason = "a place among the lines")]
        let next = lines[*place][0] as usize;
        *place = next;
        sum = sum.wrapping_add(next as u64);
    };
    // The first lists may be longer by one.
    let least = lists[LISTS - 1].len();
    for _ in 0..passes * least {
        places.iter_mut().for_each(&mut step);
    }
    for (place, list) in places.iter_mut().zip(&lists) {
        (0..passes * (list.len() - least)).for_each(|_| step(place));
    }
    let closed = places.iter().zip(&lists).filter(|(place, list)| **place == list.start).count();
    Chased { closed: closed as u64, sum }
}

impl Program for ChaseK {
    fn arrays(&self, threads: usize) -> Vec<ArrayPlan> {
        vec![ArrayPlan::shared::<Line>("lists", (self.lines(), 1), threads, true)]
    }

    fn work(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
        let steps = (self.passes() * self.lines()) as f64;
        steps / 1e6
    }

    fn unit(&self) -> &'static str {
        "Mstep"
    }

    fn traffic(&self, cache_bytes: f64) -> Vec<PhaseTraffic> {
        // A list is long past when it begins again: a cache that does not hold all has nothing of it.
        let stays = 64.0 * f64::from(self.log_lines).exp2() <= cache_bytes;
        let lines = if stays { 0.0 } else { 1e6 * self.work() };
        let arrays = vec![ArrayTraffic::gathered("lists", lines)];
        vec![PhaseTraffic { phase: "chase", flops: 0.0, arrays }]
    }

    fn run(&self, arrays: &mut [Array], team: &Team, clock: &mut Clock) -> Vec<Check> {
        let [array] = arrays else { unreachable!("the arrays that were planned") };
        let of_threads = &team.shares(self.lines());
        team.each(cut(array.of_mut::<Line>(), of_threads, 1), |thread, own| {
            let lists = shares(own.len(), self.lists);
            for (number, list) in lists.into_iter().enumerate() {
                weave(own, list, scramble((thread * self.lists + number) as u64));
            }
        });
        let lines = array.of::<Line>();
        let chase =
            |passes| sum(team.all(|thread| self.chase(&lines[of_threads[thread].clone()], passes)));
        // A warm-up.
        chase(1);
        clock.start();
        let found = clock.time("chase", || chase(self.passes()));
        clock.stop();
        let expected = self.expected(of_threads.iter().map(ExactSizeIterator::len));
        checks(expected, found)
    }
}

fn checks(expected: Chased, found: Chased) -> Vec<Check> {
    let low = |sum: u64| sum & u64::from(u32::MAX);
    vec![
        Check::exact("lists that end where they began", expected.closed, found.closed),
        Check::exact("sum of places visited, mod 2^32", low(expected.sum), low(found.sum)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::tests::checks_of;
    use crate::verification::is_verified;

    #[test]
    fn lists_of_any_number_and_length_are_followed() {
        for lists in [1, 2, 4, 8, 16, 32] {
            for threads in [1, 2, 3, 7] {
                let chase = ChaseK { log_lines: 7, lists };
                assert!(is_verified(&checks_of(&chase, threads)), "{lists} lists");
            }
        }
        assert!(is_verified(&checks_of(&ChaseK::of_log_lines(4, 4), 20)));
    }

    #[test]
    fn a_step_too_few_or_a_list_cut_in_two_is_found() {
        let chase = ChaseK::of_log_lines(10, 4);
        let mut lines = vec![Line::default(); chase.lines()];
        let lists = shares(lines.len(), chase.lists);
        lists.into_iter().zip(1..).for_each(|(list, seed)| weave(&mut lines, list, seed));
        let expected = chase.expected(std::iter::once(lines.len()));
        let is_found = |lines: &[Line], passes: usize| {
            !is_verified(&checks(expected, chase.chase(lines, passes)))
        };
        assert!(!is_found(&lines, chase.passes()));
        assert!(is_found(&lines, chase.passes() - 1));
        // Both are of the first list.
        lines.swap(3, 7);
        assert!(is_found(&lines, chase.passes()));
    }
}
