//! Which pages of a process are in memory, and whether it has them alone (/proc/PID/pagemap; the
//! kernel's admin-guide/mm/pagemap.rst, whose flags are told without root since Linux 4.2).

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::address_range::AddressRange;
use crate::page_query::base_page_bytes;
use crate::refusal::Refusal;
use crate::system_file::below;

const PRESENT: u64 = 1 << 63;
const OF_A_FILE: u64 = 1 << 61;
const MAPPED_ONCE: u64 = 1 << 56;

/// A page that is in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PresentPage {
    pub address: usize,
    /// Of a file or of shared memory, and not the process's own.
    pub is_of_a_file: bool,
    /// Whether no other process maps it. The page of zeros is mapped by many.
    pub is_alone: bool,
}

/// The page table of a process. Of one that has become another program it has nothing.
#[derive(Debug)]
pub struct PageTable {
    file: File,
    path: String,
}

impl PageTable {
    /// # Errors
    /// When the kernel does not let this user look into the process (ptrace(2), access mode), or has no
    /// pagemap.
    pub fn open(root: &Path, pid: u32) -> Result<Self, Refusal> {
        let path = below(root, format!("proc/{pid}/pagemap"));
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Ok(Self { file, path: name }),
            Err(error) => Err(refuse(name, &error)),
        }
    }

    /// The base pages of a range that are in memory, in the order of their addresses.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn present(&self, range: AddressRange) -> Result<Vec<PresentPage>, Refusal> {
        const ENTRY: usize = size_of::<u64>();
        let page = base_page_bytes();
        let first = range.start() / page;
        let mut entries = vec![0; range.bytes().div_ceil(page) * ENTRY];
        let mut read = 0;
        while read < entries.len() {
            let at = (first * ENTRY + read) as u64;
            match self.file.read_at(&mut entries[read..], at) {
                // The process has ended, or the range lies beyond its addresses.
                Ok(0) => break,
                Ok(bytes) => read += bytes,
                Err(error) => return Err(refuse(self.path.clone(), &error)),
            }
        }
        let (entries, _) = entries[..read].as_chunks::<ENTRY>();
        let page_of = |(number, entry): (usize, &[u8; ENTRY])| {
            let entry = u64::from_ne_bytes(*entry);
            (entry & PRESENT != 0).then_some(PresentPage {
                address: (first + number) * page,
                is_of_a_file: entry & OF_A_FILE != 0,
                is_alone: entry & MAPPED_ONCE != 0,
            })
        };
        Ok(entries.iter().enumerate().filter_map(page_of).collect())
    }
}

fn refuse(path: String, error: &std::io::Error) -> Refusal {
    Refusal::File { action: "read", path, reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_tree::file_tree;
    use crate::mapping::{Mapping, PageRequest};

    #[test]
    fn entries_are_read_by_address() {
        let tree = file_tree([("proc/7/maps", "")]);
        let entries = [0, PRESENT | MAPPED_ONCE, PRESENT | OF_A_FILE, 1 << 62, PRESENT];
        let bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.to_ne_bytes()).collect();
        std::fs::write(tree.path().join("proc/7/pagemap"), bytes).unwrap();
        let table = PageTable::open(tree.path(), 7).unwrap();
        let page = base_page_bytes();
        let found = |number: usize, is_of_a_file, is_alone| PresentPage {
            address: number * page,
            is_of_a_file,
            is_alone,
        };
        // It ends where the file does.
        let all = table.present(AddressRange::new(0, 100 * page)).unwrap();
        assert_eq!(all, [found(1, false, true), found(2, true, false), found(4, false, false)]);
        let some = table.present(AddressRange::new(2 * page, 2 * page)).unwrap();
        assert_eq!(some, [found(2, true, false)]);
        assert_eq!(table.present(AddressRange::new(usize::MAX - page, page)).unwrap(), []);
        assert!(PageTable::open(tree.path(), 8).is_err());
    }

    #[test]
    fn pages_of_this_process_are_there_once_they_are_written() {
        let page = base_page_bytes();
        let mut mapping = Mapping::new(10 * page, PageRequest::Small).unwrap();
        mapping.as_f64_mut()[2 * page / size_of::<f64>()] = 1.0;
        let range = AddressRange::from(&mapping);
        let table = PageTable::open(Path::new("/"), std::process::id()).unwrap();
        let address = range.start() + 2 * page;
        let expected = [PresentPage { address, is_of_a_file: false, is_alone: true }];
        assert_eq!(table.present(range).unwrap(), expected);
    }
}
