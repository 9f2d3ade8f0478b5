//! The host's memory of a transfer, lent to devices.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::slice;

/// Pages that are borrowed for as long as devices may reach them. A pointer and no slice: a
/// device writes to them behind the compiler's back.
pub(crate) struct HostPages<'a> {
    start: *mut u64,
    words: usize,
    borrowed: PhantomData<&'a mut [f64]>,
}

impl<'a> HostPages<'a> {
    pub(crate) fn new(host: &'a mut [f64]) -> Self {
        Self { start: host.as_mut_ptr().cast(), words: host.len(), borrowed: PhantomData }
    }

    /// The first words, and the rest.
    pub(crate) fn split_at(self, words: usize) -> (Self, Self) {
        let first = words.min(self.words);
        let rest = Self {
            // SAFETY: at most one past the end of the borrowed slice.
            start: unsafe { self.start.add(first) },
            words: self.words - first,
            borrowed: PhantomData,
        };
        (Self { words: first, ..self }, rest)
    }

    pub(crate) fn start(&self) -> *mut c_void {
        self.start.cast()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.words * size_of::<u64>()
    }

    /// What is in them. To be called while no copy is under way.
    pub(crate) fn words(&self) -> &[u64] {
        // SAFETY: the slice is borrowed for 'a; u64 has the size and alignment of f64, and any
        // bits are one. Copies are waited for before anyone looks ([`crate::Transfer`]).
        unsafe { slice::from_raw_parts(self.start, self.words) }
    }

    /// The same, to be changed. To be called while no copy is under way.
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        // SAFETY: as for `words`; the borrow of the slice is exclusive, and so is that of self.
        unsafe { slice::from_raw_parts_mut(self.start, self.words) }
    }
}
