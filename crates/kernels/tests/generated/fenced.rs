//! Arrays at the edge of memory that may not be touched.

use std::ops::{Deref, DerefMut};
use std::{io, ptr};

/// Bytes of a page.
fn page() -> usize {
    // SAFETY: this call takes a number and reads no memory of ours.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).unwrap()
}

/// Which end of an array is at the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    First,
    Last,
}

/// An array whose first element follows a page that faults, or whose last one is followed by one.
pub struct Fenced {
    base: *mut u8,
    mapped: usize,
    start: usize,
    len: usize,
}

impl Fenced {
    pub fn new(len: usize, edge: Edge) -> Fenced {
        let page = page();
        let inner = (len * size_of::<f64>()).max(1).next_multiple_of(page);
        let mapped = inner + 2 * page;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
        let base = unsafe { libc::mmap(ptr::null_mut(), mapped, libc::PROT_NONE, flags, -1, 0) };
        assert_ne!(base, libc::MAP_FAILED, "{}", io::Error::last_os_error());
        let base: *mut u8 = base.cast();
        let inside = base.wrapping_add(page);
        // SAFETY: these pages are inside the mapping.
        let changed =
            unsafe { libc::mprotect(inside.cast(), inner, libc::PROT_READ | libc::PROT_WRITE) };
        assert_eq!(changed, 0, "{}", io::Error::last_os_error());
        let start = match edge {
            Edge::First => page,
            Edge::Last => page + inner - len * size_of::<f64>(),
        };
        Fenced { base, mapped, start, len }
    }

    pub fn holding(values: &[f64], edge: Edge) -> Fenced {
        let mut array = Fenced::new(values.len(), edge);
        array.copy_from_slice(values);
        array
    }
}

impl Deref for Fenced {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        let first = self.base.wrapping_add(self.start).cast_const().cast();
        // SAFETY: `new` made the elements readable, zeroed and aligned, and `drop` unmaps them.
        unsafe { std::slice::from_raw_parts(first, self.len) }
    }
}

impl DerefMut for Fenced {
    fn deref_mut(&mut self) -> &mut [f64] {
        let first = self.base.wrapping_add(self.start).cast();
        // SAFETY: as for `deref`, and writable; nobody else has them.
        unsafe { std::slice::from_raw_parts_mut(first, self.len) }
    }
}

impl Drop for Fenced {
    fn drop(&mut self) {
        // SAFETY: the mapping is this array's own, and nobody borrows it any more.
        let unmapped = unsafe { libc::munmap(self.base.cast(), self.mapped) };
        assert_eq!(unmapped, 0, "{}", io::Error::last_os_error());
    }
}
