//! Runs the program itself.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// One measurement at a time: each would find the other's lock.
static MEASURING: Mutex<()> = Mutex::new(());

/// How long another process on this host may keep the lock: a quick suite and more.
const PATIENCE: Duration = Duration::from_secs(180);

pub fn nearfar(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nearfar"))
        .args(arguments)
        .env_remove("HWLOC_XMLFILE")
        .env_remove("HWLOC_SYNTHETIC")
        .output()
        .unwrap()
}

/// Runs a command that measures; waits while another process measures.
pub fn measure(arguments: &[&str]) -> Output {
    let _one_at_a_time = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let begun = Instant::now();
    loop {
        let output = nearfar(arguments);
        let taken = output.status.code() == Some(2)
            && String::from_utf8_lossy(&output.stderr).contains("another nearfar is measuring");
        if !taken || begun.elapsed() > PATIENCE {
            return output;
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// The JSON that a run printed; its status must be one of these.
pub fn json_of(output: &Output, statuses: &[i32]) -> Value {
    let complaint = String::from_utf8_lossy(&output.stderr);
    let status = output.status.code();
    assert!(
        status.is_some_and(|status| statuses.contains(&status)),
        "status {status:?}: {complaint}"
    );
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {complaint}"))
}

/// The lines of a record.
pub fn lines_of(record: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(record).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
