//! Puts what is in memory of a file on the nodes of a placement, or drops it.
//!
//! Pages are moved where they are (move_pages(2)), through a mapping of our own. What does not move that
//! way, and is a copy of what is on a disk, is dropped and read again under the node's policy.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use nearfar_machine::MemoryPolicy;
use nearfar_sys::{
    CachedFile, CachedPages, Errno, FileStore, HUGE_PAGE_BYTES, MovedPages, Refusal,
    restore_thread_policy, set_thread_policy, thread_policy,
};

use crate::file_list::{FileChange, FileMemory, FileUser, StayedPages, WhyStayed};
use crate::page_deal::PageDeal;
use crate::report::TOLERANCE;

/// Bytes that are read again at once.
const READ_BYTES: u64 = 1 << 20;

impl From<CachedPages> for FileMemory {
    fn from(found: CachedPages) -> Self {
        Self {
            bytes_by_node: found.by_node,
            unknown_bytes: found.unknown,
            huge_bytes: found.huge,
            dirty_bytes: found.dirty,
            is_of_one_process: false,
        }
    }
}

/// A file that is to be put elsewhere.
pub(crate) struct Placing<'a> {
    pub file: &'a File,
    pub cached: &'a CachedFile<'a>,
    /// Turns begin at this block, so that small files do not all begin on the same node.
    pub first_block: u64,
    pub users: &'a [FileUser],
}

impl Placing<'_> {
    /// Puts its pages where a deal has them; what it has in memory then, and what was done.
    ///
    /// # Errors
    /// When the kernel refuses; some pages may be elsewhere then.
    pub fn place(
        &self,
        deal: &PageDeal,
        before: &FileMemory,
    ) -> Result<(FileMemory, FileChange), Refusal> {
        let node_of = |block: u64| deal.node_of(block.wrapping_add(self.first_block));
        let mut block_bytes = deal.block_bytes(before.bytes(), self.page_bytes());
        let mut moved = 0;
        // Pages lie together in memory (folios) of up to a huge page, which move as a whole.
        let mut left = loop {
            let found = self.cached.move_pages(block_bytes, node_of)?;
            moved += found.moved;
            let next = 4 * block_bytes;
            if !is_torn(&found) || next > HUGE_PAGE_BYTES as u64 {
                break found;
            }
            block_bytes = next;
        };
        let mut read_again_bytes = 0;
        if is_torn(&left) && self.cached.store() == FileStore::Storage {
            self.read_again(&self.cached.strays(block_bytes, node_of)?)?;
            let held = self.bytes_left(&left);
            left = self.cached.move_pages(block_bytes, node_of)?;
            read_again_bytes = held.saturating_sub(self.bytes_left(&left));
        }
        let after = FileMemory::from(self.cached.pages()?);
        let change = FileChange {
            before_bytes_by_node: before.bytes_by_node.clone(),
            moved_bytes: (moved * self.page_bytes()).min(after.bytes()),
            read_again_bytes,
            largest_deviation: after.deviation(&deal.shares),
            stayed: self.stayed(&left, &after),
        };
        Ok((after, change))
    }

    /// Drops it from memory; what it has in memory then, and why.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn evict(&self, before: &FileMemory) -> Result<(FileMemory, FileChange), Refusal> {
        let is_copy = self.cached.store() == FileStore::Storage;
        if is_copy {
            // What cannot be written stays dirty, which is told.
            self.file.sync_data().ok();
            self.cached.drop_part(&(0..self.cached.bytes()))?;
        }
        let after = FileMemory::from(self.cached.pages()?);
        let dirty = after.dirty_bytes.unwrap_or(0).min(after.bytes());
        let rest = match is_copy {
            true if self.users.is_empty() => WhyStayed::Held,
            true => self.mapped(),
            false => WhyStayed::KeptInMemory,
        };
        let dirty = if is_copy { dirty } else { 0 };
        let change = FileChange {
            before_bytes_by_node: before.bytes_by_node.clone(),
            moved_bytes: 0,
            read_again_bytes: 0,
            largest_deviation: None,
            stayed: stayed([(WhyStayed::Dirty, dirty), (rest, after.bytes() - dirty)]),
        };
        Ok((after, change))
    }

    /// Drops parts of the file and reads them again, each on its node.
    fn read_again(&self, parts: &[(Range<u64>, u32)]) -> Result<(), Refusal> {
        // What cannot be written stays, which is told.
        self.file.sync_data().ok();
        self.cached.read_nothing_ahead()?;
        let policy = thread_policy()?;
        let read = self.read_parts(parts);
        // Also where a part failed: programs that are started later inherit it.
        restore_thread_policy(&policy)?;
        read
    }

    /// Changes the policy of this thread.
    fn read_parts(&self, parts: &[(Range<u64>, u32)]) -> Result<(), Refusal> {
        let mut buffer = vec![0; usize::try_from(READ_BYTES).unwrap_or_default()];
        for (part, node) in parts {
            self.cached.drop_part(part)?;
            set_thread_policy(&MemoryPolicy::Preferred(*node))?;
            let mut at = part.start;
            while at < part.end {
                let bytes = usize::try_from((part.end - at).min(READ_BYTES)).unwrap_or_default();
                // A file that has become shorter ends here; a disk that fails has dropped a copy.
                match self.file.read_at(&mut buffer[..bytes], at) {
                    Ok(read) if read > 0 => at += read as u64,
                    _ => break,
                }
            }
        }
        Ok(())
    }

    fn page_bytes(&self) -> u64 {
        self.cached.page_bytes() as u64
    }

    /// Of pages that were in memory when they were asked to move.
    fn bytes_left(&self, moved: &MovedPages) -> u64 {
        let absent = moved.left.get(&Some(Errno(libc::ENOENT))).copied().unwrap_or_default();
        (moved.left() - absent) * self.page_bytes()
    }

    /// Why pages that others map stayed.
    fn mapped(&self) -> WhyStayed {
        match self.users.iter().any(|user| user.locks) {
            true => WhyStayed::Locked,
            false => WhyStayed::Mapped,
        }
    }

    /// Why pages are not where they belong.
    fn stayed(&self, left: &MovedPages, after: &FileMemory) -> Vec<StayedPages> {
        let page = self.page_bytes();
        let of = |errno| left.left.get(&Some(Errno(errno))).copied().unwrap_or_default() * page;
        let (mapped, no_room) = (of(libc::EACCES), of(libc::ENOMEM));
        let rest = self.bytes_left(left) - mapped - no_room;
        let dirty = rest.min(after.dirty_bytes.unwrap_or(0));
        stayed([
            (self.mapped(), mapped),
            (WhyStayed::NoRoom, no_room),
            (WhyStayed::Dirty, dirty),
            (WhyStayed::Held, rest - dirty),
        ])
    }
}

fn stayed<const N: usize>(reasons: [(WhyStayed, u64); N]) -> Vec<StayedPages> {
    let pages = reasons.into_iter().filter(|&(_, bytes)| bytes > 0);
    pages.map(|(why, bytes)| StayedPages { why, bytes }).collect()
}

/// Whether more pages stayed than a promise allows, of those that neither another process nor want of
/// room holds.
fn is_torn(moved: &MovedPages) -> bool {
    let told = [libc::EACCES, libc::ENOMEM, libc::ENOENT, libc::ENODEV];
    let told = told.map(|errno| moved.left.get(&Some(Errno(errno))).copied().unwrap_or_default());
    let torn = moved.left() - told.iter().sum::<u64>();
    torn as f64 > TOLERANCE / 2.0 * moved.pages() as f64
}
