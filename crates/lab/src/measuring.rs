//! Tests that measure the machine that they run on, which one program at a time may do.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long tests wait while another program measures.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the program says where another one measures.
const TAKEN: &str = "another nearfar is measuring";

/// The file that skipped tests are counted in: a line each (`make test`).
const SKIPPED_TESTS: &str = "NEARFAR_TEST_SKIPPED";

/// Whether a test has waited in vain: no other one waits then.
static HAS_WAITED: AtomicBool = AtomicBool::new(false);

/// Why a test ends early: another program measures all the time.
struct Taken;

/// Runs a test that measures, one at a time among all tests of this build, whose tiers may run at the
/// same time. If a program of somebody else measures for longer than [`run_in_turn`] waits, the test
/// is skipped.
///
/// # Panics
/// When the test does, or the file cannot be locked that tests wait for each other by.
pub fn measuring(test: impl FnOnce()) {
    run_or_skip(test, skip);
}

fn run_or_skip(test: impl FnOnce(), skip: impl FnOnce(&str)) {
    let lock = || {
        let file = File::create(std::env::current_exe()?.with_file_name("measuring.lock"))?;
        file.lock().map(|()| file)
    };
    let _one = lock().unwrap_or_else(|error: io::Error| panic!("cannot lock: {error}"));
    match catch_unwind(AssertUnwindSafe(test)) {
        Err(payload) if payload.is::<Taken>() => skip(TAKEN),
        ended => ended.unwrap_or_else(|payload| resume_unwind(payload)),
    }
}

/// Runs a program, and again for up to a minute if another one measures. After that it ends
/// the test, which must run within [`measuring`].
pub fn run_in_turn(mut run: impl FnMut() -> Output) -> Output {
    let begun = Instant::now();
    loop {
        let output = run();
        if !String::from_utf8_lossy(&output.stderr).contains(TAKEN) {
            return output;
        }
        wait_for_turn(begun);
    }
}

/// Waits a moment for another program to have measured. Once a minute has passed since `begun` it
/// ends the test, which must run within [`measuring`].
pub fn wait_for_turn(begun: Instant) {
    if begun.elapsed() >= PATIENCE || HAS_WAITED.load(Ordering::Relaxed) {
        HAS_WAITED.store(true, Ordering::Relaxed);
        resume_unwind(Box::new(Taken));
    }
    thread::sleep(Duration::from_millis(200));
}

/// Reports that the calling test, or a part of it, is skipped: past the test runner, which hides what
/// passing tests print, and in the file that `make test` counts.
///
/// # Panics
/// When that file cannot be written.
pub fn skip(why: &str) {
    let line = format!("skipped: {}: {why}\n", thread::current().name().unwrap_or_default());
    std::io::stderr().write_all(line.as_bytes()).ok();
    if let Some(path) = std::env::var_os(SKIPPED_TESTS) {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.unwrap_or_else(|error| panic!("cannot note a skipped test: {error}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn said(text: &str) -> Output {
        Output { status: ExitStatus::from_raw(0), stdout: Vec::new(), stderr: text.into() }
    }

    /// The one test of this process that waits; the second time as if a minute had passed.
    #[test]
    fn a_test_is_run_in_its_turn_or_skipped() {
        let is_skipped = |test: &mut dyn FnMut()| {
            let mut is_skipped = false;
            run_or_skip(test, |_| is_skipped = true);
            is_skipped
        };
        let mut runs = 0;
        assert!(!is_skipped(&mut || {
            run_in_turn(|| {
                runs += 1;
                said(if runs < 3 { TAKEN } else { "" })
            });
        }));
        assert_eq!(runs, 3);
        assert!(!HAS_WAITED.load(Ordering::Relaxed));
        // Where the clock has not run for a minute yet, the test waits for it.
        let begun = Instant::now().checked_sub(PATIENCE).unwrap_or_else(Instant::now);
        assert!(is_skipped(&mut || loop {
            wait_for_turn(begun);
        }));
        let mut runs = 0;
        assert!(is_skipped(&mut || {
            run_in_turn(|| {
                runs += 1;
                said(TAKEN)
            });
        }));
        assert_eq!(runs, 1, "no other test waits");
        let failed = catch_unwind(|| run_or_skip(|| resume_unwind(Box::new("other")), |_| {}));
        assert!(failed.is_err(), "a test that fails is not skipped");
    }
}
