//! What happened to a program that is watched: it ended, stopped, or did what is traced.

use std::time::{Duration, Instant};

use nearfar_sys::{Change, Refusal, next_change, next_change_of};

use crate::follow::Follower;

/// What happened to a program, and to what is followed with it. To ask for whomever something
/// happened to takes the kernel the longer the more threads are followed, and to ask for one thread does
/// not (Linux 5.14): SIGCHLD names one; but of several that come at once only the first does.
pub(crate) struct Changes {
    program: u32,
    /// Those that are asked one by one.
    asked: Vec<u32>,
    /// Something has happened since a search found nothing.
    pub is_search_due: bool,
    last_search: Instant,
    search_took: Duration,
    found_in_a_row: u32,
}

/// Searches may take 1 / SEARCH_COST of the time.
const SEARCH_COST: u32 = 8;
/// Where searches find this many changes in a row, there are likely many more.
const MANY: u32 = 4;

impl Changes {
    pub fn of(program: u32) -> Self {
        let (last_search, search_took) = (Instant::now(), Duration::ZERO);
        Self {
            program,
            asked: Vec::new(),
            is_search_due: true,
            last_search,
            search_took,
            found_in_a_row: 0,
        }
    }

    pub fn next(
        &mut self,
        told_of: Option<u32>,
        follower: Option<&Follower>,
    ) -> Result<Option<Change>, Refusal> {
        let Some(follower) = follower else { return next_change_of(self.program) };
        self.is_search_due |= told_of.is_some();
        self.asked.extend(told_of);
        while let Some(pid) = self.asked.pop() {
            // It may have been heard of before.
            if let Ok(Some(change)) = next_change_of(pid) {
                return Ok(Some(change));
            }
        }
        if !self.pause(Some(follower)).is_zero() {
            return Ok(None);
        }
        if self.found_in_a_row >= MANY {
            self.found_in_a_row = 0;
            self.asked.extend(follower.threads());
            return self.next(None, Some(follower));
        }
        let begun = Instant::now();
        let found = next_change()?;
        self.search_took = begun.elapsed();
        if found.is_some() {
            self.found_in_a_row += 1;
        } else {
            (self.is_search_due, self.found_in_a_row) = (false, 0);
            self.last_search = Instant::now();
        }
        Ok(found)
    }

    /// How long nothing is to be searched for.
    pub fn pause(&self, follower: Option<&Follower>) -> Duration {
        match follower {
            Some(_) if self.is_search_due => {
                (SEARCH_COST * self.search_took).saturating_sub(self.last_search.elapsed())
            }
            _ => Duration::MAX,
        }
    }
}
