//! The exchange: pages move from node to node while the fitted law says that the program gains.

use crate::question::{LEAST_SHARE, Question, Shares, Throughput};

/// Page shares that are moved at a time, the largest first.
const STEPS: [f64; 4] = [0.125, 0.0625, 0.03125, 0.015_625];
/// The same for the mean over the machines that are possible.
const LAST_STEPS: [f64; 2] = [0.0625, 0.03125];
/// A move that gains a smaller fraction is not made.
const LEAST_GAIN: f64 = 1e-5;
/// Turns through all moves with one step; the law's throughput has one hill, so that few are
/// needed.
const MOST_TURNS: usize = 40;
/// Looks at a placement, times initiators with pages of their own, times nodes: on machines of very
/// many nodes the exchange ends before it has tried all.
const MOST_LOOKS: usize = 2_000_000;
/// With pages of each initiator placed apart a move can raise what others get before it raises the
/// slowest: the sum of all threads counts by this part.
const SUM_COUNTS: f64 = 0.02;

impl Question<'_> {
    /// Better shares than these and their throughput / that of these, as far as moves between two
    /// nodes lead. Nothing is moved to where it finds no room.
    pub fn exchange(&self, start: Vec<Shares>) -> Vec<Shares> {
        let mut pages = start;
        self.climb(&mut pages, &STEPS, |pages| self.score(self.throughput(pages)?, pages));
        if pages.len() == 1 && !self.possible.is_empty() {
            let expected = |pages: &[Shares]| self.score(self.expected_throughput(pages)?, pages);
            self.climb(&mut pages, &LAST_STEPS, expected);
        }
        pages
    }

    fn climb(&self, pages: &mut [Shares], steps: &[f64], score: impl Fn(&[Shares]) -> Option<f64>) {
        let Some(mut reached) = score(pages) else { return };
        let count = self.page_nodes.len().max(1);
        let looks_of_turn = pages.len() * count * count;
        let most_turns = MOST_LOOKS / (pages.len() * count * looks_of_turn.max(1));
        for &step in steps {
            for _ in 0..most_turns.min(MOST_TURNS) {
                if !self.turn(pages, &mut reached, step, &score) {
                    break;
                }
            }
        }
    }

    /// Tries each move once; whether one was made.
    fn turn(
        &self,
        pages: &mut [Shares],
        reached: &mut f64,
        step: f64,
        score: &impl Fn(&[Shares]) -> Option<f64>,
    ) -> bool {
        let before = *reached;
        let count = self.page_nodes.len();
        for of in 0..pages.len() {
            for from in 0..count {
                for to in (0..count).filter(|&to| to != from) {
                    let moved = step.min(pages[of][from]);
                    if moved <= LEAST_SHARE {
                        break;
                    }
                    let (had, has) = (pages[of][from], pages[of][to]);
                    pages[of][from] = had - moved;
                    pages[of][to] = has + moved;
                    match score(pages).filter(|_| self.fits(pages)) {
                        Some(score) if score > *reached * (1.0 + LEAST_GAIN) => *reached = score,
                        _ => {
                            pages[of][from] = had;
                            pages[of][to] = has;
                        }
                    }
                }
            }
        }
        *reached > before
    }

    fn score(&self, throughput: Throughput, pages: &[Shares]) -> Option<f64> {
        let counts = if pages.len() > 1 { SUM_COUNTS } else { 0.0 };
        Some(throughput.paced + counts * throughput.sum)
    }
}
