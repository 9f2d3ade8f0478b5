//! What cachestat(2) says of a file's pages in memory, since Linux 6.5.

use std::fs::File;
use std::os::fd::AsRawFd;

/// The call's number, which libc does not name yet; the same on x86-64 and AArch64.
const SYS_CACHESTAT: libc::c_long = 451;

#[repr(C)]
struct Range {
    offset: u64,
    bytes: u64,
}

#[repr(C)]
#[derive(Default)]
struct Pages {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// How many pages of a file are written and not on the disk yet; `None` where the kernel does not tell.
pub(crate) fn unwritten_pages(file: &File) -> Option<u64> {
    // A length of 0 is all of it.
    let all = Range { offset: 0, bytes: 0 };
    let mut pages = Pages::default();
    let (range, found) = (&raw const all, &raw mut pages);
    // SAFETY: the kernel reads the one structure and writes the other, both as it lays them out.
    let status = unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), range, found, 0) };
    (status == 0).then(|| pages.dirty.saturating_add(pages.writeback))
}
