//! Lies from outside of the program: what others do to its CPUs, its threads and its memory
//! while it measures.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nearfar_machine::CpuSet;
use nearfar_measure::{Failure, Window};
use nearfar_record::{Disturbance, ReasonCode, ThreadSample};
use nearfar_sys::pin_thread;

use crate::native::{WORKING_SET, alone, case, executor, machine, run};

/// Windows of a run.
const WINDOWS: u32 = 20;

/// Runs among which an honest one is found that other programs left alone.
const TRIES: u32 = 30;

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
        let windows = run(&mut executor, &case, WINDOWS);
        over.store(true, Ordering::Relaxed);
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

/// The first CPU of the first cluster.
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
        for _ in 0..8 {
            scope.spawn(|| {
                pin_thread(&CpuSet::single(cpu)).unwrap();
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let windows = run_while("triad", cpu, doze).unwrap();
        over.store(true, Ordering::Relaxed);
        windows
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

/// Time for which the process is stopped.
const STOPPED: Duration = Duration::from_millis(40);

/// Run by the test below in a process of its own, which is stopped again and again. Prints
/// the windows in which next to nothing was moved and that are not marked, and how many lost
/// more than half of [`STOPPED`] and are.
#[test]
#[ignore = "the test of a stopped process runs it"]
fn stopped_child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let windows: Vec<Window> = (0..4)
        .flat_map(|_| run(&mut executor(), &case("triad", own_cpu()), 100).unwrap())
        .collect();
    // Windows are longer where the process was stopped in its first pass.
    let rate = |window: &Window| {
        u128::from(thread(window).useful_bytes) * 1_000_000_000 / window.length.as_nanos()
    };
    let mut rates: Vec<u128> = windows.iter().map(rate).collect();
    rates.sort_unstable();
    let usual = rates[rates.len() / 2];
    let is_low = |window: &Window| rate(window) < usual / 10;
    let stopped = |window: &Window| u128::from(thread(window).off_cpu_ns) > STOPPED.as_nanos() / 2;
    let stopped = windows.iter().filter(|window| stopped(window));
    let unmarked = |window: &&Window| window.disturbances.is_empty();
    let low_unmarked = windows.iter().filter(|window| is_low(window)).filter(unmarked);
    for window in low_unmarked {
        println!("low and not marked: {window:?}");
    }
    println!("child: {}", stopped.filter(|window| is_switched(window)).count());
}

/// Windows that lost the CPU for long and are marked, of a child that is stopped or left
/// alone. Windows with next to no bytes are all marked.
fn stopped_windows(stop: bool) -> usize {
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
    if stop {
        for _ in 0..20 {
            std::thread::sleep(STOPPED);
            signal("STOP");
            std::thread::sleep(STOPPED);
            signal("CONT");
        }
    }
    let mut said = String::new();
    std::io::Read::read_to_string(child.stdout.as_mut().unwrap(), &mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{said}");
    let (unmarked, counts) = said.split_once("child: ").unwrap();
    let unmarked: Vec<&str> = unmarked.lines().filter(|line| line.starts_with("low")).collect();
    assert!(unmarked.is_empty(), "{unmarked:#?}");
    counts.split_ascii_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn a_stopped_process_is_seen() {
    let _alone = alone();
    let marked = stopped_windows(true);
    assert!(marked > 0, "no window shows that the process was stopped");
    let fewer = |_| stopped_windows(false) < marked;
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
        match run_while(kernel, cpu, || write_over(value)) {
            Err(Failure::Refused(reason)) => {
                assert_eq!(reason.code, ReasonCode::WrongData, "{}", reason.text);
            }
            other => panic!("{kernel} of {value} went through: {other:?}"),
        }
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
}
