//! Which kernels there are, and what each one does to memory.

use crate::{Constants, TimedLoop, Unavailable, Variant};

/// What a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Reads, and folds what it read with exclusive or.
    Load,
    /// Writes constants.
    Store,
    /// `a = b`
    Copy,
    /// `a = s b`
    Scale,
    /// `a = b + c`
    Add,
    /// `a = b + s c`
    Triad,
    /// The scalar product of `b` and `c`.
    Ddot,
}

/// A catalog entry. Counts are per element of 8 bytes; each array is touched once per element.
#[derive(Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The word for it in arguments and records.
    pub name: &'static str,
    /// What it computes.
    pub operation: Operation,
    /// Whether its stores go around the caches.
    pub non_temporal: bool,
    /// What it does to element `i`. `lane(k)` and `s` are [`Constants`]; `x` is the [`Checksum`].
    ///
    /// [`Checksum`]: crate::Checksum
    pub formula: &'static str,
}

/// Every kernel.
pub static CATALOG: [Kernel; 12] = [
    kernel("load", Operation::Load, false),
    kernel("store", Operation::Store, false),
    kernel("store_nt", Operation::Store, true),
    kernel("copy", Operation::Copy, false),
    kernel("copy_nt", Operation::Copy, true),
    kernel("scale", Operation::Scale, false),
    kernel("scale_nt", Operation::Scale, true),
    kernel("add", Operation::Add, false),
    kernel("add_nt", Operation::Add, true),
    kernel("triad", Operation::Triad, false),
    kernel("triad_nt", Operation::Triad, true),
    kernel("ddot", Operation::Ddot, false),
];

const fn kernel(name: &'static str, operation: Operation, non_temporal: bool) -> Kernel {
    let formula = match operation {
        Operation::Load => "x ^= b[i]",
        Operation::Store => "a[i] = lane(i % 8)",
        Operation::Copy => "a[i] = b[i]",
        Operation::Scale => "a[i] = s*b[i]",
        Operation::Add => "a[i] = b[i] + c[i]",
        Operation::Triad => "a[i] = b[i] + s*c[i]",
        Operation::Ddot => "x += b[i]*c[i]",
    };
    Kernel { name, operation, non_temporal, formula }
}

/// The kernel of that name, if the catalog has one.
pub fn find(name: &str) -> Option<&'static Kernel> {
    CATALOG.iter().find(|kernel| kernel.name == name)
}

impl Kernel {
    /// Elements loaded per element, not counting what a store makes the cache read first.
    pub fn loads(&self) -> u32 {
        match self.operation {
            Operation::Store => 0,
            Operation::Load | Operation::Copy | Operation::Scale => 1,
            Operation::Add | Operation::Triad | Operation::Ddot => 2,
        }
    }

    /// Elements stored per element.
    pub fn stores(&self) -> u32 {
        match self.operation {
            Operation::Load | Operation::Ddot => 0,
            Operation::Store
            | Operation::Copy
            | Operation::Scale
            | Operation::Add
            | Operation::Triad => 1,
        }
    }

    /// Floating-point operations per element; a fused multiply-add is two. The exclusive or of
    /// `load` is none.
    pub fn flops(&self) -> u32 {
        match self.operation {
            Operation::Load | Operation::Store | Operation::Copy => 0,
            Operation::Scale | Operation::Add => 1,
            Operation::Triad | Operation::Ddot => 2,
        }
    }

    /// How many arrays it runs over.
    pub fn arrays(&self) -> usize {
        match self.operation {
            Operation::Load | Operation::Store => 1,
            Operation::Copy | Operation::Scale | Operation::Ddot => 2,
            Operation::Add | Operation::Triad => 3,
        }
    }

    /// Bytes that the program asks for over `elements` elements: the convention of STREAM, which
    /// does not count what an ordinary store makes the cache read first.
    pub fn useful_bytes(&self, elements: u64) -> u64 {
        8 * u64::from(self.loads() + self.stores()) * elements
    }

    /// Whether it has ordinary stores, for which most CPUs first read the line they write to.
    pub fn write_allocates(&self) -> bool {
        self.stores() > 0 && !self.non_temporal
    }

    /// The variants that exist and that this CPU runs: those in order, widest first, then those
    /// that take pages in turn.
    pub fn variants(&self) -> Vec<Variant> {
        Variant::every().filter(|it| it.is_available() && self.is_written_for(*it)).collect()
    }

    /// Its loop in one instruction set.
    ///
    /// # Errors
    ///
    /// If the kernel was not written for that variant, or this CPU does not run it.
    pub fn in_variant(&'static self, variant: Variant) -> Result<TimedLoop, Unavailable> {
        if !self.is_written_for(variant) {
            let why = match variant.pages_in_turn() {
                1 => "only vector instruction sets have non-temporal stores here",
                _ => "pages in turn are for load and for non-temporal stores of what was read",
            };
            return Err(Unavailable::NotWritten { name: self.name.into(), variant, why });
        }
        TimedLoop::new(self, variant)
            .ok_or_else(|| Unavailable::NotOnThisCpu { name: self.name.into(), variant })
    }

    /// Rust has no stable non-temporal store of one `f64` for every CPU. Pages are taken in turn
    /// where that was found to be faster.
    pub fn is_written_for(&self, variant: Variant) -> bool {
        match variant.pages_in_turn() {
            1 => !(self.non_temporal && variant == Variant::Portable),
            _ => match self.operation {
                Operation::Load => true,
                Operation::Store | Operation::Ddot => false,
                Operation::Copy | Operation::Scale | Operation::Add | Operation::Triad => {
                    self.non_temporal
                }
            },
        }
    }

    /// What the destination holds at one element after a run: `index_in_slice` counts from the
    /// start of the slice that was run, `b` and `c` are the sources there (any value where the
    /// kernel has no such source). `None` for kernels without destination.
    pub fn expected(
        &self,
        constants: &Constants,
        index_in_slice: u64,
        b: f64,
        c: f64,
    ) -> Option<f64> {
        match self.operation {
            Operation::Load | Operation::Ddot => None,
            Operation::Store => Some(constants.lanes[(index_in_slice % 8) as usize]),
            Operation::Copy => Some(b),
            Operation::Scale => Some(constants.scalar * b),
            Operation::Add => Some(b + c),
            Operation::Triad => Some(b + constants.scalar * c),
        }
    }
}
