//! Arithmetic that is not done.

use nearfar_kernels::FlopLoop;
use nearfar_machine::CpuSet;
use nearfar_record::ReasonCode;
use nearfar_specimen::compute;

use super::{assert_refused_by, next_call, own_place, preferred_variant, run_actor};
use crate::executor::{Failure, Window};
use crate::native::compute::RunFlops;
use crate::native::instruments::Instruments;

/// Calls to warm up by, and that of the check that follows.
const WARM_UP_CALLS: u32 = 64 + 1;

fn run(kernel: &str, instruments: Instruments) -> Result<Vec<Window>, Failure> {
    let (cpu, _) = own_place();
    run_actor(compute(kernel, &preferred_variant(kernel), CpuSet::single(cpu)), instruments)
}

#[cfg(target_arch = "x86_64")]
#[test]
fn arithmetic_that_is_left_out_is_caught() {
    fn nothing(_: &FlopLoop, _: usize) -> u64 {
        0
    }
    fn no_turn(flop_loop: &FlopLoop, _: usize) -> u64 {
        flop_loop.run(0)
    }
    fn idle(flop_loop: &FlopLoop, turns: usize) -> u64 {
        // What it gives without a turn is not what it gave before with many.
        flop_loop.run(if next_call() < WARM_UP_CALLS + 3 { turns } else { 0 })
    }
    for kernel in ["mul_add_dp", "mul_sp"] {
        for lie in [nothing, no_turn, idle] as [RunFlops; 3] {
            let lie = Instruments { run_flops: lie, ..Instruments::default() };
            assert_refused_by(|instruments| run(kernel, instruments), lie, ReasonCode::WrongData);
        }
    }
}
