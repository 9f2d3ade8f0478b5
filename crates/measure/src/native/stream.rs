//! One thread's walk over its slices: block by block, pass after pass, with the
//! results of every pass checked.

use nearfar_kernels::{Checksum, Constants, Kernel, Operands, Operation, Pattern, TimedLoop};
use nearfar_record::{Reason, ReasonCode};

use super::instruments::RunLoop;

/// Elements of a base page: one element of each page is looked at afterwards.
const PAGE_ELEMENTS: usize = 4096 / size_of::<f64>();

/// Of so many elements that are looked at one is looked at and marked again after the first
/// pass, just before the windows. A look brings a line into the caches and drives out what
/// the pass left there: of 256 MiB 4 MiB by one line of every page, 256 KiB by these. A few
/// marks show what is not walked.
const MARKED_AGAIN: usize = 16;

/// No kernel leaves this in its destination: sources, and so all results, are positive.
const UNWRITTEN: f64 = -1.0;

/// Blocks are whole multiples of this, so that every block but a slice's last fills
/// whole turns of the widest loop, and `store`'s lanes stay in step.
const BLOCK_GRAIN: usize = 64;

/// Sums of products are compared within this fraction: far above what the order of
/// additions can change (2^27 terms x 2^-53), far below a missed page.
const SUM_TOLERANCE: f64 = 1e-7;

/// A source slice and the number of its first element in the pattern.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub elements: &'a [f64],
    pub first_index: u64,
}

/// One thread's slices and where it is in them.
#[derive(Debug)]
pub(super) struct Stream<'a> {
    timed_loop: TimedLoop,
    run_loop: RunLoop,
    pattern: &'a Pattern,
    destination: Option<&'a mut [f64]>,
    sources: Vec<Source<'a>>,
    elements: usize,
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
    pass_xor: u64,
    pass_sum: f64,
    expected_xor: u64,
    expected_sum: f64,
}

impl<'a> Stream<'a> {
    pub fn new(
        timed_loop: TimedLoop,
        pattern: &'a Pattern,
        mut destination: Option<&'a mut [f64]>,
        sources: Vec<Source<'a>>,
    ) -> Self {
        let elements = destination
            .as_ref()
            .map(|slice| slice.len())
            .or_else(|| sources.first().map(|source| source.elements.len()))
            .unwrap_or(0);
        if let Some(slice) = &mut destination {
            for position in looked_at(elements) {
                slice[position] = UNWRITTEN;
            }
        }
        let mut stream = Self {
            timed_loop,
            run_loop: TimedLoop::run,
            pattern,
            destination,
            sources,
            elements,
            block: elements.min(64 * 1024),
            repeats: 1,
            last_repeats: 1,
            position: 0,
            passes: 0,
            marked_again: None,
            useful_bytes: 0,
            pass_xor: 0,
            pass_sum: 0.0,
            expected_xor: 0,
            expected_sum: 0.0,
        };
        (stream.expected_xor, stream.expected_sum) = stream.expected_sums(elements);
        stream
    }

    /// Runs the loop by this function.
    pub fn run_by(&mut self, run_loop: RunLoop) {
        self.run_loop = run_loop;
    }

    fn kernel(&self) -> &'static Kernel {
        self.timed_loop.kernel()
    }

    pub fn useful_bytes(&self) -> u64 {
        self.useful_bytes
    }

    pub fn passes(&self) -> u64 {
        self.passes
    }

    /// Sets the block to about so many useful bytes.
    pub fn set_block(&mut self, useful_bytes: u64) {
        let wanted = useful_bytes / self.kernel().useful_bytes(1);
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX).max(BLOCK_GRAIN);
        self.block = (wanted / BLOCK_GRAIN * BLOCK_GRAIN).min(self.elements);
        let turns = wanted / self.elements.max(1);
        self.repeats = u32::try_from(turns.saturating_sub(1) | 1).unwrap_or(1);
    }

    /// Cuts the block in two, down to its grain.
    pub fn halve_block(&mut self) {
        if self.repeats > 1 {
            self.repeats = (self.repeats / 2) | 1;
        } else if self.block > BLOCK_GRAIN {
            self.block = (self.block / 2).next_multiple_of(BLOCK_GRAIN).min(self.elements);
        }
    }

    /// Runs the next block.
    ///
    /// # Errors
    /// When a finished pass left a wrong result.
    pub fn step(&mut self) -> Result<(), Reason> {
        let end = (self.position + self.block).min(self.elements);
        let whole_slice = self.position == 0 && end == self.elements;
        let repeats = if whole_slice { self.repeats } else { 1 };
        let checksum = self.run_block(end, repeats);
        match checksum {
            Checksum::None => {}
            Checksum::Xor(xor) => self.pass_xor ^= xor,
            Checksum::Sum(sum) => self.pass_sum += sum / f64::from(repeats),
        }
        let elements = (end - self.position) as u64 * u64::from(repeats);
        self.useful_bytes += self.kernel().useful_bytes(elements);
        self.position = end;
        if end == self.elements {
            self.last_repeats = repeats;
            self.end_pass(u64::from(repeats))?;
        }
        Ok(())
    }

    fn run_block(&mut self, end: usize, repeats: u32) -> Checksum {
        let range = self.position..end;
        let constants = Constants::for_pass(self.passes);
        let destination = self.destination.as_mut().map(|slice| &mut slice[range.clone()]);
        let mut sources = self.sources.iter().map(|source| &source.elements[range.clone()]);
        let operands = match (destination, sources.next(), sources.next()) {
            (None, Some(b), None) => Operands::load(b),
            (None, Some(b), Some(c)) => Operands::dot(b, c),
            (Some(a), None, _) => Operands::store(a),
            (Some(a), Some(b), None) => Operands::map(a, b),
            (Some(a), Some(b), Some(c)) => Operands::zip(a, b, c),
            (None, None, _) => return Checksum::None,
        };
        (self.run_loop)(&self.timed_loop, operands, &constants, repeats)
    }

    fn end_pass(&mut self, passes: u64) -> Result<(), Reason> {
        self.position = 0;
        self.passes += passes;
        let xor = std::mem::take(&mut self.pass_xor);
        let sum = std::mem::take(&mut self.pass_sum);
        self.check_sums((xor, self.expected_xor), (sum, self.expected_sum))
    }

    /// Checks what was found against what had to be.
    fn check_sums(&self, xors: (u64, u64), sums: (f64, f64)) -> Result<(), Reason> {
        if xors.0 != xors.1 {
            return Err(self.wrong(format!(
                "the exclusive or of all elements read is {:#x} instead of {:#x}",
                xors.0, xors.1
            )));
        }
        // A sum that is no number is near to none.
        let is_near = (sums.0 - sums.1).abs() <= SUM_TOLERANCE * sums.1;
        if !is_near {
            return Err(self.wrong(format!(
                "the sum of all products is {:e} instead of {:e}",
                sums.0, sums.1
            )));
        }
        Ok(())
    }

    /// After the first pass: checks what it left in some pages, and marks them again, so that
    /// what is walked from now on shows as well. What it left in the others is checked at the
    /// end.
    ///
    /// # Errors
    /// When an element is not what the pass leaves.
    pub fn check_and_mark(&mut self) -> Result<(), Reason> {
        self.check_pages(MARKED_AGAIN)?;
        if let Some(destination) = &mut self.destination {
            for position in looked_at(self.elements).step_by(MARKED_AGAIN) {
                destination[position] = UNWRITTEN;
            }
            self.marked_again = Some(self.passes);
        }
        Ok(())
    }

    /// Checks the results so far: the sums of the pass that has not ended, and one element
    /// of every page of the destination. It must hold what a pass leaves there; for
    /// `store`, whose values change, what the last pass left; the mark, where one was made
    /// again and no pass has come by since.
    ///
    /// # Errors
    /// When something is not as it must be.
    pub fn check_results(&self) -> Result<(), Reason> {
        let (xor, sum) = self.expected_sums(self.position);
        self.check_sums((self.pass_xor, xor), (self.pass_sum, sum))?;
        self.check_pages(1)
    }

    /// Checks every so manieth of the elements that are looked at.
    fn check_pages(&self, every: usize) -> Result<(), Reason> {
        let Some(destination) = &self.destination else {
            return Ok(());
        };
        for (number, position) in looked_at(self.elements).enumerate().step_by(every) {
            let unwalked = self.marked_again == Some(self.passes) && position >= self.position;
            let expected = if unwalked && number.is_multiple_of(MARKED_AGAIN) {
                Some(UNWRITTEN)
            } else {
                self.expected_at(position)
            };
            let found = destination[position];
            if expected.is_some_and(|expected| expected.to_bits() != found.to_bits()) {
                return Err(self.wrong(format!(
                    "element {position} of {} holds {found:e} instead of {:e} after {} passes",
                    self.elements,
                    expected.unwrap_or(f64::NAN),
                    self.passes
                )));
            }
        }
        Ok(())
    }

    /// What the last pass that came by left at a position of the destination.
    fn expected_at(&self, position: usize) -> Option<f64> {
        let pass = if position < self.position {
            self.passes
        } else {
            // A call with repeats writes what its first pass would.
            self.passes.saturating_sub(u64::from(self.last_repeats))
        };
        let value = |source: Option<&Source<'_>>| {
            source.map_or(0.0, |s| self.pattern.value(s.first_index + position as u64))
        };
        // Lanes count from a block's start; blocks are multiples of eight.
        self.kernel().expected(
            &Constants::for_pass(pass),
            position as u64,
            value(self.sources.first()),
            value(self.sources.get(1)),
        )
    }

    /// The exclusive or, and the sum of products, of the first elements of the sources;
    /// zero for kernels that have none.
    fn expected_sums(&self, elements: usize) -> (u64, f64) {
        let elements = elements as u64;
        match (self.kernel().operation, self.sources.as_slice()) {
            (Operation::Load, [b]) => {
                (self.pattern.xor(b.first_index..b.first_index + elements), 0.0)
            }
            (Operation::Ddot, [b, c]) => {
                (0, self.pattern.dot(b.first_index, c.first_index, elements))
            }
            _ => (0, 0.0),
        }
    }

    fn wrong(&self, what: String) -> Reason {
        Reason {
            code: ReasonCode::WrongData,
            text: format!(
                "{} in {}: {what}; the memory or the CPU is at fault, or another program wrote here",
                self.kernel().name,
                self.timed_loop.variant()
            ),
        }
    }
}

/// One position in every page, at changing places within it, and the last one.
fn looked_at(elements: usize) -> impl Iterator<Item = usize> {
    let pages = elements / PAGE_ELEMENTS;
    // 197 is odd: multiples of it visit every place within a page in turn.
    let inside = (0..pages).map(|page| page * PAGE_ELEMENTS + page * 197 % PAGE_ELEMENTS);
    inside.chain(elements.checked_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearfar_kernels::CATALOG;

    fn run_passes(
        kernel: &'static Kernel,
        elements: usize,
        block_bytes: u64,
        steps: usize,
    ) -> Result<u64, Reason> {
        let pattern = Pattern::new(5);
        let mut a = vec![0.0; elements];
        let (mut b, mut c) = (vec![0.0; elements], vec![0.0; elements]);
        pattern.fill(&mut b, 7);
        pattern.fill(&mut c, 1007);
        let sources =
            [Source { elements: &b, first_index: 7 }, Source { elements: &c, first_index: 1007 }];
        let sources: Vec<_> = sources.into_iter().take(kernel.loads() as usize).collect();
        let destination = (kernel.stores() > 0).then_some(a.as_mut_slice());
        let variant = kernel.variants()[0];
        let timed_loop = kernel.in_variant(variant).unwrap();
        let mut stream = Stream::new(timed_loop, &pattern, destination, sources);
        stream.set_block(block_bytes);
        for _ in 0..steps {
            stream.step()?;
        }
        assert!(stream.passes() >= 1, "the test must make a pass");
        stream.check_results()?;
        Ok(stream.useful_bytes())
    }

    #[test]
    fn every_kernel_passes_its_own_check() {
        for kernel in &CATALOG {
            for (elements, block_bytes, steps) in
                [(5000, 4096, 60), (1024, 1 << 20, 3), (512, 100, 40)]
            {
                run_passes(kernel, elements, block_bytes, steps)
                    .unwrap_or_else(|reason| panic!("{}: {}", kernel.name, reason.text));
            }
        }
    }

    #[test]
    fn bytes_are_those_of_whole_passes() {
        let triad = nearfar_kernels::find("triad").unwrap();
        // 1024 elements, blocks of 64: 16 steps a pass.
        assert_eq!(run_passes(triad, 1024, 64 * 24, 32).unwrap(), 2 * 1024 * 24);
    }

    #[test]
    fn wrong_sources_are_noticed() {
        let pattern = Pattern::new(5);
        let mut b = vec![0.0; 2048];
        pattern.fill(&mut b, 0);
        b[1500] += 1.0;
        let load = nearfar_kernels::find("load").unwrap();
        let timed_loop = load.in_variant(load.variants()[0]).unwrap();
        let sources = vec![Source { elements: &b, first_index: 0 }];
        let mut stream = Stream::new(timed_loop, &pattern, None, sources);
        let reason = stream.step().unwrap_err();
        assert_eq!(reason.code, ReasonCode::WrongData);
    }

    #[test]
    fn a_destination_that_was_not_written_is_noticed() {
        let pattern = Pattern::new(5);
        let (mut a, mut b) = (vec![0.0; 2048], vec![0.0; 2048]);
        pattern.fill(&mut b, 0);
        let copy = nearfar_kernels::find("copy").unwrap();
        let timed_loop = copy.in_variant(copy.variants()[0]).unwrap();
        let sources = vec![Source { elements: &b, first_index: 0 }];
        let mut stream = Stream::new(timed_loop, &pattern, Some(&mut a), sources);
        stream.set_block(512 * 16);
        stream.step().unwrap();
        assert_eq!(stream.check_results().unwrap_err().code, ReasonCode::WrongData);
        while stream.passes() == 0 {
            stream.step().unwrap();
        }
        stream.check_results().unwrap();
    }

    /// What a pass that does not end has read is checked as well.
    #[test]
    fn wrong_sums_of_an_unfinished_pass_are_noticed() {
        fn lying(l: &TimedLoop, operands: Operands<'_>, c: &Constants, repeats: u32) -> Checksum {
            match l.run(operands, c, repeats) {
                Checksum::Xor(xor) => Checksum::Xor(xor ^ 1),
                Checksum::Sum(sum) => Checksum::Sum(sum * 1.01),
                Checksum::None => Checksum::None,
            }
        }
        let pattern = Pattern::new(5);
        let (mut b, mut c) = (vec![0.0; 2048], vec![0.0; 2048]);
        pattern.fill(&mut b, 3);
        pattern.fill(&mut c, 9000);
        for name in ["load", "ddot"] {
            let kernel = nearfar_kernels::find(name).unwrap();
            let sources = [
                Source { elements: &b, first_index: 3 },
                Source { elements: &c, first_index: 9000 },
            ];
            let sources = sources.into_iter().take(kernel.loads() as usize).collect();
            let timed_loop = kernel.in_variant(kernel.variants()[0]).unwrap();
            let mut stream = Stream::new(timed_loop, &pattern, None, sources);
            stream.set_block(kernel.useful_bytes(512));
            for _ in 0..6 {
                stream.step().unwrap();
                stream.check_results().unwrap();
            }
            stream.run_by(lying);
            stream.step().unwrap();
            assert_eq!(stream.check_results().unwrap_err().code, ReasonCode::WrongData);
        }
    }

    /// Marks that are made again after the first pass show what is not walked from then on.
    #[test]
    fn what_is_not_walked_after_the_first_pass_is_noticed() {
        fn idle(_: &TimedLoop, _: Operands<'_>, _: &Constants, _: u32) -> Checksum {
            Checksum::None
        }
        let pattern = Pattern::new(5);
        let (mut a, mut b) = (vec![0.0; 65536], vec![0.0; 65536]);
        pattern.fill(&mut b, 0);
        let copy = nearfar_kernels::find("copy").unwrap();
        let timed_loop = copy.in_variant(copy.variants()[0]).unwrap();
        let sources = vec![Source { elements: &b, first_index: 0 }];
        let mut stream = Stream::new(timed_loop, &pattern, Some(&mut a), sources);
        stream.set_block(copy.useful_bytes(8192));
        while stream.passes() == 0 {
            stream.step().unwrap();
        }
        stream.check_and_mark().unwrap();
        for _ in 0..3 {
            stream.step().unwrap();
            stream.check_results().unwrap();
        }
        stream.run_by(idle);
        stream.step().unwrap();
        assert_eq!(stream.check_results().unwrap_err().code, ReasonCode::WrongData);
    }
}
