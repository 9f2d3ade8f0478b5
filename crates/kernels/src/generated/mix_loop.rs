//! One mix in one instruction set, ready to run.

use super::machine_code::{Exchange, MachineCode};
use super::{Arithmetic, Mix, architecture};
use crate::line::{LINE, elements_to_next_line};
use crate::{Checksum, Constants, Operands, Operation, Variant, portable};

/// Elements of a cache line.
const LINE_ELEMENTS: usize = LINE / size_of::<f64>();

/// One mix in one instruction set, on a CPU that was found to run it. Clones share the code.
#[derive(Clone, Debug)]
pub struct MixLoop {
    mix: Mix,
    variant: Variant,
    code: MachineCode,
}

/// The routines of a mix, by their index. The exchange's first vector holds the eight lanes to be
/// stored; the [`accumulators`](architecture::mix_accumulators) come back in the next ones.
pub(super) const FOLDED: usize = 0;

/// The same loads and stores by the same iterations, whose loaded values are let go. There where
/// loads are not computed with.
pub(super) const UNFOLDED: usize = 1;

impl MixLoop {
    /// `code` is what the architecture assembled for `mix` in `variant`, which this CPU runs.
    pub(super) fn new(mix: Mix, variant: Variant, code: MachineCode) -> MixLoop {
        MixLoop { mix, variant, code }
    }

    /// The mix it runs.
    pub fn mix(&self) -> Mix {
        self.mix
    }

    /// The instruction set it runs in.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// Steps of one iteration of the loop, a power of two of at most 128. Steps beyond a whole
    /// number of iterations are done element by element, so numbers for timing are multiples of
    /// this.
    pub fn iteration_steps(&self) -> usize {
        Mix::LINE_STEPS * iteration_lines(&self.mix, self.variant)
    }

    /// Runs the mix `repeats` times over the same arrays: `steps` times [`Mix::loads`] elements of
    /// `source` and `steps` times [`Mix::stores`] elements of `destination`, where `steps` is
    /// their common number. Every load and store is issued every time. Non-temporal stores
    /// are fenced once, at the end.
    ///
    /// Element `i` of the destination becomes `lanes[i % 8]` of `constants`. The result is that
    /// of all repeats: the exclusive or of all that was loaded (0 for an even number), or with
    /// arithmetic the sum; see [`Mix::expected`].
    ///
    /// Arrays need no alignment beyond that of `f64`, but a full-speed run wants them to start on
    /// 64-byte boundaries.
    ///
    /// # Panics
    ///
    /// If the lengths are not in the mix's ratio; or, with arithmetic, the steps are not a
    /// multiple of [`Mix::LINE_STEPS`].
    pub fn run(
        &self,
        destination: &mut [f64],
        source: &[f64],
        constants: &Constants,
        repeats: u32,
    ) -> Checksum {
        let steps = self.steps_of(destination, source);
        let head = if self.mix.non_temporal() { elements_to_next_line(destination) } else { 0 };
        let (loads, stores) = (self.mix.loads() as usize, self.mix.stores() as usize);

        // The head belongs to the destination alone, and may take an iteration away from it.
        let per_iteration = self.iteration_steps();
        let mut iterations = steps / per_iteration;
        if stores > 0 {
            iterations = iterations.min((destination.len() - head) / (per_iteration * stores));
        }
        let body_steps = iterations * per_iteration;
        let (head_stores, rest) = destination.split_at_mut(head);
        let (body_stores, tail_stores) = rest.split_at_mut(body_steps * stores);
        let (body_loads, tail_loads) = source.split_at(body_steps * loads);

        // Lanes are counted from the start of the destination; the tail starts a whole number of
        // eight elements after the body.
        let mut shifted = *constants;
        shifted.lanes.rotate_left(head % 8);
        self.store_one_by_one(head_stores, constants, repeats);
        self.store_one_by_one(tail_stores, &shifted, repeats);
        let checksum = self.load_one_by_one(tail_loads, repeats).with(self.run_iterations(
            body_stores,
            body_loads,
            &shifted,
            iterations,
            repeats,
        ));
        if self.mix.non_temporal() {
            architecture::fence_stores();
        }
        checksum
    }

    fn steps_of(&self, destination: &[f64], source: &[f64]) -> usize {
        let (loads, stores) = (self.mix.loads() as usize, self.mix.stores() as usize);
        let steps = source
            .len()
            .checked_div(loads)
            .unwrap_or(0)
            .max(destination.len().checked_div(stores).unwrap_or(0));
        assert!(
            source.len() == steps * loads && destination.len() == steps * stores,
            "mix {} takes lengths in its ratio, not {} elements to load and {} to store",
            self.mix,
            source.len(),
            destination.len()
        );
        assert!(
            self.mix.arithmetic().is_none() || steps.is_multiple_of(Mix::LINE_STEPS),
            "mix {} computes with whole cache lines: {steps} steps are not a multiple of {}",
            self.mix,
            Mix::LINE_STEPS
        );
        steps
    }

    fn store_one_by_one(&self, destination: &mut [f64], constants: &Constants, repeats: u32) {
        if destination.is_empty() {
            return;
        }
        let operands = Operands::store(destination);
        if self.mix.non_temporal() {
            let write = architecture::write_non_temporal;
            portable::run(Operation::Store, operands, constants, repeats, write);
        } else {
            let write = portable::write_volatile;
            portable::run(Operation::Store, operands, constants, repeats, write);
        }
    }

    fn load_one_by_one(&self, source: &[f64], repeats: u32) -> Checksum {
        match self.mix.arithmetic() {
            None if self.mix.loads() == 0 => Checksum::None,
            // The usual case. In a first-level cache even empty repeats would count: they took a
            // tenth of the time of the loop itself on a Zen 4.
            None if source.is_empty() => Checksum::Xor(0),
            Some(_) if source.is_empty() => Checksum::Sum(0.0),
            None => {
                let operands = Operands::load(source);
                let write = portable::write_volatile;
                portable::run(Operation::Load, operands, &Constants::for_pass(0), repeats, write)
            }
            Some(arithmetic) => {
                let every = self.mix.lines_per_computed() as usize;
                let times = self.mix.operations_per_line();
                let mut sum = 0.0;
                for _ in 0..repeats {
                    sum += compute(source, every, times, arithmetic);
                }
                Checksum::Sum(sum)
            }
        }
    }

    fn run_iterations(
        &self,
        destination: &mut [f64],
        source: &[f64],
        constants: &Constants,
        iterations: usize,
        repeats: u32,
    ) -> Checksum {
        if iterations == 0 || repeats == 0 {
            return Checksum::None;
        }
        let mut exchange = Exchange { vectors: [[0; 8]; Exchange::VECTORS] };
        exchange.vectors[0] = constants.lanes.map(f64::to_bits);
        let (destination, source) = (destination.as_mut_ptr(), source.as_ptr());

        let mut passes = repeats as usize;
        if self.mix.arithmetic().is_none() {
            // As in the catalog's `load`: under exclusive or two passes over the same data cancel
            // out, and loads that are not folded are not held up by arithmetic.
            let folded = 2 - passes % 2;
            if passes > folded {
                let routine = self.code.routine(UNFOLDED);
                // SAFETY: as for the folded routine below.
                unsafe {
                    routine(destination, source, iterations, passes - folded, &raw mut exchange);
                };
                passes = folded;
            }
        }
        let routine = self.code.routine(FOLDED);
        // SAFETY: `Mix::generate` found the instruction set. `run` cut both slices to whole
        // iterations, aligned the destination for non-temporal stores, and neither iterations nor
        // passes are 0.
        unsafe { routine(destination, source, iterations, passes, &raw mut exchange) };

        let words = self.variant.vector_bytes() / size_of::<u64>();
        let accumulators = architecture::mix_accumulators(&self.mix, self.variant);
        let results = exchange.vectors[1..=accumulators].iter().flat_map(|v| &v[..words]);
        match self.mix.arithmetic() {
            None if self.mix.loads() == 0 => Checksum::None,
            None => Checksum::Xor(results.fold(0, |one, two| one ^ two)),
            Some(_) => Checksum::Sum(results.map(|&bits| f64::from_bits(bits)).sum()),
        }
    }
}

/// Bytes of code in an iteration from which on it is not unrolled: half a cache for instructions
/// of 32 KiB, as the smallest are.
const MOST_CODE: usize = 16 << 10;

/// Lines of each array that an iteration takes per load and per store of a step: a power of two,
/// so that there are 16 vectors in an iteration if that can be, of at most 8; or of 16, if it
/// takes as many to keep additions to one accumulator apart; but fewer where the code would be
/// larger than [`MOST_CODE`].
pub(super) fn iteration_lines(mix: &Mix, variant: Variant) -> usize {
    const VECTORS: usize = 16;
    let vectors_per_line = LINE / variant.vector_bytes();
    let vectors = vectors_per_line * (mix.loads() + mix.stores()) as usize;
    let mut lines = VECTORS.div_ceil(vectors).next_power_of_two().min(8);
    while lines > 1 && code_bytes(mix, variant, lines) > MOST_CODE {
        lines /= 2;
    }
    let accumulators = architecture::mix_accumulators(mix, variant).max(1);
    // Half cycles for 16 lines.
    let time = |lines: usize| {
        let loads = lines * vectors_per_line * mix.loads() as usize;
        let operations = lines * vectors_per_line * mix.operations() as usize;
        let chain = cycles_of_sum(variant) * operations.div_ceil(accumulators);
        // Two loads and two operations begin in each cycle.
        (2 * chain).max(loads).max(operations) * 16 / lines
    };
    let more = [8, 16].into_iter().filter(|&more| code_bytes(mix, variant, more) <= MOST_CODE);
    // The first of the best.
    more.fold(lines, |best, more| if time(more) < time(best) { more } else { best })
}

/// Cycles from one addition to an accumulator to the next, at most: a fused one takes five on
/// Haswell and Broadwell. Where no additions are fused they take three or four.
pub(super) fn cycles_of_sum(variant: Variant) -> usize {
    match variant {
        Variant::Sse2 => 4,
        // On an A64FX; half as many on a Neoverse.
        Variant::Sve | Variant::Neon => 9,
        _ => 5,
    }
}

/// About this many bytes of code are in an iteration of this many lines.
fn code_bytes(mix: &Mix, variant: Variant, lines: usize) -> usize {
    /// Of an operation on registers, on the average.
    const OPERATION: usize = 5;
    /// Of one on memory, which holds an address.
    const ACCESS: usize = 9;
    let instructions = match mix.arithmetic() {
        // A copy, a multiplication and an addition.
        Some(Arithmetic::Fma) if variant == Variant::Sse2 => 3,
        _ => 1,
    };
    let operations = OPERATION * instructions * mix.operations() as usize;
    let accesses = ACCESS * (mix.loads() + mix.stores()) as usize;
    lines * (LINE / variant.vector_bytes()) * (operations + accesses)
}

/// Element by element what the loop does with whole lines.
fn compute(source: &[f64], every: usize, times: u32, arithmetic: Arithmetic) -> f64 {
    let mut sums = [0.0; LINE_ELEMENTS];
    let computed = source.chunks(LINE_ELEMENTS).enumerate();
    for (_, line) in computed.filter(|(index, _)| index.is_multiple_of(every)) {
        for _ in 0..times {
            for (sum, element) in sums.iter_mut().zip(line) {
                let element = portable::read_volatile(element);
                *sum += match arithmetic {
                    Arithmetic::Add => element,
                    Arithmetic::Fma => element * element,
                };
            }
        }
    }
    sums.into_iter().sum()
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;

    /// In a first-level cache even a few additions for each repeat would count. Here they would
    /// take minutes.
    #[test]
    fn repeats_over_no_tail_take_no_time() {
        let constants = Constants::for_pass(0);
        for (text, nothing) in [
            ("1l", Checksum::Xor(0)),
            ("1s", Checksum::None),
            ("1nt", Checksum::None),
            ("4l_1fma", Checksum::Sum(0.0)),
            ("2l1s_2fma", Checksum::Sum(0.0)),
            ("1l_1add", Checksum::Sum(0.0)),
        ] {
            let mix: Mix = text.parse().unwrap();
            let variant = if Variant::Neon.is_available() { Variant::Neon } else { Variant::Sse2 };
            let generated = mix.generate(variant).unwrap();
            assert_eq!(generated.run(&mut [], &[], &constants, u32::MAX), nothing, "{text}");
        }
    }
}
