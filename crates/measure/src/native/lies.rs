//! Cases that are run with loops and clocks that lie: each lie is noticed, and the same case
//! passes with honest ones. docs/measuring.md lists them.

use std::cell::Cell;
use std::hint::black_box;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use nearfar_kernels::{Checksum, Constants, Operands, TimedLoop, find};
use nearfar_machine::{Binding, MemoryPolicy};
use nearfar_record::{
    Actor, Case, Disturbance, Pages, Pinning, ReasonCode, Stream, ThreadSample, TrafficMethod,
};
use nearfar_sys::monotonic_ns;

use super::NativeExecutor;
use super::instruments::{Instruments, RunLoop};
use crate::executor::{Executor, Failure, Interrupt, Window, WindowRequest};

const WORKING_SET: u64 = 8 << 20;

/// Windows of a run.
const WINDOWS: u32 = 4;

/// Runs among which an honest one is found that other programs did not disturb.
const TRIES: u32 = 50;

/// One case at a time: others would take its CPU.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A kernel by one thread on its own node.
fn run(kernel: &str, instruments: Instruments) -> Result<Vec<Window>, Failure> {
    let machine = nearfar_topology::read_live(Path::new("/")).unwrap();
    let cluster = machine.clusters().into_iter().next().unwrap();
    let cpu = cluster.cpus.intersection(&machine.allowed_cpus).first().unwrap();
    let node = machine.allowed_nodes.first().unwrap();
    let variant = find(kernel).unwrap().variants()[0].to_string();
    let case = Case {
        id: kernel.into(),
        coordinates: Vec::new(),
        actors: vec![Actor::Stream(Stream {
            kernel: kernel.into(),
            variant,
            binding: Binding {
                cpus: nearfar_machine::CpuSet::single(cpu),
                memory: MemoryPolicy::Preferred(node),
            },
            threads: 1,
            pinning: Pinning::OnePerCore,
            thread_cpus: vec![cpu],
            working_set_bytes: WORKING_SET,
            llc_multiple: None,
            pages: Pages::Transparent,
        })],
    };
    let interrupt = Interrupt::default();
    let stores = TrafficMethod::EvasionPossible;
    let mut executor = NativeExecutor::new(machine, stores, None, 7, interrupt);
    executor.instruments = instruments;
    executor.begin_round(&[&case]);
    let shortest = Duration::from_millis(5);
    executor.run(&case, WindowRequest { round: 0, first: 0, count: WINDOWS, shortest })
}

fn by_loop(run_loop: RunLoop) -> Instruments {
    Instruments { run_loop, ..Instruments::default() }
}

fn by_clock(clock: fn() -> u64) -> Instruments {
    Instruments { clock, ..Instruments::default() }
}

/// The lie is refused for this reason; the honest loop passes with the same settings.
fn assert_refused(kernel: &str, lie: Instruments, code: ReasonCode) {
    let _alone = alone();
    assert!(run(kernel, Instruments::default()).is_ok(), "{kernel}: honest");
    match run(kernel, lie) {
        Err(Failure::Refused(reason)) => assert_eq!(reason.code, code, "{}", reason.text),
        other => panic!("{kernel}: the lie went through: {other:?}"),
    }
}

fn thread(window: &Window) -> &ThreadSample {
    &window.actors[0].threads[0]
}

fn is_marked(window: &Window, mark: impl Fn(&Disturbance) -> bool) -> bool {
    window.disturbances.iter().any(mark)
}

/// Every window of the lie is marked; an honest run has windows without the mark.
fn assert_marked(lie: Instruments, mark: impl Fn(&Disturbance) -> bool + Copy) {
    let _alone = alone();
    let windows = run("triad", lie).unwrap();
    assert_eq!(windows.len(), WINDOWS as usize);
    assert!(windows.iter().all(|window| is_marked(window, mark)), "{windows:?}");
    let honest = || run("triad", Instruments::default()).unwrap();
    let is_free = |windows: Vec<Window>| windows.iter().any(|window| !is_marked(window, mark));
    assert!((0..TRIES).any(|_| is_free(honest())), "every honest window is marked");
}

/// A thread without a CPU for as long: other programs may take it for less.
fn is_switched_for(disturbance: &Disturbance, least: Duration) -> bool {
    let Disturbance::Switched { microseconds, .. } = disturbance else { return false };
    Duration::from_micros(*microseconds) >= least
}

thread_local! {
    /// Calls of a lying loop, or looks at a lying clock, in this thread; those of a case are
    /// new ones in every round.
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

fn next_call() -> u32 {
    CALLS.replace(CALLS.get() + 1)
}

/// Calls in which the first pass over 8 MiB by one thread has ended: blocks are of 64 Ki
/// elements until then.
const FIRST_PASS_CALLS: u32 = 16;

#[test]
fn a_loop_that_leaves_out_every_second_block_is_caught() {
    fn half(
        honest: &TimedLoop,
        operands: Operands<'_>,
        constants: &Constants,
        repeats: u32,
    ) -> Checksum {
        if next_call().is_multiple_of(2) {
            return honest.run(operands, constants, repeats);
        }
        Checksum::None
    }
    for kernel in ["load", "store", "copy", "triad", "ddot", "triad_nt"] {
        assert_refused(kernel, by_loop(half), ReasonCode::WrongData);
    }
}

#[test]
fn a_loop_that_does_nothing_once_its_first_pass_was_made_is_caught() {
    fn idle(
        honest: &TimedLoop,
        operands: Operands<'_>,
        constants: &Constants,
        repeats: u32,
    ) -> Checksum {
        if next_call() < FIRST_PASS_CALLS {
            return honest.run(operands, constants, repeats);
        }
        Checksum::None
    }
    for kernel in ["load", "store", "copy", "triad", "ddot", "triad_nt"] {
        assert_refused(kernel, by_loop(idle), ReasonCode::WrongData);
    }
}

#[test]
fn a_store_loop_that_writes_zeros_or_always_the_same_is_caught() {
    fn zeros(honest: &TimedLoop, operands: Operands<'_>, _: &Constants, repeats: u32) -> Checksum {
        let zeros = Constants { lanes: [0.0; 8], ..Constants::for_pass(0) };
        honest.run(operands, &zeros, repeats)
    }
    fn same(honest: &TimedLoop, operands: Operands<'_>, _: &Constants, repeats: u32) -> Checksum {
        honest.run(operands, &Constants::for_pass(0), repeats)
    }
    for lie in [zeros, same] {
        for kernel in ["store", "store_nt"] {
            assert_refused(kernel, by_loop(lie), ReasonCode::WrongData);
        }
    }
}

/// The loop sleeps in its first call after the first pass, over the opening of the windows.
#[test]
fn a_thread_that_comes_late_to_its_window_is_caught() {
    fn late(
        honest: &TimedLoop,
        operands: Operands<'_>,
        constants: &Constants,
        repeats: u32,
    ) -> Checksum {
        // 8 MiB in three arrays are 349525 elements each: six blocks of 64 Ki.
        if next_call() == 6 {
            std::thread::sleep(Duration::from_millis(30));
        }
        honest.run(operands, constants, repeats)
    }
    // All four windows of 5 ms have passed when it wakes.
    assert_marked(by_loop(late), |found| is_switched_for(found, Duration::from_millis(25)));
}

#[test]
fn a_loop_that_touches_fresh_pages_is_caught() {
    fn fresh(
        honest: &TimedLoop,
        operands: Operands<'_>,
        constants: &Constants,
        repeats: u32,
    ) -> Checksum {
        // Larger than what the allocator keeps: mapped anew every time.
        let mut pages = vec![0_u8; 64 << 20];
        pages[0] = 1;
        black_box(&mut pages);
        honest.run(operands, constants, repeats)
    }
    let is_faulted = |disturbance: &Disturbance| matches!(disturbance, Disturbance::Faulted { .. });
    assert_marked(by_loop(fresh), is_faulted);
}

/// The time since a lying clock was first looked at.
fn since(start: &OnceLock<u64>) -> (u64, u64) {
    let now = monotonic_ns();
    let start = *start.get_or_init(|| now);
    (start, now.saturating_sub(start))
}

#[test]
fn a_clock_that_runs_too_slowly_is_caught() {
    fn slow() -> u64 {
        static START: OnceLock<u64> = OnceLock::new();
        let (start, passed) = since(&START);
        start + passed / 32
    }
    let is_of_clock = |disturbance: &Disturbance| matches!(disturbance, Disturbance::Clock { .. });
    assert_marked(by_clock(slow), is_of_clock);
}

#[test]
fn a_clock_that_jumps_ahead_is_caught() {
    fn jumping() -> u64 {
        static START: OnceLock<u64> = OnceLock::new();
        let (start, passed) = since(&START);
        // 3 ms further in every 2 ms.
        start + passed + passed / 2_000_000 * 3_000_000
    }
    assert_marked(by_clock(jumping), |found| is_switched_for(found, Duration::from_micros(2500)));
}

#[test]
fn a_clock_that_goes_back_is_caught() {
    fn back() -> u64 {
        let ahead = if next_call() < 100 { 50_000_000 } else { 0 };
        monotonic_ns() + ahead
    }
    assert_refused("triad", by_clock(back), ReasonCode::Contradiction);
}

/// The counts of a window are those of the walk: what a loop claims nobody asks.
#[test]
fn bytes_are_counted_by_the_walk_and_fit_its_passes() {
    let _alone = alone();
    for window in run("triad", Instruments::default()).unwrap() {
        let thread = thread(&window);
        assert!(thread.useful_bytes <= (thread.passes + 1) * WORKING_SET, "{thread:?}");
        assert_eq!(thread.useful_bytes % 24, 0);
    }
}
