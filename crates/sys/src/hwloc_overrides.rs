//! Environment variables that make hwloc describe another machine than this one
//! (`HWLOC_XMLFILE`, `HWLOC_SYNTHETIC`, `HWLOC_COMPONENTS` ...).

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::refusal::Refusal;
use crate::system_file::{field, read_text};

/// Removes every `HWLOC_*` variable from the environment and returns their names in
/// alphabetical order. Call it first thing in main.
///
/// # Errors
/// When there is something to remove and the process has, or may have, more than
/// one thread: another thread could be reading the environment.
pub fn remove_hwloc_overrides() -> Result<Vec<String>, Refusal> {
    let mut found: Vec<OsString> =
        env::vars_os().map(|(name, _)| name).filter(is_override).collect();
    found.sort();
    let names: Vec<String> = found.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    if found.is_empty() {
        return Ok(names);
    }
    let refuse = |threads: String| Refusal::ThreadsRunning { names: names.join(" "), threads };
    let status = read_text(Path::new("/"), "proc/self/status");
    let status = status.map_err(|refusal| refuse(format!("an unknown number of ({refusal})")))?;
    match field(&status, "Threads") {
        Some(1) => {}
        Some(threads) => return Err(refuse(threads.to_string())),
        None => return Err(refuse("an unknown number of".into())),
    }
    for name in found {
        // SAFETY: this thread is the only one, as the kernel has just counted, and it
        // starts none here; nobody else can read or write the environment.
        unsafe { env::remove_var(name) };
    }
    Ok(names)
}

fn is_override(name: &OsString) -> bool {
    name.as_bytes().starts_with(b"HWLOC_")
}
