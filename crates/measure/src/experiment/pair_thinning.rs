//! Which cells of the pairs matrix the suite `standard` measures on a machine with many pairs.

use nearfar_record::{Absent, ReasonCode};

use super::omitted::omitted;

/// So many cells take some minutes. Where all cells are more, those go first that models need
/// least.
const MOST_CELLS: usize = 400;

/// A cell that could be measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell<'a> {
    pub is_local: bool,
    pub kernel: &'a str,
    /// 0 is the best variant.
    pub variant_rank: usize,
    pub threads: u32,
    /// Threads of one for each core.
    pub all_threads: u32,
}

/// What is left out; each step leaves out what those before it do as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Thinning {
    Nothing,
    /// Remote pairs: thread counts between one and all.
    RemoteCounts,
    /// Remote pairs: variants other than the best.
    RemoteVariants,
    /// Remote pairs: kernels other than load and the triads, which classes are made from.
    RemoteKernels,
    /// Local pairs: variants other than the best.
    LocalVariants,
    /// Remote pairs: the triads with more than one thread.
    RemoteTriads,
}

impl Thinning {
    const STEPS: [Self; 6] = [
        Self::Nothing,
        Self::RemoteCounts,
        Self::RemoteVariants,
        Self::RemoteKernels,
        Self::LocalVariants,
        Self::RemoteTriads,
    ];

    /// The first step that leaves few enough of these cells, or the last.
    pub fn for_cells<'a>(cells: impl Iterator<Item = Cell<'a>>) -> Self {
        let mut kept = Self::STEPS.map(|step| (step, 0));
        for cell in cells {
            kept.iter_mut().for_each(|(step, count)| *count += usize::from(step.keeps(cell)));
        }
        let few_enough = kept.into_iter().find(|&(_, count)| count <= MOST_CELLS);
        few_enough.map_or(Self::RemoteTriads, |(step, _)| step)
    }

    /// Whether a cell is measured.
    pub fn keeps(self, cell: Cell<'_>) -> bool {
        let is_triad = matches!(cell.kernel, "triad" | "triad_nt");
        let is_dropped = |step: Self| match step {
            Self::Nothing => false,
            Self::RemoteCounts => {
                !cell.is_local && cell.threads > 1 && cell.threads < cell.all_threads
            }
            Self::RemoteVariants => !cell.is_local && cell.variant_rank > 0,
            Self::RemoteKernels => !cell.is_local && !is_triad && cell.kernel != "load",
            Self::LocalVariants => cell.is_local && cell.variant_rank > 0,
            Self::RemoteTriads => !cell.is_local && is_triad && cell.threads > 1,
        };
        !Self::STEPS.into_iter().take_while(|&step| step <= self).any(is_dropped)
    }

    /// What is left out, in words; `None` for nothing.
    pub fn absent(self, cells: usize, kept: usize) -> Option<Absent> {
        let what = match self {
            Self::Nothing => return None,
            Self::RemoteCounts => "remote memory by one and by all threads only",
            Self::RemoteVariants => {
                "remote memory by one and by all threads in the best variant only"
            }
            Self::RemoteKernels => {
                "remote memory by load and the triads, one and all threads, in the best variant only"
            }
            Self::LocalVariants => {
                "the best variant only, and remote memory by load and the triads, one and all \
                 threads"
            }
            Self::RemoteTriads => {
                "the best variant only, and remote memory by load with one and all threads, and by \
                 the triads with one"
            }
        };
        let text = format!(
            "the matrix has {cells} cells here; to stay within minutes the suite standard measures \
             {kept} of them: {what}; --suite full measures all"
        );
        Some(omitted("pairs/thinned", ReasonCode::FullSuiteOnly, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(initiators: u32, cores: u32) -> Vec<Cell<'static>> {
        let mut cells = Vec::new();
        for from in 0..initiators {
            for to in 0..initiators {
                for name in ["load", "copy", "copy_nt", "triad", "triad_nt"] {
                    for variant_rank in 0..2 {
                        for threads in [1, 2, cores / 2, cores] {
                            let (is_local, all_threads) = (from == to, cores);
                            let kernel = name;
                            cells.push(Cell {
                                is_local,
                                kernel,
                                variant_rank,
                                threads,
                                all_threads,
                            });
                        }
                    }
                }
            }
        }
        cells
    }

    #[test]
    fn small_machines_are_measured_whole() {
        let cells = cells(2, 16);
        assert_eq!(Thinning::for_cells(cells.iter().copied()), Thinning::Nothing);
        assert!(cells.iter().all(|&cell| Thinning::Nothing.keeps(cell)));
    }

    /// Whatever is left out, classes still have every pair: both triads by one thread in the
    /// best variant.
    #[test]
    fn what_classes_need_is_always_measured() {
        for initiators in [2, 4, 8, 16] {
            let cells = cells(initiators, 8);
            let thinning = Thinning::for_cells(cells.iter().copied());
            let is_needed = |cell: &&Cell<'_>| {
                cell.kernel.starts_with("triad") && cell.variant_rank == 0 && cell.threads == 1
            };
            assert!(
                cells.iter().filter(is_needed).all(|&cell| thinning.keeps(cell)),
                "{thinning:?}"
            );
        }
        let eight = cells(8, 8);
        let thinning = Thinning::for_cells(eight.iter().copied());
        let kept = eight.iter().filter(|&&cell| thinning.keeps(cell)).count();
        assert!(kept <= MOST_CELLS, "{thinning:?}: {kept}");
    }

    /// Each step leaves out what the one before does, and more.
    #[test]
    fn steps_only_add_to_what_is_left_out() {
        let cells = cells(8, 8);
        let kept = |step: Thinning| cells.iter().filter(|&&cell| step.keeps(cell)).count();
        let counts: Vec<usize> = Thinning::STEPS.into_iter().map(kept).collect();
        assert!(counts.is_sorted_by(|one, next| one > next), "{counts:?}");
    }
}
