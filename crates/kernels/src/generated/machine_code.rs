//! Assembled code in memory that may be executed.

use std::fmt::Display;
use std::io;
use std::sync::Arc;

use memmap2::{Mmap, MmapMut};

use super::architecture;
use crate::{Unavailable, Variant};

/// Bytes of machine code, and where in them its routines begin. Position-independent.
#[derive(Debug)]
pub(super) struct Assembled {
    pub bytes: Vec<u8>,
    pub entries: Vec<usize>,
}

/// Vectors of 64 bytes that a routine takes from memory before its loop and leaves there after
/// it. What each is for is agreed between a routine's assembler and its caller.
#[repr(C, align(64))]
pub(super) struct Exchange {
    pub vectors: [[u64; 8]; Exchange::VECTORS],
}

impl Exchange {
    /// What is stored and sixteen accumulators; also all registers of arithmetic.
    pub const VECTORS: usize = if cfg!(target_arch = "aarch64") { 24 } else { 17 };
}

/// A routine in the C convention of Linux: `passes` times the same `iterations` of its loop, over a
/// destination and a source.
///
/// # Safety
///
/// The CPU has the routine's instruction set. Iterations and passes are at least 1. Where the
/// routine stores, `destination` is valid for writes of that many iterations, and aligned to the
/// vector if the stores are non-temporal; where it loads, `source` is valid for reads of them.
pub(super) type Routine = unsafe extern "C" fn(
    destination: *mut f64,
    source: *const f64,
    iterations: usize,
    passes: usize,
    exchange: *mut Exchange,
);

/// Routines in memory that may be executed and not written. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct MachineCode {
    mapping: Arc<Mmap>,
    entries: Vec<usize>,
}

impl MachineCode {
    /// The code of `recipe` in a variant, if this CPU runs that.
    ///
    /// # Errors
    ///
    /// If it does not, or Linux gives no executable memory.
    pub fn of(
        recipe: &impl Display,
        variant: Variant,
        assembled: Assembled,
    ) -> Result<MachineCode, Unavailable> {
        let name = recipe.to_string();
        if !variant.is_available() {
            return Err(Unavailable::NotOnThisCpu { name, variant });
        }
        Self::load(assembled).map_err(|cause| Unavailable::NoExecutableMemory { name, cause })
    }

    /// Copies code to pages of its own. They are writable first and executable afterwards, never
    /// both at once.
    fn load(assembled: Assembled) -> io::Result<MachineCode> {
        let Assembled { bytes, entries } = assembled;
        let mut pages = MmapMut::map_anon(bytes.len())?;
        pages.copy_from_slice(&bytes);
        let mapping = pages.make_exec()?;
        architecture::show_code(&mapping);
        Ok(MachineCode { mapping: Arc::new(mapping), entries })
    }

    /// One of the routines.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    pub fn routine(&self, index: usize) -> Routine {
        let start: *const u8 = &raw const self.mapping[self.entries[index]];
        // SAFETY: at that place of a mapping that may be executed the assembler wrote a routine
        // that keeps this calling convention. Whoever calls it holds `self`, and so the mapping.
        unsafe { std::mem::transmute::<*const u8, Routine>(start) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How Linux says that the page at `address` may be used, as in `r-xp`.
    fn permissions(address: usize) -> String {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let line = maps.lines().find(|line| {
            let (first, rest) = line.split_once('-').unwrap();
            let last = rest.split(' ').next().unwrap();
            let number = |text| usize::from_str_radix(text, 16).unwrap();
            (number(first)..number(last)).contains(&address)
        });
        line.unwrap().split(' ').nth(1).unwrap().to_owned()
    }

    #[test]
    fn code_may_be_run_and_not_written() {
        // No instruction here is run.
        let assembled = Assembled { bytes: vec![0xCC; 5000], entries: vec![0, 4999] };
        let code = MachineCode::load(assembled).unwrap();
        for page in [&code.mapping[0], &code.mapping[4999]] {
            assert_eq!(permissions((&raw const *page).addr()), "r-xp");
        }
        assert_eq!(code.routine(1) as usize - code.routine(0) as usize, 4999);
    }
}
