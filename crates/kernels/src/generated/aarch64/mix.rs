//! Mixes in AArch64.

use super::encoding::Lanes;
use super::looped::{Cursor, DESTINATION, LINE, Looped, SOURCE, assembled};
use super::vectors::{Combine, Vectors};
use crate::generated::machine_code::Assembled;
use crate::generated::mix_loop::iteration_lines;
use crate::generated::{Arithmetic, Mix};
use crate::{Unavailable, Variant};

/// The most bytes of a routine: it must stay in a cache for instructions, of 32 KiB or more,
/// beside what else is run there.
const MOST_CODE: usize = 24 << 10;

/// Accumulators of the exclusive or, which takes up to four cycles, on an A64FX.
const FOLDING: u32 = 8;

/// Accumulators of sums: with the rest they fill the registers.
const SUMMING: u32 = 16;

/// Registers of a routine: four that two loads go through in turns (more are not needed, since the
/// core renames them), then accumulators, then those with the eight lanes that are stored.
const LOADED: u32 = 0;
const FIRST_ACCUMULATOR: u32 = 4;
const LANES: u32 = FIRST_ACCUMULATOR + SUMMING;

/// How many vectors of results a routine leaves.
pub(in crate::generated) fn accumulators(mix: &Mix, variant: Variant) -> usize {
    let count = if mix.arithmetic().is_some() { SUMMING } else { FOLDING };
    Vectors::of(variant).map_or(0, |_| count as usize)
}

/// The routines of a mix, whether or not this CPU runs them.
pub(in crate::generated) fn assemble_mix(
    mix: &Mix,
    variant: Variant,
) -> Result<Assembled, Unavailable> {
    assembled(mix, variant, |vectors| {
        let lines = u32::try_from(iteration_lines(mix, variant)).unwrap_or(u32::MAX);
        let (mut bytes, mut entries) = (Vec::new(), Vec::new());
        let folds = if mix.arithmetic().is_none() { &[true, false][..] } else { &[true] };
        for &fold in folds {
            entries.push(routine(mix, vectors, lines, fold).assemble(&mut bytes));
        }
        // Of two routines only one is run at a time, and both are small.
        if bytes.len() > MOST_CODE {
            return Err("its loop would not stay in the cache for instructions");
        }
        Ok(Assembled { bytes, entries })
    })
}

/// One routine; `fold` says whether loaded values that are not computed with are kept account of.
fn routine(mix: &Mix, vectors: Vectors, lines: u32, fold: bool) -> Looped {
    let access = vectors.access_bytes();
    let loads = lines * LINE / access * mix.loads();
    let stores = lines * LINE / access * mix.stores();
    let summing = mix.arithmetic().is_some();
    let accumulators = if summing { SUMMING } else { FOLDING };

    let mut before: Vec<u32> = vectors.begin().into_iter().collect();
    let lanes = LINE / vectors.bytes();
    if stores > 0 {
        let take = |lane: u32| vectors.take(LANES + lane, lane * vectors.bytes());
        before.extend((0..lanes).map(take));
    }
    before.extend((0..accumulators).map(|count| vectors.clear(FIRST_ACCUMULATOR + count)));

    let mut body = Body {
        mix,
        vectors,
        fold,
        accumulators,
        lanes,
        count: 0,
        source: Cursor::new(SOURCE, vectors.most_offset(false)),
        destination: Cursor::new(DESTINATION, vectors.most_offset(mix.non_temporal())),
        code: Vec::new(),
    };
    let (mut loaded, mut stored) = (0, 0);
    for place in 0..loads + stores {
        // Bresenham's line: after any number of places the loads among them are the share due,
        // rounded up.
        let due = ((place + 1) * loads).div_ceil(loads + stores);
        if due > loaded {
            body.load(loaded);
            loaded += 1;
        } else {
            body.store(stored);
            stored += 1;
        }
    }
    let iteration = body.end(loads * access, stores * access);

    let leave = |count: u32| vectors.leave(FIRST_ACCUMULATOR + count, (1 + count) * LINE);
    Looped {
        before,
        iteration,
        destination_stride: stores * access,
        source_stride: loads * access,
        after: (0..accumulators).map(leave).collect(),
    }
}

/// One iteration, as far as it is written.
struct Body<'a> {
    mix: &'a Mix,
    vectors: Vectors,
    fold: bool,
    accumulators: u32,
    /// Vectors of the lanes that are stored.
    lanes: u32,
    /// Operations on accumulators so far.
    count: u32,
    source: Cursor,
    destination: Cursor,
    code: Vec<u32>,
}

impl Body<'_> {
    /// Makes the load of that index and does what is due on it.
    fn load(&mut self, index: u32) {
        let vectors = self.vectors;
        let place = index * vectors.access_bytes();
        let (pointer, offset) = self.source.reach(place, &mut self.code);
        let first = LOADED + if index.is_multiple_of(2) { 0 } else { 2 };
        self.code.push(vectors.load(first, pointer, offset));
        let computed = (place / LINE).is_multiple_of(self.mix.lines_per_computed());
        let loaded = first..first + vectors.of_access();
        match self.mix.arithmetic() {
            Some(arithmetic) if computed => {
                for _ in 0..self.mix.operations_per_line() {
                    for register in loaded.clone() {
                        let accumulator = self.next_accumulator();
                        self.code.push(match arithmetic {
                            Arithmetic::Add => {
                                vectors.combine(Combine::Add, Lanes::Double, accumulator, register)
                            }
                            Arithmetic::Fma => vectors.add_square(accumulator, register),
                        });
                    }
                }
            }
            None if self.fold => {
                for register in loaded {
                    let accumulator = self.next_accumulator();
                    self.code.push(vectors.xor(accumulator, register));
                }
            }
            _ => {}
        }
    }

    fn next_accumulator(&mut self) -> u32 {
        let accumulator = FIRST_ACCUMULATOR + self.count % self.accumulators;
        self.count += 1;
        accumulator
    }

    /// Makes the store of that index: of the lanes that are due there.
    fn store(&mut self, index: u32) {
        let vectors = self.vectors;
        let place = index * vectors.access_bytes();
        let (pointer, offset) = self.destination.reach(place, &mut self.code);
        let lane = LANES + place / vectors.bytes() % self.lanes;
        self.code.push(vectors.store(lane, pointer, offset, self.mix.non_temporal()));
    }

    /// Moves the pointers on to the next iteration.
    fn end(mut self, source_stride: u32, destination_stride: u32) -> Vec<u32> {
        self.source.move_to(source_stride, &mut self.code);
        self.destination.move_to(destination_stride, &mut self.code);
        self.code
    }
}
