//! A part of a file, mapped to be looked at.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr::{self, NonNull};
use std::thread;

use crate::address_range::AddressRange;
use crate::mapping::{reserve, unmap};
use crate::page_query::{base_page_bytes, query_resident};
use crate::page_sizes::HUGE_PAGE_BYTES;
use crate::refusal::{Errno, Refusal};

/// Bytes that one thread maps at once, and the most threads that do.
const PIECE_BYTES: usize = 512 << 20;
const MOST_THREADS: usize = 8;

/// Pages of a mapped file that are in memory, those side by side together.
pub(crate) fn resident_runs(range: AddressRange) -> Result<Vec<AddressRange>, Refusal> {
    let mut runs: Vec<AddressRange> = Vec::new();
    let page_bytes = base_page_bytes();
    query_resident(range, page_bytes, |page, resident| {
        match runs.last_mut() {
            _ if !resident => {}
            Some(run) if run.end() == page => {
                *run = AddressRange::new(run.start(), run.bytes() + page_bytes);
            }
            _ => runs.push(AddressRange::new(page, page_bytes)),
        }
        Ok(())
    })?;
    Ok(runs)
}

/// A run in parts that threads take in turn.
fn pieces(run: AddressRange) -> impl Iterator<Item = AddressRange> {
    (0..run.bytes().div_ceil(PIECE_BYTES)).map(move |number| {
        let start = number * PIECE_BYTES;
        run.part(start, PIECE_BYTES.min(run.bytes() - start))
    })
}

/// A part of a file, mapped to be read, at an address at which its huge pages fit. Nothing of it is
/// ever read through the mapping: a file may become shorter meanwhile.
pub(crate) struct Window {
    offset: u64,
    start: NonNull<u8>,
    bytes: usize,
    /// The addresses that were set aside, with this within.
    room: (NonNull<u8>, usize),
}

impl Window {
    pub fn map(file: &File, offset: u64, bytes: usize, page_bytes: usize) -> Result<Self, Refusal> {
        let alignment = page_bytes.max(HUGE_PAGE_BYTES);
        let no_room = || Refusal::call("mmap", bytes, Errno(libc::ENOMEM));
        let room_bytes = bytes.checked_add(alignment).ok_or_else(no_room)?;
        let room = reserve(room_bytes)?;
        let address = room.addr().get();
        // SAFETY: less than the alignment further, within the room.
        let start = unsafe { room.add(address.next_multiple_of(alignment) - address) };
        let window = Self { offset, start, bytes, room: (room, room_bytes) };
        window.map_part(file, window.range(), 0)?;
        Ok(window)
    }

    pub fn range(&self) -> AddressRange {
        AddressRange::new(self.start.addr().get(), self.bytes)
    }

    /// Where in the file an address lies.
    pub fn offset_of(&self, address: usize) -> u64 {
        self.offset + (address - self.range().start()) as u64
    }

    /// Maps pages that are in memory, which reads nothing, by several threads. It is done by mapping
    /// them once more: to touch them would be a SIGBUS where the file has become shorter.
    pub fn populate(&self, file: &File, runs: &[AddressRange]) -> Result<(), Refusal> {
        let pieces: Vec<AddressRange> = runs.iter().flat_map(|run| pieces(*run)).collect();
        // How many there are takes the kernel longer to say than it takes to map a small file.
        let threads = match pieces.len() {
            few @ 0..2 => few,
            many => {
                thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS).min(many)
            }
        };
        let populate = |number: usize| {
            let mut own = pieces.iter().skip(number).step_by(threads);
            own.try_for_each(|piece| self.map_part(file, *piece, libc::MAP_POPULATE))
        };
        if threads < 2 {
            return (0..threads).try_for_each(populate);
        }
        let populate = &populate;
        thread::scope(|scope| {
            let started: Vec<_> =
                (0..threads).map(|number| scope.spawn(move || populate(number))).collect();
            // One that panics maps nothing, and its pages are not counted.
            started.into_iter().filter_map(|thread| thread.join().ok()).collect()
        })
    }

    fn map_part(&self, file: &File, part: AddressRange, flags: i32) -> Result<(), Refusal> {
        let flags = flags | libc::MAP_SHARED | libc::MAP_FIXED;
        let offset = self.offset_of(part.start());
        let offset = libc::off_t::try_from(offset).unwrap_or(libc::off_t::MAX);
        let start = ptr::without_provenance_mut(part.start());
        // SAFETY: the range lies within the room, which is this window's own.
        let status = unsafe {
            libc::mmap(start, part.bytes(), libc::PROT_READ, flags, file.as_raw_fd(), offset)
        };
        match status == libc::MAP_FAILED {
            true => Err(Refusal::call("mmap", "the file", Errno::last())),
            false => Ok(()),
        }
    }
}

// SAFETY: the mapping belongs to the process, not to a thread, and nobody reads or writes through it.
unsafe impl Sync for Window {}

impl Drop for Window {
    fn drop(&mut self) {
        unmap(self.room.0, self.room.1);
    }
}
