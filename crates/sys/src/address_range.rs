//! A range of addresses in this process, named without borrowing the memory.

use std::fmt;

/// Addresses of this process. The kernel is asked about them; nothing here reads
/// or writes through them, so a range may outlive the memory it named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AddressRange {
    start: usize,
    bytes: usize,
}

impl AddressRange {
    /// `bytes` bytes from address `start` on; cut at the end of the address space.
    pub fn new(start: usize, bytes: usize) -> Self {
        Self { start, bytes: bytes.min(usize::MAX - start) }
    }

    pub fn start(&self) -> usize {
        self.start
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The address after the last.
    pub fn end(&self) -> usize {
        self.start + self.bytes
    }

    /// The part of this range from byte `offset` on, at most `bytes` long.
    pub fn part(&self, offset: usize, bytes: usize) -> Self {
        let offset = offset.min(self.bytes);
        Self { start: self.start + offset, bytes: bytes.min(self.bytes - offset) }
    }

    /// Start addresses of the pages of `page_bytes` that the range touches.
    pub(crate) fn pages(&self, page_bytes: usize) -> impl Iterator<Item = usize> + use<> {
        let first = self.start / page_bytes;
        let end = match self.bytes {
            0 => first,
            bytes => (self.start + (bytes - 1)) / page_bytes + 1,
        };
        (first..end).map(move |number| number * page_bytes)
    }
}

impl<T> From<&[T]> for AddressRange {
    fn from(slice: &[T]) -> Self {
        Self::new(slice.as_ptr().addr(), size_of_val(slice))
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:#x}+{}", self.start, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(start: usize, bytes: usize) -> Vec<usize> {
        AddressRange::new(start, bytes).pages(4096).collect()
    }

    #[test]
    fn pages_are_those_touched() {
        assert_eq!(pages(4096, 0), [0; 0]);
        assert_eq!(pages(4096, 1), [4096]);
        assert_eq!(pages(4095, 2), [0, 4096]);
        assert_eq!(pages(8192, 8192), [8192, 12288]);
        assert_eq!(pages(usize::MAX - 1, 100), [usize::MAX - 4095]);
    }

    #[test]
    fn parts_stay_within() {
        let range = AddressRange::new(0x1000, 100);
        assert_eq!(range.part(90, 50), AddressRange::new(0x105a, 10));
        assert_eq!(range.part(200, 1).bytes(), 0);
    }
}
