//! Mixes of loads, stores and arithmetic: what a generated loop over memory does.

use std::fmt;
use std::str::FromStr;

use super::machine_code::MachineCode;
use super::quotation::quotation;
use super::{MixLoop, architecture};
use crate::{Checksum, Pattern, Unavailable, Variant};

/// What is done with elements that were loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    /// `x += b[i]`
    Add,
    /// `x += b[i]*b[i]`, fused where the instruction set can.
    Fma,
}

impl Arithmetic {
    const ALL: [Arithmetic; 2] = [Arithmetic::Add, Arithmetic::Fma];

    /// Floating-point operations on one element.
    pub fn flops(self) -> u32 {
        match self {
            Arithmetic::Add => 1,
            Arithmetic::Fma => 2,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Arithmetic::Add => "add",
            Arithmetic::Fma => "fma",
        }
    }
}

/// Loads from one array and stores to another in a ratio, with arithmetic on what is loaded.
///
/// A *step* loads [`loads`](Mix::loads) elements (`f64`) of the source, stores
/// [`stores`](Mix::stores) elements of the destination and does
/// [`operations`](Mix::operations) on elements that it loaded. All counts are per step, as those
/// of a [`Kernel`](crate::Kernel) are per element. Steps are taken a vector at a time, loads and
/// stores evenly in turns; no address is touched twice in a pass.
///
/// The numbers have no common divisor: four loads and two stores are the same mix as two and one.
///
/// The text is `2l1s` for two loads and one store, `2l1nt` where the store is non-temporal, `1l`,
/// `1nt`; `2l1nt_4fma` with four fused multiply-adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mix {
    loads: u32,
    stores: u32,
    non_temporal: bool,
    operations: u32,
    arithmetic: Arithmetic,
}

impl Mix {
    /// The most loads, and the most stores, of a step: with more of them the loop would not stay
    /// in the caches for instructions.
    pub const MOST_ACCESSES: u32 = 64;

    /// The most operations of a step, for the same reason.
    pub const MOST_OPERATIONS: u32 = 512;

    /// The steps that make whole cache lines of both arrays.
    pub const LINE_STEPS: usize = 8;

    /// Loads and stores without arithmetic.
    ///
    /// # Errors
    ///
    /// If there is neither a load nor a store, there are more than [`Mix::MOST_ACCESSES`], or
    /// stores are to be non-temporal and there are none.
    pub fn new(loads: u32, stores: u32, non_temporal: bool) -> Result<Mix, InvalidMix> {
        Self::reduced(loads, stores, non_temporal, 0, Arithmetic::Fma)
    }

    /// Loads and stores with arithmetic. Every operation needs an element that was loaded: either
    /// each element takes part in the same number of operations, or in each run of the same
    /// number of cache lines the first takes part in one and the others are only loaded.
    ///
    /// # Errors
    ///
    /// As [`Mix::new`]; and if neither of `operations` and `loads` is a multiple of the other,
    /// either is 0, or there are more than [`Mix::MOST_OPERATIONS`].
    pub fn with_arithmetic(
        loads: u32,
        stores: u32,
        non_temporal: bool,
        operations: u32,
        arithmetic: Arithmetic,
    ) -> Result<Mix, InvalidMix> {
        if operations == 0 || loads == 0 {
            return Err(InvalidMix::NothingToCompute);
        }
        Self::reduced(loads, stores, non_temporal, operations, arithmetic)
    }

    fn reduced(
        loads: u32,
        stores: u32,
        non_temporal: bool,
        operations: u32,
        arithmetic: Arithmetic,
    ) -> Result<Mix, InvalidMix> {
        let divisor = greatest_common_divisor(greatest_common_divisor(loads, stores), operations);
        if divisor == 0 {
            return Err(InvalidMix::NoAccess);
        }
        let mix = Mix {
            loads: loads / divisor,
            stores: stores / divisor,
            non_temporal,
            operations: operations / divisor,
            arithmetic,
        };
        if mix.loads > Self::MOST_ACCESSES || mix.stores > Self::MOST_ACCESSES {
            return Err(InvalidMix::TooManyAccesses);
        }
        if mix.operations > Self::MOST_OPERATIONS {
            return Err(InvalidMix::TooManyOperations);
        }
        if non_temporal && stores == 0 {
            return Err(InvalidMix::NothingToStore);
        }
        let divides = |one: u32, two: u32| one.is_multiple_of(two);
        if operations > 0 && !divides(operations, loads) && !divides(loads, operations) {
            return Err(InvalidMix::UnevenArithmetic);
        }
        Ok(mix)
    }

    /// Elements loaded per step.
    pub fn loads(&self) -> u32 {
        self.loads
    }

    /// Elements stored per step.
    pub fn stores(&self) -> u32 {
        self.stores
    }

    /// Whether the stores go around the caches.
    pub fn non_temporal(&self) -> bool {
        self.non_temporal
    }

    /// Operations per step; 0 where there is no arithmetic.
    pub fn operations(&self) -> u32 {
        self.operations
    }

    /// What the operations are, if there are any.
    pub fn arithmetic(&self) -> Option<Arithmetic> {
        (self.operations > 0).then_some(self.arithmetic)
    }

    /// Floating-point operations per step.
    pub fn flops(&self) -> u32 {
        self.operations * self.arithmetic.flops()
    }

    /// Bytes that the program asks for in this many steps.
    pub fn useful_bytes(&self, steps: u64) -> u64 {
        8 * u64::from(self.loads + self.stores) * steps
    }

    /// Arithmetic intensity: FLOPs per byte asked for.
    pub fn intensity(&self) -> f64 {
        f64::from(self.flops()) / f64::from(8 * (self.loads + self.stores))
    }

    /// Whether it has ordinary stores, for which most CPUs first read the line they write to.
    pub fn write_allocates(&self) -> bool {
        self.stores > 0 && !self.non_temporal
    }

    /// Operations that a line takes part in which takes part in any.
    pub(super) fn operations_per_line(&self) -> u32 {
        self.operations.checked_div(self.loads).unwrap_or(0).max(u32::from(self.operations > 0))
    }

    /// Of this many lines of the source the first takes part in arithmetic.
    pub(super) fn lines_per_computed(&self) -> u32 {
        self.loads.checked_div(self.operations).unwrap_or(1).max(1)
    }

    /// Its loop in one instruction set. Takes some tens of microseconds.
    ///
    /// # Errors
    ///
    /// If there is no such form (also where the code would not stay in the instruction cache: in
    /// SSE2, hundreds of multiply-adds beside many accesses), this CPU does not run it, or Linux
    /// gives no executable memory.
    pub fn generate(&self, variant: Variant) -> Result<MixLoop, Unavailable> {
        let assembled = architecture::assemble_mix(self, variant)?;
        let code = MachineCode::of(self, variant, assembled)?;
        Ok(MixLoop::new(*self, variant, code))
    }

    /// What one pass of this many steps over a source that holds `pattern` from `first_index` on
    /// gives: exactly for [`Checksum::Xor`], but for rounding for [`Checksum::Sum`].
    pub fn expected(&self, pattern: &Pattern, first_index: u64, steps: u64) -> Checksum {
        let elements = u64::from(self.loads) * steps;
        match self.arithmetic() {
            None if self.loads == 0 => Checksum::None,
            None => Checksum::Xor(pattern.xor(first_index..first_index + elements)),
            Some(arithmetic) => {
                let power = |value: f64| match arithmetic {
                    Arithmetic::Add => value,
                    Arithmetic::Fma => value * value,
                };
                let every = u64::from(self.lines_per_computed());
                let lines = elements / (8 * every);
                let once = pattern.sum_of_lines(first_index, every, lines, power);
                Checksum::Sum(f64::from(self.operations_per_line()) * once)
            }
        }
    }
}

fn greatest_common_divisor(one: u32, two: u32) -> u32 {
    if two == 0 { one } else { greatest_common_divisor(two, one % two) }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        if self.loads > 0 {
            text += &format!("{}l", self.loads);
        }
        if self.stores > 0 {
            text += &format!("{}{}", self.stores, if self.non_temporal { "nt" } else { "s" });
        }
        if let Some(arithmetic) = self.arithmetic() {
            text += &format!("_{}{}", self.operations, arithmetic.word());
        }
        f.pad(&text)
    }
}

impl FromStr for Mix {
    type Err = InvalidMix;

    fn from_str(text: &str) -> Result<Mix, InvalidMix> {
        let not_understood = || InvalidMix::NotUnderstood(text.to_owned());
        let (accesses, work) = match text.split_once('_') {
            Some((accesses, work)) => (accesses, Some(work)),
            None => (text, None),
        };
        let (loads, rest) = match accesses.split_once('l') {
            Some((digits, rest)) => (count(digits).ok_or_else(not_understood)?, rest),
            None => (0, accesses),
        };
        let (digits, non_temporal) = match (rest.strip_suffix("nt"), rest.strip_suffix('s')) {
            (Some(digits), _) => (digits, true),
            (None, Some(digits)) => (digits, false),
            (None, None) if rest.is_empty() && loads > 0 => ("", false),
            (None, None) => return Err(not_understood()),
        };
        let stores = if rest.is_empty() { 0 } else { count(digits).ok_or_else(not_understood)? };
        let Some(work) = work else {
            return Mix::new(loads, stores, non_temporal);
        };
        let arithmetic = Arithmetic::ALL.into_iter().find_map(|arithmetic| {
            Some((count(work.strip_suffix(arithmetic.word())?)?, arithmetic))
        });
        let (operations, arithmetic) = arithmetic.ok_or_else(not_understood)?;
        Mix::with_arithmetic(loads, stores, non_temporal, operations, arithmetic)
    }
}

/// A count as it is written: digits alone, not 0 and not beginning with it.
fn count(digits: &str) -> Option<u32> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| plain)
}

/// Why numbers or a text make no [`Mix`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMix {
    /// The text has another form.
    #[error(
        "{} is no mix: write loads and stores, as in 2l1s or, with non-temporal stores, 2l1nt, and \
         operations if wanted, as in 2l1s_4fma or 2l_1add",
        quotation(.0)
    )]
    NotUnderstood(String),
    /// Neither loads nor stores.
    #[error("a mix has at least one load or store")]
    NoAccess,
    /// More loads or stores than a loop can hold.
    #[error(
        "a mix has at most {} loads and as many stores: use a simpler ratio",
        Mix::MOST_ACCESSES
    )]
    TooManyAccesses,
    /// More operations than a loop can hold.
    #[error("a mix has at most {} operations: use fewer for each load", Mix::MOST_OPERATIONS)]
    TooManyOperations,
    /// Non-temporal stores, but none.
    #[error("a mix without stores has no non-temporal ones")]
    NothingToStore,
    /// Arithmetic without loads, or of no operations.
    #[error("arithmetic is done on what was loaded: give at least one load and one operation")]
    NothingToCompute,
    /// Operations that cannot be dealt out to the loads.
    #[error("the operations must be a multiple of the loads, or the loads of the operations")]
    UnevenArithmetic,
}
