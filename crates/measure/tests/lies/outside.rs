//! Lies from outside of the program: what others do to its CPUs, its threads and its memory
//! while it measures.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nearfar_machine::CpuSet;
use nearfar_measure::{Executor, Failure, Window};
use nearfar_record::{Disturbance, ReasonCode, ThreadSample};
use nearfar_sys::{monotonic_ns, pin_thread};

use crate::native::{WORKING_SET, alone, case, executor, machine, run};

/// Windows of a run.
const WINDOWS: u32 = 20;

/// Runs among which an honest one is found that other programs left alone.
const TRIES: u32 = 30;

/// Tells threads that it is over when it goes, by a panic as well: a scope waits for them.
struct OverWhenDropped<'a>(&'a AtomicBool);

impl Drop for OverWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs a case while `disturb` does so again and again; it is over when the case is.
fn run_while(kernel: &str, cpu: u32, disturb: impl Fn() + Sync) -> Result<Vec<Window>, Failure> {
    let (case, mut executor) = (case(kernel, cpu), executor());
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let disturber = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                disturb();
            }
        });
        let end = OverWhenDropped(&over);
        let windows = run(&mut executor, &case, WINDOWS);
        drop(end);
        // The arrays are there until the executor goes: nobody may write to them later.
        disturber.join().unwrap();
        windows
    })
}

fn doze() {
    std::thread::sleep(Duration::from_millis(1));
}

fn thread(window: &Window) -> &ThreadSample {
    &window.actors[0].threads[0]
}

fn is_switched(window: &Window) -> bool {
    window.disturbances.iter().any(|found| matches!(found, Disturbance::Switched { .. }))
}

fn is_moved(window: &Window) -> bool {
    window.disturbances.iter().any(|found| matches!(found, Disturbance::Moved { .. }))
}

/// The first CPU of the first initiator.
fn own_cpu() -> u32 {
    machine().allowed_cpus.first().unwrap()
}

/// Eight threads spin on the CPU that is measured: it has a ninth of its time, and most
/// windows are marked. Left alone, it loses less than half as much.
#[test]
fn a_busy_cpu_is_seen() {
    let _alone = alone();
    let cpu = own_cpu();
    let over = AtomicBool::new(false);
    let busy = std::thread::scope(|scope| {
        let _end = OverWhenDropped(&over);
        for _ in 0..8 {
            scope.spawn(|| {
                pin_thread(&CpuSet::single(cpu)).unwrap();
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        run_while("triad", cpu, doze).unwrap()
    });
    let marked = busy.iter().filter(|window| is_switched(window)).count();
    assert!(marked > busy.len() / 2, "{marked} of {}", busy.len());
    let lost = |windows: &[Window]| -> u64 {
        windows.iter().map(|window| thread(window).off_cpu_ns).sum()
    };
    let less = |_| lost(&run_while("triad", cpu, doze).unwrap()) < lost(&busy) / 2;
    assert!((0..TRIES).any(less), "an honest run loses as much");
}

/// Variable that makes this program measure and say how.
const CHILD: &str = "NEARFAR_TEST_STOPPED";

/// Least time for which the process is stopped.
const STOPPED: Duration = Duration::from_millis(40);

/// A window of the child, in times of the host's clock, ns.
#[derive(Debug)]
struct ChildWindow {
    open: u64,
    close: u64,
    off_cpu: u64,
    is_marked: bool,
}

impl ChildWindow {
    /// Whether it lost the CPU for long and is marked.
    fn is_stopped(&self) -> bool {
        self.is_marked && u128::from(self.off_cpu) > STOPPED.as_nanos() / 2
    }
}

/// Run by the test below in a process of its own, which is stopped again and again. Prints
/// its windows.
#[test]
#[ignore = "the test of a stopped process runs it"]
fn stopped_child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let mut executor = executor();
    let made = monotonic_ns() - u64::try_from(executor.now().as_nanos()).unwrap();
    for _ in 0..4 {
        for window in run(&mut executor, &case("triad", own_cpu()), 100).unwrap() {
            let open = made + u64::try_from(window.start.as_nanos()).unwrap();
            let close = open + u64::try_from(window.length.as_nanos()).unwrap();
            let off_cpu = thread(&window).off_cpu_ns;
            println!("window: {open} {close} {off_cpu} {}", is_switched(&window));
        }
    }
}

fn child_window(line: &str) -> Option<ChildWindow> {
    // The first one follows the test's name in its line.
    let (_, words) = line.split_once("window: ")?;
    let words: Vec<&str> = words.split(' ').collect();
    let [open, close, off_cpu] = [0, 1, 2].map(|word: usize| words[word].parse().unwrap());
    Some(ChildWindow { open, close, off_cpu, is_marked: words[3] == "true" })
}

/// The windows of a child, and the times for which it was certainly stopped: the second half
/// of each stop, so that the signal has come however slow the machine is.
fn child_windows(stop: Option<Duration>) -> (Vec<ChildWindow>, Vec<(u64, u64)>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "outside::stopped_child", "--ignored", "--nocapture"])
        .env(CHILD, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let signal = |signal: &str| {
        let kill = format!("kill -{signal} {}", child.id());
        Command::new("sh").args(["-c", &kill]).status().unwrap();
    };
    let mut stops = Vec::new();
    if let Some(time) = stop {
        for _ in 0..20 {
            std::thread::sleep(STOPPED);
            signal("STOP");
            std::thread::sleep(time / 2);
            let begin = monotonic_ns();
            std::thread::sleep(time / 2);
            stops.push((begin, monotonic_ns()));
            signal("CONT");
        }
    }
    let mut said = String::new();
    std::io::Read::read_to_string(child.stdout.as_mut().unwrap(), &mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{said}");
    (said.lines().filter_map(child_window).collect(), stops)
}

/// Every window that opened and closed while the process was stopped is marked: it would
/// show next to nothing.
#[test]
fn a_stopped_process_is_seen() {
    let _alone = alone();
    // Where others use the CPUs windows are longer: so are the stops of the next try.
    let windows = (0..4).find_map(|longer| {
        let (windows, stops) = child_windows(Some(STOPPED * 2_u32.pow(longer)));
        let is_inside = |window: &&ChildWindow| {
            stops.iter().any(|&(begin, end)| begin <= window.open && window.close <= end)
        };
        let inside: Vec<&ChildWindow> = windows.iter().filter(is_inside).collect();
        assert!(inside.iter().all(|window| window.is_stopped()), "{inside:#?}");
        (!inside.is_empty()).then_some(windows)
    });
    let windows = windows.expect("the process was stopped in some window");
    let marked = |windows: &[ChildWindow]| windows.iter().filter(|w| w.is_stopped()).count();
    let stopped = marked(&windows);
    let fewer = |_| marked(&child_windows(None).0) < stopped;
    assert!((0..TRIES).any(fewer), "an honest run is marked as often");
}

/// Somebody moves the thread to another CPU, before or in its window, by taskset(1).
#[test]
fn a_moved_thread_is_seen() {
    let _alone = alone();
    let mut cpus = machine().allowed_cpus.iter().collect::<Vec<_>>().into_iter();
    let (Some(own), Some(other)) = (cpus.next(), cpus.next()) else {
        // With one CPU there is nowhere to move to.
        return;
    };
    let move_pinned = || {
        let pinned = pinned_threads(own);
        // One that is moved while it pins itself is refused: it looks where it got to.
        std::thread::sleep(Duration::from_millis(5));
        for tid in pinned_threads(own).iter().filter(|tid| pinned.contains(tid)) {
            let mut taskset = Command::new("taskset");
            taskset.args(["-cp", &other.to_string(), tid]).stdout(Stdio::null());
            // The thread may have ended meanwhile.
            taskset.stderr(Stdio::null()).status().unwrap();
        }
    };
    let moved = |_| {
        run_while("triad", own, move_pinned).ok().filter(|windows| windows.iter().any(is_moved))
    };
    let moved = (0..TRIES).find_map(moved).unwrap();
    // From the first window that was moved on the thread stays where it should not be.
    let first = moved.iter().position(is_moved).unwrap();
    assert!(moved[first..].iter().all(is_moved));
    let honest = run_while("triad", own, doze).unwrap();
    assert!(!honest.iter().any(is_moved), "{honest:?}");
}

/// The threads of this process that may run on this CPU only.
fn pinned_threads(cpu: u32) -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    let pinned = format!("Cpus_allowed_list:\t{cpu}");
    tasks
        .filter(|task| {
            let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
            status.lines().any(|line| line == pinned)
        })
        .filter_map(|task| task.file_name().into_string().ok())
        .collect()
}

/// Address of the arrays: the only anonymous mapping of their size.
fn arrays() -> Option<u64> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let (permissions, inode) = (words.next()?, words.nth(2)?);
        let start = u64::from_str_radix(start, 16).ok()?;
        let bytes = u64::from_str_radix(end, 16).ok()? - start;
        let fits = (WORKING_SET..WORKING_SET * 5 / 4).contains(&bytes);
        (fits && permissions == "rw-p" && inode == "0" && words.next().is_none()).then_some(start)
    })
}

/// Writes a page of `value` into the last array, as a stray pointer would.
fn write_over(value: f64) {
    /// Two pages, so that one whole page of any array is hit.
    const ELEMENTS: usize = 1024;
    let Some(start) = arrays() else { return };
    let page: Vec<u8> = std::iter::repeat_n(value.to_ne_bytes(), ELEMENTS).flatten().collect();
    let write = || -> std::io::Result<()> {
        let mut memory = fs::OpenOptions::new().write(true).open("/proc/self/mem")?;
        memory.seek(SeekFrom::Start(start + WORKING_SET / 10 * 9))?;
        memory.write_all(&page)
    };
    // Between the look and the write the mapping may have gone.
    write().ok();
}

fn assert_wrong_data(value: f64) {
    let _alone = alone();
    let cpu = own_cpu();
    for kernel in ["load", "copy", "triad", "ddot"] {
        // On a busy machine the writer may come to write when the last window is over.
        let refused = |_| match run_while(kernel, cpu, || write_over(value)) {
            Err(Failure::Refused(reason)) => Some(reason),
            _ => None,
        };
        let reason = (0..TRIES).find_map(refused);
        let reason = reason.unwrap_or_else(|| panic!("{kernel} of {value} went through"));
        assert_eq!(reason.code, ReasonCode::WrongData, "{}", reason.text);
        run_while(kernel, cpu, doze).unwrap();
    }
}

#[test]
fn zero_data_is_refused() {
    assert_wrong_data(0.0);
}

#[test]
fn data_that_somebody_wrote_over_is_refused() {
    assert_wrong_data(1.5);
    // No number: sums of it are none either.
    assert_wrong_data(f64::from_bits(u64::MAX));
}
