//! Where records are: named by the user, or in the state folder.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use nearfar_record::{Record, read_record};

use crate::output;

/// The name of this host, as the kernel says.
pub fn host_name() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname")
        .map_or_else(|_| "unknown-host".into(), |name| name.trim().to_string())
}

/// `${XDG_STATE_HOME:-~/.local/state}/nearfar`.
fn state_folder() -> anyhow::Result<PathBuf> {
    let from =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = from("XDG_STATE_HOME").or_else(|| Some(from("HOME")?.join(".local/state")));
    Ok(state
        .context(
            "neither XDG_STATE_HOME nor HOME is set; say where the record goes with --out FILE",
        )?
        .join("nearfar"))
}

/// A new record's path in the state folder, which is made when it is not there.
pub fn new_path(host: &str, now_utc: &str) -> anyhow::Result<PathBuf> {
    let folder = state_folder()?;
    fs::create_dir_all(&folder).with_context(|| {
        format!(
            "cannot make the folder {}; say where the record goes with --out FILE",
            folder.display()
        )
    })?;
    Ok(folder.join(format!("{}-{}.jsonl", file_name(host), now_utc.replace([':', '-'], ""))))
}

/// A host's name with nothing in it that means something in a path.
fn file_name(host: &str) -> String {
    host.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' }).collect()
}

/// What hosts of simulated machines begin with.
const SIMULATED: &str = "simulated-";

/// The newest record of this host in the state folder. Those of simulated machines are of
/// other hosts: a forecast for a machine that nobody asked for would mislead.
pub fn newest(host: &str) -> anyhow::Result<PathBuf> {
    let folder = state_folder()?;
    if let Some(path) = newest_of(&folder, |found| found == file_name(host)) {
        return Ok(path);
    }
    let simulated = newest_of(&folder, |found| found.starts_with(&file_name(SIMULATED)));
    let folder = folder.display();
    match simulated {
        Some(path) => bail!(
            "there is no record of this host in {folder}, only of simulated machines, the newest \
             of them {}; name one, or measure this host by `nearfar characterize`",
            path.display()
        ),
        None => bail!(
            "there is no record of this host in {folder}; make one by `nearfar characterize`, or \
             name one"
        ),
    }
}

/// The newest record of a folder whose host, as [`file_name`] writes it, is `wanted`.
fn newest_of(folder: &Path, wanted: impl Fn(&str) -> bool) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let timed = entries.filter_map(|entry| {
        let path = entry.path();
        let name = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
        let (host, time) = name.rsplit_once('-')?;
        wanted(host).then(|| (time.to_string(), path.clone()))
    });
    timed.max().map(|(_, path)| path)
}

/// Reads a record; `-` is standard input.
pub fn read(path: &Path) -> anyhow::Result<Record> {
    if path.as_os_str() == "-" {
        return read_record(io::stdin().lock()).context("standard input");
    }
    let file =
        File::open(path).with_context(|| format!("cannot open the record {}", path.display()))?;
    read_record(file).with_context(|| format!("{}", path.display()))
}

/// Reads the record that the user named, else the newest one of this host; also gives its
/// path.
pub fn read_named_or_newest(named: Option<&Path>) -> anyhow::Result<(PathBuf, Record)> {
    let newest = || newest(&host_name());
    let path = named.map(Path::to_path_buf).map_or_else(newest, Ok)?;
    let record = read(&path)?;
    if record.torn {
        output::say("note: the record's last line is torn and was left out");
    }
    Ok((path, record))
}
