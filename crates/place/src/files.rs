//! Looks where what is in memory of files is, and changes that where it is asked for.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nearfar_sys::{CachedFile, FileStore, Refusal};

use crate::file_list::{FileChange, FileKind, FileList, FileMemory, FileUser, ListedFile};
use crate::file_paths::files_at;
use crate::file_placing::Placing;
use crate::file_users::FileUsers;
use crate::page_deal::PageDeal;

/// What is done to files.
#[derive(Debug)]
pub enum FileTreatment {
    /// Nothing: they are looked at.
    Look,
    /// What is in memory of them goes to the nodes of a placement, whose text this is.
    Place(String, PageDeal),
    /// It is dropped.
    Evict,
}

const NOT_TOLD: &str = "Linux does not tell a user what is in memory of a file that he neither owns \
    nor may write (mincore(2), since 5.2)";

const POOL_NOT_TOLD: &str = "Linux does not tell which huge pages of a hugetlbfs file are there, and \
    it does not have all of them";

/// Looks at the files that paths, folders and patterns name, and treats them.
///
/// # Errors
/// When there is nothing of a name.
pub fn list_files(paths: &[PathBuf], treatment: &FileTreatment) -> io::Result<FileList> {
    let root = Path::new("/");
    let named = files_at(paths)?;
    let inodes: BTreeSet<u64> =
        named.iter().filter_map(|(_, inode)| inode.as_ref().ok()).copied().collect();
    let users = FileUsers::of(root, &inodes);
    let look = Look { root, users: &users, treatment };
    // One after the other: there may be more of them than may be open at once.
    let listed = named.into_iter().map(|(path, inode)| {
        let file = inode.map_err(|why| format!("it cannot be looked at: {why}"));
        let file =
            file.and_then(|_| open(&path).map_err(|why| format!("it cannot be opened: {why}")));
        look.listed(&path, file)
    });
    let mut files: Vec<ListedFile> = listed.collect();
    files.sort_by_key(|file| Reverse(file.in_memory.as_ref().map_or(0, FileMemory::bytes)));
    let (placement, asked_shares) = match treatment {
        FileTreatment::Place(text, deal) => (Some(text.clone()), Some(deal.shares.clone())),
        FileTreatment::Look | FileTreatment::Evict => (None, None),
    };
    Ok(FileList {
        schema: "nearfar.files/1",
        placement,
        asked_shares,
        files,
        processes_not_permitted: users.not_permitted,
    })
}

/// A pipe's other end is not waited for.
fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let about = file.metadata()?;
    Ok((file, about))
}

struct Look<'a> {
    root: &'a Path,
    users: &'a FileUsers,
    treatment: &'a FileTreatment,
}

impl Look<'_> {
    fn listed(&self, path: &Path, file: Result<(File, Metadata), String>) -> ListedFile {
        let mut listed = ListedFile {
            path: path.display().to_string(),
            kind: None,
            bytes: None,
            in_memory: None,
            absent: None,
            mapped_by: Vec::new(),
            change: None,
        };
        let (file, about) = match file {
            Ok(opened) => opened,
            Err(why) => {
                listed.absent = Some(why);
                return listed;
            }
        };
        listed.bytes = Some(about.len());
        listed.mapped_by = self.users.of_file(path, &about);
        let cached = CachedFile::of(&file);
        listed.kind = cached.as_ref().ok().map(|(store, _)| kind(*store));
        let done = match &cached {
            Ok((_, Some(cached))) => self.treat(&file, &about, cached, &listed.mapped_by),
            Ok((store, None)) => {
                let memory = self.users.mapped_memory(self.root, path, &about);
                listed.absent = self.not_told(*store, memory.is_some());
                Ok((memory, None))
            }
            Err(refusal) => Err(refusal.clone()),
        };
        match done {
            Ok((memory, change)) => (listed.in_memory, listed.change) = (memory, change),
            Err(refusal) => listed.absent = Some(refusal.to_string()),
        }
        listed
    }

    fn treat(
        &self,
        file: &File,
        about: &Metadata,
        cached: &CachedFile<'_>,
        users: &[FileUser],
    ) -> Result<(Option<FileMemory>, Option<FileChange>), Refusal> {
        let before = FileMemory::from(cached.pages()?);
        let placing = Placing { file, cached, first_block: about.ino(), users };
        let (after, change) = match self.treatment {
            FileTreatment::Look => (before, None),
            _ if before.bytes() == 0 => (before, None),
            FileTreatment::Place(_, deal) => told(placing.place(deal, &before)?),
            FileTreatment::Evict => told(placing.evict(&before)?),
        };
        Ok((Some(after), change))
    }

    /// Why it is not told what of a file is in memory, and what to do; `None` where what a process of
    /// this user maps of it is all that was asked for.
    fn not_told(&self, store: FileStore, is_seen: bool) -> Option<String> {
        let why = if store == FileStore::HugePagePool { POOL_NOT_TOLD } else { NOT_TOLD };
        match self.treatment {
            FileTreatment::Look if is_seen => None,
            FileTreatment::Look => Some(format!(
                "{why}, and no process of this user maps it; ask as its owner or as root (sudo), or \
                 while a program of yours maps it"
            )),
            _ => Some(format!("{why}, so nothing was done; do it as its owner or as root (sudo)")),
        }
    }
}

fn told(done: (FileMemory, FileChange)) -> (FileMemory, Option<FileChange>) {
    (done.0, Some(done.1))
}

fn kind(store: FileStore) -> FileKind {
    match store {
        FileStore::Storage => FileKind::Storage,
        FileStore::Memory => FileKind::SharedMemory,
        FileStore::HugePagePool => FileKind::HugePages,
    }
}

impl FileList {
    /// What nodes have of all the files, bytes.
    pub fn bytes_by_node(&self) -> BTreeMap<u32, u64> {
        let mut all = BTreeMap::new();
        let memories = self.files.iter().filter_map(|file| file.in_memory.as_ref());
        for (&node, &bytes) in memories.flat_map(|memory| &memory.bytes_by_node) {
            let sum: &mut u64 = all.entry(node).or_default();
            *sum = sum.saturating_add(bytes);
        }
        all
    }
}
