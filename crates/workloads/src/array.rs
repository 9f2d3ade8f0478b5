//! Memory of a workload's arrays.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64};

use bytemuck::Pod;
use nearfar_sys::{AddressRange, Mapping, PageRequest, Refusal, base_page_bytes};

/// Shares of a thread below this many bytes are laid in base pages: of huge pages too few would
/// lie wholly within a share.
const LEAST_SHARE_IN_HUGE_PAGES: usize = 16 << 20;

/// An array that a workload asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayPlan {
    pub name: &'static str,
    pub bytes: usize,
    /// Whether the strategy that binds memory to its owners binds this one: the largest ones, that
    /// most of the time is spent on (ribeiro2010, section 4).
    pub is_hot: bool,
    /// Byte ranges that the loops give to each thread, in the threads' order, without gaps.
    pub owners: Vec<Range<usize>>,
}

impl ArrayPlan {
    /// An array of `count` things of this many elements of `T`, shared out thing by thing.
    pub fn shared<T>(
        name: &'static str,
        (count, unit): (usize, usize),
        threads: usize,
        is_hot: bool,
    ) -> Self {
        let unit = unit * size_of::<T>();
        let owners = crate::team::shares(count, threads)
            .into_iter()
            .map(|share| share.start * unit..share.end * unit)
            .collect();
        Self { name, bytes: count * unit, is_hot, owners }
    }

    /// The pages to ask for: the same by every strategy, so that strategies differ by nodes alone.
    pub fn pages(&self) -> PageRequest {
        let least = self.owners.iter().map(ExactSizeIterator::len).min();
        if least.is_some_and(|least| least >= LEAST_SHARE_IN_HUGE_PAGES) {
            PageRequest::Transparent
        } else {
            PageRequest::Small
        }
    }
}

/// An array in a mapping of its own, all zero at first.
#[derive(Debug)]
pub struct Array {
    pub plan: ArrayPlan,
    mapping: Mapping,
}

impl Array {
    /// Maps it; no page of it is present.
    ///
    /// # Errors
    /// When there is no room.
    pub fn map(plan: ArrayPlan) -> Result<Self, Refusal> {
        let mapping = Mapping::new(plan.bytes.max(1), plan.pages())?;
        Ok(Self { plan, mapping })
    }

    /// Its elements.
    ///
    /// # Panics
    /// When its bytes are no multiple of an element.
    pub fn of<T: Pod>(&self) -> &[T] {
        let bytes: &[u8] = bytemuck::cast_slice(self.mapping.as_f64());
        bytemuck::cast_slice(&bytes[..self.plan.bytes])
    }

    /// Its elements, to write.
    ///
    /// # Panics
    /// When its bytes are no multiple of an element.
    pub fn of_mut<T: Pod>(&mut self) -> &mut [T] {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(self.mapping.as_f64_mut());
        bytemuck::cast_slice_mut(&mut bytes[..self.plan.bytes])
    }

    /// Its elements for threads that write the same ones.
    pub fn atomic_u32(&mut self) -> &[AtomicU32] {
        &self.mapping.as_atomic_u32()[..self.plan.bytes / 4]
    }

    /// Its elements for threads that write the same ones.
    pub fn atomic_u64(&mut self) -> &[AtomicU64] {
        &self.mapping.as_atomic_u64()[..self.plan.bytes / 8]
    }

    /// Its pages.
    pub fn addresses(&self) -> AddressRange {
        (&self.mapping).into()
    }

    /// Byte ranges of whole pages that each thread owns: a page is its whose share it begins in.
    pub fn owned_pages(&self) -> Vec<Range<usize>> {
        let page = base_page_bytes();
        let up = |byte: usize| byte.next_multiple_of(page).min(self.mapping.bytes());
        self.plan.owners.iter().map(|share| up(share.start)..up(share.end)).collect()
    }

    /// The bytes of all its pages, to touch them.
    pub(crate) fn page_bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(self.mapping.as_f64_mut())
    }
}
