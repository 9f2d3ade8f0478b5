//! Files of /proc and /sys, below a root that is `/` on the live machine.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::refusal::Refusal;

/// The kernel's files that are read here are far smaller; a recorded tree may hold
/// anything.
const LARGEST: u64 = 64 << 20;
/// Most of these files are shorter, bytes.
const USUAL: usize = 4096;

/// `path`, absolute or not, below `root`.
pub(crate) fn below(root: &Path, path: impl AsRef<Path>) -> PathBuf {
    let path = path.as_ref();
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// Reads a whole file as text.
pub(crate) fn read_text(root: &Path, path: impl AsRef<Path>) -> Result<String, Refusal> {
    let path = below(root, path);
    let refuse =
        |reason: String| Refusal::File { action: "read", path: path.display().to_string(), reason };
    let file = File::open(&path).map_err(|error| refuse(error.to_string()))?;
    // The kernel does not tell how long such a file is: without room it is read in small pieces.
    let mut bytes = Vec::with_capacity(USUAL);
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| refuse(error.to_string()))?;
    if bytes.len() as u64 > LARGEST {
        return Err(refuse(format!("it is larger than {LARGEST} bytes")));
    }
    // Names of mapped files and of cgroups need not be UTF-8; all that is looked for is.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The numbers that a folder of /proc has as names, ascending: processes or threads.
pub(crate) fn numbers_in(root: &Path, path: impl AsRef<Path>) -> Result<Vec<u32>, Refusal> {
    let folder = below(root, path);
    let entries = fs::read_dir(&folder).map_err(|error| Refusal::File {
        action: "read",
        path: folder.display().to_string(),
        reason: error.to_string(),
    })?;
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// The number after `name` in a file of `name number` lines: /proc/meminfo,
/// /proc/self/status, cpu.stat, memory.stat. A colon after the name and a unit
/// after the number are passed over.
pub(crate) fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let found = words.next()?;
        let number = (found.strip_suffix(':').unwrap_or(found) == name).then(|| words.next())??;
        number.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "MemAvailable:   24317544 kB\nMemFree:        12 kB\nthrottled_usec 77\n";
        assert_eq!(field(text, "MemAvailable"), Some(24_317_544));
        assert_eq!(field(text, "MemFree"), Some(12));
        assert_eq!(field(text, "throttled_usec"), Some(77));
        assert_eq!(field(text, "Mem"), None);
        assert_eq!(field("MemFree:\nMemFree: x kB\n", "MemFree"), None);
    }

    #[test]
    fn unreadable_files_are_named() {
        let root = tempfile::tempdir().unwrap();
        let refusal = read_text(root.path(), "/proc/stat").unwrap_err().to_string();
        assert!(refusal.contains("proc/stat") && refusal.contains("No such file"), "{refusal}");
        assert!(read_text(root.path(), "").is_err(), "a folder was read");
    }

    #[test]
    fn endless_files_are_refused() {
        let root = tempfile::tempdir().unwrap();
        let file = File::create(root.path().join("long")).unwrap();
        file.set_len(LARGEST + 1).unwrap();
        assert!(read_text(root.path(), "long").is_err());
    }
}
