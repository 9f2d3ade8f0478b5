//! Cases that are run with loops and clocks that lie: each lie is noticed, and the same case
//! passes with honest ones. docs/measuring.md lists them.

mod chase;
mod compute;
mod transfer;

use std::cell::Cell;
use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use nearfar_kernels::{Checksum, Constants};
use nearfar_machine::{CpuSet, Machine, MemoryPolicy};
use nearfar_record::{Actor, Case, Disturbance, ReasonCode, Stream, ThreadSample, TrafficMethod};
use nearfar_specimen::stream;
use nearfar_sys::monotonic_ns;
use nearfar_units::nanoseconds;

use super::NativeExecutor;
use super::instruments::Instruments;
use super::memory_loop::Arrays;
use super::stream::RunLoop;
use crate::executor::{Executor, Failure, Interrupt, Window, WindowRequest};

const WORKING_SET: u64 = 8 << 20;

/// Windows of a run.
const WINDOWS: u32 = 4;

/// Runs among which an honest one is found that other programs did not disturb.
const TRIES: u32 = 50;

/// Mixes, where loops are generated.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const MIXES: [&str; 4] = ["1l", "2l1nt", "1l1s_2fma", "4l_1add"];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const MIXES: [&str; 0] = [];

/// Those whose stores can show zeros.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const STORING_MIXES: [&str; 3] = ["1s", "2l1nt", "1l1s_2fma"];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const STORING_MIXES: [&str; 0] = [];

/// One case at a time: others would take its CPU.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A kernel by one thread on its own node.
fn run(kernel: &str, instruments: Instruments) -> Result<Vec<Window>, Failure> {
    run_on(own_place().1, kernel, instruments)
}

/// A kernel by one thread on memory of this policy.
fn run_on(
    memory: MemoryPolicy,
    kernel: &str,
    instruments: Instruments,
) -> Result<Vec<Window>, Failure> {
    let (cpu, _) = own_place();
    let stream = Stream {
        working_set_bytes: WORKING_SET,
        llc_multiple: None,
        ..stream(kernel, &preferred_variant(kernel), CpuSet::single(cpu), memory)
    };
    run_actor(Actor::Stream(stream), instruments)
}

/// A CPU that may be used, and its own memory.
fn own_place() -> (u32, MemoryPolicy) {
    let machine = machine();
    let initiator = machine.initiators().into_iter().next().unwrap();
    let cpu = initiator.cpus.intersection(&machine.allowed_cpus).first().unwrap();
    (cpu, MemoryPolicy::Preferred(machine.allowed_nodes.first().unwrap()))
}

fn machine() -> Machine {
    nearfar_topology::read_live(Path::new("/")).unwrap()
}

/// The first variant in which this CPU has the kernel, mix or arithmetic.
fn preferred_variant(kernel: &str) -> String {
    let executor =
        NativeExecutor::new(machine(), TrafficMethod::Allocate, None, 7, Interrupt::default());
    executor.variants().of(kernel)[0].clone()
}

/// An actor alone.
fn run_actor(actor: Actor, instruments: Instruments) -> Result<Vec<Window>, Failure> {
    let case = Case { id: actor.kernel().into(), coordinates: Vec::new(), actors: vec![actor] };
    let stores = TrafficMethod::EvasionPossible;
    let mut executor = NativeExecutor::new(machine(), stores, None, 7, Interrupt::default());
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
    assert_refused_by(|instruments| run(kernel, instruments), lie, code);
}

/// The same of any actor, run so.
fn assert_refused_by(
    run: impl Fn(Instruments) -> Result<Vec<Window>, Failure>,
    lie: Instruments,
    code: ReasonCode,
) {
    let _alone = alone();
    let honest = run(Instruments::default()).unwrap();
    match run(lie) {
        Err(Failure::Refused(reason)) => assert_eq!(reason.code, code, "{}", reason.text),
        other => panic!("the lie went through: {other:?}; honest: {honest:?}"),
    }
}

fn thread(window: &Window) -> &ThreadSample {
    &window.actors[0].threads[0]
}

fn is_marked(window: &Window, mark: impl Fn(&Disturbance) -> bool) -> bool {
    window.disturbances.iter().any(mark)
}

/// Every window of the lie is marked, in one of so many runs; an honest run has windows without the mark.
fn assert_marked(lie: Instruments, runs: u32, mark: impl Fn(&Disturbance) -> bool + Copy) {
    let _alone = alone();
    let all_marked = |_| {
        let windows = run("triad", lie).unwrap();
        assert_eq!(windows.len(), WINDOWS as usize);
        windows.iter().all(|window| is_marked(window, mark))
    };
    assert!((0..runs).any(all_marked), "a window of the lie is not marked");
    let honest = || run("triad", Instruments::default()).unwrap();
    let is_free = |windows: Vec<Window>| windows.iter().any(|window| !is_marked(window, mark));
    assert!((0..TRIES).any(|_| is_free(honest())), "every honest window is marked");
}

/// A thread without a CPU for as long: other programs may take it for less.
fn is_switched_for(disturbance: &Disturbance, least: Duration) -> bool {
    let Disturbance::Switched { microseconds, .. } = disturbance else { return false };
    Duration::from_micros(*microseconds) >= least
}

fn is_of_clock(disturbance: &Disturbance) -> bool {
    matches!(disturbance, Disturbance::Clock { .. })
}

thread_local! {
    /// Calls of a lying loop, or looks at a lying clock, in this thread; those of a case are
    /// new ones in every round.
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

fn next_call() -> u32 {
    CALLS.replace(CALLS.get() + 1)
}

thread_local! {
    /// Where the first pass of this thread began, and whether another began there since.
    static FIRST_PASS: Cell<(usize, bool)> = const { Cell::new((0, false)) };
}

/// Whether a call is of the thread's first pass, however long its blocks are.
fn is_of_first_pass(arrays: &Arrays<'_>) -> bool {
    let read = arrays.sources[0].map(|source| source.as_ptr().addr());
    let at = read.or_else(|| arrays.destination.as_ref().map(|it| it.as_ptr().addr())).unwrap();
    let (first, has_ended) = FIRST_PASS.get();
    let has_ended = has_ended || at == first;
    FIRST_PASS.set((if first == 0 { at } else { first }, has_ended));
    !has_ended
}

#[test]
fn a_loop_that_leaves_out_every_second_block_is_caught() {
    let half = by_loop(|honest, arrays, constants, repeats| {
        if next_call().is_multiple_of(2) {
            return honest.run(arrays, constants, repeats);
        }
        Checksum::None
    });
    for kernel in ["load", "store", "copy", "triad", "ddot", "triad_nt"].into_iter().chain(MIXES) {
        assert_refused(kernel, half, ReasonCode::WrongData);
    }
}

#[test]
fn a_loop_that_does_nothing_once_its_first_pass_was_made_is_caught() {
    let idle = by_loop(|honest, arrays, constants, repeats| {
        if is_of_first_pass(&arrays) {
            return honest.run(arrays, constants, repeats);
        }
        Checksum::None
    });
    for kernel in ["load", "store", "copy", "triad", "ddot", "triad_nt"].into_iter().chain(MIXES) {
        assert_refused(kernel, idle, ReasonCode::WrongData);
    }
}

#[test]
fn a_store_loop_that_writes_zeros_or_always_the_same_is_caught() {
    let zeros = by_loop(|honest, arrays, _, repeats| {
        let zeros = Constants { lanes: [0.0; 8], ..Constants::for_pass(0) };
        honest.run(arrays, &zeros, repeats)
    });
    let same =
        by_loop(|honest, arrays, _, repeats| honest.run(arrays, &Constants::for_pass(0), repeats));
    for lie in [zeros, same] {
        for kernel in ["store", "store_nt"].into_iter().chain(STORING_MIXES) {
            assert_refused(kernel, lie, ReasonCode::WrongData);
        }
    }
}

/// Calls of the loop in the first pass of triad: 8 MiB in three arrays are 349525 elements
/// each, six blocks of 64 Ki. The windows are set after it.
const FIRST_PASS_OF_TRIAD: u32 = 6;

/// A time that passes, or seems to, over all windows of a run. No honest run loses nearly as
/// much, whatever else the machine does.
const LONG: Duration = Duration::from_secs(1);
const NEARLY: Duration = Duration::from_millis(900);

/// The loop sleeps in its first call after the first pass, over all windows.
#[test]
fn a_thread_that_comes_late_to_its_window_is_caught() {
    let late = by_loop(|honest, arrays, constants, repeats| {
        if next_call() == FIRST_PASS_OF_TRIAD {
            std::thread::sleep(LONG);
        }
        honest.run(arrays, constants, repeats)
    });
    assert_marked(late, 1, |found| is_switched_for(found, NEARLY));
}

#[test]
fn a_loop_that_touches_fresh_pages_is_caught() {
    let fresh = by_loop(|honest, arrays, constants, repeats| {
        // Larger than what the allocator keeps: mapped anew every time.
        let mut pages = vec![0_u8; 64 << 20];
        pages[0] = 1;
        black_box(&mut pages);
        honest.run(arrays, constants, repeats)
    });
    let is_faulted = |disturbance: &Disturbance| matches!(disturbance, Disturbance::Faulted { .. });
    assert_marked(fresh, 1, is_faulted);
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
    // A thread that has its CPU for less than a part in 32 of a window does not contradict the clock.
    assert_marked(by_clock(slow), 5, is_of_clock);
}

#[test]
fn a_clock_that_jumps_ahead_is_caught() {
    /// Jumps with the first call after the first pass, over all windows.
    fn jumping() -> u64 {
        let has_jumped = CALLS.get() > FIRST_PASS_OF_TRIAD;
        monotonic_ns() + if has_jumped { nanoseconds(LONG) } else { 0 }
    }
    let counted = by_loop(|honest, arrays, constants, repeats| {
        next_call();
        honest.run(arrays, constants, repeats)
    });
    let lie = Instruments { clock: jumping, ..counted };
    // Where the other thread, whose clock does not jump, sets the windows after the jump, they lie
    // before the thread's time.
    assert_marked(lie, 1, |found| is_switched_for(found, NEARLY) || is_of_clock(found));
}

/// Whichever reading around a thread's arrival is the first after the jump, that which
/// follows it among them: a window in which next to nothing was moved is marked as lost. How many
/// readings there are before the windows depends on when the other thread, whose clock does not jump,
/// has proven the pages: it is tried until some jumps were over windows.
#[test]
fn a_clock_that_jumps_at_any_reading_is_caught() {
    /// Far below what any machine moves, far above what one block is over a second.
    const NEXT_TO_NOTHING: u128 = 1_000_000;
    static READINGS: AtomicU32 = AtomicU32::new(0);
    fn jumping() -> u64 {
        let has_jumped = next_call() >= READINGS.load(Ordering::Relaxed);
        monotonic_ns() + if has_jumped { nanoseconds(LONG) } else { 0 }
    }
    let _alone = alone();
    for memory in [own_place().1, MemoryPolicy::FirstTouch] {
        let mut jumped_over = 0;
        let mut sweep = || {
            for readings in 4..=14 {
                READINGS.store(readings, Ordering::Relaxed);
                for window in run_on(memory.clone(), "triad", by_clock(jumping)).unwrap() {
                    let bytes = u128::from(thread(&window).useful_bytes);
                    let rate = bytes * 1_000_000_000 / window.length.as_nanos();
                    if rate < NEXT_TO_NOTHING {
                        // Other programs may take the CPU for a whole window too, not for a jump's time.
                        let lost = |least| {
                            is_marked(&window, |found| {
                                is_switched_for(found, least) || is_of_clock(found)
                            })
                        };
                        let says = || format!("{readings} readings before the jump: {window:?}");
                        assert!(lost(window.length.min(NEARLY) * 9 / 10), "{}", says());
                        jumped_over += u32::from(lost(NEARLY));
                    }
                }
            }
            jumped_over > WINDOWS
        };
        assert!((0..TRIES).any(|_| sweep()), "the jumps were over {jumped_over} windows");
    }
}

#[test]
fn a_clock_that_goes_back_is_caught() {
    /// Readings that are an hour ahead.
    static AHEAD: AtomicU32 = AtomicU32::new(0);
    static HAS_GONE_BACK: AtomicBool = AtomicBool::new(false);
    fn back() -> u64 {
        let (call, ahead) = (next_call(), AHEAD.load(Ordering::Relaxed));
        HAS_GONE_BACK.fetch_or(call == ahead, Ordering::Relaxed);
        monotonic_ns() + if call < ahead { 3_600_000_000_000 } else { 0 }
    }
    let _alone = alone();
    run("triad", Instruments::default()).unwrap();
    // A thread that other programs keep from its CPU may not come to the hundredth reading.
    let goes_back = |ahead| {
        AHEAD.store(ahead, Ordering::Relaxed);
        HAS_GONE_BACK.store(false, Ordering::Relaxed);
        // This thread reads the clock once at most, to set the windows.
        CALLS.set(0);
        let ran = run("triad", by_clock(back));
        let has_gone_back = HAS_GONE_BACK.load(Ordering::Relaxed);
        match ran {
            Err(Failure::Refused(reason)) => {
                assert_eq!(reason.code, ReasonCode::Contradiction, "{}", reason.text);
            }
            other => assert!(!has_gone_back, "the lie went through: {other:?}"),
        }
        has_gone_back
    };
    // While the thread looks around first, warms up, arrives, waits, and is measured.
    for ahead in (1..=10).chain([100]) {
        assert!((0..TRIES).any(|_| goes_back(ahead)), "the clock never went back");
    }
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
