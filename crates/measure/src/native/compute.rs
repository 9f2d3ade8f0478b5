//! One thread's arithmetic on registers: this many turns at a time, and what they must give.

use nearfar_kernels::{FlopLoop, Flops, Variant};
use nearfar_record::{Reason, ReasonCode};

use super::memory_loop::{no_variant, parse_variant};
use super::work::Work;

/// Turns whose result is computed one number after the other.
const CHECKED_TURNS: u32 = 8;

/// Turns of a block before any rate is known: some ten microseconds.
const FIRST_BLOCK: u64 = 1000;

/// Calls to warm up by at least: about a millisecond.
const WARM_CALLS: u64 = 64;

/// Computes for this many turns; gives the exclusive or of all results.
pub(super) type RunFlops = fn(&FlopLoop, usize) -> u64;

/// Arithmetic in one instruction set, and what a few turns of it give.
#[derive(Debug, Clone)]
pub(super) struct ComputeLoop {
    flop_loop: FlopLoop,
    expected: u64,
}

impl ComputeLoop {
    /// The arithmetic of that name in a variant.
    ///
    /// # Errors
    /// Where this CPU has none.
    pub fn of(kernel: &str, variant: &str) -> Result<Self, Reason> {
        let variant = parse_variant(variant)?;
        let flops: Flops = kernel.parse().map_err(no_variant)?;
        let flop_loop = flops.generate(variant).map_err(no_variant)?;
        let expected = flops.expected(variant, u64::from(CHECKED_TURNS));
        Ok(Self { flop_loop, expected })
    }

    /// The arithmetic's name, as in cases.
    pub fn name(&self) -> String {
        self.flop_loop.kind().to_string()
    }

    pub fn variant(&self) -> Variant {
        self.flop_loop.variant()
    }

    /// Operations on vectors in a turn.
    pub fn unroll(&self) -> u32 {
        self.flop_loop.kind().operations_per_turn(self.variant())
    }
}

/// Where one thread is in its arithmetic.
#[derive(Debug)]
pub(super) struct Computing {
    compute_loop: ComputeLoop,
    run_flops: RunFlops,
    /// Turns of a block, and what the first one of as many gave.
    turns: u64,
    result: Option<u64>,
    calls: u64,
    flops: u64,
}

impl Computing {
    pub fn new(compute_loop: ComputeLoop, run_flops: RunFlops) -> Self {
        Self { compute_loop, run_flops, turns: FIRST_BLOCK, result: None, calls: 0, flops: 0 }
    }

    fn set_turns(&mut self, turns: u64) {
        self.turns = turns.max(1);
        self.result = None;
    }

    fn run(&self, turns: u64) -> u64 {
        let turns = usize::try_from(turns).unwrap_or(usize::MAX);
        (self.run_flops)(&self.compute_loop.flop_loop, turns)
    }

    fn compare(&self, turns: u64, found: u64, expected: u64) -> Result<(), Reason> {
        if found == expected {
            return Ok(());
        }
        let flop_loop = &self.compute_loop.flop_loop;
        Err(Reason {
            code: ReasonCode::WrongData,
            text: format!(
                "{turns} turns of {} in {} give {found:#x} instead of {expected:#x}; the CPU is at fault",
                flop_loop.kind(),
                flop_loop.variant()
            ),
        })
    }
}

impl Work for Computing {
    fn done(&self) -> u64 {
        self.flops
    }

    fn passes(&self) -> u64 {
        self.calls
    }

    fn is_warm(&self) -> bool {
        self.calls >= WARM_CALLS
    }

    fn set_block(&mut self, flops: u64) {
        self.set_turns(flops / self.compute_loop.flop_loop.flops(1));
    }

    fn halve_block(&mut self) {
        self.set_turns(self.turns / 2);
    }

    /// Of as many turns each block gives what the first one gave.
    fn step(&mut self) -> Result<(), Reason> {
        let result = self.run(self.turns);
        let expected = *self.result.get_or_insert(result);
        self.calls += 1;
        self.flops += self.compute_loop.flop_loop.flops(self.turns);
        self.compare(self.turns, result, expected)
    }

    /// Checks what a few turns give. What a whole block gives nobody can compute in time: blocks
    /// are held against each other.
    fn check(&mut self) -> Result<(), Reason> {
        let turns = u64::from(CHECKED_TURNS);
        self.compare(turns, self.run(turns), self.compute_loop.expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_name::flop_names;

    /// Every arithmetic in every instruction set that this CPU has it in.
    fn all() -> Vec<ComputeLoop> {
        let variants = Variant::available();
        let of = |kernel: &String| {
            variants
                .iter()
                .filter_map(|variant| ComputeLoop::of(kernel, &variant.to_string()).ok())
                .collect::<Vec<_>>()
        };
        flop_names().iter().flat_map(of).collect()
    }

    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[test]
    fn every_arithmetic_passes_its_own_check_and_counts_its_operations() {
        let loops = all();
        assert!(loops.len() >= 6, "{} loops", loops.len());
        for compute_loop in loops {
            let flops = compute_loop.flop_loop.flops(1);
            let mut computing = Computing::new(compute_loop, FlopLoop::run);
            computing.check().unwrap();
            computing.set_block(7 * flops + 1);
            computing.step().unwrap();
            computing.halve_block();
            computing.step().unwrap();
            computing.step().unwrap();
            assert_eq!((computing.done(), computing.passes()), ((7 + 3 + 3) * flops, 3));
            computing.check().unwrap();
        }
    }

    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[test]
    fn a_result_that_changes_is_noticed() {
        fn wrong(flop_loop: &FlopLoop, turns: usize) -> u64 {
            flop_loop.run(turns) ^ 1
        }
        for compute_loop in all() {
            let mut computing = Computing::new(compute_loop, FlopLoop::run);
            computing.step().unwrap();
            computing.run_flops = wrong;
            assert_eq!(computing.step().unwrap_err().code, ReasonCode::WrongData);
            assert_eq!(computing.check().unwrap_err().code, ReasonCode::WrongData);
        }
    }

    #[test]
    fn what_is_no_arithmetic_is_refused() {
        for (kernel, variant) in [("triad", "sse2"), ("fma_dp", "mmx"), ("fma_dp", "portable")] {
            let reason = ComputeLoop::of(kernel, variant).unwrap_err();
            assert_eq!(reason.code, ReasonCode::NoVariant, "{}", reason.text);
        }
    }
}
