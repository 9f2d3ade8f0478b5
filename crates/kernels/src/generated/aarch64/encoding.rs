//! Instructions as they are encoded: Arm Architecture Reference Manual, chapters C6 (general), C7
//! (vectors) and C8 (SVE). Vectors are numbered as in the instruction, offsets are in bytes.

/// A general register, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct General(pub u32);

/// The lanes of arithmetic: f64, or f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lanes {
    Double,
    Single,
}

/// A register in the places of the first and the second operand.
const fn n(register: u32) -> u32 {
    register << 5
}

const fn m(register: u32) -> u32 {
    register << 16
}

/// An offset in units, for a signed field of this many bits.
fn units(offset: u32, unit: u32, bits: u32) -> u32 {
    debug_assert!(offset.is_multiple_of(unit), "{offset} is no multiple of {unit}");
    debug_assert!(offset / unit < 1 << (bits - 1), "{offset} does not fit");
    offset / unit
}

// General instructions.

/// `to = value`, which has up to 32 bits.
pub(super) fn set(to: General, value: u32) -> [u32; 2] {
    [0xD280_0000 | (value & 0xFFFF) << 5 | to.0, 0xF2A0_0000 | (value >> 16) << 5 | to.0]
}

/// `to = one * two`
pub(super) fn multiply(to: General, one: General, two: General) -> u32 {
    0x9B00_7C00 | m(two.0) | n(one.0) | to.0
}

/// `to = from`
pub(super) fn copy(to: General, from: General) -> u32 {
    0xAA00_03E0 | m(from.0) | to.0
}

/// `to = to + bytes`, up to 4095.
pub(super) fn add(to: General, bytes: u32) -> u32 {
    debug_assert!(bytes < 4096);
    0x9100_0000 | bytes << 10 | n(to.0) | to.0
}

/// `to = to - other`
pub(super) fn subtract(to: General, other: General) -> u32 {
    0xCB00_0000 | m(other.0) | n(to.0) | to.0
}

/// `to = to - 1`, and whether that is 0.
pub(super) fn count_down(to: General) -> u32 {
    0xF100_0400 | n(to.0) | to.0
}

/// Goes back by this many instructions if what was counted last was not 0.
pub(super) fn back_if_not_zero(instructions: u32) -> u32 {
    debug_assert!(instructions < 1 << 18);
    // 19 bits, in two's complement.
    0x5400_0001 | (0_u32.wrapping_sub(instructions) & 0x7_FFFF) << 5
}

pub(super) const RETURN: u32 = 0xD65F_03C0;

// NEON.

/// A pair of vectors, which go to or come from 32 bytes.
pub(super) fn load_pair(vectors: [u32; 2], from: General, offset: u32) -> u32 {
    0xAD40_0000 | pair(vectors, from, offset)
}

pub(super) fn store_pair(vectors: [u32; 2], to: General, offset: u32) -> u32 {
    0xAD00_0000 | pair(vectors, to, offset)
}

pub(super) fn store_pair_non_temporal(vectors: [u32; 2], to: General, offset: u32) -> u32 {
    0xAC00_0000 | pair(vectors, to, offset)
}

fn pair([one, two]: [u32; 2], base: General, offset: u32) -> u32 {
    units(offset, 16, 7) << 15 | two << 10 | n(base.0) | one
}

pub(super) fn load(vector: u32, from: General, offset: u32) -> u32 {
    0x3DC0_0000 | offset / 16 << 10 | n(from.0) | vector
}

pub(super) fn store(vector: u32, to: General, offset: u32) -> u32 {
    0x3D80_0000 | offset / 16 << 10 | n(to.0) | vector
}

/// `to = 0`
pub(super) fn clear(to: u32) -> u32 {
    0x6F00_E400 | to
}

/// `to = to ^ other`
pub(super) fn xor(to: u32, other: u32) -> u32 {
    0x6E20_1C00 | m(other) | n(to) | to
}

/// What is done to all lanes of vectors; of NEON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Neon {
    /// `to = one + two`
    Add = 0x4E60_D400,
    /// `to = one - two`
    Subtract = 0x4EE0_D400,
    /// `to = one * two`
    Multiply = 0x6E60_DC00,
    /// `to = to + one*two`
    MultiplyAdd = 0x4E60_CC00,
    /// `to = to - one*two`
    MultiplySubtract = 0x4EE0_CC00,
}

impl Neon {
    pub(super) fn of(self, lanes: Lanes, to: u32, one: u32, two: u32) -> u32 {
        of_lanes(self as u32, lanes) | m(two) | n(one) | to
    }
}

// SVE. Predicate 0 is that of all lanes.

/// Has all lanes in predicate 0.
pub(super) const ALL_LANES: u32 = 0x25D8_E3E0;

/// A vector of `bytes`, at an offset of as many or a multiple.
pub(super) fn sve_load(vector: u32, from: General, offset: u32, bytes: u32) -> u32 {
    0x8580_4000 | sve_offset(offset, bytes) | n(from.0) | vector
}

pub(super) fn sve_store(vector: u32, to: General, offset: u32, bytes: u32) -> u32 {
    0xE580_4000 | sve_offset(offset, bytes) | n(to.0) | vector
}

/// Nine bits in two parts.
fn sve_offset(offset: u32, bytes: u32) -> u32 {
    let units = units(offset, bytes, 9);
    (units >> 3) << 16 | (units & 7) << 10
}

pub(super) fn sve_store_non_temporal(vector: u32, to: General, offset: u32, bytes: u32) -> u32 {
    0xE590_E000 | units(offset, bytes, 4) << 16 | n(to.0) | vector
}

/// `to = 0`
pub(super) fn sve_clear(to: u32) -> u32 {
    0x25F8_C000 | to
}

/// `to = to ^ other`
pub(super) fn sve_xor(to: u32, other: u32) -> u32 {
    0x04A0_3000 | m(other) | n(to) | to
}

/// What is done to all lanes of vectors; of SVE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sve {
    /// `to = one + two`
    Add = 0x65C0_0000,
    /// `to = one - two`
    Subtract = 0x65C0_0400,
    /// `to = one * two`
    Multiply = 0x65C0_0800,
    /// `to = to + one*two`
    MultiplyAdd = 0x65E0_0000,
    /// `to = to - one*two`
    MultiplySubtract = 0x65E0_2000,
}

/// In the codes of arithmetic, of f64 and not of f32.
const IS_DOUBLE: u32 = 1 << 22;

fn of_lanes(code: u32, lanes: Lanes) -> u32 {
    match lanes {
        Lanes::Double => code,
        Lanes::Single => code & !IS_DOUBLE,
    }
}

impl Sve {
    pub(super) fn of(self, lanes: Lanes, to: u32, one: u32, two: u32) -> u32 {
        of_lanes(self as u32, lanes) | m(two) | n(one) | to
    }
}
