//! A file's pages in memory (the page cache): which there are and on which nodes, moving them to other
//! nodes, dropping them.
//!
//! A file is mapped to look at it, window by window. mincore(2) tells which of its pages are in memory;
//! these alone are mapped, so that nothing is read that was not there.

use std::collections::BTreeMap;
use std::fs::File;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process;
use std::thread;

use crate::address_range::AddressRange;
use crate::cache_state::unwritten_pages;
use crate::file_window::{Window, resident_runs};
use crate::limits::usable_nodes;
use crate::numa_maps;
use crate::page_move::{MovedPages, Sharing, move_range};
use crate::page_nodes::prove;
use crate::page_query::{
    OWN, PageState, base_page_bytes, batches, query_move_pages, query_resident,
};
use crate::page_sizes::{HUGE_PAGE_BYTES, achieved_page_sizes};
use crate::refusal::{Errno, Refusal};

/// Bytes of a file that are mapped at once: page tables for them take a part in 512 of it.
const WINDOW_BYTES: u64 = 16 << 30;

/// What keeps a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStore {
    /// A disk, a network: pages in memory are copies, and can be dropped.
    Storage,
    /// Memory (tmpfs, /dev/shm, memfd): the pages are the file.
    Memory,
    /// Memory in huge pages of a pool (hugetlbfs).
    HugePagePool,
}

/// What of a file is in memory, bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CachedPages {
    pub by_node: BTreeMap<u32, u64>,
    /// On nodes that the kernel did not tell.
    pub unknown: u64,
    /// In huge pages; `None` where the kernel does not tell.
    pub huge: Option<u64>,
    /// Written and not yet on the disk; `None` where the kernel does not tell.
    pub dirty: Option<u64>,
}

/// A file of which the kernel tells this user what is in memory.
#[derive(Debug)]
pub struct CachedFile<'a> {
    file: &'a File,
    bytes: u64,
    store: FileStore,
    page_bytes: usize,
}

impl<'a> CachedFile<'a> {
    /// What keeps a file, and the file; `None` where the kernel does not tell: since Linux 5.2 mincore(2) calls all of a file resident
    /// that this user neither owns nor may write. Of a pool of huge pages it tells nothing; a file
    /// there that has all of its pages is known all the same.
    ///
    /// # Errors
    /// When the file cannot be mapped.
    pub fn of(file: &'a File) -> Result<(FileStore, Option<Self>), Refusal> {
        let refuse = |error: std::io::Error| {
            Refusal::call("fstat", "file", Errno(error.raw_os_error().unwrap_or(0)))
        };
        let about = file.metadata().map_err(refuse)?;
        let (store, page_bytes) = store_of(file)?;
        let cached = Self { file, bytes: about.len(), store, page_bytes };
        let is_told = match store {
            _ if cached.bytes == 0 => true,
            FileStore::HugePagePool => about.blocks() * 512 >= cached.bytes,
            // An owner is told (mincore(2)); to ask takes two more mappings.
            // SAFETY: geteuid(2) takes nothing and cannot fail.
            _ if about.is_file() && about.uid() == unsafe { libc::geteuid() } => true,
            _ => cached.tells_residency()?,
        };
        Ok((store, is_told.then_some(cached)))
    }

    /// Its length.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of a page as it is moved and counted.
    pub fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// What keeps it.
    pub fn store(&self) -> FileStore {
        self.store
    }

    /// The page behind its end is never in memory: an honest answer says so.
    fn tells_residency(&self) -> Result<bool, Refusal> {
        let page = self.page_bytes as u64;
        let last = (self.bytes - 1) / page * page;
        let window = Window::map(self.file, last, 2 * self.page_bytes, self.page_bytes)?;
        let mut is_told = true;
        query_resident(window.range(), self.page_bytes, |address, resident| {
            is_told &= address == window.range().start() || !resident;
            Ok(())
        })?;
        Ok(is_told)
    }

    /// Its parts one after the other, each mapped, with what of it is in memory.
    fn windows(&self) -> impl Iterator<Item = Result<(Window, Vec<AddressRange>), Refusal>> {
        let page = self.page_bytes as u64;
        let whole = self.bytes.next_multiple_of(page);
        let offsets = (0..whole.div_ceil(WINDOW_BYTES)).map(|number| number * WINDOW_BYTES);
        offsets.map(move |offset| self.window(offset, (whole - offset).min(WINDOW_BYTES)))
    }

    /// A part, mapped, with what of it is in memory.
    fn window(&self, offset: u64, bytes: u64) -> Result<(Window, Vec<AddressRange>), Refusal> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let window = Window::map(self.file, offset, bytes, self.page_bytes)?;
        let resident = match self.store {
            FileStore::HugePagePool => vec![window.range()],
            _ => resident_runs(window.range())?,
        };
        window.populate(self.file, &resident)?;
        Ok((window, resident))
    }

    /// Which of its pages are in memory, and where.
    ///
    /// # Errors
    /// When the kernel refuses to map it, or does not say where its pages are.
    pub fn pages(&self) -> Result<CachedPages, Refusal> {
        match self.pages_of_small_file() {
            Ok(Some(found)) => Ok(found),
            Ok(None) | Err(_) => self.count(self.windows()),
        }
    }

    /// The same by a few calls where it is too short for a huge page: of thousands of files, a table of this
    /// process's mappings for each would take a hundred times as long. `None` of others, and where the
    /// kernel does not tell what is dirty.
    fn pages_of_small_file(&self) -> Result<Option<CachedPages>, Refusal> {
        if self.store != FileStore::Storage || self.bytes >= HUGE_PAGE_BYTES as u64 {
            return Ok(None);
        }
        let page = self.page_bytes as u64;
        let Some(dirty) = unwritten_pages(self.file) else { return Ok(None) };
        let mut found =
            CachedPages { huge: Some(0), dirty: Some(dirty * page), ..CachedPages::default() };
        for window in self.windows() {
            let (_window, resident) = window?;
            for pages in resident.iter().flat_map(|run| batches(*run, self.page_bytes)) {
                for state in query_move_pages(OWN, &pages, self.page_bytes)? {
                    match state {
                        PageState::OnNode(node) => *found.by_node.entry(node).or_default() += page,
                        PageState::Unknown => found.unknown += page,
                        PageState::Absent => {}
                    }
                }
            }
        }
        Ok(Some(found))
    }

    /// The same of parts of it, as many and as long as these, that lie irregularly; of all of it where
    /// that is no more. It takes milliseconds, however large the file is.
    ///
    /// # Errors
    /// As [`pages`](Self::pages).
    pub fn pages_of_parts(&self, parts: u64, part_bytes: u64) -> Result<CachedPages, Refusal> {
        let part_bytes = part_bytes.next_multiple_of(self.page_bytes as u64);
        let all = self.bytes / part_bytes;
        if all <= parts {
            return self.pages();
        }
        // Multiples of the golden ratio, without their whole numbers, fill an interval evenly, and none
        // of them fits a turn over nodes.
        let place = |number: u64| {
            let fraction = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            u64::try_from((u128::from(fraction) * u128::from(all)) >> 64).unwrap_or(0)
        };
        let offsets = (1..=parts).map(|number| place(number) * part_bytes);
        self.count(offsets.map(|offset| self.window(offset, part_bytes)))
    }

    fn count(
        &self,
        windows: impl Iterator<Item = Result<(Window, Vec<AddressRange>), Refusal>>,
    ) -> Result<CachedPages, Refusal> {
        let mut found = CachedPages { huge: Some(0), dirty: Some(0), ..CachedPages::default() };
        for window in windows {
            let (window, resident) = window?;
            if !resident.is_empty() {
                found.count(window.range())?;
            }
        }
        if self.store != FileStore::Storage {
            // There is no disk that it is to reach.
            found.dirty = Some(0);
        }
        Ok(found)
    }

    /// Moves its pages that are in memory to the nodes that `node_of` says, by the number of the block
    /// of `block_bytes` that a page lies in. Pages that other processes map are moved where this user
    /// may (CAP_SYS_NICE), else left with `EACCES`.
    ///
    /// # Errors
    /// When the kernel refuses; some pages may have moved then.
    pub fn move_pages(
        &self,
        block_bytes: u64,
        node_of: impl Fn(u64) -> u32,
    ) -> Result<MovedPages, Refusal> {
        let mut all = MovedPages::default();
        for window in self.windows() {
            let (window, resident) = window?;
            for run in resident {
                let of = |page: usize| node_of(window.offset_of(page) / block_bytes);
                let moved =
                    move_range(process::id(), run, self.page_bytes, Sharing::WhereAllowed, of)?;
                all.add(moved);
            }
        }
        Ok(all)
    }

    /// Parts of it that are in memory on another node than `node_of` says, with that node.
    ///
    /// # Errors
    /// When the kernel does not say where its pages are.
    pub fn strays(
        &self,
        block_bytes: u64,
        node_of: impl Fn(u64) -> u32,
    ) -> Result<Vec<(Range<u64>, u32)>, Refusal> {
        let mut found: Vec<(Range<u64>, u32)> = Vec::new();
        for window in self.windows() {
            let (window, resident) = window?;
            for pages in resident.iter().flat_map(|run| batches(*run, self.page_bytes)) {
                let states = query_move_pages(process::id(), &pages, self.page_bytes)?;
                for (page, state) in pages.into_iter().zip(states) {
                    let offset = window.offset_of(page);
                    let wanted = node_of(offset / block_bytes);
                    if state == PageState::OnNode(wanted) {
                        continue;
                    }
                    let end = (offset + self.page_bytes as u64).min(self.bytes);
                    match found.last_mut() {
                        Some((part, node)) if part.end == offset && *node == wanted => {
                            part.end = end;
                        }
                        _ => found.push((offset..end, wanted)),
                    }
                }
            }
        }
        Ok(found)
    }

    /// Drops a part of it from memory where nothing holds it there: pages that a process maps, or that
    /// are not on the disk yet, stay. Nothing of a file that is kept in memory is dropped.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn drop_part(&self, part: &Range<u64>) -> Result<(), Refusal> {
        self.advise(part, libc::POSIX_FADV_DONTNEED)
    }

    /// From here on reads through this descriptor read what they ask for and nothing beyond.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn read_nothing_ahead(&self) -> Result<(), Refusal> {
        self.advise(&(0..self.bytes), libc::POSIX_FADV_RANDOM)
    }

    fn advise(&self, part: &Range<u64>, advice: i32) -> Result<(), Refusal> {
        let offset = libc::off_t::try_from(part.start).unwrap_or(libc::off_t::MAX);
        let bytes = libc::off_t::try_from(part.end - part.start).unwrap_or(0);
        // SAFETY: posix_fadvise(2) takes no pointer.
        match unsafe { libc::posix_fadvise(self.file.as_raw_fd(), offset, bytes, advice) } {
            0 => Ok(()),
            errno => Err(Refusal::call("posix_fadvise", "file", Errno(errno))),
        }
    }
}

impl CachedPages {
    /// Adds what of a window is mapped. /proc/self/numa_maps looks at each page once and tells what is
    /// dirty; where it is not to be had every page is asked about.
    fn count(&mut self, range: AddressRange) -> Result<(), Refusal> {
        let (counts, huge) = thread::scope(|scope| {
            let sizes = scope.spawn(move || achieved_page_sizes(range).ok());
            (numa_maps::read_counts(range), sizes.join().ok().flatten())
        });
        match counts {
            Ok(counts) => {
                for (node, pages) in counts.nodes {
                    *self.by_node.entry(node).or_default() += pages * counts.page_bytes;
                }
                self.dirty = self.dirty.map(|dirty| dirty + counts.dirty * counts.page_bytes);
            }
            Err(_) => {
                let found = prove(range, &usable_nodes(Path::new("/"))?)?;
                for (node, pages) in &found.nodes {
                    *self.by_node.entry(*node).or_default() += pages * found.page_bytes;
                }
                self.unknown += found.unknown * found.page_bytes;
                self.dirty = None;
            }
        }
        self.huge = self.huge.zip(huge).map(|(all, here)| all + here.huge_bytes);
        Ok(())
    }
}

/// What keeps a file, and in pages of which size.
/// What keeps the file of a path that a process maps, by the file or, where it was deleted, by its folder; `None`
/// where neither is to be had.
pub fn mapped_file_store(root: &Path, pid: u32, path: &str) -> Option<FileStore> {
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    // As the process sees it, which may be in another mount namespace.
    let seen = root.join(format!("proc/{pid}/root{path}"));
    // A device or a FIFO would wait or act when it is opened.
    let is_file = seen.metadata().is_ok_and(|about| about.is_file());
    let opened = if is_file { File::open(&seen) } else { File::open(seen.parent()?) };
    store_of(&opened.ok()?).ok().map(|(store, _)| store)
}

fn store_of(file: &File) -> Result<(FileStore, usize), Refusal> {
    let mut about = MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the kernel writes the structure that it is given room for.
    let status = unsafe { libc::fstatfs(file.as_raw_fd(), about.as_mut_ptr()) };
    if status != 0 {
        return Err(Refusal::call("fstatfs", "file", Errno::last()));
    }
    // SAFETY: the call succeeded, so the structure is written.
    let about = unsafe { about.assume_init() };
    Ok(match about.f_type {
        libc::HUGETLBFS_MAGIC => {
            (FileStore::HugePagePool, usize::try_from(about.f_bsize).unwrap_or(HUGE_PAGE_BYTES))
        }
        libc::TMPFS_MAGIC => (FileStore::Memory, base_page_bytes()),
        _ => (FileStore::Storage, base_page_bytes()),
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    const MIB: u64 = 1 << 20;

    /// 8 MiB and a little, not on the disk yet: the kernel cannot drop its pages.
    fn dirty() -> File {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&vec![7; 8 << 20], 0).unwrap();
        file.write_all_at(&[7; 100], 8 * MIB).unwrap();
        file
    }

    /// The same on the disk.
    fn written() -> File {
        let file = dirty();
        file.sync_all().unwrap();
        file
    }

    fn told(file: &File) -> CachedFile<'_> {
        CachedFile::of(file).unwrap().1.expect("of a file of one's own it is told")
    }

    fn in_memory(file: &File) -> u64 {
        told(file).pages().unwrap().by_node.values().sum()
    }

    #[test]
    fn what_is_dropped_is_gone_and_what_is_read_again_is_there() {
        let file = written();
        let page = base_page_bytes() as u64;
        assert_eq!(in_memory(&file), 8 * MIB + page);
        assert!(told(&file).pages().unwrap().dirty.is_none_or(|dirty| dirty == 0));
        told(&file).drop_part(&(0..4 * MIB)).unwrap();
        if told(&file).store() == FileStore::Memory {
            assert_eq!(in_memory(&file), 8 * MIB + page, "a part of a file in memory was lost");
            return;
        }
        assert_eq!(in_memory(&file), 4 * MIB + page);
        told(&file).read_nothing_ahead().unwrap();
        file.read_exact_at(&mut vec![0; 1 << 20], MIB).unwrap();
        assert_eq!(in_memory(&file), 5 * MIB + page);
    }

    #[test]
    fn a_look_fills_no_hole() {
        for folder in ["/dev/shm", "/tmp"] {
            let file = tempfile::tempfile_in(folder).unwrap();
            file.set_len(64 * MIB).unwrap();
            file.write_all_at(&vec![7; 1 << 20], 32 * MIB).unwrap();
            let blocks = file.metadata().unwrap().blocks();
            assert_eq!(in_memory(&file), MIB, "{folder}");
            assert_eq!(in_memory(&file), MIB, "{folder}");
            assert_eq!(file.metadata().unwrap().blocks().max(blocks), blocks.max(2048), "{folder}");
        }
        assert_eq!(in_memory(&tempfile::tempfile().unwrap()), 0);
    }

    #[test]
    fn pages_go_to_every_node_and_keep_what_they_hold() {
        let file = written();
        let all = 8 * MIB / base_page_bytes() as u64 + 1;
        for node in usable_nodes(Path::new("/")).unwrap().iter() {
            let moved = told(&file).move_pages(2 * MIB, |_| node).unwrap();
            assert_eq!((moved.pages(), moved.left()), (all, 0), "{moved:?}");
            assert_eq!(told(&file).strays(2 * MIB, |_| node).unwrap(), []);
            let nodes = told(&file).pages().unwrap().by_node;
            assert_eq!(nodes.keys().collect::<Vec<_>>(), [&node]);
        }
        let mut bytes = vec![0; 8 << 20];
        file.read_exact_at(&mut bytes, 100).unwrap();
        assert!(bytes.iter().all(|&byte| byte == 7));
    }

    #[test]
    fn parts_of_a_file_stand_for_it() {
        let file = dirty();
        let page = base_page_bytes() as u64;
        let part = 4 * page;
        let found = told(&file).pages_of_parts(32, part).unwrap();
        assert_eq!(found.by_node.values().sum::<u64>(), 32 * part);
        let all = told(&file).pages_of_parts(10_000, part).unwrap();
        assert_eq!(all.by_node.values().sum::<u64>(), 8 * MIB + page);
    }

    #[test]
    fn strays_are_parts_of_the_file() {
        let file = dirty();
        let node_of = |block| 1000 + u32::from(block == 1);
        let strays = told(&file).strays(4 * MIB, node_of).unwrap();
        let end = 8 * MIB + 100;
        assert_eq!(strays, [(0..4 * MIB, 1000), (4 * MIB..8 * MIB, 1001), (8 * MIB..end, 1000)]);
        let moved = told(&file).move_pages(4 * MIB, node_of).unwrap();
        assert_eq!(moved.left(), moved.pages(), "{moved:?}");
    }

    #[test]
    fn what_cannot_be_mapped_is_refused() {
        assert!(CachedFile::of(&File::open("/proc/self/status").unwrap()).is_ok());
        let folder = File::open("/tmp").unwrap();
        assert!(CachedFile::of(&folder).is_err());
    }
}
