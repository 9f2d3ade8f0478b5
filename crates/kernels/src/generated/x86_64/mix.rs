//! Mixes in x86-64.

use iced_x86::{IcedError, Instruction};

use super::looped::{DESTINATION, Looped, SOURCE, assembled, at, exchange_vector};
use super::vectors::{Combine, Vectors};
use crate::generated::machine_code::Assembled;
use crate::generated::mix_loop::iteration_lines;
use crate::generated::{Arithmetic, Mix, Precision};
use crate::line::LINE;
use crate::{Unavailable, Variant};

/// The most bytes of a routine: it must stay in a cache for instructions, of 32 KiB or more,
/// beside what else is run there.
const MOST_CODE: usize = 24 << 10;

/// Accumulators of the exclusive or, which takes one cycle.
const FOLDING: u32 = 4;

/// Registers of a routine: first two that loads go through in turns (more are not needed, since
/// the core renames them) and one for the product where multiplication and addition are not fused,
/// then accumulators, then those with the eight lanes that are stored. Instructions of SSE2 are
/// shorter on the first eight registers, so these are the ones that most instructions use.
struct Registers {
    first_accumulator: u32,
    accumulators: u32,
    lanes: u32,
}

impl Registers {
    fn of(mix: &Mix, vectors: Vectors) -> Registers {
        let stores = mix.stores() > 0;
        let lanes =
            if stores { u32::try_from(LINE / vectors.bytes).unwrap_or(u32::MAX) } else { 0 };
        let accumulators = match mix.arithmetic() {
            None => FOLDING,
            // A sum takes up to five cycles, of which two begin per cycle, so that ten would do
            // if every iteration used all of them equally often.
            Some(_) if vectors.registers > 16 => 16,
            Some(_) if vectors.has_fused() || !stores => 12,
            // The lanes take four registers. Sums that are not fused take up to four cycles.
            Some(_) => 8,
        };
        let first_accumulator = if vectors.has_fused() { 2 } else { 3 };
        Registers { first_accumulator, accumulators, lanes }
    }

    /// The register of the product.
    const PRODUCT: u32 = 2;

    /// The register of a load that this many come before.
    fn loaded(count: usize) -> u32 {
        if count.is_multiple_of(2) { 0 } else { 1 }
    }

    /// Of the operations that this many come before.
    fn accumulator(&self, count: u32) -> u32 {
        self.first_accumulator + count % self.accumulators
    }

    /// Of the stores that this many come before.
    fn lane(&self, count: usize) -> u32 {
        let lane = u32::try_from(count).unwrap_or(u32::MAX) % self.lanes;
        self.first_accumulator + self.accumulators + lane
    }
}

/// How many vectors of results a routine leaves.
pub(in crate::generated) fn accumulators(mix: &Mix, variant: Variant) -> usize {
    Vectors::of(variant).map_or(0, |vectors| Registers::of(mix, vectors).accumulators as usize)
}

/// The routines of a mix, whether or not this CPU runs them.
pub(in crate::generated) fn assemble_mix(
    mix: &Mix,
    variant: Variant,
) -> Result<Assembled, Unavailable> {
    let lines = iteration_lines(mix, variant);
    assembled(mix, variant, |vectors| {
        let (mut bytes, mut entries) = (Vec::new(), Vec::new());
        let folds = if mix.arithmetic().is_none() { &[true, false][..] } else { &[true] };
        for &fold in folds {
            entries.push(routine(mix, vectors, lines, fold)?.assemble(&mut bytes)?);
        }
        // Of two routines only one is run at a time, and both are small.
        if bytes.len() > MOST_CODE {
            return Ok(Err("its loop would not stay in the cache for instructions"));
        }
        Ok(Ok(Assembled { bytes, entries }))
    })
}

/// One routine; `fold` says whether loaded values that are not computed with are kept account of.
fn routine(mix: &Mix, vectors: Vectors, lines: usize, fold: bool) -> Result<Looped, IcedError> {
    let registers = Registers::of(mix, vectors);
    let per_line = LINE / vectors.bytes;
    let loads = lines * per_line * mix.loads() as usize;
    let stores = lines * per_line * mix.stores() as usize;
    let stride = |count: usize| i32::try_from(count * vectors.bytes).unwrap_or(i32::MAX);

    let mut before = Vec::new();
    for lane in 0..registers.lanes as usize {
        let from = at(super::looped::EXCHANGE, lane * vectors.bytes);
        before.push(vectors.load(registers.lane(lane), from)?);
    }
    for count in 0..registers.accumulators {
        before.push(vectors.clear(registers.accumulator(count))?);
    }

    let mut body =
        Body { mix, vectors, registers, fold, count: 0, waiting: None, code: Vec::new() };
    let (mut loaded, mut stored) = (0, 0);
    for place in 0..loads + stores {
        // Bresenham's line: after any number of places the loads among them are the share due,
        // rounded up.
        let due = ((place + 1) * loads).div_ceil(loads + stores);
        if due > loaded {
            body.load(loaded)?;
            loaded += 1;
        } else {
            body.store(stored)?;
            stored += 1;
        }
    }
    body.fold_waiting()?;

    let mut after = Vec::new();
    for count in 0..body.registers.accumulators {
        let to = exchange_vector(1 + count as usize);
        after.push(vectors.store(to, body.registers.accumulator(count))?);
    }
    after.extend(vectors.leave());
    Ok(Looped {
        before,
        iteration: body.code,
        destination_stride: stride(stores),
        source_stride: stride(loads),
        after,
    })
}

/// One iteration, as far as it is written.
struct Body<'a> {
    mix: &'a Mix,
    vectors: Vectors,
    registers: Registers,
    fold: bool,
    /// Operations on accumulators so far.
    count: u32,
    /// A register with a loaded vector that will be folded together with the next.
    waiting: Option<u32>,
    code: Vec<Instruction>,
}

impl Body<'_> {
    /// Loads the vector of that index and does what is due on it.
    fn load(&mut self, index: usize) -> Result<(), IcedError> {
        let vectors = self.vectors;
        let from = at(SOURCE, index * vectors.bytes);
        let line = index / (LINE / vectors.bytes);
        let computed = line.is_multiple_of(self.mix.lines_per_computed() as usize);
        let register = Registers::loaded(index);
        match self.mix.arithmetic() {
            Some(arithmetic) if computed => {
                self.code.push(vectors.load(register, from)?);
                for _ in 0..self.mix.operations_per_line() {
                    self.compute(arithmetic, register)?;
                }
            }
            None if self.fold => self.fold(register, from)?,
            _ => self.code.push(vectors.load(register, from)?),
        }
        Ok(())
    }

    fn compute(&mut self, arithmetic: Arithmetic, loaded: u32) -> Result<(), IcedError> {
        let vectors = self.vectors;
        let accumulator = self.registers.accumulator(self.count);
        self.count += 1;
        let combine = |op, one, two| vectors.combine(op, Precision::Double, one, two);
        match arithmetic {
            Arithmetic::Add => self.code.push(combine(Combine::Add, accumulator, loaded)?),
            Arithmetic::Fma => match vectors.add_square(accumulator, loaded) {
                Some(fused) => self.code.push(fused?),
                None => {
                    let product = Registers::PRODUCT;
                    self.code.push(vectors.copy(product, loaded)?);
                    self.code.push(combine(Combine::Multiply, product, product)?);
                    self.code.push(combine(Combine::Add, accumulator, product)?);
                }
            },
        }
        Ok(())
    }

    /// Folds what is loaded; two vectors at a time where there is an instruction for it, which is
    /// half as many operations.
    fn fold(&mut self, register: u32, from: iced_x86::MemoryOperand) -> Result<(), IcedError> {
        let vectors = self.vectors;
        let accumulator = self.registers.accumulator(self.count);
        match self.waiting.take() {
            None if vectors.has_ternary() => {
                self.code.push(vectors.load(register, from)?);
                self.waiting = Some(register);
            }
            Some(waiting) => {
                let folded = vectors.xor_of_three(accumulator, waiting, from);
                self.code.extend(folded.transpose()?);
                self.count += 1;
            }
            None => {
                let folded = vectors.combine_memory(Combine::Xor, accumulator, from, register)?;
                self.code.extend(folded);
                self.count += 1;
            }
        }
        Ok(())
    }

    /// Folds the last vector of an odd number.
    fn fold_waiting(&mut self) -> Result<(), IcedError> {
        if let Some(waiting) = self.waiting.take() {
            let accumulator = self.registers.accumulator(self.count);
            self.code.push(self.vectors.combine(
                Combine::Xor,
                Precision::Double,
                accumulator,
                waiting,
            )?);
        }
        Ok(())
    }

    /// Stores the vector of that index: the lanes that are due there.
    fn store(&mut self, index: usize) -> Result<(), IcedError> {
        let lane = self.registers.lane(index);
        let to = at(DESTINATION, index * self.vectors.bytes);
        self.code.push(if self.mix.non_temporal() {
            self.vectors.store_non_temporal(to, lane)?
        } else {
            self.vectors.store(to, lane)?
        });
        Ok(())
    }
}
