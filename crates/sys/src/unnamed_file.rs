//! A file in memory without a name, which vanishes with the last process that has it open.

use std::fs::File;
use std::io;
use std::os::fd::FromRawFd;

/// Makes one (memfd_create(2)). Another process opens it as /proc/PID/fd/N.
///
/// # Errors
/// When the kernel refuses.
pub fn unnamed_file() -> io::Result<File> {
    // SAFETY: the name ends with a zero and lives for the call.
    let descriptor = unsafe { libc::memfd_create(c"nearfar".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given this descriptor to us alone.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, Write};
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn what_another_opening_writes_is_read_here() {
        let mut file = unnamed_file().unwrap();
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        File::options().write(true).open(path).unwrap().write_all(b"a report").unwrap();
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "a report");
    }
}
