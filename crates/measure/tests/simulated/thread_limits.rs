//! Arithmetic in a loop and pauses bound what its threads ask for.

use nearfar_kernels::Mix;
use nearfar_machine::MemoryPolicy;
use nearfar_measure::Executor;
use nearfar_measure::simulated::SimulatedExecutor;
use nearfar_record::{ReasonCode, Roof};

use crate::single_case::{
    GIGA, MIB, as_float, assert_close, at_roof, compute, machine, machine_with, on_memory, rate,
    rates, stream, window,
};

const CORES: [u32; 4] = [0, 1, 2, 3];

/// A mix without arithmetic by one thread, which is not all of an initiator's.
#[test]
fn a_mix_is_as_fast_as_the_kernel_that_does_the_same() {
    let machine = machine();
    let local = MemoryPolicy::Preferred(0);
    for (mix, kernel) in [("1l", "load"), ("1s", "store"), ("1nt", "store_nt")] {
        let of = |name: &str| rate(&machine, stream(name, &[0], local.clone()));
        assert_close(of(mix), of(kernel));
    }
}

/// As in a roofline: below the ridge the mix is as fast as its loads, beyond it the arithmetic
/// is as fast as without loads.
#[test]
fn arithmetic_bounds_a_mix_beyond_the_ridge() {
    let machine = machine();
    let lone = rate(&machine, stream("load", &CORES, MemoryPolicy::Preferred(0)));
    // 32 FLOPs of 2 GHz a core.
    let peak = 4.0 * 64.0 * GIGA;
    for (name, peak) in
        [("1l_1fma", peak), ("1l_16fma", peak), ("1l_64fma", peak), ("1l_64add", peak / 4.0)]
    {
        let mix: Mix = name.parse().unwrap();
        let case = on_memory(vec![nearfar_record::Actor::Stream(stream(
            name,
            &CORES,
            MemoryPolicy::Preferred(0),
        ))]);
        let seen = &window(&machine, &case).unwrap().actors[0];
        assert_close(as_float(seen.flops), (mix.intensity() * lone).min(peak));
        assert_close(as_float(seen.useful_bytes), as_float(seen.flops) / mix.intensity());
    }
}

#[test]
fn without_fused_multiply_adds_two_operations_do_it() {
    let machine = machine();
    let mut narrow = stream("1l_64fma", &[0], MemoryPolicy::Preferred(0));
    narrow.variant = "sse2".into();
    // 4 FLOPs of 2 GHz, 16 for each byte.
    assert_close(rate(&machine, narrow), 8.0 * GIGA / 16.0);
}

/// Of 1024 bytes: their time without a pause, and 1000 cycles.
#[test]
fn a_pause_comes_on_top() {
    let machine = machine();
    for (kernel, bytes) in [("load", 1024.0), ("triad", 3.0 * 1024.0), ("2l1s", 3.0 * 1024.0)] {
        let mut paused = stream(kernel, &[0], MemoryPolicy::Preferred(0));
        let alone = rate(&machine, paused.clone());
        paused.pause_cycles = 1000;
        assert_close(rate(&machine, paused), bytes / (bytes / alone + 1000.0 / (2.0 * GIGA)));
    }
}

#[test]
fn a_pause_frees_the_memory_for_others() {
    let machine = machine();
    let here = stream("load", &[0, 1], MemoryPolicy::Preferred(0));
    let mut beside = stream("load", &[2, 3], MemoryPolicy::Preferred(0));
    let mut of_first = Vec::new();
    for pause_cycles in [0, 200, 2000, 200_000] {
        beside.pause_cycles = pause_cycles;
        let both = [here.clone(), beside.clone()].map(nearfar_record::Actor::Stream);
        of_first.push(rates(&machine, &on_memory(both.to_vec()))[0]);
    }
    assert!(of_first.is_sorted_by(|before, after| before < after), "{of_first:?}");
    let alone = rate(&machine, here);
    assert!(of_first[3] > 0.99 * alone && of_first[3] <= alone, "{of_first:?}, {alone}");
}

#[test]
fn a_pause_and_arithmetic_in_a_cache() {
    let machine = machine();
    let mut set = stream("1l_64fma", &[0], MemoryPolicy::Preferred(0));
    set.working_set_bytes = MIB / 64;
    set.pause_cycles = 100;
    let case = at_roof(Roof::Cache { level: 1 }, nearfar_record::Actor::Stream(set));
    // 64 GFLOP/s are 4 GB/s of these.
    let seconds = 1024.0 / (4.0 * GIGA) + 100.0 / (2.0 * GIGA);
    assert_close(rates(&machine, &case)[0], 1024.0 / seconds);
}

#[test]
fn cores_compute_what_the_file_says() {
    let machine = machine();
    let case = at_roof(Roof::Compute, compute("fma_dp", "avx2"));
    let seen = &window(&machine, &case).unwrap().actors[0];
    assert_close(as_float(seen.flops), 4.0 * 64.0 * GIGA);
    assert_eq!((seen.useful_bytes, seen.accesses), (0, 0));
    assert!(seen.proof.is_none() && seen.write_proof.is_none());
    assert!(seen.threads.iter().all(|thread| thread.core_ghz == Some(2.0)));
}

#[test]
fn arithmetic_is_offered_where_it_is_answered() {
    let executor = |more: &str| {
        SimulatedExecutor::new(machine_with(more), false, 1, nearfar_measure::Interrupt::default())
            .unwrap()
    };
    let offered = executor("").variants();
    assert_eq!(offered.of("fma_dp"), ["avx2"]);
    assert_eq!(offered.of("add_dp"), ["avx2", "sse2"]);
    assert!(offered.of("mul_sp").is_empty());
    assert_eq!(offered.of("3l1nt_6fma"), ["avx2", "sse2"]);
}

#[test]
fn what_the_file_does_not_say_is_refused() {
    let machine = machine();
    for case in [
        at_roof(Roof::Compute, compute("mul_sp", "avx2")),
        at_roof(Roof::Compute, compute("fma_dp", "sse2")),
    ] {
        let reason = window(&machine, &case).unwrap_err();
        assert_eq!(reason.code, ReasonCode::NotSimulated);
        assert!(reason.text.contains("[flops]"), "{}", reason.text);
    }
}
