//! Memory whose placement is under control: a private anonymous mapping of its
//! own, with no page present until the first write.

use std::ffi::c_int;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, AtomicU64};

use crate::address_range::AddressRange;
use crate::page_query::base_page_bytes;
use crate::page_sizes::HUGE_PAGE_BYTES;
use crate::refusal::{Errno, Refusal};

/// Every mapping starts at a multiple of this, so that huge pages fit and slices
/// cut at its multiples share none.
const ALIGNMENT: usize = HUGE_PAGE_BYTES;

/// `MAP_HUGE_2MB` of mmap(2): log2 of the page size in the top bits of the flags.
const MAP_HUGE_2MB: c_int = 21 << 26;

/// The pages to ask the kernel for. What it gave is `achieved_page_sizes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PageRequest {
    /// Base pages only (`MADV_NOHUGEPAGE`), 4 KiB on x86.
    Small,
    /// Transparent huge pages where the kernel finds room (`MADV_HUGEPAGE`).
    Transparent,
    /// Pages of 2 MiB out of the reserved pool (`MAP_HUGETLB`).
    Huge2M,
}

/// A private anonymous mapping, aligned to 2 MiB, all zero. No page of it is
/// present until it is written (or read: reading maps the shared zero page, which
/// is not memory that can be measured).
///
/// It is a VMA by itself: an inaccessible page on either side keeps the kernel
/// from merging it with a neighbour, whose pages would then be counted as its own
/// in numa_maps and smaps. (A hugetlb mapping is never merged.) It is left out of
/// forked children, core dumps and KSM, each of which would share, read or replace
/// its pages.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
    /// Bytes of the inaccessible page before `start` and after the end; 0 without.
    guard: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread, and `Mapping` owns it.
unsafe impl Send for Mapping {}
// SAFETY: a shared `Mapping` only hands out shared slices; writing needs `&mut`.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `bytes` rounded up to whole pages: base pages for
    /// [`Small`](PageRequest::Small), 2 MiB otherwise.
    ///
    /// A [`Huge2M`](PageRequest::Huge2M) mapping is backed by the pool as a whole, not by node:
    /// under a strict bind to a node whose part of the pool is empty, the first
    /// write is a SIGBUS. Prefer the node and look at the proof.
    ///
    /// # Errors
    /// When `bytes` is 0 or too large for an address, when the kernel has no room,
    /// or the pool of huge pages is short.
    pub fn new(bytes: usize, request: PageRequest) -> Result<Self, Refusal> {
        let page = base_page_bytes();
        let unit = if request == PageRequest::Small { page } else { ALIGNMENT.max(page) };
        let rounded = bytes.checked_next_multiple_of(unit);
        let Some(bytes) = rounded.filter(|&size| size > 0 && isize::try_from(size).is_ok()) else {
            return Err(Refusal::Argument {
                what: format!("a mapping of {bytes} bytes"),
                reason: "its size must be above 0 and fit in the address space",
            });
        };
        let mapping = match request {
            PageRequest::Huge2M => Self::map_from_pool(bytes)?,
            PageRequest::Small | PageRequest::Transparent => Self::map_guarded(bytes)?,
        };
        mapping.advise_kernel(request)?;
        Ok(mapping)
    }

    fn map_from_pool(bytes: usize) -> Result<Self, Refusal> {
        // Without MAP_NORESERVE: the pool's pages are reserved now, or this call fails.
        let flags = libc::MAP_HUGETLB | MAP_HUGE_2MB;
        let start = map(bytes, libc::PROT_READ | libc::PROT_WRITE, flags)
            .map_err(|errno| Refusal::call("mmap(MAP_HUGETLB)", bytes, errno))?;
        Ok(Self { start, bytes, guard: 0 })
    }

    fn map_guarded(bytes: usize) -> Result<Self, Refusal> {
        let guard = base_page_bytes();
        let room = bytes
            .checked_add(ALIGNMENT + 2 * guard)
            .ok_or_else(|| Refusal::call("mmap", bytes, Errno(libc::ENOMEM)))?;
        let room_start = reserve(room)?;
        let base = room_start.addr().get();
        let head = (base + guard).next_multiple_of(ALIGNMENT) - guard - base;
        // SAFETY: head + guard < ALIGNMENT + 2 guard <= room, within the mapping just made.
        let start = unsafe { room_start.add(head + guard) };
        unmap(room_start, head);
        let used = head + guard + bytes + guard;
        // SAFETY: used <= room: one past the last byte at most.
        let tail = unsafe { room_start.add(used) };
        unmap(tail, room - used);
        let mapping = Self { start, bytes, guard };

        // SAFETY: the range lies within the mapping, which nothing else knows of yet.
        let status = unsafe {
            libc::mprotect(start.as_ptr().cast(), bytes, libc::PROT_READ | libc::PROT_WRITE)
        };
        match status {
            0 => Ok(mapping),
            _ => Err(Refusal::call("mprotect", bytes, Errno::last())),
        }
    }

    fn advise_kernel(&self, request: PageRequest) -> Result<(), Refusal> {
        let about_pages = match request {
            PageRequest::Small => Some((libc::MADV_NOHUGEPAGE, "madvise(MADV_NOHUGEPAGE)")),
            PageRequest::Transparent => Some((libc::MADV_HUGEPAGE, "madvise(MADV_HUGEPAGE)")),
            PageRequest::Huge2M => None,
        };
        if let Some((advice, call)) = about_pages {
            match self.advise(advice) {
                // EINVAL: a kernel without transparent huge pages gives base pages; what was got is
                // looked at afterwards.
                Err(Errno(libc::EINVAL)) | Ok(()) => {}
                Err(errno) => return Err(self.refuse(call, errno)),
            }
        }
        // Kernels without KSM or with hugetlb refuse some of these; the risks they
        // remove (merging, sharing with a child, a dump of many GiB) are then absent
        // or no reason not to measure.
        for advice in [libc::MADV_UNMERGEABLE, libc::MADV_DONTFORK, libc::MADV_DONTDUMP] {
            self.advise(advice).ok();
        }
        Ok(())
    }

    fn advise(&self, advice: c_int) -> Result<(), Errno> {
        // SAFETY: the range is this mapping; none of the advices used touches other
        // memory, and the one that drops pages is called through `&mut self`.
        match unsafe { libc::madvise(self.start.as_ptr().cast(), self.bytes, advice) } {
            0 => Ok(()),
            _ => Err(Errno::last()),
        }
    }

    fn refuse(&self, call: &'static str, errno: Errno) -> Refusal {
        Refusal::call(call, format_args!("{:#x}+{}", self.address(), self.bytes), errno)
    }

    /// Gives all pages back (`MADV_DONTNEED`): the contents are zero again, the next
    /// write places each page anew by the policy in force, which stays.
    ///
    /// # Errors
    /// When the kernel cannot: hugetlb pages before Linux 5.18.
    pub fn drop_pages(&mut self) -> Result<(), Refusal> {
        self.advise(libc::MADV_DONTNEED)
            .map_err(|errno| self.refuse("madvise(MADV_DONTNEED)", errno))
    }

    /// The address of the first byte, a multiple of 2 MiB.
    pub fn address(&self) -> usize {
        self.start.addr().get()
    }

    /// Length in bytes, a multiple of the page size.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The memory as numbers. Reading a page that was never written maps the zero
    /// page: write it first.
    pub fn as_f64(&self) -> &[f64] {
        // SAFETY: mapped readable for `bytes`, aligned to 2 MiB, every bit pattern is
        // an f64, and `&self` keeps writers away.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.len_f64()) }
    }

    /// The memory as numbers to write.
    pub fn as_f64_mut(&mut self) -> &mut [f64] {
        // SAFETY: as for `as_f64`, and writable; `&mut self` makes it the only view.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.len_f64()) }
    }

    /// The memory as numbers that several threads may write at a time.
    pub fn as_atomic_u32(&mut self) -> &[AtomicU32] {
        let len = self.bytes / size_of::<u32>();
        // SAFETY: mapped writable for `bytes`, aligned, every bit pattern is a number; `&mut self`
        // makes this the only view, which all share.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), len) }
    }

    /// The same by 8 bytes.
    pub fn as_atomic_u64(&mut self) -> &[AtomicU64] {
        let len = self.bytes / size_of::<u64>();
        // SAFETY: as for `as_atomic_u32`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), len) }
    }

    fn len_f64(&self) -> usize {
        self.bytes / size_of::<f64>()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the guard page before the start is part of the same mapping.
        let first = unsafe { self.start.sub(self.guard) };
        unmap(first, self.bytes + 2 * self.guard);
    }
}

/// Sets addresses aside that nothing lies at; they take no memory.
pub(crate) fn reserve(bytes: usize) -> Result<NonNull<u8>, Refusal> {
    map(bytes, libc::PROT_NONE, 0).map_err(|errno| Refusal::call("mmap", bytes, errno))
}

fn map(bytes: usize, protection: c_int, flags: c_int) -> Result<NonNull<u8>, Errno> {
    let flags = flags | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: without MAP_FIXED the kernel chooses free addresses.
    let start = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(Errno::last());
    }
    // Address 0 is never chosen (vm.mmap_min_addr) and would be unusable.
    NonNull::new(start.cast()).ok_or(Errno(libc::ENOMEM))
}

/// Unmaps what this module mapped. It can fail only for want of a VMA to split
/// (vm.max_map_count); the address space is then lost until exit, not the memory's use.
pub(crate) fn unmap(start: NonNull<u8>, bytes: usize) {
    if bytes > 0 {
        // SAFETY: the caller owns the range and no reference to it is left.
        unsafe { libc::munmap(start.as_ptr().cast(), bytes) };
    }
}

impl From<&Mapping> for AddressRange {
    fn from(mapping: &Mapping) -> Self {
        Self::new(mapping.address(), mapping.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page_nodes::prove_with;
    use crate::proof_method::ProofMethod;
    use nearfar_machine::NodeSet;

    #[test]
    fn mapping_is_aligned_and_absent_until_written() {
        let page = base_page_bytes();
        for request in [PageRequest::Small, PageRequest::Transparent] {
            for bytes in [1, page - 1, page, page + 1, (4 << 20) + 1] {
                let mut mapping = Mapping::new(bytes, request).unwrap();
                assert_eq!(mapping.address() % ALIGNMENT, 0);
                assert!(mapping.bytes() >= bytes && mapping.bytes() - bytes < ALIGNMENT);
                let pages = (mapping.bytes() / page) as u64;
                let proof = |mapping: &Mapping| {
                    prove_with(ProofMethod::MovePages, mapping, &NodeSet::new()).unwrap()
                };
                assert_eq!(proof(&mapping).absent, pages);
                mapping.as_f64_mut().fill(1.5);
                assert_eq!(proof(&mapping).absent, 0);
                assert!(
                    mapping.as_f64().iter().all(|number| number.to_bits() == 1.5_f64.to_bits())
                );
                mapping.drop_pages().unwrap();
                assert_eq!(proof(&mapping).absent, pages);
                assert!(mapping.as_f64_mut().iter().all(|number| number.to_bits() == 0));
            }
        }
    }

    #[test]
    fn mapping_is_a_vma_by_itself_between_inaccessible_pages() {
        let mapping = Mapping::new(3 << 20, PageRequest::Small).unwrap();
        let (start, end) = (mapping.address(), mapping.address() + mapping.bytes());
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let vmas: Vec<_> = maps
            .lines()
            .map(|line| (crate::vma::parse_header(line).unwrap(), line))
            .filter(|(vma, _)| vma.end() >= start && vma.start() <= end)
            .collect();
        let access: Vec<_> = vmas.iter().map(|(_, line)| line.split(' ').nth(1).unwrap()).collect();
        assert_eq!(access, ["---p", "rw-p", "---p"], "{vmas:?}");
        assert_eq!(vmas[1].0, (&mapping).into());
    }

    #[test]
    fn impossible_sizes_are_refused() {
        for bytes in [0, usize::MAX, usize::MAX / 2] {
            for request in [PageRequest::Small, PageRequest::Transparent, PageRequest::Huge2M] {
                assert!(Mapping::new(bytes, request).is_err(), "{bytes} {request:?}");
            }
        }
    }

    #[test]
    fn short_pool_is_refused_with_the_way_out() {
        let free = free_pool_pages();
        let refusal = Mapping::new((free + 64) * ALIGNMENT, PageRequest::Huge2M).unwrap_err();
        assert!(refusal.to_string().contains("nr_hugepages"), "{refusal}");
    }

    fn free_pool_pages() -> usize {
        let path = "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages";
        std::fs::read_to_string(path).map_or(0, |text| text.trim().parse().unwrap())
    }
}
