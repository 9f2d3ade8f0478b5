//! Files that are written as a whole. A record is not: its lines are appended as they come.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Puts a file of this content in the place of `path`, by a file beside it that is renamed:
/// whoever reads sees the old file or the new one, and a full disk leaves the old one.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    write_by(path, |out| out.write_all(content))
}

/// The same of a content that is written piece by piece.
pub fn write_by(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"));
    };
    let mut beside = name.to_os_string();
    beside.push(format!(".{}.new", std::process::id()));
    let beside = path.with_file_name(beside);
    let written = write_new(&beside, write).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // Best effort; the reason to tell is why it was not written.
        fs::remove_file(&beside).ok();
    }
    written
}

fn write_new(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(File::create_new(path)?);
    write(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.1");
        write(&path, b"old").unwrap();
        let mut open = File::open(&path).unwrap();
        write(&path, b"new and longer").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new and longer");
        assert_eq!(names(folder.path()), ["page.1"]);
        // Whoever had it open reads what it was.
        let mut text = String::new();
        io::Read::read_to_string(&mut open, &mut text).unwrap();
        assert_eq!(text, "old");
    }

    #[test]
    fn what_cannot_be_replaced_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("page.1/inside")).unwrap();
        assert!(write(&folder.path().join("page.1"), b"new").is_err());
        assert_eq!(names(folder.path()), ["page.1"]);
        assert!(write(&folder.path().join("missing/page.1"), b"new").is_err());
        assert!(write(Path::new("/"), b"new").is_err());
    }
}
