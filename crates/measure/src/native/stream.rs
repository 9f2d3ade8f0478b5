//! One thread's walk over its slices: block by block, pass after pass, with the
//! results of every pass checked.

#[cfg(all(test, target_arch = "x86_64"))]
mod coverage;
mod results;

use std::ops::Range;

use nearfar_kernels::{Checksum, Constants, Pattern, add_in_sequence};
use nearfar_record::{PAUSED_BYTES, Reason};

use super::memory_loop::{Arrays, MemoryLoop};
use super::work::Work;
use results::{UNWRITTEN, looked_at};

/// Blocks are whole multiples of this many steps, so that every block but a slice's last fills
/// whole turns of the widest loop, and stored lanes stay in step. A pause comes after as many.
#[expect(clippy::cast_possible_truncation, reason = "a kilobyte")]
const BLOCK_GRAIN: usize = PAUSED_BYTES as usize / size_of::<f64>();

/// Elements of the widest array in a block before any rate is known.
const FIRST_BLOCK: usize = 64 * 1024;

/// Bytes to warm up by at least: small sets are walked many times, so that the rate by which
/// blocks are cut is that of warm caches.
const WARM_BYTES: u64 = 4 << 20;

/// Runs a loop this many times over the same arrays.
pub(super) type RunLoop = fn(&MemoryLoop, Arrays<'_>, &Constants, u32) -> Checksum;

/// A source slice and the number of its first element in the pattern.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub elements: &'a [f64],
    pub first_index: u64,
}

/// What was read, folded.
#[derive(Debug, Default, Clone, Copy)]
struct Sums {
    xor: u64,
    sum: f64,
}

impl Sums {
    /// Adds what this many equal passes gave together, as one of them.
    fn add(&mut self, checksum: Checksum, repeats: u32) {
        match checksum {
            Checksum::None => {}
            // Of an odd number of passes, as one gives it.
            Checksum::Xor(xor) => self.xor ^= xor,
            Checksum::Sum(sum) => self.sum += sum / f64::from(repeats),
        }
    }
}

impl From<Checksum> for Sums {
    fn from(checksum: Checksum) -> Self {
        let mut sums = Self::default();
        sums.add(checksum, 1);
        sums
    }
}

/// One thread's slices and where it is in them. A step is an element of each array of a
/// catalog's kernel; of a mix the elements that its step loads and stores.
#[derive(Debug)]
pub(super) struct Stream<'a> {
    memory_loop: MemoryLoop,
    run_loop: RunLoop,
    pattern: &'a Pattern,
    destination: Option<&'a mut [f64]>,
    sources: Vec<Source<'a>>,
    /// Dependent additions after each [`BLOCK_GRAIN`] steps, once it is warm.
    pause_cycles: u32,
    pauses: bool,
    steps: usize,
    block: usize,
    /// Passes in one call, for slices shorter than a block; odd, because the
    /// exclusive or of an even number of equal passes is always zero.
    repeats: u32,
    /// Passes in the call that ended the last pass.
    last_repeats: u32,
    position: usize,
    passes: u64,
    /// Passes when the destination was marked the second time.
    marked_again: Option<u64>,
    useful_bytes: u64,
    pass_sums: Sums,
    expected_sums: Sums,
}

impl<'a> Stream<'a> {
    pub fn new(
        memory_loop: MemoryLoop,
        pattern: &'a Pattern,
        mut destination: Option<&'a mut [f64]>,
        sources: Vec<Source<'a>>,
    ) -> Self {
        let (stored, loaded) = memory_loop.widths();
        let steps = destination
            .as_ref()
            .map(|slice| slice.len() / stored.max(1))
            .or_else(|| sources.first().map(|source| source.elements.len() / loaded.max(1)))
            .unwrap_or(0);
        if let Some(slice) = &mut destination {
            for position in looked_at(slice.len()) {
                slice[position] = UNWRITTEN;
            }
        }
        let expected = memory_loop.expected_sums(pattern, &sources, steps);
        let block = FIRST_BLOCK / stored.max(loaded) / BLOCK_GRAIN * BLOCK_GRAIN;
        Self {
            memory_loop,
            run_loop: MemoryLoop::run,
            pattern,
            destination,
            sources,
            pause_cycles: 0,
            pauses: false,
            steps,
            block: steps.min(block),
            repeats: 1,
            last_repeats: 1,
            position: 0,
            passes: 0,
            marked_again: None,
            useful_bytes: 0,
            pass_sums: Sums::default(),
            expected_sums: expected.into(),
        }
    }

    /// Runs the loop by this function.
    pub fn run_by(&mut self, run_loop: RunLoop) {
        self.run_loop = run_loop;
    }

    /// Makes this many dependent additions after each [`BLOCK_GRAIN`] steps once pauses begin: a pass
    /// through large arrays with pauses takes seconds, and leaves in caches what one without does.
    pub fn pause_for(&mut self, cycles: u32) {
        self.pause_cycles = cycles;
    }

    /// Runs the block piece by piece and pauses after each. Non-temporal stores are fenced after
    /// each as well.
    fn run_with_pauses(&mut self, end: usize, repeats: u32) {
        for _ in 0..repeats {
            for start in (self.position..end).step_by(BLOCK_GRAIN) {
                let checksum = self.run_part(start..end.min(start + BLOCK_GRAIN), 1);
                self.pass_sums.add(checksum, repeats);
                // That there is such a loop was found out when the case was prepared.
                add_in_sequence(u64::from(self.pause_cycles));
            }
        }
    }

    fn run_part(&mut self, steps: Range<usize>, repeats: u32) -> Checksum {
        let constants = Constants::for_pass(self.passes);
        let (stored, loaded) = self.memory_loop.widths();
        let of_width = |width: usize| steps.start * width..steps.end * width;
        let source =
            |source: Option<&Source<'a>>| source.map(|source| &source.elements[of_width(loaded)]);
        let arrays = Arrays {
            sources: [source(self.sources.first()), source(self.sources.get(1))],
            destination: self.destination.as_mut().map(|slice| &mut slice[of_width(stored)]),
        };
        (self.run_loop)(&self.memory_loop, arrays, &constants, repeats)
    }

    fn end_pass(&mut self, passes: u64) -> Result<(), Reason> {
        self.position = 0;
        self.passes += passes;
        let found = std::mem::take(&mut self.pass_sums);
        self.check_sums(found, self.expected_sums)
    }
}

impl Work for Stream<'_> {
    fn done(&self) -> u64 {
        self.useful_bytes
    }

    fn passes(&self) -> u64 {
        self.passes
    }

    /// Whether it has just ended a pass, and the caches hold what a long run would leave in them.
    fn is_warm(&self) -> bool {
        self.passes > 0 && self.position == 0 && self.useful_bytes >= WARM_BYTES
    }

    fn set_block(&mut self, useful_bytes: u64) {
        let wanted = useful_bytes / self.memory_loop.kernel().step_bytes();
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX).max(BLOCK_GRAIN);
        self.block = (wanted / BLOCK_GRAIN * BLOCK_GRAIN).min(self.steps);
        let turns = wanted / self.steps.max(1);
        self.repeats = u32::try_from(turns.saturating_sub(1) | 1).unwrap_or(1);
    }

    /// Down to the block's grain.
    fn halve_block(&mut self) {
        if self.repeats > 1 {
            self.repeats = (self.repeats / 2) | 1;
        } else if self.block > BLOCK_GRAIN {
            self.block = (self.block / 2).next_multiple_of(BLOCK_GRAIN).min(self.steps);
        }
    }

    fn step(&mut self) -> Result<(), Reason> {
        let end = (self.position + self.block).min(self.steps);
        let whole_slice = self.position == 0 && end == self.steps;
        let repeats = if whole_slice { self.repeats } else { 1 };
        if !self.pauses {
            let checksum = self.run_part(self.position..end, repeats);
            self.pass_sums.add(checksum, repeats);
        } else {
            self.run_with_pauses(end, repeats);
        }
        let steps = (end - self.position) as u64 * u64::from(repeats);
        self.useful_bytes += self.memory_loop.kernel().step_bytes() * steps;
        self.position = end;
        if end == self.steps {
            self.last_repeats = repeats;
            self.end_pass(u64::from(repeats))?;
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), Reason> {
        self.check_results()
    }

    fn check_warm_up(&mut self) -> Result<(), Reason> {
        self.check_and_mark()
    }

    fn begin_pauses(&mut self) -> bool {
        self.pauses = self.pause_cycles > 0;
        self.pauses
    }

    fn is_stream(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_name::MemoryKernel;
    use nearfar_kernels::CATALOG;
    use nearfar_record::ReasonCode;

    /// First elements of sources in the pattern.
    const FIRST: [u64; 2] = [7, 9000];

    pub(super) fn pattern() -> Pattern {
        Pattern::new(5)
    }

    /// The loop of a kernel or mix in the preferred variant of this CPU.
    pub(super) fn loop_of(name: &str) -> MemoryLoop {
        let kernel = MemoryKernel::named(name).unwrap();
        let variants = nearfar_kernels::Variant::available();
        variants
            .iter()
            .find_map(|variant| MemoryLoop::of(kernel, &variant.to_string()).ok())
            .unwrap()
    }

    /// The slices of a stream, full of the pattern.
    pub(super) struct Memory {
        pub(super) destination: Vec<f64>,
        pub(super) sources: Vec<Vec<f64>>,
    }

    impl Memory {
        pub(super) fn of(memory_loop: &MemoryLoop, steps: usize) -> Self {
            let (stored, loaded) = memory_loop.widths();
            let kernel = memory_loop.kernel();
            let sources = match memory_loop {
                MemoryLoop::Catalog(_) => kernel.loads() as usize,
                MemoryLoop::Mix(_) => usize::from(kernel.loads() > 0),
            };
            let source = |number: usize| {
                let mut elements = vec![0.0; loaded * steps];
                pattern().fill(&mut elements, FIRST[number]);
                elements
            };
            let stored = if kernel.stores() > 0 { stored * steps } else { 0 };
            Self { destination: vec![0.0; stored], sources: (0..sources).map(source).collect() }
        }

        pub(super) fn stream<'a>(
            &'a mut self,
            memory_loop: MemoryLoop,
            pattern: &'a Pattern,
        ) -> Stream<'a> {
            let sources = self.sources.iter().zip(FIRST);
            let sources = sources.map(|(elements, first_index)| Source { elements, first_index });
            let destination = (!self.destination.is_empty()).then_some(&mut self.destination[..]);
            Stream::new(memory_loop, pattern, destination, sources.collect())
        }
    }

    /// Does this with a stream over this many steps, and with the bytes of a step.
    pub(super) fn with_stream<T>(
        name: &str,
        steps: usize,
        test: impl FnOnce(&mut Stream<'_>, u64) -> T,
    ) -> T {
        let memory_loop = loop_of(name);
        let bytes = memory_loop.kernel().step_bytes();
        let mut memory = Memory::of(&memory_loop, steps);
        let pattern = pattern();
        test(&mut memory.stream(memory_loop, &pattern), bytes)
    }

    fn is_wrong(checked: Result<(), Reason>) -> bool {
        checked.is_err_and(|reason| reason.code == ReasonCode::WrongData)
    }

    /// Runs this many blocks; gives the useful bytes.
    pub(super) fn run_blocks(name: &str, steps: usize, block_bytes: u64, blocks: usize) -> u64 {
        with_stream(name, steps, |stream, _| {
            stream.set_block(block_bytes);
            let fails = |reason: Reason| panic!("{name}: {}", reason.text);
            for _ in 0..blocks {
                stream.step().unwrap_or_else(fails);
                if stream.passes() > 0 {
                    stream.check_results().unwrap_or_else(fails);
                }
            }
            assert!(stream.passes() > 0, "the test must make a pass");
            stream.done()
        })
    }

    #[test]
    fn every_kernel_passes_its_own_check() {
        for kernel in &CATALOG {
            for (steps, block_bytes, blocks) in
                [(5000, 4096, 60), (1024, 1 << 20, 3), (512, 100, 40)]
            {
                run_blocks(kernel.name, steps, block_bytes, blocks);
            }
        }
    }

    #[test]
    fn bytes_are_those_of_whole_passes() {
        // 1024 elements, blocks of 128: 8 steps a pass.
        assert_eq!(run_blocks("triad", 1024, 128 * 24, 16), 2 * 1024 * 24);
    }

    #[test]
    fn wrong_sources_are_noticed() {
        let memory_loop = loop_of("load");
        let mut memory = Memory::of(&memory_loop, 2048);
        memory.sources[0][1500] += 1.0;
        let pattern = pattern();
        let reason = memory.stream(memory_loop, &pattern).step().unwrap_err();
        assert_eq!(reason.code, ReasonCode::WrongData);
    }

    #[test]
    fn a_destination_that_was_not_written_is_noticed() {
        for name in ["copy", "2l1s", "1l1nt_2fma"] {
            with_stream(name, 2048, |stream, bytes| {
                stream.set_block(512 * bytes);
                stream.step().unwrap();
                // The first block is there, of the others the marks.
                assert!(is_wrong(stream.check_results()));
                while stream.passes() == 0 {
                    stream.step().unwrap();
                }
                stream.check_results().unwrap();
            });
        }
    }

    /// What a pass that does not end has read is checked as well.
    #[test]
    fn wrong_sums_of_an_unfinished_pass_are_noticed() {
        for name in ["load", "ddot", "1l", "3l_6fma"] {
            with_stream(name, 2048, |stream, bytes| {
                stream.set_block(512 * bytes);
                for _ in 0..6 {
                    stream.step().unwrap();
                    stream.check_results().unwrap();
                }
                stream.run_by(|honest, arrays, constants, repeats| {
                    match honest.run(arrays, constants, repeats) {
                        Checksum::Xor(xor) => Checksum::Xor(xor ^ 1),
                        Checksum::Sum(sum) => Checksum::Sum(sum * 1.01),
                        Checksum::None => Checksum::None,
                    }
                });
                stream.step().unwrap();
                assert!(is_wrong(stream.check_results()));
            });
        }
    }

    /// Marks that are made again after the first pass show what is not walked from then on.
    #[test]
    fn what_is_not_walked_after_the_first_pass_is_noticed() {
        for name in ["copy", "1l1s"] {
            with_stream(name, 65536, |stream, bytes| {
                stream.set_block(bytes * 8192);
                while stream.passes() == 0 {
                    stream.step().unwrap();
                }
                stream.check_and_mark().unwrap();
                for _ in 0..3 {
                    stream.step().unwrap();
                    stream.check_results().unwrap();
                }
                stream.run_by(|_, _, _, _| Checksum::None);
                stream.step().unwrap();
                assert!(is_wrong(stream.check_results()));
            });
        }
    }

    #[test]
    fn small_sets_are_warm_after_many_passes_and_large_ones_after_one() {
        // The last one has a pass of more than a block.
        for (steps, passes) in [(1 << 20, 1), (4096, 64), (100_000, 3)] {
            with_stream("copy", steps, |stream, _| {
                while !stream.is_warm() {
                    stream.step().unwrap();
                }
                assert_eq!((stream.passes(), stream.position), (passes, 0));
                stream.check_and_mark().unwrap();
                stream.check_results().unwrap();
            });
        }
    }
}
