//! The workloads: each file has the sizes, inputs and launches of one, and what its result should be,
//! by arithmetic of the host; the file of the same name with `.cl` has its kernels.

pub(crate) mod fft;
pub(crate) mod gemm;
pub(crate) mod md;
#[cfg(test)]
pub(crate) mod planted;
pub(crate) mod reduction;
pub(crate) mod scan;
pub(crate) mod sort;
pub(crate) mod spmv;
pub(crate) mod stencil2d;

use std::ffi::CStr;
use std::fmt;

use bytemuck::{Pod, cast_slice, cast_slice_mut};

use crate::content::fill_with_pattern;
use crate::device_workload::DeviceWorkload;

/// Sums over groups, which scan and sort share.
const GROUP_SCAN: &str = include_str!("group_scan.cl");
/// Items of a group of these, of the reduction and of the stencil.
const GROUP: usize = 128;

/// A workload of one size: what is on the device, what is launched, and how it is verified.
pub struct Setup {
    pub workload: DeviceWorkload,
    /// Work of a pass, in units of the workload's facts.
    pub work: f64,
    pub(crate) sources: Vec<String>,
    pub(crate) needs_double: bool,
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) launches: Vec<Launch>,
    pub(crate) result: Reference,
}

impl fmt::Debug for Setup {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Setup").field("workload", &self.workload).finish_non_exhaustive()
    }
}

/// An array of the host that is sent, or that is taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostArray {
    pub name: &'static str,
    /// A multiple of 8.
    pub bytes: usize,
    pub is_sent: bool,
}

/// Memory of the device.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) name: &'static str,
    pub(crate) bytes: usize,
    pub(crate) role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Comes from an array of the host.
    Input,
    /// Goes to an array of the host.
    Output,
    /// Stays on the device.
    Scratch,
}

/// A kernel over this many groups of this many items.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) kernel: &'static CStr,
    pub(crate) groups: usize,
    pub(crate) items: usize,
    pub(crate) arguments: Vec<Value>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Value {
    /// The buffer of this number.
    Of(usize),
    Number(u32),
}

/// Arrays of the host as words, inputs or outputs in the order of their buffers.
pub(crate) type Words<'a> = [&'a [u64]];

/// What the inputs are and what the result should be.
pub(crate) struct Reference {
    pub(crate) fill: fn(&mut [&mut [u64]]),
    /// By the inputs.
    pub(crate) expected: fn(&Words<'_>) -> Vec<f64>,
    /// By the inputs and outputs.
    pub(crate) found: fn(&Words<'_>, &Words<'_>) -> Vec<f64>,
    /// The most that any number may be off, of the root mean square of those expected; 0 for
    /// integers, which are exact.
    pub(crate) tolerance: f64,
}

impl Setup {
    /// The arrays that the host sends, then those that it takes back.
    pub fn host_arrays(&self) -> Vec<HostArray> {
        let of = |role| self.buffers.iter().filter(move |it| it.role == role);
        let array = |it: &Buffer| HostArray {
            name: it.name,
            bytes: it.bytes,
            is_sent: it.role == Role::Input,
        };
        of(Role::Input).chain(of(Role::Output)).map(array).collect()
    }

    /// Bytes of the device's memory.
    pub fn device_bytes(&self) -> u64 {
        self.buffers.iter().map(|it| it.bytes as u64).sum()
    }

    /// Bytes of the host that verification takes beside the arrays, at most: what is expected, what is
    /// found, and what lies between, each twice as wide as the result.
    pub fn verification_bytes(&self) -> u64 {
        let outputs = self.buffers.iter().filter(|it| it.role == Role::Output);
        6 * outputs.map(|it| it.bytes as u64).sum::<u64>()
    }
}

impl Buffer {
    fn of<T>(role: Role, name: &'static str, elements: usize) -> Self {
        // Whole words of 8 bytes.
        Self { name, bytes: (elements * size_of::<T>()).next_multiple_of(8), role }
    }
}

fn launch(kernel: &'static CStr, size: (usize, usize), arguments: &[Value]) -> Launch {
    Launch { kernel, groups: size.0, items: size.1, arguments: arguments.to_vec() }
}

/// An index or a count as kernels take it.
fn index(count: usize) -> u32 {
    u32::try_from(count).unwrap_or_else(|_| unreachable!("sizes are far below 2^32"))
}

fn number(count: usize) -> Value {
    Value::Number(index(count))
}

fn of<T: Pod>(words: &[u64]) -> &[T] {
    cast_slice(words)
}

/// Random bits, of each array others; the same in every run.
fn fill_with_bits(words: &mut [u64], array: usize) {
    fill_with_pattern(words, array << 40);
}

/// Random numbers from -1 to below 1, of single precision.
fn fill_with_singles(words: &mut [u64], array: usize) {
    fill_with_bits(words, array);
    for single in cast_slice_mut::<u64, u32>(words) {
        *single = single_of(*single).to_bits();
    }
}

/// A number from -1 to below 1 by the upper 24 bits of this one.
#[expect(clippy::cast_precision_loss, reason = "24 bits are exact")]
fn single_of(bits: u32) -> f32 {
    (bits >> 8) as f32 / 8_388_608.0 - 1.0
}

/// Random numbers from -1 to below 1, of double precision.
#[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
fn fill_with_doubles(words: &mut [u64], array: usize) {
    fill_with_bits(words, array);
    for double in words {
        *double = ((*double >> 11) as f64 / (1_u64 << 52) as f64 - 1.0).to_bits();
    }
}

/// Singles as they are compared.
fn widened(words: &[u64]) -> Vec<f64> {
    of::<f32>(words).iter().map(|&it| it.into()).collect()
}

/// Integers as they are compared: exactly.
fn counted(integers: &[u32]) -> impl Iterator<Item = f64> {
    integers.iter().map(|&it| it.into())
}
