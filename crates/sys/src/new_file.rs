//! Files that get their name once they are worth it: until then nothing of them is left, whatever ends
//! the process.

use std::ffi::CString;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use crate::clock::monotonic_ns;

/// Names of files that have no other yet, where the file system has no files without names: they begin and
/// end so.
const BEGIN: &str = ".nearfar-";
const END: &str = ".new";

/// A file that is to have a name, with an exclusive lock (flock(2)) from its beginning where the file
/// system has locks.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    /// The name to come, no link.
    path: PathBuf,
    there: There,
}

/// Where it is until then.
#[derive(Debug)]
enum There {
    /// Without a name in the same file system.
    Unnamed,
    /// By another name beside it.
    Beside(PathBuf),
    /// Without a name in another file system: its content is copied.
    Elsewhere,
}

impl NewFile {
    /// A file that can be named `path`, which is no link; of what is there already it has owner and mode.
    ///
    /// # Errors
    /// Where none can be made.
    pub fn for_path(path: &Path) -> io::Result<Self> {
        let old = fs::metadata(path).ok();
        remove_abandoned(folder_of(path));
        let made = match unnamed_in(folder_of(path)) {
            Ok(file) => Ok((file, There::Unnamed)),
            Err(why) if is_forbidden(&why) || why.kind() == ErrorKind::NotFound => Err(why),
            // This file system, or this kernel, has none without names.
            Err(_) => named_beside(path).map(|(file, name)| (file, There::Beside(name))),
        };
        let made = made.and_then(|(file, there)| {
            let new = Self { file, path: path.into(), there };
            new.take_after(old.as_ref()).map(|()| new)
        });
        let new = match made {
            Err(why) if old.is_some() && is_forbidden(&why) => {
                let file = unnamed_in(&std::env::temp_dir()).map_err(|_| why)?;
                Self { file, path: path.into(), there: There::Elsewhere }
            }
            made => made?,
        };
        new.file.try_lock().ok();
        Ok(new)
    }

    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives it its name, which nothing has yet.
    ///
    /// # Errors
    /// Where something has it by now (`AlreadyExists`), or it cannot be given.
    pub fn publish_new(mut self) -> io::Result<File> {
        match &self.there {
            There::Beside(name) => {
                match fs::hard_link(name, &self.path) {
                    Ok(()) => fs::remove_file(name)?,
                    Err(why) if why.kind() == ErrorKind::AlreadyExists => return Err(why),
                    // A file system without second names.
                    Err(_) if !self.path.exists() => fs::rename(name, &self.path)?,
                    Err(why) => return Err(why),
                }
            }
            There::Unnamed | There::Elsewhere => link(&self.file, &self.path)?,
        }
        self.there = There::Unnamed;
        self.file.try_clone()
    }

    /// Puts it in the place of what has its name, all at once: other names of that one keep what they had.
    /// Where something is mounted there, or the folder is closed, its content is copied into what is there.
    ///
    /// # Errors
    /// Where neither works; what was there stays, but for a copy that ended early.
    pub fn replace(mut self) -> io::Result<File> {
        self.file.sync_all()?;
        let name = match &self.there {
            There::Beside(name) => name.clone(),
            There::Elsewhere => return self.copied(),
            There::Unnamed => {
                let name = unused_name_beside(&self.path);
                link(&self.file, &name)?;
                self.there = There::Beside(name.clone());
                name
            }
        };
        match fs::rename(&name, &self.path) {
            Ok(()) => {
                self.there = There::Unnamed;
                self.file.try_clone()
            }
            Err(error) if error.kind() == ErrorKind::ResourceBusy => self.copied(),
            Err(error) => Err(error),
        }
    }

    fn copied(&mut self) -> io::Result<File> {
        let mut old = OpenOptions::new().read(true).write(true).truncate(true).open(&self.path)?;
        old.try_lock().ok();
        self.file.seek(SeekFrom::Start(0))?;
        io::copy(&mut self.file, &mut old)?;
        old.sync_all()?;
        Ok(old)
    }

    /// Owner and mode of the one whose place it is to take.
    fn take_after(&self, old: Option<&Metadata>) -> io::Result<()> {
        let Some(old) = old else { return Ok(()) };
        let new = self.file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            fchown(&self.file, Some(old.uid()), Some(old.gid()))
                .map_err(|cause| io::Error::new(ErrorKind::PermissionDenied, cause))?;
        }
        self.file.set_permissions(Permissions::from_mode(old.mode() & 0o7777))
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let There::Beside(name) = &self.there {
            fs::remove_file(name).ok();
        }
    }
}

pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

pub(crate) fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// A file without a name in a folder. It is named by /proc, without which it is no use.
fn unnamed_in(folder: &Path) -> io::Result<File> {
    if !Path::new("/proc/self/fd").exists() {
        return Err(ErrorKind::Unsupported.into());
    }
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_TMPFILE).open(folder)
}

fn named_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    let name = unused_name_beside(path);
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&name)?;
    Ok((file, name))
}

/// In containers the same process number comes again soon, so that it alone could be the name of
/// what a killed one left.
fn unused_name_beside(path: &Path) -> PathBuf {
    let (process, now) = (std::process::id(), monotonic_ns());
    folder_of(path).join(format!("{BEGIN}{process}-{now}{END}"))
}

fn link(file: &File, path: &Path) -> io::Result<()> {
    let from = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let to = CString::new(path.as_os_str().as_bytes())?;
    let (here, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
    // SAFETY: the kernel reads two paths that end with a zero from live memory.
    match unsafe { libc::linkat(here, from.as_ptr(), here, to.as_ptr(), follow) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Removes what killed processes left by such names in a folder: nobody holds their locks.
fn remove_abandoned(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours =
            name.to_str().is_some_and(|name| name.starts_with(BEGIN) && name.ends_with(END));
        if is_ours
            && entry.file_type().is_ok_and(|kind| kind.is_file())
            && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok())
        {
            fs::remove_file(entry.path()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn written(path: &Path, text: &str) -> NewFile {
        let mut new = NewFile::for_path(path).unwrap();
        new.file().write_all(text.as_bytes()).unwrap();
        new
    }

    #[test]
    fn a_name_is_given_once_and_nothing_is_left_without() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        drop(written(&path, "dropped"));
        assert_eq!(names(folder.path()), Vec::<String>::new());
        let (first, second) = (written(&path, "first"), written(&path, "second"));
        first.publish_new().unwrap();
        assert_eq!(second.publish_new().unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        assert_eq!(names(folder.path()), ["f"]);
    }

    #[test]
    fn other_names_keep_what_they_had_and_the_mode_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("f"), folder.path().join("other"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        fs::hard_link(&path, &other).unwrap();
        let mut file = written(&path, "new").replace().unwrap();
        file.write_all(b" and more").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new and more");
        assert_eq!(fs::read_to_string(&other).unwrap(), "old");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o640);
        assert_eq!(names(folder.path()), ["f", "other"]);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_that_is_held() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at(".nearfar-1-2.new"), "left").unwrap();
        fs::write(at(".nearfar-3-4.old"), "another's").unwrap();
        let held = File::create(at(".nearfar-5-6.new")).unwrap();
        held.lock().unwrap();
        drop(NewFile::for_path(&at("f")).unwrap());
        assert_eq!(names(folder.path()), [".nearfar-3-4.old", ".nearfar-5-6.new"]);
    }
}
