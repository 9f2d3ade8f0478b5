//! Files that are written as a whole. A record is not: its lines are appended as they come.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use crate::clock::monotonic_ns;
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

/// Whether both paths lead to one file that is there.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(a), Ok(b)) if a == b)
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

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Puts a new file in the place of `path`, by one beside it that is renamed; where a file of the
/// same owner cannot take its place, the one that is there is written over.
fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let old = fs::metadata(path).ok();
    let overwritten = || OpenOptions::new().write(true).truncate(true).open(path);
    // Other names of the file would go on to show what it was.
    if old.as_ref().is_some_and(|old| old.nlink() > 1) {
        return filled(overwritten()?, write)?.sync_all();
    }
    let beside = unused_name_beside(path);
    let renamed = match create_for(&beside, old.as_ref()) {
        Ok(file) => filled(file, write).and_then(|file| file.sync_all()).and_then(|()| {
            match fs::rename(&beside, path) {
                // Something is mounted there: a file that a container was given.
                Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                    io::copy(&mut File::open(&beside)?, &mut overwritten()?).map(drop)
                }
                renamed => renamed,
            }
        }),
        Err(why) if old.is_some() && is_forbidden(&why) => {
            filled(overwritten()?, write).and_then(|file| file.sync_all())
        }
        Err(why) => Err(why),
    };
    // Gone when it was renamed; else the reason to tell is why it was not.
    fs::remove_file(&beside).ok();
    renamed
}

/// In containers the same process number comes again soon, so that it alone could be the name of
/// what a killed one left.
fn unused_name_beside(path: &Path) -> PathBuf {
    let (process, now) = (std::process::id(), monotonic_ns());
    folder_of(path).join(format!(".nearfar-{process}-{now}.new"))
}

fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// A new file at `path`, with the owner and the mode of the one whose place it is to take.
fn create_for(path: &Path, old: Option<&Metadata>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let Some(old) = old else { return options.open(path) };
    let file = options.mode(0o600).open(path)?;
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        fchown(&file, Some(old.uid()), Some(old.gid()))
            .map_err(|cause| io::Error::new(ErrorKind::PermissionDenied, cause))?;
    }
    file.set_permissions(Permissions::from_mode(old.mode() & 0o7777))?;
    Ok(file)
}

fn filled(
    file: File,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<File> {
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)
}
