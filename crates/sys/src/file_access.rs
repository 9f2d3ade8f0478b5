//! Files that are to be written and are no regular ones, and whether a folder takes new files.

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Opens a device or a pipe to write to it; a pipe's reader is not waited for.
///
/// # Errors
/// When it cannot be opened, a pipe that nobody reads included.
pub fn open_to_write(path: &Path) -> io::Result<File> {
    let open =
        |flags| OpenOptions::new().write(true).custom_flags(flags | libc::O_NOCTTY).open(path);
    if !path.metadata()?.file_type().is_fifo() {
        return open(0);
    }
    // Held until it is open a second time: that one waits for room, and not for a reader.
    let _held = open(libc::O_NONBLOCK).map_err(|error| match error.raw_os_error() {
        Some(libc::ENXIO) => io::Error::new(
            error.kind(),
            "nobody reads this pipe; start its reader first, or name a file",
        ),
        _ => error,
    })?;
    open(0)
}

/// A second descriptor of what this process has open under a number: both write on where the
/// other ended.
///
/// # Errors
/// When nothing is open under it.
pub fn duplicate_descriptor(number: i32) -> io::Result<File> {
    // SAFETY: fcntl(2) with F_DUPFD_CLOEXEC takes no pointer.
    let duplicate = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
    if duplicate < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor, and nothing else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(duplicate) }.into())
}

/// Whether this process may make files in a folder; nothing is made to find out.
///
/// # Errors
/// What stands against it: rights, a file system that is only read, no such folder.
pub fn may_create_in(folder: &Path) -> io::Result<()> {
    let folder = CString::new(folder.as_os_str().as_bytes())?;
    let asked = libc::W_OK | libc::X_OK;
    // SAFETY: the kernel reads a path that ends with a zero from live memory.
    match unsafe { libc::faccessat(libc::AT_FDCWD, folder.as_ptr(), asked, libc::AT_EACCESS) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_open_has_no_second_descriptor() {
        assert!(duplicate_descriptor(-1).is_err());
        assert!(duplicate_descriptor(i32::MAX).is_err());
        assert!(duplicate_descriptor(0).is_ok());
    }

    #[test]
    fn folders_tell_whether_they_take_files() {
        let folder = tempfile::tempdir().unwrap();
        may_create_in(folder.path()).unwrap();
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        let missing = may_create_in(&folder.path().join("missing")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
