//! Where records are kept that nobody gave a name, and which of them is the newest of a host.

use std::fs;
use std::path::{Path, PathBuf};

/// Why there is no newest record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoRecord {
    /// Nothing says where the state folder is.
    #[error("neither XDG_STATE_HOME nor HOME is set; name a record's file")]
    NoFolder,
    /// It holds none of any host.
    #[error(
        "there is no record of this host in {}; make one by `nearfar characterize`, or name one",
        .folder.display()
    )]
    None { folder: PathBuf },
    /// It holds only those of simulated machines: a forecast for a machine that nobody asked for
    /// would mislead.
    #[error(
        "there is no record of this host in {}, only of simulated machines, the newest of them {}; \
         name one, or measure this host by `nearfar characterize`",
        .folder.display(), .newest.display()
    )]
    OnlySimulated { folder: PathBuf, newest: PathBuf },
}

/// What hosts of simulated machines begin with.
const SIMULATED: &str = "simulated-";

/// The name of this host, as the kernel says.
pub fn host_name() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname")
        .map_or_else(|_| "unknown-host".into(), |name| name.trim().to_string())
}

/// `${XDG_STATE_HOME:-~/.local/state}/nearfar`, whether it is there or not; `None` where neither
/// variable is an absolute path.
pub fn state_folder() -> Option<PathBuf> {
    let from =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = from("XDG_STATE_HOME").or_else(|| Some(from("HOME")?.join(".local/state")))?;
    Some(state.join("nearfar"))
}

/// The name of a host's record in the state folder, begun at a time in UTC as the header has it.
pub fn record_name(host: &str, started: &str) -> String {
    format!("{}-{}.jsonl", host_in_name(host), started.replace([':', '-'], ""))
}

/// A host's name with nothing in it that means something in a path.
fn host_in_name(host: &str) -> String {
    host.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' }).collect()
}

/// The newest record of a host in the state folder. Those of simulated machines are of other hosts.
///
/// # Errors
/// [`NoRecord`] where there is none.
pub fn newest_record(host: &str) -> Result<PathBuf, NoRecord> {
    let folder = state_folder().ok_or(NoRecord::NoFolder)?;
    if let Some(path) = newest_of(&folder, |found| found == host_in_name(host)) {
        return Ok(path);
    }
    match newest_of(&folder, |found| found.starts_with(&host_in_name(SIMULATED))) {
        Some(newest) => Err(NoRecord::OnlySimulated { folder, newest }),
        None => Err(NoRecord::None { folder }),
    }
}

/// The newest record of a folder whose host, as [`host_in_name`] writes it, is wanted.
fn newest_of(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let timed = entries.filter_map(|entry| {
        let path = entry.path();
        let name = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
        let (host, time) = name.rsplit_once('-')?;
        is_wanted(host).then(|| (time.to_string(), path.clone()))
    });
    timed.max().map(|(_, path)| path)
}
