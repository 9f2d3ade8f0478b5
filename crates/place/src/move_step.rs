//! Pages that are moved at once, and where they were, for the way back.

use nearfar_sys::HUGE_PAGE_BYTES;

use crate::present_memory::PresentPart;

/// Pages that one after the other were on one node. Where each is on another than the one before, 16 bytes
/// a page are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    first: usize,
    pages: u32,
    node: u32,
}

/// Pages that were moved in one step, and where they were.
#[derive(Debug)]
pub(crate) struct Step {
    runs: Vec<Run>,
    pub page_bytes: usize,
    pub has_huge: bool,
}

impl Step {
    pub fn new(strays: &[(usize, u32)], part: &PresentPart) -> Self {
        let page_bytes = part.page_bytes;
        let mut runs: Vec<Run> = Vec::new();
        for &(address, node) in strays {
            match runs.last_mut() {
                Some(run)
                    if run.node == node
                        && run.first + run.pages as usize * page_bytes == address =>
                {
                    run.pages += 1;
                }
                _ => runs.push(Run { first: address, pages: 1, node }),
            }
        }
        Self { runs, page_bytes, has_huge: part.has_huge }
    }

    pub fn addresses(&self) -> Vec<usize> {
        let of = |run: &Run| {
            let first = run.first;
            (0..run.pages as usize).map(move |number| first + number * self.page_bytes)
        };
        self.runs.iter().flat_map(of).collect()
    }

    /// Where a page of it was.
    pub fn node_of(&self, address: usize) -> u32 {
        let after = self.runs.partition_point(|run| run.first <= address);
        self.runs[after.saturating_sub(1)].node
    }
}

/// Pages in steps of at most `most`, or of one huge page: no huge page is divided.
pub(crate) fn steps(pages: &[usize], most: usize, has_huge: bool) -> Vec<&[usize]> {
    let mut steps = Vec::new();
    let mut rest = pages;
    while !rest.is_empty() {
        let mut end = most.clamp(1, rest.len());
        if has_huge {
            let huge = rest[end - 1] / HUGE_PAGE_BYTES;
            end += rest[end..].iter().take_while(|&&page| page / HUGE_PAGE_BYTES == huge).count();
        }
        let (step, after) = rest.split_at(end);
        steps.push(step);
        rest = after;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = 4096;

    #[test]
    fn where_pages_were_is_known_of_each() {
        let strays = [(8, 1), (9, 1), (10, 2), (12, 2), (13, 2), (20, 1)];
        let strays = strays.map(|(number, node)| (number * PAGE, node));
        let step = Step::new(&strays, &PresentPart::without_pages(PAGE, false));
        assert_eq!(step.runs.len(), 4);
        assert_eq!(step.addresses(), strays.map(|(address, _)| address));
        for (address, node) in strays {
            assert_eq!(step.node_of(address), node);
        }
    }

    #[test]
    fn huge_pages_are_not_divided_between_steps() {
        let pages: Vec<usize> = (0..1500).map(|number| number * PAGE).collect();
        let lengths = |most, has_huge| -> Vec<usize> {
            steps(&pages, most, has_huge).iter().map(|step| step.len()).collect()
        };
        assert_eq!(lengths(700, false), [700, 700, 100]);
        assert_eq!(lengths(700, true), [1024, 476]);
        assert_eq!(lengths(1, true), [512, 512, 476]);
        assert_eq!(lengths(0, false).len(), 1500);
        assert_eq!(steps(&[], 5, true), [&[0; 0]; 0]);
    }
}
