//! The environment that hwloc is asked in: its variables (`HWLOC_XMLFILE`, `HWLOC_PLUGINS_PATH` ...)
//! make it describe another machine, or load what is not its own.

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::refusal::{Errno, Refusal};
use crate::system_file::{field, read_text};

/// Calls `ask` while the environment's `HWLOC_*` variables are `own` and no others. Afterwards they
/// are what they were: a program that is started later gets what its user gave it.
///
/// # Errors
/// When the process has, or may have, more than one thread, before or afterwards: another thread
/// could be reading the environment.
pub fn with_hwloc_environment<Answer>(
    own: &[(&str, &str)],
    ask: impl FnOnce() -> Answer,
) -> Result<Answer, Refusal> {
    let theirs = variables();
    let own = own.iter().map(|(name, value)| (name.into(), value.into())).collect();
    replace(&theirs, &own)?;
    let answer = ask();
    replace(&own, &theirs)?;
    Ok(answer)
}

type Variables = Vec<(OsString, OsString)>;

fn variables() -> Variables {
    env::vars_os().filter(|(name, _)| name.as_bytes().starts_with(b"HWLOC_")).collect()
}

fn replace(old: &Variables, new: &Variables) -> Result<(), Refusal> {
    if old == new {
        return Ok(());
    }
    refuse_threads()?;
    for (name, _) in old {
        // SAFETY: this thread is the only one, as the kernel has just said, and it starts none
        // here; nobody else can read or write the environment.
        unsafe { env::remove_var(name) };
    }
    for (name, value) in new {
        // SAFETY: as above.
        unsafe { env::set_var(name, value) };
    }
    Ok(())
}

fn refuse_threads() -> Result<(), Refusal> {
    // Does nothing in a process with one thread, and is refused in others (unshare(2)); /proc may
    // be hidden.
    // SAFETY: no pointer is passed.
    if unsafe { libc::unshare(libc::CLONE_THREAD) } == 0 {
        return Ok(());
    }
    if Errno::last() == Errno(libc::EINVAL) {
        return Err(Refusal::ThreadsRunning { threads: "several".into() });
    }
    // A container's filter may forbid the call.
    let refuse = |threads: String| Refusal::ThreadsRunning { threads };
    let status = read_text(Path::new("/"), "proc/self/status");
    let status = status.map_err(|refusal| refuse(format!("an unknown number of ({refusal})")))?;
    match field(&status, "Threads") {
        Some(1) => Ok(()),
        Some(threads) => Err(refuse(threads.to_string())),
        None => Err(refuse("an unknown number of".into())),
    }
}
