//! Each kind of actor alone.

use nearfar_machine::MemoryPolicy;
use nearfar_measure::Executor;
use nearfar_record::{
    Actor, Affinity, Pages, Pinning, ReasonCode, Roof, ThreadSample, TrafficMethod,
};

use crate::workbench::{Workbench, alone, latency, roof, run_of_scaling, set};

const MIB: u64 = 1 << 20;

/// Bytes that are moved in a window of a thread that goes on walking are at most those of its
/// passes and the one that has not ended.
fn is_within_passes(thread: &ThreadSample, pass_bytes: u64) -> bool {
    thread.useful_bytes <= (thread.passes + 1) * pass_bytes
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[test]
fn a_mix_counts_what_its_name_says() {
    let _alone = alone();
    // Hints on AArch64.
    let past_caches = if cfg!(target_arch = "x86_64") {
        TrafficMethod::Nt
    } else {
        TrafficMethod::EvasionPossible
    };
    let mut workbench = Workbench::new();
    let cpus = workbench.cpus(2);
    let threads = cpus.len() as u64;
    for (kernel, width, flops, method) in [
        ("1l", 1, 0, TrafficMethod::Nt),
        ("1nt", 1, 0, past_caches),
        ("2l1nt", 3, 0, past_caches),
        ("2l1s", 3, 0, TrafficMethod::EvasionPossible),
        ("1l_8fma", 1, 16, TrafficMethod::Nt),
        ("4l3s_8add", 7, 8, TrafficMethod::EvasionPossible),
    ] {
        let bytes = width * MIB;
        let stream = workbench.stream(kernel, &cpus, threads * bytes);
        for window in workbench.run(&set(vec![Actor::Stream(stream)])).unwrap() {
            let sample = &window.actors[0];
            assert_eq!((sample.kernel.as_str(), sample.traffic_method), (kernel, method));
            assert_eq!(sample.useful_bytes % (8 * width), 0);
            assert_eq!(sample.flops, sample.useful_bytes / (8 * width) * flops);
            assert!(sample.threads.iter().all(|thread| is_within_passes(thread, bytes)));
            assert!(sample.threads.iter().all(|thread| thread.core_ghz.is_none()));
            assert!(sample.unroll > 0);
        }
    }
}

#[test]
fn a_kernel_that_does_not_exist_here_is_refused() {
    let _alone = alone();
    let mut workbench = Workbench::new();
    let cpus = workbench.cpus(1);
    for (kernel, variant) in [("2l1s", "portable"), ("quad", "sse2"), ("triad", "mmx")] {
        let mut stream = workbench.stream("triad", &cpus, MIB);
        (stream.kernel, stream.variant) = (kernel.into(), variant.into());
        let case = set(vec![Actor::Stream(stream)]);
        assert_eq!(workbench.refusal(&case), ReasonCode::NoVariant);
    }
    let mut compute = workbench.compute("add_dp", &cpus);
    compute.kernel = "div_dp".into();
    let case = set(vec![Actor::Compute(compute)]);
    assert_eq!(workbench.refusal(&case), ReasonCode::NoVariant);
}

#[test]
fn a_chase_visits_all_its_nodes_before_its_window_and_counts_accesses() {
    let _alone = alone();
    let mut workbench = Workbench::new();
    let cpu = workbench.cpus(1)[0];
    for (bytes, group_bytes) in
        [(16 << 10, 16 << 10), (MIB, 64 << 10), (8 * MIB, MIB), (8 * MIB, 8 * MIB)]
    {
        let case = latency(workbench.chase(cpu, bytes, group_bytes), None);
        for window in workbench.run(&case).unwrap() {
            let sample = &window.actors[0];
            assert_eq!(sample.useful_bytes, 8 * sample.accesses);
            assert_eq!(sample.traffic_bytes_max, 64 * sample.accesses);
            assert_eq!((sample.variant.as_str(), sample.flops), ("scalar", 0));
            assert!(is_within_passes(&sample.threads[0], bytes / 256 * 8), "{sample:?}");
            assert!(sample.proof.is_some());
            let looked = sample.threads[0].core_ghz.is_some();
            assert_eq!(
                looked,
                cfg!(any(target_arch = "x86_64", target_arch = "aarch64")),
                "latency is not of memory alone"
            );
        }
    }
}

/// What a chase wrote into a pool, and what streams did, is no trouble to who comes next.
#[test]
fn a_chase_and_streams_use_one_pool_after_each_other() {
    let _alone = alone();
    let mut workbench = Workbench::new();
    let cpus = workbench.cpus(2);
    let chase = latency(workbench.chase(cpus[0], 8 * MIB, MIB), None);
    let load = set(vec![Actor::Stream(workbench.stream("load", &cpus, 4 * MIB))]);
    let triad = set(vec![Actor::Stream(workbench.stream("triad", &cpus, 6 * MIB))]);
    workbench.executor.begin_round(&[&chase, &load, &triad]);
    for case in [&chase, &load, &triad, &load, &chase, &chase, &load] {
        workbench.run_on(case).unwrap();
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[test]
fn arithmetic_counts_operations_and_tells_the_clock() {
    let _alone = alone();
    let mut workbench = Workbench::new();
    let cpus = workbench.cpus(2);
    for kernel in ["add_dp", "mul_sp", "mul_add_dp"] {
        let compute = workbench.compute(kernel, &cpus);
        let case = roof(Roof::Compute, Actor::Compute(compute));
        let mut before = vec![0; cpus.len()];
        for window in workbench.run(&case).unwrap() {
            let sample = &window.actors[0];
            assert!(sample.threads.iter().all(|thread| thread.core_ghz.is_some()));
            assert_eq!((sample.useful_bytes, sample.accesses), (0, 0));
            assert_eq!((&sample.proof, &sample.write_proof), (&None, &None));
            let calls: Vec<u64> = sample.threads.iter().map(|thread| thread.passes).collect();
            assert!(calls.iter().zip(&before).all(|(now, before)| now >= before), "calls go back");
            before = calls;
        }
    }
}

/// A set within a cache is walked many times in a window, and the clock is told.
#[test]
fn a_cache_is_measured_with_the_clock_of_its_core() {
    let _alone = alone();
    let mut workbench = Workbench::new();
    let cpus = workbench.cpus(1);
    for kernel in ["load", "triad"] {
        let stream = workbench.stream(kernel, &cpus, 12 << 10);
        let case = roof(Roof::Cache { level: 1 }, Actor::Stream(stream));
        for window in workbench.run(&case).unwrap() {
            let thread = &window.actors[0].threads[0];
            assert_eq!(
                thread.core_ghz.is_some(),
                cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
            );
            assert!(thread.passes > 100, "{thread:?}");
            assert!(is_within_passes(thread, 12 << 10), "{thread:?}");
        }
    }
}

/// Threads touch their own memory, pinned or not; the nodes are recorded.
#[test]
fn threads_touch_their_own_memory_first() {
    let _alone = alone();
    let mut workbench = Workbench::new();
    let cpus = workbench.cpus(2);
    for (kernel, pinned) in [("triad", true), ("copy", false), ("load", false), ("store", true)] {
        for pages in [Pages::Small, Pages::Transparent] {
            let mut stream = workbench.stream(kernel, &cpus, 12 * MIB);
            stream.binding.memory = MemoryPolicy::FirstTouch;
            stream.pages = pages;
            let affinity = if pinned {
                Affinity::Compact
            } else {
                stream.pinning = Pinning::Unbound;
                stream.thread_cpus = Vec::new();
                Affinity::Unbound
            };
            let case = run_of_scaling(stream, affinity);
            workbench.executor.begin_round(&[&case]);
            // A mapping of its own in every run.
            for _ in 0..2 {
                let windows = workbench.run_on(&case).unwrap();
                let proof = windows[0].actors[0].proof.clone().unwrap();
                assert_eq!(proof.before.unknown, 0);
                let bytes: u64 = proof.before.pages.values().sum::<u64>() * proof.before.page_bytes;
                assert!(bytes >= 12 * MIB, "{proof:?}");
                for thread in &windows[0].actors[0].threads {
                    assert!(is_within_passes(thread, 12 * MIB / cpus.len() as u64), "{thread:?}");
                }
            }
        }
    }
}

/// Pages where none were allowed are found while the threads run already: all end, and the next
/// case is measured.
#[test]
fn threads_end_when_their_pages_are_not_where_they_should_be() {
    let _alone = alone();
    let mut workbench = Workbench::new();
    let cpus = workbench.cpus(2);
    let mut stream = workbench.stream("triad", &cpus, 12 * MIB);
    stream.binding.memory = MemoryPolicy::FirstTouch;
    let case = run_of_scaling(stream, Affinity::Compact);
    let mut elsewhere = Workbench::where_memory_is_forbidden();
    for _ in 0..2 {
        assert_eq!(elsewhere.refusal(&case), ReasonCode::Misplaced);
    }
    let compute = elsewhere.compute("add_dp", &cpus);
    elsewhere.run(&roof(Roof::Compute, Actor::Compute(compute))).unwrap();
    workbench.run(&case).unwrap();
}
