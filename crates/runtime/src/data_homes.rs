//! Where to put data that several threads will touch: the inverse question. Each user's threads
//! go through its part side by side, and the slowest user ends it.

use crate::answer::{NodeAnswer, RankedNode, UnknownPair, ratio, within_range};
use crate::filling::Filling;
use crate::question::{MOST_THREADS, RankError, Running, User};
use crate::ranking::Ranking;
use crate::shared_parts::SharedParts;

impl Ranking {
    /// Ranks the memory nodes for data that these users touch at the same time, while these threads
    /// run besides (`&[]`: none). What a node has room for is not known.
    ///
    /// # Errors
    /// [`RankError`] where a place, node or number of threads is none, more than one thread runs
    /// and the ranking has no flow model, or that knows nothing of where threads run.
    pub fn rank_nodes(&self, users: &[User], running: &[Running]) -> Result<NodeAnswer, RankError> {
        let mut answer = NodeAnswer::default();
        self.rank_nodes_into(users, running, &mut answer)?;
        Ok(answer)
    }

    /// The same into an answer that was used before, without allocating.
    ///
    /// # Errors
    /// As [`Ranking::rank_nodes`]; the answer is then empty.
    pub fn rank_nodes_into(
        &self,
        users: &[User],
        running: &[Running],
        answer: &mut NodeAnswer,
    ) -> Result<(), RankError> {
        answer.ranked.clear();
        answer.absent.clear();
        let mut threads = 0.0;
        for user in users {
            self.check_place(user.place)?;
            if !(user.threads > 0.0 && user.threads <= MOST_THREADS) {
                return Err(RankError::Threads { threads: user.threads });
            }
            threads += if user.bytes > 0 { user.threads } else { 0.0 };
        }
        let is_alone = !self.has_threads(running)? && threads <= 1.0;
        let shared = match (is_alone, self.shared.as_ref()) {
            (true, _) => None,
            (false, Some(shared)) => Some(shared),
            (false, None) => return Err(RankError::NoFlow),
        };
        if let Some(shared) = shared {
            // What runs must be known, whatever node the data comes to.
            answer.filling.clear(shared);
            self.add_running(running, shared, &mut answer.filling)?;
        }
        for (column, &node) in self.nodes().iter().enumerate() {
            match self.slowest(users, running, column, shared, &mut answer.filling)? {
                Ok(seconds) => answer.ranked.push(RankedNode { node, seconds, ratio: 1.0 }),
                Err(unknown) => answer.absent.push(unknown),
            }
        }
        let order = |a: &RankedNode, b: &RankedNode| {
            a.seconds.total_cmp(&b.seconds).then(a.node.cmp(&b.node))
        };
        answer.ranked.sort_unstable_by(order);
        let best = answer.ranked.first().map_or(0.0, |best| best.seconds);
        for ranked in &mut answer.ranked {
            ranked.ratio = ratio(ranked.seconds, best);
        }
        Ok(())
    }

    /// Time of the slowest user with the data on a node.
    fn slowest(
        &self,
        users: &[User],
        running: &[Running],
        column: usize,
        shared: Option<&SharedParts>,
        filling: &mut Filling,
    ) -> Result<Result<f64, UnknownPair>, RankError> {
        let node = self.nodes()[column];
        let busy = || users.iter().filter(|user| user.bytes > 0);
        if let Some(shared) = shared {
            filling.clear(shared);
            for &User { place, threads, .. } in busy() {
                let Some(pair) = shared.pair(place, column) else {
                    return Ok(Err(UnknownPair { place, node }));
                };
                filling.add(shared, pair, threads);
            }
            self.add_running(running, shared, filling)?;
            filling.settle(shared);
        }
        let mut slowest = 0.0_f64;
        for (index, user) in busy().enumerate() {
            let Some(mut rate) = self.rate(user.place, column) else {
                return Ok(Err(UnknownPair { place: user.place, node }));
            };
            if let Some(shared) = shared {
                rate *= filling.speed_of_added(shared, index);
            }
            let bytes = user.bytes as f64;
            slowest = slowest.max(bytes / (rate * user.threads));
        }
        Ok(Ok(within_range(slowest)))
    }
}
