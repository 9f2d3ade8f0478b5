//! Where records are: named by the user, or in the state folder. Profiles are named.

use std::error::Error;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
pub use nearfar_record::host_name;
use nearfar_record::{
    AnyProfile, Header, Profile, ProgramProfile, Record, read_record, record_name, state_folder,
};
use nearfar_sys::is_same_file;

use crate::output;
use crate::progress::Waiting;

/// A new record's path in the state folder, which is made when it is not there.
pub fn new_path(host: &str, now_utc: &str) -> anyhow::Result<PathBuf> {
    new_path_in(own_folder()?, host, now_utc)
}

/// The same of a record of a user's programs, which is no newest record of this host: it says
/// nothing of the machine.
pub fn new_path_of_runs(host: &str, now_utc: &str) -> anyhow::Result<PathBuf> {
    new_path_in(own_folder()?.join("programs"), host, now_utc)
}

fn own_folder() -> anyhow::Result<PathBuf> {
    state_folder().context(
        "neither XDG_STATE_HOME nor HOME is set; say where the record goes with --out FILE",
    )
}

fn new_path_in(folder: PathBuf, host: &str, now_utc: &str) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(&folder).with_context(|| {
        format!(
            "cannot make the folder {}; say where the record goes with --out FILE",
            folder.display()
        )
    })?;
    let name = record_name(host, now_utc);
    // Two that begin within a second are two records.
    let numbered = (2..=99).map(|number| name.replace(".jsonl", &format!("-{number}.jsonl")));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    Ok(folder.join(names.find(|name| !folder.join(name).exists()).unwrap_or(name)))
}

/// The newest record of this host in the state folder.
pub fn newest(host: &str) -> anyhow::Result<PathBuf> {
    Ok(nearfar_record::newest_record(host)?)
}

/// Reads a record in either form; `-` is standard input.
pub fn read(path: &Path) -> anyhow::Result<Record> {
    let mut record = read_by(path, "record", read_record)?;
    record.file = (path.as_os_str() != "-").then(|| path.to_path_buf());
    Ok(record)
}

/// Reads the header alone of a record in a file.
pub fn read_header(path: &Path) -> anyhow::Result<Header> {
    read_by(path, "record", nearfar_record::read_header)
}

/// Reads a profile; `-` is standard input.
pub fn read_profile(path: &Path) -> anyhow::Result<Profile> {
    read_by(path, "profile", nearfar_record::read_profile)
}

/// Reads a profile of either kind.
pub fn read_any_profile(path: &Path) -> anyhow::Result<AnyProfile> {
    read_by(path, "profile", nearfar_record::read_any_profile)
}

/// Reads a profile of a program beside loads.
pub fn read_program_profile(path: &Path) -> anyhow::Result<ProgramProfile> {
    read_by(path, "profile", nearfar_record::read_program_profile)
}

/// What `read` makes of a file of that kind.
pub fn read_by<T, E: Error + Send + Sync + 'static>(
    path: &Path,
    kind: &str,
    read: impl FnOnce(Box<dyn Read>) -> Result<T, E>,
) -> anyhow::Result<T> {
    if path.as_os_str() == "-" {
        return read(Box::new(io::stdin().lock())).context("standard input");
    }
    let file =
        File::open(path).with_context(|| format!("cannot open the {kind} {}", path.display()))?;
    // A pipe has no length.
    let length = file.metadata().ok().filter(Metadata::is_file).map(|found| found.len());
    let waiting = Waiting::new(&format!("reading {}", path.display()), length);
    read(Box::new(waiting.watch(file))).with_context(|| format!("{}", path.display()))
}

/// Reads the record that the user named, else the newest one of this host; also gives its
/// path.
pub fn read_named_or_newest(named: Option<&Path>) -> anyhow::Result<(PathBuf, Record)> {
    let newest = || newest(&host_name());
    let path = named.map(Path::to_path_buf).map_or_else(newest, Ok)?;
    let mut record = read(&path)?;
    record.is_newest = named.is_none();
    note_torn(&record);
    Ok((path, record))
}

/// Refuses to write over the record that is read; `option` names the file to write.
pub fn refuse_replacing(record: &Path, out: &Path, option: &str) -> anyhow::Result<()> {
    if is_same_file(record, out) {
        bail!("{} is the record itself; choose another file with {option}", out.display());
    }
    Ok(())
}

/// Says where the end of a record was left out.
pub fn note_torn(record: &Record) {
    if record.torn {
        output::note("note: the record's last line is torn and was left out");
    }
}
