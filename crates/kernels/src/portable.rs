//! The kernels in plain Rust, one element at a time.
//!
//! Loads and stores are volatile: the compiler may neither drop them, nor join them to vectors,
//! nor put `memcpy` or `memset` in their place, so that every build moves one `f64` per
//! instruction.

use std::ptr;
#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Checksum, Constants, Operands, Operation};

/// Independent accumulators of the reductions: with four cycles for an addition and two additions
/// per cycle, fewer would wait for each other.
pub(crate) const ACCUMULATORS: usize = 8;

/// Runs `operation` over operands of its shape, storing with `write`.
pub(crate) fn run(
    operation: Operation,
    operands: Operands<'_>,
    constants: &Constants,
    repeats: u32,
    write: impl Fn(&mut f64, f64) + Copy,
) -> Checksum {
    let Constants { scalar, lanes } = *constants;
    let a = operands.a.unwrap_or_default();
    let b = operands.b.unwrap_or_default();
    let c = operands.c.unwrap_or_default();
    let mut checksum = Checksum::None;
    for _ in 0..repeats {
        match operation {
            Operation::Load => checksum = checksum.with(Checksum::Xor(xor(b))),
            Operation::Store => store(a, lanes, write),
            Operation::Copy => map(a, b, |b| b, write),
            Operation::Scale => map(a, b, |b| scalar * b, write),
            Operation::Add => zip(a, b, c, |b, c| b + c, write),
            Operation::Triad => zip(a, b, c, |b, c| b + scalar * c, write),
            Operation::Ddot => checksum = checksum.with(Checksum::Sum(dot(b, c))),
        }
    }
    checksum
}

/// An ordinary store that the compiler keeps as it is.
#[inline(always)]
pub(crate) fn write_volatile(place: &mut f64, value: f64) {
    // SAFETY: a mutable reference is valid for writes and aligned.
    unsafe { ptr::write_volatile(place, value) }
}

/// A load that the compiler keeps as it is.
#[inline(always)]
pub(crate) fn read_volatile(place: &f64) -> f64 {
    // SAFETY: a reference is valid for reads, aligned, and points to an f64.
    unsafe { ptr::read_volatile(place) }
}

#[inline(always)]
fn store(a: &mut [f64], lanes: [f64; 8], write: impl Fn(&mut f64, f64)) {
    let (chunks, rest) = a.as_chunks_mut::<8>();
    for chunk in chunks {
        for (place, lane) in chunk.iter_mut().zip(lanes) {
            write(place, lane);
        }
    }
    for (place, lane) in rest.iter_mut().zip(lanes) {
        write(place, lane);
    }
}

#[inline(always)]
fn map(a: &mut [f64], b: &[f64], f: impl Fn(f64) -> f64, write: impl Fn(&mut f64, f64)) {
    for (place, b) in a.iter_mut().zip(b) {
        write(place, f(read_volatile(b)));
    }
}

#[inline(always)]
fn zip(
    a: &mut [f64],
    b: &[f64],
    c: &[f64],
    f: impl Fn(f64, f64) -> f64,
    write: impl Fn(&mut f64, f64),
) {
    for ((place, b), c) in a.iter_mut().zip(b).zip(c) {
        write(place, f(read_volatile(b), read_volatile(c)));
    }
}

/// Follows pointers for this many accesses; gives where that ends.
///
/// # Safety
///
/// `place` holds the address of a place that does so too, and so on; their provenance is exposed.
pub(crate) unsafe fn follow(mut place: usize, accesses: u64) -> usize {
    for _ in 0..accesses {
        let pointer = ptr::with_exposed_provenance::<usize>(place);
        // SAFETY: the caller says that there is an address.
        place = unsafe { ptr::read_volatile(pointer) };
    }
    place
}

/// Waits for a turn by loads and writes the next, `times` times, each turn two above the one
/// before. Ends early where a turn does not come within `patience` loads; gives how many were left.
#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(crate) fn write_turns(count: &AtomicU64, turn: u64, times: u64, patience: u64) -> u64 {
    take_turns(turn, times, patience, |turn| {
        let is_there = count.load(Ordering::Acquire) == turn;
        if is_there {
            count.store(turn + 1, Ordering::Release);
        }
        is_there
    })
}

/// The same by compare-and-swap, which waits and writes in one.
#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(crate) fn swap_turns(count: &AtomicU64, turn: u64, times: u64, patience: u64) -> u64 {
    take_turns(turn, times, patience, |turn| {
        count.compare_exchange(turn, turn + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    })
}

#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[inline(always)]
fn take_turns(turn: u64, times: u64, patience: u64, take: impl Fn(u64) -> bool) -> u64 {
    for done in 0..times {
        if !(0..patience).any(|_| take(turn + 2 * done)) {
            return times - done;
        }
    }
    0
}

fn xor(b: &[f64]) -> u64 {
    let mut folded = [0; ACCUMULATORS];
    let (chunks, rest) = b.as_chunks::<ACCUMULATORS>();
    for chunk in chunks {
        for (folded, b) in folded.iter_mut().zip(chunk) {
            *folded ^= read_volatile(b).to_bits();
        }
    }
    for (folded, b) in folded.iter_mut().zip(rest) {
        *folded ^= read_volatile(b).to_bits();
    }
    folded.into_iter().fold(0, |one, two| one ^ two)
}

fn dot(b: &[f64], c: &[f64]) -> f64 {
    let mut sums = [0.0; ACCUMULATORS];
    let (b_chunks, b_rest) = b.as_chunks::<ACCUMULATORS>();
    let (c_chunks, c_rest) = c.as_chunks::<ACCUMULATORS>();
    for (b_chunk, c_chunk) in b_chunks.iter().zip(c_chunks) {
        for ((sum, b), c) in sums.iter_mut().zip(b_chunk).zip(c_chunk) {
            *sum += read_volatile(b) * read_volatile(c);
        }
    }
    for ((sum, b), c) in sums.iter_mut().zip(b_rest).zip(c_rest) {
        *sum += read_volatile(b) * read_volatile(c);
    }
    sums.into_iter().sum()
}
