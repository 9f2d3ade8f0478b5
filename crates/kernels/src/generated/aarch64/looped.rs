//! The frame of every generated routine: what comes before the loop, its body, what comes after.

use std::fmt::Display;

use super::encoding::{self, General};
use super::vectors::Vectors;
use crate::generated::machine_code::Assembled;
use crate::{Unavailable, Variant};

/// Where the routine's first argument is, and so on: the calling convention of AArch64 Linux.
pub(super) const DESTINATION: General = General(0);
pub(super) const SOURCE: General = General(1);
const ITERATIONS: General = General(2);
const PASSES: General = General(3);
pub(super) const EXCHANGE: General = General(4);

const ITERATIONS_LEFT: General = General(11);
const DESTINATION_BYTES: General = General(9);
const SOURCE_BYTES: General = General(10);

/// Bytes of a line, and of a place of the exchange.
pub(super) const LINE: u32 = 64;

/// Loops begin on such a boundary, as those of the catalog do.
const ALIGNMENT: usize = 64;

/// What a routine does around and in its loop. The loop's pointers and counters are added.
#[derive(Debug, Default)]
pub(super) struct Looped {
    /// Done once, before.
    pub before: Vec<u32>,
    /// One iteration, at whose end the pointers have moved on by the strides.
    pub iteration: Vec<u32>,
    /// Bytes that an iteration moves on in the destination.
    pub destination_stride: u32,
    /// Bytes that an iteration moves on in the source.
    pub source_stride: u32,
    /// Done once, after.
    pub after: Vec<u32>,
}

/// The routines of `recipe` for the vectors of a variant, or why it has none in that.
pub(super) fn assembled(
    recipe: &impl Display,
    variant: Variant,
    assemble: impl FnOnce(Vectors) -> Result<Assembled, &'static str>,
) -> Result<Assembled, Unavailable> {
    let name = recipe.to_string();
    Vectors::of(variant).and_then(assemble).map_err(|why| Unavailable::NotWritten {
        name,
        variant,
        why,
    })
}

impl Looped {
    /// Appends the routine to `code`; gives the place where it is entered.
    pub fn assemble(&self, code: &mut Vec<u8>) -> usize {
        let strides = [
            (DESTINATION, DESTINATION_BYTES, self.destination_stride),
            (SOURCE, SOURCE_BYTES, self.source_stride),
        ]
        .into_iter()
        .filter(|&(_, _, stride)| stride != 0);

        let mut words = self.before.clone();
        for (_, bytes, stride) in strides.clone() {
            words.extend(encoding::set(bytes, stride));
            words.push(encoding::multiply(bytes, ITERATIONS, bytes));
        }
        words.push(encoding::copy(ITERATIONS_LEFT, ITERATIONS));

        // The loop is aligned by what stands before the entry, so that no padding is run: words of
        // 0, which trap.
        let before_len = 4 * words.len();
        let entry = (code.len() + before_len).next_multiple_of(ALIGNMENT) - before_len;
        code.resize(entry, 0);

        let head = words.len();
        let back = |words: &[u32]| u32::try_from(words.len() - head).unwrap_or(u32::MAX);
        words.extend(&self.iteration);
        words.push(encoding::count_down(ITERATIONS_LEFT));
        words.push(encoding::back_if_not_zero(back(&words)));
        for (pointer, bytes, _) in strides {
            words.push(encoding::subtract(pointer, bytes));
        }
        words.push(encoding::copy(ITERATIONS_LEFT, ITERATIONS));
        words.push(encoding::count_down(PASSES));
        words.push(encoding::back_if_not_zero(back(&words)));
        words.extend(&self.after);
        words.push(encoding::RETURN);
        code.extend(words.into_iter().flat_map(u32::to_le_bytes));
        entry
    }
}

/// A pointer that moves on within an iteration where an offset would not fit into an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    pointer: General,
    /// Where it points to, from the iteration's beginning.
    at: u32,
    most_offset: u32,
}

impl Cursor {
    pub fn new(pointer: General, most_offset: u32) -> Cursor {
        Cursor { pointer, at: 0, most_offset }
    }

    /// The pointer, and the offset of a place that is no farther back than those before; what moves
    /// it on is added to `code`.
    pub fn reach(&mut self, place: u32, code: &mut Vec<u32>) -> (General, u32) {
        if place - self.at > self.most_offset {
            self.move_to(place, code);
        }
        (self.pointer, place - self.at)
    }

    /// Moves it to a place.
    pub fn move_to(&mut self, place: u32, code: &mut Vec<u32>) {
        /// What an addition has room for, in whole vectors.
        const MOST: u32 = 4032;
        while self.at < place {
            let step = MOST.min(place - self.at);
            code.push(encoding::add(self.pointer, step));
            self.at += step;
        }
    }
}
