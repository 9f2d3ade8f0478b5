//! One thread of two that hand a line to each other.

use nearfar_kernels::{Handing, Side};
use nearfar_record::{Exchange, HandOver, Reason, ReasonCode};

use super::work::Work;

/// Hand-overs of a block before any rate is known.
const FIRST_BLOCK: u64 = 1024;

/// Hand-overs to warm up by at least.
const WARM_HAND_OVERS: u64 = 16 * 1024;

/// Hands the line over this many times, or fewer where the other thread keeps it for long.
pub(super) type RunExchange = fn(&mut Side<'_>, Handing, u64) -> u64;

/// As the side does it itself.
pub(super) fn run_exchange(side: &mut Side<'_>, handing: Handing, times: u64) -> u64 {
    side.hand_over(handing, times)
}

/// Where one of the two threads is. A block ends early where the other thread does not answer, so that
/// whoever waits for one that was stopped still looks at the clock and at whether to end.
#[derive(Debug)]
pub(super) struct Exchanging<'a> {
    side: Side<'a>,
    handing: Handing,
    run: RunExchange,
    /// As the loop says: what the line holds is held against it.
    done: u64,
    block: u64,
}

impl<'a> Exchanging<'a> {
    pub fn new(side: Side<'a>, by: HandOver, run: RunExchange) -> Self {
        let handing = match by {
            HandOver::StoreLoad => Handing::StoreLoad,
            HandOver::CompareSwap => Handing::CompareSwap,
        };
        Self { side, handing, run, done: 0, block: FIRST_BLOCK }
    }
}

impl Work for Exchanging<'_> {
    fn done(&self) -> u64 {
        self.done * Exchange::HAND_OVER_BYTES
    }

    fn passes(&self) -> u64 {
        self.done
    }

    fn is_warm(&self) -> bool {
        self.done >= WARM_HAND_OVERS
    }

    fn set_block(&mut self, useful_bytes: u64) {
        self.block = (useful_bytes / Exchange::HAND_OVER_BYTES).max(1);
    }

    fn halve_block(&mut self) {
        self.block = (self.block / 2).max(1);
    }

    fn step(&mut self) -> Result<(), Reason> {
        self.done += (self.run)(&mut self.side, self.handing, self.block);
        Ok(())
    }

    /// The line counts the hand-overs of both, and neither can be more than one ahead.
    fn check(&mut self) -> Result<(), Reason> {
        if self.done == self.side.done() && self.side.is_on_course() {
            return Ok(());
        }
        Err(Reason {
            code: ReasonCode::WrongData,
            text: format!(
                "an exchanged line does not hold what {} hand-overs leave (the loop counted {}); the \
                 memory or the CPU is at fault, or another program wrote here",
                self.done,
                self.side.done()
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearfar_kernels::ExchangedLine;

    /// Who has no partner makes no progress, and comes back from every block.
    #[test]
    fn a_thread_whose_partner_is_gone_comes_back() {
        for by in HandOver::ALL {
            let mut memory = [0.0; 8];
            let [mut lone, _] = ExchangedLine::new(&mut memory)
                .unwrap()
                .sides()
                .map(|side| Exchanging::new(side, by, run_exchange));
            for _ in 0..3 {
                lone.step().unwrap();
                assert_eq!((lone.passes(), lone.done()), (1, 8));
                lone.check().unwrap();
            }
        }
    }

    #[test]
    fn hand_overs_that_were_not_made_are_noticed() {
        let mut memory = [0.0; 8];
        let [first, _] = ExchangedLine::new(&mut memory).unwrap().sides();
        let pretend: RunExchange = |_, _, times| times;
        let mut liar = Exchanging::new(first, HandOver::StoreLoad, pretend);
        while !liar.is_warm() {
            liar.step().unwrap();
        }
        assert_eq!(liar.check().unwrap_err().code, ReasonCode::WrongData);
    }
}
