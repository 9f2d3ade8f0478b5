//! Where records are kept that nobody gave a name, and which of them is the newest of a host.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::header::{Executor, Header};
use crate::listed_record::files_of;
use crate::reader::read_header;

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

/// The newest record of a host in the state folder, by what stands in it and not by its name. Those
/// of simulated machines are of other hosts; those of programs say nothing of a machine.
///
/// # Errors
/// [`NoRecord`] where there is none.
pub fn newest_record(host: &str) -> Result<PathBuf, NoRecord> {
    let folder = state_folder().ok_or(NoRecord::NoFolder)?;
    let headers = headers_of(&folder);
    let newest = |is_wanted: &dyn Fn(&Header) -> bool| {
        let wanted = headers.iter().filter(|(_, header)| is_wanted(header));
        let newest = wanted.max_by_key(|(path, header)| (&header.started, path));
        newest.map(|(path, _)| path.clone())
    };
    if let Some(path) = newest(&|header| header.host == host) {
        return Ok(path);
    }
    match newest(&|header| header.executor == Executor::Simulated) {
        Some(newest) => Err(NoRecord::OnlySimulated { folder, newest }),
        None => Err(NoRecord::None { folder }),
    }
}

/// The records of machines in a folder.
fn headers_of(folder: &Path) -> Vec<(PathBuf, Header)> {
    let header = |path: PathBuf| {
        let header = read_header(File::open(&path).ok()?).ok()?;
        header.inputs.commands.is_none().then_some((path, header))
    };
    files_of(folder).unwrap_or_default().into_iter().filter_map(header).collect()
}
