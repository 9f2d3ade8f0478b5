//! The files that paths, folders and patterns name.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use nearfar_units::excerpt;

/// A file, and its inode or why it is not known.
pub(crate) type NamedFile = (PathBuf, io::Result<u64>);

/// The regular files that these name, each once: a file itself; of a folder all below it; of a pattern
/// (`*` and `?` in names) what fits. A link to a file counts as the file; links to folders below a
/// folder are not followed. What is named and cannot be read, or is no file, is there with the reason.
///
/// # Errors
/// When there is nothing of a name.
pub(crate) fn files_at(paths: &[PathBuf]) -> io::Result<Vec<NamedFile>> {
    let mut found = Found::default();
    for path in paths {
        let fitting = match path.try_exists() {
            Ok(false) => fitting(path),
            Ok(true) | Err(_) => vec![path.clone()],
        };
        if fitting.is_empty() {
            let said = format!("there is no '{}'", path.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, said));
        }
        for path in fitting {
            match path.metadata() {
                Ok(about) => found.take_named(path, &about),
                // A link to nothing fits a pattern as well.
                Err(why) if why.kind() == io::ErrorKind::NotFound => {}
                // No file has such a name.
                Err(why) if why.kind() == io::ErrorKind::InvalidFilename => {
                    let said = format!("'{}': {why}", excerpt(&path.to_string_lossy()));
                    return Err(io::Error::new(why.kind(), said));
                }
                Err(why) => found.files.push((path, Err(why))),
            }
        }
    }
    Ok(found.files)
}

#[derive(Default)]
struct Found {
    files: Vec<NamedFile>,
    seen: BTreeSet<(u64, u64)>,
}

impl Found {
    fn take_named(&mut self, path: PathBuf, about: &Metadata) {
        let kind = about.file_type();
        let what = if kind.is_fifo() {
            "a pipe"
        } else if kind.is_socket() {
            "a socket"
        } else if kind.is_block_device() || kind.is_char_device() {
            "a device"
        } else {
            if let Err(why) = self.take(&path, about) {
                self.files.push((path, Err(why)));
            }
            return;
        };
        let why = io::Error::other(format!("it is {what}, and no file of which pages are kept"));
        self.files.push((path, Err(why)));
    }

    fn take(&mut self, path: &Path, about: &Metadata) -> io::Result<()> {
        if about.is_file() && self.seen.insert((about.dev(), about.ino())) {
            self.files.push((path.into(), Ok(about.ino())));
        }
        if !about.is_dir() {
            return Ok(());
        }
        let mut entries: Vec<PathBuf> =
            fs::read_dir(path)?.flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for path in entries {
            let Ok(about) = path.metadata() else { continue };
            // A folder that may not be read hides its files as one that is not named does.
            if about.is_file() || !path.is_symlink() {
                self.take(&path, &about).ok();
            }
        }
        Ok(())
    }
}

/// What there is that fits a pattern, ascending.
fn fitting(pattern: &Path) -> Vec<PathBuf> {
    let mut fitting = vec![PathBuf::new()];
    for part in pattern.components() {
        let Component::Normal(name) = part else {
            fitting.iter_mut().for_each(|path| path.push(part));
            continue;
        };
        fitting = fitting.iter().flat_map(|folder| entries(folder, name)).collect();
    }
    fitting
}

fn entries(folder: &Path, pattern: &OsStr) -> Vec<PathBuf> {
    let pattern = pattern.as_bytes();
    if !pattern.iter().any(|letter| b"*?".contains(letter)) {
        let path = folder.join(OsStr::from_bytes(pattern));
        return if path.exists() { vec![path] } else { Vec::new() };
    }
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let names = fs::read_dir(listed).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let fits = names.filter(|name| fits(name.as_bytes(), pattern));
    let mut fitting: Vec<PathBuf> = fits.map(|name| folder.join(name)).collect();
    fitting.sort();
    fitting
}

/// Whether a name fits a pattern; a dot at its beginning is not fitted by a star, as in shells.
fn fits(name: &[u8], pattern: &[u8]) -> bool {
    if name.first() == Some(&b'.') && pattern.first() != Some(&b'.') {
        return false;
    }
    // After each letter of the pattern: the numbers of letters of the name that it can have fitted.
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for &letter in pattern {
        let mut next = vec![false; name.len() + 1];
        for at in 0..=name.len() {
            next[at] = match letter {
                b'*' => reached[at] || at > 0 && next[at - 1],
                b'?' => at > 0 && reached[at - 1],
                letter => at > 0 && reached[at - 1] && name[at - 1] == letter,
            };
        }
        reached = next;
    }
    reached[name.len()]
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_folders_links_and_patterns_name_each_file_once() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("models/old")).unwrap();
        for name in ["models/b.gguf", "models/a.gguf", "models/old/c.gguf", "models/.hidden.gguf"] {
            fs::write(at(name), name).unwrap();
        }
        symlink(at("models/a.gguf"), at("link")).unwrap();
        symlink(at("models"), at("models/loop")).unwrap();
        symlink("nowhere", at("models/dangling")).unwrap();
        let files = |paths: &[&str]| {
            let paths: Vec<PathBuf> = paths.iter().map(|path| at(path)).collect();
            let found = files_at(&paths).unwrap();
            let below = |(path, _): &NamedFile| {
                path.strip_prefix(folder.path()).unwrap().display().to_string()
            };
            found.iter().map(below).collect::<Vec<_>>()
        };
        let all = ["models/.hidden.gguf", "models/a.gguf", "models/b.gguf", "models/old/c.gguf"];
        assert_eq!(files(&["models"]), all);
        assert_eq!(files(&["models/*.gguf"]), all[1..3]);
        assert_eq!(files(&["mod*/?.gguf"]), all[1..3]);
        assert_eq!(files(&["link", "models/a.gguf", "models/b.gguf"]), ["link", "models/b.gguf"]);
        for missing in ["models/x", "models/*.bin", "x/*"] {
            let error = files_at(&[at(missing)]).unwrap_err();
            assert!(error.to_string().contains(missing), "{error}");
        }
    }

    #[test]
    fn patterns_fit_whole_names() {
        for (name, pattern) in
            [("abc", "a*"), ("abc", "*b*c"), ("abc", "a?c"), ("", "*"), (".a", ".*")]
        {
            assert!(fits(name.as_bytes(), pattern.as_bytes()), "{name} {pattern}");
        }
        for (name, pattern) in
            [("abc", "a?"), ("abc", "b*"), ("abc", "*d"), ("", "?"), (".a", "*a")]
        {
            assert!(!fits(name.as_bytes(), pattern.as_bytes()), "{name} {pattern}");
        }
    }
}
