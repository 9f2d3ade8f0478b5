//! What a stream's passes must leave: sums of what they read, and the elements that they write.

use nearfar_kernels::Constants;
use nearfar_record::{Reason, ReasonCode};

use super::{Source, Stream, Sums};

/// Elements of a base page: one element of each page is looked at afterwards.
const PAGE_ELEMENTS: usize = 4096 / size_of::<f64>();

/// Of this many elements that are looked at one is looked at and marked again after the first
/// pass, just before the windows. A look brings a line into the caches and drives out what
/// the pass left there: of 256 MiB 4 MiB by one line of every page, 256 KiB by these. A few
/// marks show what is not walked.
const MARKED_AGAIN: usize = 16;

/// No kernel leaves this in its destination: sources, and so all results, are positive.
pub(super) const UNWRITTEN: f64 = -1.0;

/// Sums are compared within this fraction: far above what the order of
/// additions can change (2^27 terms x 2^-53), far below a missed page.
const SUM_TOLERANCE: f64 = 1e-7;

impl Stream<'_> {
    /// Checks what was found against what had to be.
    pub(super) fn check_sums(&self, found: Sums, expected: Sums) -> Result<(), Reason> {
        if found.xor != expected.xor {
            return Err(self.wrong(format!(
                "the exclusive or of all elements read is {:#x} instead of {:#x}",
                found.xor, expected.xor
            )));
        }
        // A sum that is no number is near to none.
        let is_near = (found.sum - expected.sum).abs() <= SUM_TOLERANCE * expected.sum;
        if !is_near {
            return Err(self.wrong(format!(
                "the sum of all results is {:e} instead of {:e}",
                found.sum, expected.sum
            )));
        }
        Ok(())
    }

    /// After the warm-up: checks what it left in some pages, and marks them again, so that
    /// what is walked from now on shows as well. What it left in the others is checked at the
    /// end.
    ///
    /// # Errors
    /// When an element is not what the pass leaves.
    pub fn check_and_mark(&mut self) -> Result<(), Reason> {
        self.check_pages(MARKED_AGAIN)?;
        if let Some(destination) = &mut self.destination {
            for element in looked_at(destination.len()).step_by(MARKED_AGAIN) {
                destination[element] = UNWRITTEN;
            }
            self.marked_again = Some(self.passes);
        }
        Ok(())
    }

    /// Checks the results so far: the sums of the pass that has not ended, and one element
    /// of every page of the destination. It must hold what a pass leaves there; for
    /// stores whose values change, what the last pass left; the mark, where one was made
    /// again and no pass has come by since.
    ///
    /// # Errors
    /// When something is not as it must be.
    pub fn check_results(&self) -> Result<(), Reason> {
        let expected = self.memory_loop.expected_sums(self.pattern, &self.sources, self.position);
        self.check_sums(self.pass_sums, expected.into())?;
        self.check_pages(1)
    }

    /// Checks every so manieth of the elements that are looked at.
    fn check_pages(&self, every: usize) -> Result<(), Reason> {
        let Some(destination) = &self.destination else {
            return Ok(());
        };
        let (stored, _) = self.memory_loop.widths();
        let elements = destination.len();
        for (number, element) in looked_at(elements).enumerate().step_by(every) {
            let is_ahead = element / stored >= self.position;
            let unwalked = self.marked_again == Some(self.passes) && is_ahead;
            let expected = if unwalked && number.is_multiple_of(MARKED_AGAIN) {
                Some(UNWRITTEN)
            } else {
                self.expected_at(element, is_ahead)
            };
            let found = destination[element];
            if expected.is_some_and(|expected| expected.to_bits() != found.to_bits()) {
                return Err(self.wrong(format!(
                    "element {element} of {elements} holds {found:e} instead of {:e} after {} passes",
                    expected.unwrap_or(f64::NAN),
                    self.passes
                )));
            }
        }
        Ok(())
    }

    /// What the last pass that came by left at an element of the destination.
    fn expected_at(&self, element: usize, is_ahead: bool) -> Option<f64> {
        let pass = if is_ahead {
            // A call with repeats writes what its first pass would.
            self.passes.saturating_sub(u64::from(self.last_repeats))
        } else {
            self.passes
        };
        let value = |source: Option<&Source<'_>>| {
            source.map_or(0.0, |s| self.pattern.value(s.first_index + element as u64))
        };
        self.memory_loop.expected_at(
            &Constants::for_pass(pass),
            element,
            value(self.sources.first()),
            value(self.sources.get(1)),
        )
    }

    fn wrong(&self, what: String) -> Reason {
        Reason {
            code: ReasonCode::WrongData,
            text: format!(
                "{} in {}: {what}; the memory or the CPU is at fault, or another program wrote here",
                self.memory_loop.name(),
                self.memory_loop.variant()
            ),
        }
    }
}

/// One element in every page, at changing places within it, and the last one.
pub(super) fn looked_at(elements: usize) -> impl Iterator<Item = usize> {
    let pages = elements / PAGE_ELEMENTS;
    // 197 is odd: multiples of it visit every place within a page in turn.
    let inside = (0..pages).map(|page| page * PAGE_ELEMENTS + page * 197 % PAGE_ELEMENTS);
    inside.chain(elements.checked_sub(1))
}
