//! What became of a program's placement.

use std::collections::BTreeMap;

use nearfar_place::{Loss, Outcome, Placement, ProgramPages, Resolution, SeenThread, Verification};
use serde::Serialize;

/// What `nearfar run` reports (docs/schema/nearfar.run-1.json).
#[derive(Debug, Clone, Serialize)]
pub struct RunView {
    /// Name and version of the format.
    pub schema: &'static str,
    /// As the user wrote it.
    pub placement: String,
    /// What it means on this machine.
    pub binding: String,
    /// How weights of nodes came about; `None` where none were asked for, or equal ones.
    pub weights_by: Option<&'static str>,
    /// What of it could not be had.
    pub refused: Vec<RefusedView>,
    /// Where the program's memory was; `None` where that is not known.
    pub pages: Option<PagesView>,
    /// Why that is not known.
    pub pages_absent: Option<String>,
    /// The program's threads that were seen.
    pub threads: Vec<ThreadView>,
    /// How many more there were than are listed.
    pub threads_unlisted: u64,
    /// Whether the program is faster for it; `None` where that was not asked.
    pub verification: Option<VerificationView>,
    /// What else is to be known, in sentences.
    pub notes: Vec<String>,
    /// The program's exit status, or 128 and the number of the signal that ended it; `None` where
    /// it was not started.
    pub status: Option<u8>,
}

/// A part of a placement that could not be had.
#[derive(Debug, Clone, Serialize)]
pub struct RefusedView {
    /// What was asked for.
    pub what: String,
    /// Why it was not given.
    pub reason: String,
    /// What can be done about it.
    pub remedy: Option<String>,
}

/// Where a program's own memory was.
#[derive(Debug, Clone, Serialize)]
pub struct PagesView {
    /// How that was found out.
    pub method: &'static str,
    /// Bytes by node.
    pub bytes_by_node: BTreeMap<u32, u64>,
    /// The shares that were asked for, where that was shares.
    pub asked_shares: Option<BTreeMap<u32, f64>>,
    /// The shares that were found.
    pub achieved_shares: BTreeMap<u32, f64>,
    /// The largest difference of a node's two shares.
    pub largest_deviation: Option<f64>,
}

/// A thread that was seen.
#[derive(Debug, Clone, Serialize)]
pub struct ThreadView {
    /// The number of its process.
    pub process: u32,
    /// Its name.
    pub name: String,
    /// CPUs that it could use.
    pub cpus_allowed: String,
    /// CPUs that it was seen on.
    pub cpus_seen: String,
}

/// The program's time under the placement and without it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VerificationView {
    /// Runs on each side.
    pub rounds: u32,
    /// Median time under the placement, s.
    pub placed_median_seconds: f64,
    /// Median time without it, s.
    pub default_median_seconds: f64,
    /// Median over rounds of time without it / time under it: above 1 the placement is faster.
    pub ratio: f64,
    /// Interval of the ratio, 95 % with all looks together.
    pub interval: [f64; 2],
    /// What that means.
    pub verdict: &'static str,
}

impl RunView {
    /// Before the program is started.
    #[must_use]
    pub fn new(placement: &Placement, resolution: &Resolution) -> Self {
        let mut view = Self {
            schema: "nearfar.run/1",
            placement: placement.to_string(),
            binding: resolution.asked.to_string(),
            weights_by: resolution.weights.as_ref().map(|(_, by)| by.as_str()),
            refused: Vec::new(),
            pages: None,
            pages_absent: None,
            threads: Vec::new(),
            threads_unlisted: 0,
            verification: None,
            notes: Vec::new(),
            status: None,
        };
        view.lose(&resolution.losses);
        view
    }

    /// Adds what could not be had; what was tried again is told once.
    pub fn lose(&mut self, losses: &[Loss]) {
        for Loss { what, reason, remedy } in losses {
            if !self.refused.iter().any(|refused| refused.what == *what) {
                let (what, reason, remedy) = (what.clone(), reason.clone(), remedy.clone());
                self.refused.push(RefusedView { what, reason, remedy });
            }
        }
    }

    /// Says why nothing is known of the program.
    pub fn say_why_absent(&mut self, why: &str) {
        self.pages_absent = Some(why.into());
    }

    /// Adds what the program did. `status` is its status as a shell tells it.
    pub fn tell(&mut self, asked: Option<&BTreeMap<u32, f64>>, outcome: &Outcome, status: u8) {
        match &outcome.pages {
            Ok(pages) => match PagesView::new(pages, asked) {
                Some(pages) => self.pages = Some(pages),
                None => self.say_why_absent("it had no memory of its own when it was looked at"),
            },
            Err(why) => self.say_why_absent(why),
        }
        self.threads = outcome.threads.iter().map(ThreadView::new).collect();
        self.threads_unlisted = outcome.threads_unlisted;
        self.lose(&outcome.losses);
        self.notes.extend(outcome.notes.iter().cloned());
        self.status = Some(status);
    }

    /// Adds what comparing found.
    pub fn verify(&mut self, found: &Verification) {
        self.verification = Some(VerificationView::new(found));
    }
}

impl VerificationView {
    pub(crate) fn new(found: &Verification) -> Self {
        Self {
            rounds: found.rounds,
            placed_median_seconds: found.placed_seconds,
            default_median_seconds: found.default_seconds,
            ratio: found.ratio,
            interval: found.interval.into(),
            verdict: found.verdict.as_str(),
        }
    }
}

impl PagesView {
    fn new(pages: &ProgramPages, asked: Option<&BTreeMap<u32, f64>>) -> Option<Self> {
        Some(Self {
            method: pages.method.as_str(),
            bytes_by_node: pages.bytes.clone(),
            asked_shares: asked.cloned(),
            achieved_shares: pages.shares()?,
            largest_deviation: asked.and_then(|asked| pages.largest_deviation(asked)),
        })
    }
}

impl ThreadView {
    fn new(seen: &SeenThread) -> Self {
        Self {
            process: seen.process,
            name: seen.name.clone(),
            cpus_allowed: seen.cpus_allowed.to_string(),
            cpus_seen: seen.cpus_seen.to_string(),
        }
    }
}
