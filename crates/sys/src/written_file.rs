//! Files that are written as a whole. A record is not: its lines are appended as they come.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::new_file::{NewFile, folder_of};
use crate::{duplicate_descriptor, may_create_in, open_to_write};

/// A place that was found to take a file, before what it is to hold was computed.
#[derive(Debug)]
pub enum WritableFile {
    /// A regular file, or none yet. No link.
    Replaced(PathBuf),
    /// A device, a pipe or a descriptor of this process, which stays open until it is written.
    Open(File),
}

impl WritableFile {
    /// Looks whether `path` can be written, following links; makes and empties nothing, and does
    /// not wait.
    ///
    /// # Errors
    /// Why it cannot: rights, a folder, a link that leads nowhere, a pipe without a reader.
    pub fn find(path: &Path) -> io::Result<Self> {
        let found = match fs::metadata(path) {
            Ok(found) => Some(found),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if found.as_ref().is_some_and(Metadata::is_dir) {
            return Err(error(ErrorKind::IsADirectory, "it is a folder; name a file in it"));
        }
        let path = match follow(path)? {
            Followed::Path(path) => path,
            Followed::Descriptor(number) => return Ok(Self::Open(duplicate_descriptor(number)?)),
            Followed::OfAnother(path) => return Ok(Self::Open(open_to_write(&path)?)),
        };
        match found {
            None => may_create_in(folder_of(&path))?,
            Some(found) if found.is_file() => {
                OpenOptions::new().write(true).open(&path)?;
            }
            Some(_) => return Ok(Self::Open(open_to_write(&path)?)),
        }
        Ok(Self::Replaced(path))
    }

    /// Writes what `write` gives, piece by piece. Whoever reads a regular file sees the old one or
    /// the new one, and a full disk leaves the old one; its mode and owner stay.
    pub fn write_by(
        self,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            Self::Replaced(path) => replace(&path, write),
            Self::Open(file) => filled(file, write).map(drop),
        }
    }

    /// The same of content that is there as a whole.
    pub fn write(self, content: &[u8]) -> io::Result<()> {
        self.write_by(|out| out.write_all(content))
    }
}

/// Whether both paths lead to one file that is there, be it by two names of its own.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let identity = |path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
    matches!((identity(one), identity(other)), (Ok(a), Ok(b)) if a == b)
}

fn error(kind: ErrorKind, text: &str) -> io::Error {
    io::Error::new(kind, text)
}

/// Where a path leads.
enum Followed {
    /// To a path that is no link, whether something is there or not.
    Path(PathBuf),
    /// To what this process has open under a number: /dev/stdout, process substitution.
    Descriptor(i32),
    /// To what another process has open.
    OfAnother(PathBuf),
}

fn follow(path: &Path) -> io::Result<Followed> {
    let mut path = path.to_path_buf();
    let mut is_link = false;
    // The kernel's own bound (path_resolution(7)).
    for _ in 0..40 {
        let Some(name) =
            path.file_name().filter(|_| !path.as_os_str().as_encoded_bytes().ends_with(b"/"))
        else {
            return Err(error(ErrorKind::InvalidInput, "the path names no file"));
        };
        let folder = folder_of(&path).canonicalize().map_err(|cause| {
            let text = format!("{cause}; make the folder {} first", folder_of(&path).display());
            error(cause.kind(), &text)
        })?;
        let here = folder.join(name);
        if let Some(process) = owner_of_descriptors(&folder) {
            let own = Some(name).filter(|_| process == std::process::id());
            let number = own.and_then(OsStr::to_str).and_then(|name| name.parse().ok());
            return Ok(number.map_or(Followed::OfAnother(here), Followed::Descriptor));
        }
        match fs::read_link(&here) {
            Ok(target) => path = folder.join(target),
            Err(_) if is_link && !here.exists() => {
                let text = format!(
                    "the link leads to {}, which is not there; make it, or remove the link",
                    here.display()
                );
                return Err(error(ErrorKind::NotFound, &text));
            }
            Err(_) => return Ok(Followed::Path(here)),
        }
        is_link = true;
    }
    Err(error(ErrorKind::InvalidInput, "the path leads through too many links"))
}

/// The process whose descriptors are in this folder. They look like links and are none: what they
/// name may be gone, or another file by now.
fn owner_of_descriptors(folder: &Path) -> Option<u32> {
    let below = folder.strip_prefix("/proc").ok()?;
    let process = below.iter().next()?.to_str()?.parse().ok()?;
    below.ends_with("fd").then_some(process)
}

/// Puts a new file in the place of `path`.
fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut new = NewFile::for_path(path)?;
    filled(new.file().try_clone()?, write)?;
    new.replace().map(drop)
}

fn filled(
    file: File,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<File> {
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)
}
