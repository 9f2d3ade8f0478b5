//! Where to run a task. T = sum over nodes of bytes / rate: one byte after the other, as
//! `d_serial` of the data-access model.
//!
//! Holds when: the task is one thread that moves its data by streams, once from end to end.
//! Fails when: it waits for single accesses (latency decides), computes for longer than it waits, or
//! finds its data in a cache.

use crate::answer::{PlaceAnswer, RankedPlace, UnknownPair, ratio, within_range};
use crate::filling::Filling;
use crate::question::{MOST_THREADS, RankError, Running, Touched};
use crate::ranking::Ranking;
use crate::shared_parts::SharedParts;

impl Ranking {
    /// Ranks the places for a task that touches this data, while these threads run (`&[]`: while
    /// nothing else does). Nodes that are named several times add up.
    ///
    /// # Errors
    /// [`RankError`] where a node, place or number of threads is none, threads run and the ranking
    /// has no flow model, or that knows nothing of where they run.
    pub fn rank(&self, touched: &[Touched], running: &[Running]) -> Result<PlaceAnswer, RankError> {
        let mut answer = PlaceAnswer::default();
        self.rank_into(touched, running, &mut answer)?;
        Ok(answer)
    }

    /// The same into an answer that was used before, without allocating.
    ///
    /// # Errors
    /// As [`Ranking::rank`]; the answer is then empty.
    pub fn rank_into(
        &self,
        touched: &[Touched],
        running: &[Running],
        answer: &mut PlaceAnswer,
    ) -> Result<(), RankError> {
        answer.ranked.clear();
        answer.absent.clear();
        answer.bytes.clear();
        answer.bytes.resize(self.nodes().len(), 0.0);
        for data in touched {
            let bytes = data.bytes as f64;
            answer.bytes[self.column_of(data.node)?] += bytes;
        }
        let shared = self.run(running, &mut answer.filling)?;
        for place in 0..self.places().len() {
            match self.seconds(place, &answer.bytes, shared, &answer.filling) {
                Ok(seconds) => answer.ranked.push(RankedPlace { place, seconds, ratio: 1.0 }),
                Err(unknown) => answer.absent.push(unknown),
            }
        }
        let order = |a: &RankedPlace, b: &RankedPlace| {
            a.seconds.total_cmp(&b.seconds).then(a.place.cmp(&b.place))
        };
        answer.ranked.sort_unstable_by(order);
        let best = answer.ranked.first().map_or(0.0, |best| best.seconds);
        for ranked in &mut answer.ranked {
            ranked.ratio = ratio(ranked.seconds, best);
        }
        Ok(())
    }

    /// Puts threads on the machine; `None` where there are none.
    fn run(
        &self,
        running: &[Running],
        filling: &mut Filling,
    ) -> Result<Option<&SharedParts>, RankError> {
        if !self.has_threads(running)? {
            return Ok(None);
        }
        let shared = self.shared.as_ref().ok_or(RankError::NoFlow)?;
        filling.clear(shared);
        self.add_running(running, shared, filling)?;
        filling.settle(shared);
        Ok(Some(shared))
    }

    /// Whether any of these threads runs, all of which must be of this machine.
    pub(crate) fn has_threads(&self, running: &[Running]) -> Result<bool, RankError> {
        let mut any = false;
        for threads in running {
            self.check_place(threads.place)?;
            self.column_of(threads.node)?;
            if !(0.0..=MOST_THREADS).contains(&threads.threads) {
                return Err(RankError::Threads { threads: threads.threads });
            }
            any |= threads.threads > 0.0;
        }
        Ok(any)
    }

    pub(crate) fn add_running(
        &self,
        running: &[Running],
        shared: &SharedParts,
        filling: &mut Filling,
    ) -> Result<(), RankError> {
        for &Running { place, node, threads } in running.iter().filter(|it| it.threads > 0.0) {
            let pair = shared
                .pair(place, self.column_of(node)?)
                .ok_or(RankError::UnknownRunning(UnknownPair { place, node }))?;
            filling.add(shared, pair, threads);
        }
        Ok(())
    }

    /// Time for all of the data from a place.
    fn seconds(
        &self,
        place: usize,
        bytes: &[f64],
        shared: Option<&SharedParts>,
        filling: &Filling,
    ) -> Result<f64, UnknownPair> {
        let mut seconds = 0.0;
        for (column, &bytes) in bytes.iter().enumerate().filter(|(_, bytes)| **bytes > 0.0) {
            let unknown = UnknownPair { place, node: self.nodes()[column] };
            let mut rate = self.rate(place, column).ok_or(unknown)?;
            if let Some(shared) = shared {
                let pair = shared.pair(place, column).ok_or(unknown)?;
                rate *= filling.speed_of_one_more(shared, pair);
            }
            seconds += bytes / rate;
        }
        Ok(within_range(seconds))
    }
}
