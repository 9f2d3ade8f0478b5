//! Pages per node by numa_maps (numa(7)).

use std::collections::BTreeMap;
use std::path::Path;

use nearfar_units::excerpt;

use crate::address_range::AddressRange;
use crate::page_nodes::PageNodes;
use crate::page_query::base_page_bytes;
use crate::proof_method::ProofMethod;
use crate::refusal::Refusal;
use crate::system_file::read_text;
use crate::vma::{Cover, parse_header};

/// Asks the live kernel.
pub(crate) fn read(range: AddressRange) -> Result<PageNodes, Refusal> {
    read_by(|numa_maps, maps| count_numa_maps(numa_maps, maps, range))
}

/// The same with what numa_maps tells beside nodes.
pub(crate) fn read_counts(range: AddressRange) -> Result<Counts, Refusal> {
    read_by(|numa_maps, maps| counts_of(numa_maps, maps, range))
}

fn read_by<T>(count: impl FnOnce(&str, &str) -> Result<T, String>) -> Result<T, Refusal> {
    let root = Path::new("/");
    let numa_maps = read_text(root, "proc/self/numa_maps")?;
    let maps = read_text(root, "proc/self/maps")?;
    count(&numa_maps, &maps)
        .map_err(|reason| Refusal::Content { path: "/proc/self/numa_maps".into(), reason })
}

/// Counts the pages per node of `range` from the texts of /proc/PID/numa_maps and
/// /proc/PID/maps. A page is what the kernel counts there: `kernelpagesize_kB`.
///
/// # Errors
/// When the range is not made of whole mappings, is not listed, or has pages of
/// several sizes.
pub fn count_numa_maps(
    numa_maps: &str,
    maps: &str,
    range: AddressRange,
) -> Result<PageNodes, String> {
    let Counts { page_bytes, nodes, .. } = counts_of(numa_maps, maps, range)?;
    let pages = (range.bytes() as u64).div_ceil(page_bytes);
    let counted = nodes.values().try_fold(0_u64, |sum, &pages| sum.checked_add(pages));
    let absent = counted.and_then(|counted| pages.checked_sub(counted));
    let absent = absent.ok_or_else(|| too_many(range))?;
    Ok(PageNodes { method: ProofMethod::NumaMaps, page_bytes, nodes, absent, unknown: 0 })
}

fn too_many(range: AddressRange) -> String {
    format!("more pages are counted than the range {range} has room for")
}

/// The counts of all mappings of a range.
fn counts_of(numa_maps: &str, maps: &str, range: AddressRange) -> Result<Counts, String> {
    let mut cover = Cover::new(range);
    let mut all = Counts::default();
    for line in lines(numa_maps, maps) {
        let (_, vma, counts) = line?;
        // Mappings may come and go between the two reads, but not those of the range.
        let Some(vma) = vma else { continue };
        if !cover.takes(vma)? {
            continue;
        }
        let counts = parse_counts(counts)?;
        if counts.nodes.is_empty() {
            continue;
        }
        if all.page_bytes > 0 && all.page_bytes != counts.page_bytes {
            return Err(format!("the range {range} has pages of several sizes"));
        }
        all.page_bytes = counts.page_bytes;
        all.dirty = all.dirty.saturating_add(counts.dirty);
        for (node, pages) in counts.nodes {
            let known = all.nodes.entry(node).or_default();
            *known = known.checked_add(pages).ok_or_else(|| too_many(range))?;
        }
    }
    cover.finish()?;
    if all.page_bytes == 0 {
        all.page_bytes = base_page_bytes() as u64;
    }
    Ok(all)
}

/// Of each mapping its start, its addresses where /proc/PID/maps has its end, and what
/// /proc/PID/numa_maps says of it.
pub(crate) fn lines<'a>(
    numa_maps: &'a str,
    maps: &str,
) -> impl Iterator<Item = Result<(usize, Option<AddressRange>, &'a str), String>> {
    let vmas: BTreeMap<usize, AddressRange> =
        maps.lines().filter_map(parse_header).map(|vma| (vma.start(), vma)).collect();
    numa_maps.lines().map(move |line| {
        let (start, rest) = line.split_once(' ').unwrap_or((line, ""));
        let start = usize::from_str_radix(start, 16)
            .map_err(|_| format!("'{}' does not begin with an address", excerpt(line)))?;
        Ok((start, vmas.get(&start).copied(), rest))
    })
}

/// Pages of a mapping.
#[derive(Default)]
pub(crate) struct Counts {
    /// 0 where there are none.
    pub page_bytes: u64,
    /// Pages that were written and are not on the disk yet.
    pub dirty: u64,
    pub nodes: BTreeMap<u32, u64>,
}

/// Reads `N<node>=<pages>` and `kernelpagesize_kB=`; the policy's name, which may
/// hold a blank ("weighted interleave:0-1"), and other counts are passed over.
pub(crate) fn parse_counts(line: &str) -> Result<Counts, String> {
    let wrong = |word: &str| format!("'{}' in '{}' is not a count", excerpt(word), excerpt(line));
    let mut page_bytes: Option<u64> = None;
    let mut dirty = 0;
    let mut nodes: BTreeMap<u32, u64> = BTreeMap::new();
    for word in line.split_ascii_whitespace() {
        let Some((name, value)) = word.split_once('=') else {
            continue;
        };
        if name == "kernelpagesize_kB" {
            let kilobytes: u64 = value.parse().map_err(|_| wrong(word))?;
            page_bytes = kilobytes.checked_mul(1024).filter(|&bytes| bytes > 0);
            page_bytes.ok_or_else(|| wrong(word))?;
        } else if name == "dirty" {
            dirty = value.parse().map_err(|_| wrong(word))?;
        } else if let Some(node) = name.strip_prefix('N') {
            // Names in capitals that are no node do not exist today.
            let Ok(node) = node.parse() else { continue };
            let pages: u64 = value.parse().map_err(|_| wrong(word))?;
            let known = nodes.entry(node).or_default();
            *known = known.checked_add(pages).ok_or_else(|| wrong(word))?;
        }
    }
    if page_bytes.is_none() && !nodes.is_empty() {
        return Err(format!("'{}' has no kernelpagesize_kB (Linux 3.13 and later)", excerpt(line)));
    }
    Ok(Counts { page_bytes: page_bytes.unwrap_or_default(), dirty, nodes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // The shape of the lines of Linux 6.12 on a machine with four nodes.
    const MAPS: &str = "\
555e05323000-555e05325000 r--p 00000000 fe:00 247278   /usr/bin/head
7f0000000000-7f0000010000 rw-p 00000000 00:00 0
7f0000200000-7f0000220000 rw-p 00000000 00:00 0
7f0000220000-7f0000230000 rw-p 00000000 00:00 0
7f0000400000-7f0000c00000 rw-p 00000000 00:0f 14      /anon_hugepage (deleted)
7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0       [stack]
";
    const NUMA_MAPS: &str = "\
555e05323000 default file=/usr/bin/N0=9 mapped=2 N3=2 kernelpagesize_kB=4
7f0000000000 bind:1 anon=15 dirty=15 active=0 N1=15 kernelpagesize_kB=4
7f0000200000 weighted interleave:0,2 anon=32 dirty=32 N0=24 N2=8 kernelpagesize_kB=4
7f0000220000 default
7f0000400000 prefer:3 file=/anon_hugepage\\040(deleted) huge anon=3 dirty=3 N3=3 kernelpagesize_kB=2048
7ffd00000000 default stack anon=3 dirty=3 N0=3 kernelpagesize_kB=4
";

    fn found(start: usize, bytes: usize) -> Result<PageNodes, String> {
        count_numa_maps(NUMA_MAPS, MAPS, AddressRange::new(start, bytes))
    }

    #[test]
    fn counts_are_those_of_the_range() {
        let one = found(0x7f00_0000_0000, 0x10000).unwrap();
        assert_eq!((one.nodes, one.absent, one.page_bytes), ([(1, 15)].into(), 1, 4096));
        let split = found(0x7f00_0020_0000, 0x30000).unwrap();
        assert_eq!((split.nodes, split.absent), ([(0, 24), (2, 8)].into(), 16));
        let huge = found(0x7f00_0040_0000, 0x80_0000).unwrap();
        assert_eq!((huge.nodes, huge.absent, huge.page_bytes), ([(3, 3)].into(), 1, 2 << 20));
        let file = found(0x555e_0532_3000, 0x2000).unwrap();
        assert_eq!(file.nodes, [(3, 2)].into());
        let empty = found(0x7f00_0022_0000, 0x10000).unwrap();
        assert_eq!((empty.nodes.len() as u64, empty.absent * empty.page_bytes), (0, 0x10000));
    }

    #[test]
    fn parts_of_mappings_and_holes_are_refused() {
        for (start, bytes) in [
            (0x7f00_0000_0000, 0x8000),
            (0x7f00_0000_4000, 0xc000),
            (0x7f00_0000_0000, 0x20000),
            (0x1000, 0x1000),
        ] {
            assert!(found(start, bytes).is_err(), "{start:#x}+{bytes:#x}");
        }
    }

    #[test]
    fn damaged_counts_are_refused() {
        let range = AddressRange::new(0x1000, 0x2000);
        let maps = "1000-3000 rw-p 00000000 00:00 0\n";
        for line in [
            "1000 default N0=x kernelpagesize_kB=4",
            "1000 default N0=1",
            "1000 default N0=1 kernelpagesize_kB=0",
            "1000 default N0=3 kernelpagesize_kB=4",
            "1000 default N0=1 kernelpagesize_kB=99999999999999999999",
            "1000 default N0=18446744073709551615 N0=2 kernelpagesize_kB=4",
            "1000 default N0=18446744073709551615 N1=2 kernelpagesize_kB=4",
            "zz default",
        ] {
            assert!(count_numa_maps(line, maps, range).is_err(), "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn any_counts_add_up_to_the_range_or_are_refused(
            node in 0_u32..70_000,
            pages in any::<u64>(),
            kilobytes in prop::sample::select(vec![0_u64, 4, 64, 2048, u64::MAX]),
            noise in "[ -~]{0,40}",
        ) {
            let maps = "1000-9000 rw-p 00000000 00:00 0\n";
            let few = pages % 10;
            for pages in [pages, few] {
                let line = format!("1000 {noise} N{node}={pages} kernelpagesize_kB={kilobytes}");
                let range = AddressRange::new(0x1000, 0x8000);
                if let Ok(found) = count_numa_maps(&line, maps, range) {
                    prop_assert!(pages <= 8 && found.on(node) >= pages);
                    prop_assert_eq!(found.pages(), 0x8000_u64.div_ceil(found.page_bytes));
                }
            }
        }
    }
}
