//! Which processes map which files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nearfar_sys::{
    MappedFile, locked_mappings, mapped_files, process_identity, process_numbers, process_pages,
};

use crate::file_list::{FileMemory, FileUser};
use crate::program_memory::mapped_bytes;

/// Mappings of files by the file's inode, of the processes that this user may look into.
#[derive(Debug, Default)]
pub(crate) struct FileUsers {
    mappings: BTreeMap<u64, Vec<(u32, MappedFile)>>,
    /// Of each process that maps one: its program's name, and where the mappings begin that it has locked.
    processes: BTreeMap<u32, (String, BTreeSet<usize>)>,
    /// Processes that were not let be looked into.
    pub not_permitted: usize,
}

impl FileUsers {
    /// Asks all processes but this one which of these files they map.
    pub fn of(root: &Path, inodes: &BTreeSet<u64>) -> Self {
        let mut users = Self::default();
        let others = process_numbers(root).unwrap_or_default();
        for pid in others.into_iter().filter(|&pid| pid != std::process::id()) {
            let Ok(mappings) = mapped_files(root, pid) else {
                // It has ended, or is another's.
                users.not_permitted += usize::from(process_identity(root, pid).is_some());
                continue;
            };
            let mut own =
                mappings.into_iter().filter(|mapping| inodes.contains(&mapping.inode)).peekable();
            let identity = own.peek().and_then(|_| process_identity(root, pid));
            if let Some(program) = identity.and_then(|found| found.command.into_iter().next()) {
                let name = program.rsplit('/').next().unwrap_or(&program).to_string();
                let locked = locked_mappings(root, pid).unwrap_or_default();
                users.processes.insert(pid, (name, locked));
            }
            for mapping in own {
                users.mappings.entry(mapping.inode).or_default().push((pid, mapping));
            }
        }
        users
    }

    /// Where the mappings of a file begin, by process. Some file systems (Btrfs) name another device
    /// there than the file's: its path counts as well.
    fn starts(&self, path: &Path, about: &Metadata) -> BTreeMap<u32, BTreeSet<usize>> {
        let mut starts: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
        let Some(mappings) = self.mappings.get(&about.ino()) else { return starts };
        let path = path.canonicalize().unwrap_or_else(|_| path.into());
        for (pid, mapping) in mappings {
            if mapping.device == about.dev() || Path::new(&mapping.path) == path {
                starts.entry(*pid).or_default().insert(mapping.start);
            }
        }
        starts
    }

    /// Who maps a file.
    pub fn of_file(&self, path: &Path, about: &Metadata) -> Vec<FileUser> {
        let user = |(pid, starts): (u32, BTreeSet<usize>)| {
            let (name, locked) = self.processes.get(&pid)?;
            Some(FileUser { pid, name: name.clone(), locks: !locked.is_disjoint(&starts) })
        };
        self.starts(path, about).into_iter().filter_map(user).collect()
    }

    /// What the process with most of a file maps of it; `None` where none does.
    pub fn mapped_memory(&self, root: &Path, path: &Path, about: &Metadata) -> Option<FileMemory> {
        let of_process = |(pid, starts): (u32, BTreeSet<usize>)| {
            let mut pages = process_pages(root, pid).ok()?;
            pages.retain(|mapping| starts.contains(&mapping.start));
            let bytes_by_node = mapped_bytes(&pages);
            Some(FileMemory { bytes_by_node, is_of_one_process: true, ..FileMemory::default() })
        };
        let found = self.starts(path, about).into_iter().filter_map(of_process);
        found.max_by_key(FileMemory::bytes)
    }
}
