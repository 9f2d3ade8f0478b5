//! EP: pairs of Gaussian deviates by acceptance and rejection, counted by squares. It touches next to
//! no memory: where its pages are makes no difference, which makes it the control.
//!
//! Source: NAS Parallel Benchmarks 3.4, EP; braithwaite2012, figures 6.3 and 6.4.

use crate::array::{Array, ArrayPlan};
use crate::clock::Clock;
use crate::nas_random::NasRandom;
use crate::program::Program;
use crate::size::Class;
use crate::team::Team;
use crate::traffic::PhaseTraffic;
use crate::verification::Check;

const SEED: u64 = 271_828_183;

/// Pairs of a batch: 2^16.
const BATCH: usize = 1 << 16;

const TOLERANCE: f64 = 1e-8;

/// EP of a class.
#[derive(Debug, Clone, Copy)]
pub struct Ep {
    /// log2 of the number of pairs.
    log_pairs: u32,
    sums: [f64; 2],
    /// Pairs that were accepted, where it is known.
    accepted: Option<u64>,
}

/// What came of some batches.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    sums: [f64; 2],
    counts: [u64; 10],
}

impl Ep {
    pub fn new(class: Class) -> Self {
        let (log_pairs, sums, accepted) = match class {
            Class::S => (24, [-3.247_834_652_034_74e3, -6.958_407_078_382_297e3], Some(13_176_389)),
            Class::W => {
                (25, [-2.863_319_731_645_753e3, -6.320_053_679_109_499e3], Some(26_354_769))
            }
            Class::A => (28, [-4.295_875_165_629_892e3, -1.580_732_573_678_431e4], None),
            Class::B => (30, [4.033_815_542_441_498e4, -2.660_669_192_809_235e4], None),
            Class::C => (32, [4.764_367_927_995_374e4, -8.084_072_988_043_731e4], None),
        };
        Self { log_pairs, sums, accepted }
    }

    fn batches(&self) -> usize {
        1 << (self.log_pairs - BATCH.ilog2())
    }
}

/// The deviates of a batch drawn into `deviates`, then judged.
fn tally(batch: usize, deviates: &mut [f64], tally: &mut Tally) {
    let mut random = NasRandom::new(SEED).after(2 * (BATCH * batch) as u64);
    deviates.iter_mut().for_each(|deviate| *deviate = random.draw());
    for pair in deviates.chunks_exact(2) {
        let (x, y) = (2.0 * pair[0] - 1.0, 2.0 * pair[1] - 1.0);
        let square = x * x + y * y;
        if square <= 1.0 {
            let factor = (-2.0 * square.ln() / square).sqrt();
            let (x, y) = (x * factor, y * factor);
            tally.sums[0] += x;
            tally.sums[1] += y;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a deviate of 2^-46 is below 8"
            )]
            let ring = x.abs().max(y.abs()) as usize;
            tally.counts[ring] += 1;
        }
    }
}

impl Program for Ep {
    fn arrays(&self, threads: usize) -> Vec<ArrayPlan> {
        vec![ArrayPlan::shared::<f64>("deviates", (threads, 2 * BATCH), threads, true)]
    }

    fn work(&self) -> f64 {
        f64::from(self.log_pairs + 1).exp2() / 1e6
    }

    fn unit(&self) -> &'static str {
        "Mop"
    }

    fn traffic(&self, _cache_bytes: f64) -> Vec<PhaseTraffic> {
        // A pair: its deviates (4), square (3), and where it is accepted, a logarithm and a root (20
        // each by the benchmark's count of a pair) for pi/4 of them.
        let pairs = f64::from(self.log_pairs).exp2();
        vec![PhaseTraffic { phase: "gaussian", flops: 40.0 * pairs, arrays: Vec::new() }]
    }

    fn run(&self, arrays: &mut [Array], team: &Team, clock: &mut Clock) -> Vec<Check> {
        let [deviates] = arrays else { unreachable!("the arrays that were planned") };
        let deviates = deviates.of_mut::<f64>();
        // The warm-up touches code and the scratch memory.
        team.each(deviates.chunks_mut(2 * BATCH), |_, own| tally(0, own, &mut Tally::default()));
        clock.start();
        let of_threads = clock.time("gaussian", || {
            let shares = team.shares(self.batches());
            team.each(deviates.chunks_mut(2 * BATCH).zip(shares), |_, (own, share)| {
                let mut own_tally = Tally::default();
                share.for_each(|batch| tally(batch, own, &mut own_tally));
                own_tally
            })
        });
        clock.stop();
        let sum = |of: usize| of_threads.iter().map(|it| it.sums[of]).sum();
        let accepted = of_threads.iter().flat_map(|it| it.counts).sum();
        let mut checks = vec![
            Check::relative("sum of x", self.sums[0], sum(0), TOLERANCE),
            Check::relative("sum of y", self.sums[1], sum(1), TOLERANCE),
        ];
        checks.extend(self.accepted.map(|known| Check::exact("accepted pairs", known, accepted)));
        checks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::tests::checks_of;
    use crate::verification::is_verified;

    #[test]
    fn a_pair_too_few_is_found() {
        let ep = Ep::new(Class::S);
        assert!(is_verified(&checks_of(&ep, 2)));
        assert!(!is_verified(&checks_of(&Ep { log_pairs: 23, ..ep }, 2)));
    }
}
