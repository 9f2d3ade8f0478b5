//! The threads of a run: each has its number and, where asked for, its CPU.

use std::sync::Mutex;

use nearfar_machine::CpuSet;
use nearfar_sys::pin_thread;
use rayon_core::{ThreadPool, ThreadPoolBuilder};

/// Threads that divide every loop among them by their numbers, always alike: what a thread wrote
/// in one loop it reads in the next.
#[derive(Debug)]
pub struct Team {
    pool: ThreadPool,
}

/// Why there is no team.
#[derive(Debug, thiserror::Error)]
pub enum NoTeam {
    #[error(
        "{threads} threads cannot be started: {why}; raise the limit on processes (ulimit -u, \
         pids.max of the control group)"
    )]
    Threads { threads: usize, why: String },
    #[error("thread {thread} cannot be tied to CPU {cpu}: {why}")]
    Pinning { thread: usize, cpu: u32, why: String },
}

impl Team {
    /// A thread on each of these CPUs, in their order.
    ///
    /// # Errors
    /// When a thread cannot be started, or is refused its CPU.
    pub fn on_cpus(cpus: &[u32]) -> Result<Self, NoTeam> {
        let team = Self::of_threads(cpus.len())?;
        let refused = team.each(cpus, |thread, &cpu| {
            let why = pin_thread(&CpuSet::single(cpu)).err()?.to_string();
            Some(NoTeam::Pinning { thread, cpu, why })
        });
        refused.into_iter().flatten().next().map_or(Ok(team), Err)
    }

    /// Threads that run wherever the kernel puts them.
    ///
    /// # Errors
    /// When one cannot be started.
    pub fn of_threads(threads: usize) -> Result<Self, NoTeam> {
        let pool = ThreadPoolBuilder::new().num_threads(threads.max(1)).build();
        let why = |error: rayon_core::ThreadPoolBuildError| error.to_string();
        pool.map(|pool| Self { pool }).map_err(|error| NoTeam::Threads { threads, why: why(error) })
    }

    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Runs this by the first thread, the master, which may call upon all others.
    pub fn lead<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let mut done = self.each([work], |_, work| work());
        done.pop().unwrap_or_else(|| unreachable!("a team has a first thread"))
    }

    /// Runs `work` by each thread; what each returned, by their numbers.
    pub fn all<R: Send>(&self, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
        self.pool.broadcast(|member| work(member.index()))
    }

    /// Runs `work` on each part, by the thread of its place; what each returned, by their numbers.
    ///
    /// # Panics
    /// When there are more parts than threads.
    pub fn each<P: Send, R: Send>(
        &self,
        parts: impl IntoIterator<Item = P>,
        work: impl Fn(usize, P) -> R + Sync,
    ) -> Vec<R> {
        let slots: Vec<Mutex<Option<P>>> =
            parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
        assert!(slots.len() <= self.threads(), "{} parts for fewer threads", slots.len());
        let done = self.pool.broadcast(|member| {
            let slot = slots.get(member.index())?;
            let part = slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()?;
            Some(work(member.index(), part))
        });
        done.into_iter().flatten().collect()
    }

    /// Each thread's share of this many things.
    pub fn shares(&self, count: usize) -> Vec<std::ops::Range<usize>> {
        shares(count, self.threads())
    }
}

/// `count` things in blocks as even as can be, one a thread, the first ones larger by one.
pub fn shares(count: usize, threads: usize) -> Vec<std::ops::Range<usize>> {
    let begin = |thread: usize| thread * (count / threads) + thread.min(count % threads);
    (0..threads).map(|thread| begin(thread)..begin(thread + 1)).collect()
}

/// Cuts a slice into consecutive pieces of `unit` elements for each thing of the shares.
///
/// # Panics
/// When the shares do not begin at 0, have gaps, or are more than the slice holds.
pub fn cut<'a, T>(
    mut slice: &'a mut [T],
    shares: &[std::ops::Range<usize>],
    unit: usize,
) -> Vec<&'a mut [T]> {
    let mut at = 0;
    shares
        .iter()
        .map(|share| {
            assert_eq!(share.start, at, "shares with a gap");
            at = share.end;
            let (piece, rest) = std::mem::take(&mut slice).split_at_mut(share.len() * unit);
            slice = rest;
            piece
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_even_and_leave_nothing_out() {
        for (count, threads) in [(0, 3), (1, 4), (10, 4), (64, 1), (7, 7)] {
            let shares = shares(count, threads);
            let sizes: Vec<usize> = shares.iter().map(ExactSizeIterator::len).collect();
            assert_eq!(sizes.iter().sum::<usize>(), count);
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{sizes:?}");
            assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
    }

    #[test]
    fn each_part_is_its_threads_and_the_master_may_call_upon_all() {
        let team = Team::of_threads(3).unwrap();
        let mut numbers = [0_usize; 10];
        let shares = team.shares(10);
        team.lead(|| {
            team.each(cut(&mut numbers, &shares, 1), |thread, part| part.fill(thread + 1));
        });
        assert_eq!(numbers, [1, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
        assert_eq!(team.all(|thread| thread * thread), [0, 1, 4]);
    }
}
