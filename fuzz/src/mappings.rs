//! What the kernel says of mapped memory.

use nearfar_sys::{AddressRange, count_numa_maps, count_page_sizes};

use super::{Outcome, rejected_words};

/// The range that is asked for: 8 MiB, in the corpus several whole mappings.
const START: usize = 0x7f00_0000_0000;
const BYTES: usize = 8 << 20;

/// /proc/PID/maps, an empty line, and /proc/PID/numa_maps of the same mappings.
pub fn numa_maps(input: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(input);
    let (maps, numa_maps) = text.split_once("\n\n").unwrap_or((&text, ""));
    match count_numa_maps(numa_maps, maps, AddressRange::new(START, BYTES)) {
        Ok(found) => {
            let asked = (BYTES as u64).div_ceil(found.page_bytes);
            assert_eq!(found.pages(), asked, "{found:?}");
            Outcome::Accepted
        }
        Err(reason) => rejected_words(&reason),
    }
}

/// /proc/PID/smaps.
pub fn smaps(input: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(input);
    match count_page_sizes(&text, AddressRange::new(START, BYTES)) {
        Ok(sizes) => {
            let parts = sizes.base_bytes.checked_add(sizes.huge_bytes);
            assert_eq!(parts, Some(sizes.resident_bytes));
            Outcome::Accepted
        }
        Err(reason) => rejected_words(&reason),
    }
}
