//! Files that a command names in its arguments, and whether what is in memory of them lies against its
//! placement.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nearfar_sys::CachedFile;

use crate::file_list::FileMemory;
use crate::report::{LEAST_AGAINST_BYTES, against_words, node_against};

/// Samples of a large file, and bytes of each: all of it would hold up the program's start.
const PARTS: u64 = 128;
const PART_BYTES: u64 = 256 << 10;

/// The large files that a command's arguments name: `FILE`, `--model=FILE`, `@FILE`.
pub fn named_files(command: &[OsString]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for word in command.iter().skip(1) {
        let word = word.as_bytes();
        let behind = |sign: u8| {
            let at = word.iter().position(|&letter| letter == sign)?;
            Some(&word[at + 1..])
        };
        let at = word.first().filter(|&&letter| letter == b'@').map(|_| &word[1..]);
        for path in [Some(word), behind(b'='), at].into_iter().flatten() {
            let path = PathBuf::from(OsStr::from_bytes(path));
            let is_large = path
                .metadata()
                .is_ok_and(|about| about.is_file() && about.len() >= LEAST_AGAINST_BYTES);
            if is_large && !found.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}

/// What is said of a file that lies against a placement with these shares; `None` where it does not, or
/// it is not known. Of a large one some parts are looked at.
pub fn file_against(path: &Path, asked: &BTreeMap<u32, f64>, placement: &str) -> Option<String> {
    let file = File::open(path).ok()?;
    let (_, cached) = CachedFile::of(&file).ok()?;
    let found = FileMemory::from(cached?.pages_of_parts(PARTS, PART_BYTES).ok()?);
    let (node, share) = node_against(&found.bytes_by_node, asked)?;
    Some(against_words(&path.display().to_string(), placement, node, share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_files_are_found_in_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).into_os_string();
        for (name, bytes) in [("large", LEAST_AGAINST_BYTES), ("small", LEAST_AGAINST_BYTES - 1)] {
            File::create(at(name)).unwrap().set_len(bytes).unwrap();
        }
        let joined = |prefix: &str| {
            let mut word = OsString::from(prefix);
            word.push(at("large"));
            word
        };
        let large = vec![PathBuf::from(at("large"))];
        for word in [at("large"), joined("--model="), joined("@")] {
            assert_eq!(named_files(&["program".into(), "-v".into(), word]), large);
        }
        assert_eq!(named_files(&["program".into(), at("large"), joined("m=")]), large);
        for command in [vec![at("large")], vec!["program".into(), at("small"), "".into()]] {
            assert_eq!(named_files(&command), [] as [PathBuf; 0]);
        }
    }
}
