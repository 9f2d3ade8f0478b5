//! Which pages the kernel gave: base or huge, by /proc/self/smaps.

use std::path::Path;

use nearfar_units::excerpt;

use crate::address_range::AddressRange;
use crate::refusal::Refusal;
use crate::system_file::read_text;
use crate::vma::{Cover, parse_header};

/// Bytes of a huge page, transparent or of hugetlb, as [`PageRequest`](crate::PageRequest) asks
/// for them.
pub const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Bytes of a range by the size of the pages that back them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageSizes {
    /// Bytes present in pages smaller than a huge page: base pages, and the
    /// medium-sized folios that smaps does not tell from them.
    pub base_bytes: u64,
    /// Bytes present in huge pages, transparent (mapped as a whole) or of hugetlb.
    pub huge_bytes: u64,
    /// Bytes present in all: the sum of the two. The rest of the range is absent.
    pub resident_bytes: u64,
}

/// Asks the live kernel which pages back `range`.
///
/// # Errors
/// When /proc/self/smaps cannot be read, or the range is not made of whole mappings.
pub fn achieved_page_sizes(range: impl Into<AddressRange>) -> Result<PageSizes, Refusal> {
    count_page_sizes(&read_text(Path::new("/"), "proc/self/smaps")?, range.into())
        .map_err(|reason| Refusal::Content { path: "/proc/self/smaps".into(), reason })
}

/// Reads the page sizes of `range` from the text of /proc/PID/smaps (proc(5)).
///
/// # Errors
/// When the range is not made of whole mappings, or a field is missing or damaged.
pub fn count_page_sizes(smaps: &str, range: AddressRange) -> Result<PageSizes, String> {
    let mut cover = Cover::new(range);
    let mut lines = smaps.lines().peekable();
    let mut sizes = PageSizes::default();
    while let Some(line) = lines.next() {
        let Some(vma) = parse_header(line) else {
            continue;
        };
        let inside = cover.takes(vma)?;
        let mut small_or_transparent = None;
        let mut transparent = 0;
        let mut pool = 0;
        while let Some(line) = lines.next_if(|line| parse_header(line).is_none()) {
            if !inside {
                continue;
            }
            match line.split_once(':') {
                Some(("Rss", value)) => small_or_transparent = Some(parse_bytes(value, line)?),
                Some(("AnonHugePages" | "ShmemPmdMapped" | "FilePmdMapped", value)) => {
                    transparent += parse_bytes(value, line)?;
                }
                // Not part of Rss.
                Some(("Private_Hugetlb" | "Shared_Hugetlb", value)) => {
                    pool += parse_bytes(value, line)?;
                }
                _ => {}
            }
        }
        if inside {
            let present = small_or_transparent.ok_or("a mapping has no line 'Rss:'")?;
            let base = present.checked_sub(transparent);
            sizes.base_bytes += base.ok_or("huge pages are above Rss")?;
            sizes.huge_bytes += transparent + pool;
        }
    }
    cover.finish()?;
    sizes.resident_bytes = sizes.base_bytes + sizes.huge_bytes;
    Ok(sizes)
}

fn parse_bytes(value: &str, line: &str) -> Result<u64, String> {
    let number = value.trim().strip_suffix("kB").and_then(|number| number.trim().parse().ok());
    number
        // No machine has 2^50 kB; the bound keeps sums of damaged numbers in range.
        .filter(|&kilobytes: &u64| kilobytes < 1 << 40)
        .map(|kilobytes| kilobytes * 1024)
        .ok_or_else(|| format!("'{}' is not a number of kB", excerpt(line)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "\
7f0000000000-7f0000600000 rw-p 00000000 00:00 0 \n\
Size:               6144 kB
KernelPageSize:        4 kB
MMUPageSize:           4 kB
Rss:                4100 kB
AnonHugePages:      4096 kB
Shared_Hugetlb:        0 kB
Private_Hugetlb:       0 kB
VmFlags: rd wr mr mw me ac sd hg 
7f0000600000-7f0000a00000 rw-p 00000000 00:0f 14   /anon_hugepage (deleted)
Size:               4096 kB
KernelPageSize:     2048 kB
Rss:                   0 kB
AnonHugePages:         0 kB
Private_Hugetlb:    2048 kB
VmFlags: rd wr ht
7f0000a00000-7f0000b00000 ---p 00000000 00:00 0 
Rss:                   8 kB
";

    #[test]
    fn sizes_are_told_apart() {
        let transparent = count_page_sizes(TEXT, AddressRange::new(0x7f00_0000_0000, 6 << 20));
        let expected = PageSizes {
            base_bytes: 4 << 10,
            huge_bytes: 4 << 20,
            resident_bytes: (4 << 20) + (4 << 10),
        };
        assert_eq!(transparent.unwrap(), expected);
        let pool = count_page_sizes(TEXT, AddressRange::new(0x7f00_0060_0000, 4 << 20)).unwrap();
        assert_eq!((pool.base_bytes, pool.huge_bytes), (0, 2 << 20));
        let both = count_page_sizes(TEXT, AddressRange::new(0x7f00_0000_0000, 10 << 20)).unwrap();
        assert_eq!(both.huge_bytes, 6 << 20);
    }

    #[test]
    fn damaged_text_and_parts_of_mappings_are_refused() {
        assert!(count_page_sizes(TEXT, AddressRange::new(0x7f00_0000_0000, 2 << 20)).is_err());
        assert!(count_page_sizes("", AddressRange::new(0x1000, 4096)).is_err());
        for fields in ["Size: 4 kB", "Rss: 4", "Rss: -4 kB", "Rss: 0 kB\nAnonHugePages: 4 kB"] {
            let text = format!("1000-2000 rw-p 0 0 0\n{fields}\n");
            assert!(count_page_sizes(&text, AddressRange::new(0x1000, 4096)).is_err(), "{fields}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_an_answer_or_a_refusal(fields in "(Rss|AnonHugePages|Private_Hugetlb|x): *[0-9]{0,25} kB\n") {
            let text = format!("1000-2000 rw-p 0 0 0\n{fields}{fields}");
            if let Ok(sizes) = count_page_sizes(&text, AddressRange::new(0x1000, 4096)) {
                prop_assert_eq!(sizes.resident_bytes, sizes.base_bytes + sizes.huge_bytes);
            }
        }
    }
}
