//! The kernel's pieces of address space (VMAs) as /proc/self/maps and smaps list
//! them.

use crate::address_range::AddressRange;

/// Reads `start-end` of a header line of maps or smaps; `None` for other lines.
pub(crate) fn parse_header(line: &str) -> Option<AddressRange> {
    let (start, rest) = line.split_once('-')?;
    let (end, _) = rest.split_once(' ')?;
    let start = usize::from_str_radix(start, 16).ok()?;
    let end = usize::from_str_radix(end, 16).ok()?;
    Some(AddressRange::new(start, end.checked_sub(start)?))
}

/// Collects the VMAs that make up a range.
pub(crate) struct Cover {
    range: AddressRange,
    covered: usize,
}

impl Cover {
    pub(crate) fn new(range: AddressRange) -> Self {
        Self { range, covered: 0 }
    }

    /// Whether the VMA is part of the range.
    ///
    /// # Errors
    /// When it sticks out: what the kernel says of it is then not about the range alone.
    pub(crate) fn takes(&mut self, vma: AddressRange) -> Result<bool, String> {
        if vma.end() <= self.range.start() || vma.start() >= self.range.end() {
            return Ok(false);
        }
        if vma.start() < self.range.start() || vma.end() > self.range.end() {
            return Err(format!(
                "the mapping {vma} sticks out of the range {}, so its counts are not the range's",
                self.range
            ));
        }
        self.covered += vma.bytes();
        Ok(true)
    }

    /// # Errors
    /// When the VMAs taken do not fill the range.
    pub(crate) fn finish(self) -> Result<(), String> {
        if self.covered == self.range.bytes() {
            return Ok(());
        }
        Err(format!("{} bytes of the range {} are listed", self.covered, self.range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_told_from_fields() {
        let header = "7f00-8000 rw-p 00000000 00:00 0 ";
        assert_eq!(parse_header(header), Some(AddressRange::new(0x7f00, 0x100)));
        for line in ["", "Rss:  4 kB", "VmFlags: rd wr", "8000-7f00 rw-p", "x-y z", "1-2"] {
            assert_eq!(parse_header(line), None, "{line:?}");
        }
    }

    #[test]
    fn range_is_covered_by_whole_mappings_only() {
        let range = AddressRange::new(100, 100);
        let mut cover = Cover::new(range);
        assert_eq!(cover.takes(AddressRange::new(0, 100)), Ok(false));
        assert_eq!(cover.takes(AddressRange::new(200, 100)), Ok(false));
        assert_eq!(cover.takes(AddressRange::new(100, 40)), Ok(true));
        assert!(cover.takes(AddressRange::new(90, 20)).is_err());
        assert!(cover.takes(AddressRange::new(190, 20)).is_err());
        assert_eq!(cover.takes(AddressRange::new(140, 60)), Ok(true));
        assert_eq!(cover.finish(), Ok(()));
        assert!(Cover::new(range).finish().is_err());
    }
}
