//! The vectors of each instruction set, under one name each operation.

use super::encoding::{self, General, Lanes, Neon, Sve};
use super::looped::EXCHANGE;
use crate::Variant;

/// What is done to all lanes of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combine {
    /// `to + other`
    Add,
    /// `to - other`
    Subtract,
    /// `to * other`
    Multiply,
}

/// Vectors of one instruction set, by numbers from 0 to [`Vectors::REGISTERS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vectors {
    /// Of 16 bytes, loaded and stored in pairs.
    Neon,
    /// Of this many bytes.
    Sve { bytes: u32 },
}

impl Vectors {
    /// Registers that a routine may change: all but the caller's eight.
    pub const REGISTERS: u32 = 24;

    /// Those of a variant, or why there are none.
    pub fn of(variant: Variant) -> Result<Vectors, &'static str> {
        match variant {
            Variant::Neon => Ok(Vectors::Neon),
            Variant::Sve => match variant.vector_bytes() {
                16 => Ok(Vectors::Sve { bytes: 16 }),
                32 => Ok(Vectors::Sve { bytes: 32 }),
                64 => Ok(Vectors::Sve { bytes: 64 }),
                _ => Err("loops are generated for vectors of 16, 32 and 64 bytes"),
            },
            _ => Err("loops are generated for vectors, here for those of neon and sve"),
        }
    }

    /// Bytes of a vector.
    pub fn bytes(self) -> u32 {
        match self {
            Vectors::Neon => 16,
            Vectors::Sve { bytes } => bytes,
        }
    }

    /// Vectors of one access, in neighbouring registers.
    pub fn of_access(self) -> u32 {
        match self {
            Vectors::Neon => 2,
            Vectors::Sve { .. } => 1,
        }
    }

    /// Bytes of one access.
    pub fn access_bytes(self) -> u32 {
        self.bytes() * self.of_access()
    }

    /// The largest offset that an access has room for.
    pub fn most_offset(self, non_temporal: bool) -> u32 {
        match self {
            Vectors::Neon => 63 * 16,
            Vectors::Sve { bytes } if non_temporal => 7 * bytes,
            Vectors::Sve { bytes } => 255 * bytes,
        }
    }

    /// What stands before all else.
    pub fn begin(self) -> Option<u32> {
        match self {
            Vectors::Neon => None,
            Vectors::Sve { .. } => Some(encoding::ALL_LANES),
        }
    }

    /// Loads what an access moves, into registers from this one on.
    pub fn load(self, register: u32, from: General, offset: u32) -> u32 {
        match self {
            Vectors::Neon => encoding::load_pair(pair(register), from, offset),
            Vectors::Sve { bytes } => encoding::sve_load(number(register), from, offset, bytes),
        }
    }

    pub fn store(self, register: u32, to: General, offset: u32, non_temporal: bool) -> u32 {
        match (self, non_temporal) {
            (Vectors::Neon, false) => encoding::store_pair(pair(register), to, offset),
            (Vectors::Neon, true) => encoding::store_pair_non_temporal(pair(register), to, offset),
            (Vectors::Sve { bytes }, false) => {
                encoding::sve_store(number(register), to, offset, bytes)
            }
            (Vectors::Sve { bytes }, true) => {
                encoding::sve_store_non_temporal(number(register), to, offset, bytes)
            }
        }
    }

    /// One vector from a place of the exchange.
    pub fn take(self, register: u32, offset: u32) -> u32 {
        match self {
            Vectors::Neon => encoding::load(number(register), EXCHANGE, offset),
            Vectors::Sve { bytes } => encoding::sve_load(number(register), EXCHANGE, offset, bytes),
        }
    }

    /// One vector to a place of the exchange.
    pub fn leave(self, register: u32, offset: u32) -> u32 {
        match self {
            Vectors::Neon => encoding::store(number(register), EXCHANGE, offset),
            Vectors::Sve { bytes } => {
                encoding::sve_store(number(register), EXCHANGE, offset, bytes)
            }
        }
    }

    pub fn clear(self, register: u32) -> u32 {
        match self {
            Vectors::Neon => encoding::clear(number(register)),
            Vectors::Sve { .. } => encoding::sve_clear(number(register)),
        }
    }

    pub fn xor(self, to: u32, other: u32) -> u32 {
        let (to, other) = (number(to), number(other));
        match self {
            Vectors::Neon => encoding::xor(to, other),
            Vectors::Sve { .. } => encoding::sve_xor(to, other),
        }
    }

    pub fn combine(self, combine: Combine, lanes: Lanes, to: u32, other: u32) -> u32 {
        let (to, other) = (number(to), number(other));
        match self {
            Vectors::Neon => {
                let neon = match combine {
                    Combine::Add => Neon::Add,
                    Combine::Subtract => Neon::Subtract,
                    Combine::Multiply => Neon::Multiply,
                };
                neon.of(lanes, to, to, other)
            }
            Vectors::Sve { .. } => {
                let sve = match combine {
                    Combine::Add => Sve::Add,
                    Combine::Subtract => Sve::Subtract,
                    Combine::Multiply => Sve::Multiply,
                };
                sve.of(lanes, to, to, other)
            }
        }
    }

    /// `to = to + other*other`, rounded once.
    pub fn add_square(self, to: u32, other: u32) -> u32 {
        let (to, other) = (number(to), number(other));
        match self {
            Vectors::Neon => Neon::MultiplyAdd.of(Lanes::Double, to, other, other),
            Vectors::Sve { .. } => Sve::MultiplyAdd.of(Lanes::Double, to, other, other),
        }
    }

    /// `to = to + one*two` or `to - one*two`, rounded once.
    pub fn add_product(self, lanes: Lanes, to: u32, factors: [u32; 2], add: bool) -> u32 {
        let (to, [one, two]) = (number(to), factors.map(number));
        match (self, add) {
            (Vectors::Neon, true) => Neon::MultiplyAdd.of(lanes, to, one, two),
            (Vectors::Neon, false) => Neon::MultiplySubtract.of(lanes, to, one, two),
            (Vectors::Sve { .. }, true) => Sve::MultiplyAdd.of(lanes, to, one, two),
            (Vectors::Sve { .. }, false) => Sve::MultiplySubtract.of(lanes, to, one, two),
        }
    }
}

/// The number in instructions: 8 to 15 are the caller's.
fn number(register: u32) -> u32 {
    debug_assert!(register < Vectors::REGISTERS);
    if register < 8 { register } else { register + 8 }
}

fn pair(register: u32) -> [u32; 2] {
    [number(register), number(register + 1)]
}
