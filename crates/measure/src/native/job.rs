//! What each thread of a case gets of the memory.

use nearfar_kernels::{ExchangedLine, Pattern, Side};
use nearfar_machine::CpuSet;

use super::layout::{Layout, PoolKey};

/// A thread's part of an array: its elements hold the pattern where nobody wrote.
#[derive(Debug)]
pub(super) struct Slice<'a> {
    pub elements: &'a mut [f64],
    /// Number of the first one in the pattern.
    pub first_index: u64,
}

impl Slice<'_> {
    /// Writes the pattern.
    pub fn fill(&mut self, pattern: &Pattern) {
        pattern.fill(self.elements, self.first_index);
    }
}

/// What one thread runs over.
#[derive(Debug)]
pub(super) enum JobSlices<'a> {
    /// Of the array that is written and of those that are read.
    Stream { destination: Option<Slice<'a>>, sources: Vec<Slice<'a>> },
    /// All that is walked through, or copied.
    Whole(Slice<'a>),
    /// A line that two threads share.
    Line(Side<'a>),
    /// No memory.
    Nothing,
}

impl JobSlices<'_> {
    /// Writes the pattern to all slices.
    pub fn fill(&mut self, pattern: &Pattern) {
        match self {
            Self::Stream { destination, sources } => {
                destination.iter_mut().chain(sources).for_each(|slice| slice.fill(pattern));
            }
            Self::Whole(slice) => slice.fill(pattern),
            Self::Line(_) | Self::Nothing => {}
        }
    }
}

/// One thread of a case.
#[derive(Debug)]
pub(super) struct Job<'a> {
    /// The actor, by its place in the case.
    pub actor: usize,
    pub cpus: CpuSet,
    pub slices: JobSlices<'a>,
    /// Whether it fills its slices before anything else, so that they come to lie near it.
    pub fills: bool,
}

/// Cuts the elements of pools into the threads' slices, by actor, then thread.
pub(super) fn cut_slices<'a>(
    layouts: &[Layout],
    pools: impl IntoIterator<Item = (&'a PoolKey, &'a mut [f64])>,
) -> Vec<Job<'a>> {
    let mut jobs: Vec<Vec<Job<'a>>> =
        layouts.iter().enumerate().map(|(actor, layout)| jobs_of(layout, actor)).collect();
    for (key, elements) in pools {
        let (mut rest, mut at) = (elements, 0);
        // Arrays of a pool lie in the order of the actors.
        for (layout, jobs) in layouts.iter().zip(&mut jobs) {
            for (number, array) in layout.arrays().enumerate() {
                if array.key != *key {
                    continue;
                }
                if layout.is_shared {
                    skip(&mut rest, array.start - at);
                    at = array.start + array.slice;
                    let line = ExchangedLine::new(skip(&mut rest, array.slice));
                    let sides = line.into_iter().flat_map(ExchangedLine::sides);
                    for (job, side) in jobs.iter_mut().zip(sides) {
                        job.slices = JobSlices::Line(side);
                    }
                    continue;
                }
                let is_written = number == 0 && layout.destination.is_some();
                for (thread, job) in jobs.iter_mut().enumerate() {
                    let first = array.start + thread * array.stride;
                    skip(&mut rest, first - at);
                    let elements = skip(&mut rest, array.slice);
                    at = first + array.slice;
                    let slice = Slice { elements, first_index: first as u64 };
                    match &mut job.slices {
                        slices if layout.is_whole => *slices = JobSlices::Whole(slice),
                        JobSlices::Stream { destination, .. } if is_written => {
                            *destination = Some(slice);
                        }
                        JobSlices::Stream { sources, .. } => sources.push(slice),
                        JobSlices::Whole(_) | JobSlices::Line(_) | JobSlices::Nothing => {}
                    }
                }
            }
        }
    }
    jobs.into_iter().flatten().collect()
}

/// Takes this many elements from the front.
fn skip<'a>(rest: &mut &'a mut [f64], count: usize) -> &'a mut [f64] {
    let (taken, left) = std::mem::take(rest).split_at_mut(count);
    *rest = left;
    taken
}

/// An actor's jobs, without their slices.
fn jobs_of<'a>(layout: &Layout, actor: usize) -> Vec<Job<'a>> {
    let fills = layout.arrays().any(|array| array.key.is_first_touch());
    let job = |cpus: &CpuSet| Job {
        actor,
        cpus: cpus.clone(),
        slices: match layout.arrays().next() {
            Some(_) => JobSlices::Stream { destination: None, sources: Vec::new() },
            None => JobSlices::Nothing,
        },
        fills,
    };
    layout.cpus.iter().map(job).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    use nearfar_record::{Actor, Case, Compute, Stream};

    use super::super::layout::tests::{case, chase, stream};
    use super::super::layout::{lay_out, pool_needs};

    /// Pools whose elements hold their own number.
    fn numbered(layouts: &[Layout]) -> BTreeMap<PoolKey, Vec<f64>> {
        let numbers = |bytes: u64| (0..bytes / 8).map(|number| number as f64).collect();
        pool_needs(layouts).into_iter().map(|(key, bytes)| (key, numbers(bytes))).collect()
    }

    /// Lengths of the slices of every job, destination first.
    fn lengths(jobs: &[Job<'_>]) -> Vec<Vec<usize>> {
        jobs.iter().map(|job| slices(job).map(|slice| slice.elements.len()).collect()).collect()
    }

    fn slices<'j, 'a>(job: &'j Job<'a>) -> impl Iterator<Item = &'j Slice<'a>> {
        let (destination, sources) = match &job.slices {
            JobSlices::Stream { destination, sources } => {
                (destination.as_ref(), sources.as_slice())
            }
            JobSlices::Whole(slice) => (Some(slice), &[][..]),
            JobSlices::Line(_) | JobSlices::Nothing => (None, &[][..]),
        };
        destination.into_iter().chain(sources)
    }

    fn check_cut(case: &Case, expected: &[Vec<usize>]) {
        let layouts = lay_out(case);
        let mut pools = numbered(&layouts);
        let pools = pools.iter_mut().map(|(key, elements)| (key, elements.as_mut_slice()));
        let jobs = cut_slices(&layouts, pools);
        assert_eq!(lengths(&jobs), expected);
        for slice in jobs.iter().flat_map(slices) {
            // Each has its own elements, and knows their numbers.
            assert_eq!(slice.elements[0].to_bits(), (slice.first_index as f64).to_bits());
        }
        for (layout, actor) in layouts.iter().zip(&case.actors) {
            assert_eq!(layout.cpus.len(), actor.threads() as usize);
        }
    }

    const KIB: u64 = 1 << 10;

    #[test]
    fn every_thread_has_a_slice_of_every_array() {
        let triad = stream("triad", "preferred:0", 2, 6 * 64 * KIB);
        check_cut(&case(vec![Actor::Stream(triad.clone())]), &vec![vec![8192; 3]; 2]);
        let load = stream("load", "preferred:0", 1, 64 * KIB);
        let compute = Compute {
            kernel: "fma_dp".into(),
            variant: "portable".into(),
            cpus: CpuSet::single(0),
            thread_cpus: vec![0],
        };
        let together = case(vec![
            Actor::Stream(load),
            chase("preferred:0", 32 * KIB),
            Actor::Compute(compute),
            Actor::Stream(triad),
        ]);
        check_cut(&together, &[vec![8192], vec![4096], vec![], vec![8192; 3], vec![8192; 3]]);
        let bytes: Vec<u64> = pool_needs(&lay_out(&together)).into_values().collect();
        assert_eq!(bytes.len(), 1, "one policy, one pool");
        assert!(bytes[0] >= (64 + 32 + 6 * 64) * KIB);
    }

    #[test]
    fn a_mix_has_arrays_as_wide_as_its_steps() {
        let mix = stream("3l2nt", "preferred:0", 2, 5 * 2 * 64 * KIB);
        let planned = case(vec![Actor::Stream(mix)]);
        check_cut(&planned, &vec![vec![2 * 8192, 3 * 8192]; 2]);
        let stores = stream("4s", "preferred:0", 1, 4 * 64 * KIB);
        check_cut(&case(vec![Actor::Stream(stores)]), &[vec![4 * 8192]]);
        let loads = stream("2l", "preferred:0", 1, 2 * 64 * KIB);
        check_cut(&case(vec![Actor::Stream(loads)]), &[vec![2 * 8192]]);
    }

    #[test]
    fn slices_of_one_thread_come_from_several_pools() {
        let hybrid = Stream {
            write_memory: Some("weighted:0=1,1=4".parse().unwrap()),
            ..stream("2l1s", "weighted:0=3,1=1", 1, 3 * 64 * KIB)
        };
        check_cut(&case(vec![Actor::Stream(hybrid)]), &[vec![8192, 2 * 8192]]);
    }

    #[test]
    fn first_touch_leaves_nothing_between_slices() {
        let scaling = stream("copy", "first-touch", 3, 6 * 64 * KIB);
        let planned = case(vec![Actor::Stream(scaling)]);
        check_cut(&planned, &vec![vec![8192; 2]; 3]);
        let layouts = lay_out(&planned);
        assert_eq!(pool_needs(&layouts).into_values().sum::<u64>(), 6 * 64 * KIB);
        let mut pools = numbered(&layouts);
        let pools = pools.iter_mut().map(|(key, elements)| (key, elements.as_mut_slice()));
        assert!(cut_slices(&layouts, pools).iter().all(|job| job.fills));
    }

    #[test]
    fn a_kernel_that_does_not_exist_runs_over_nothing() {
        let planned = case(vec![Actor::Stream(stream("quadrad", "preferred:0", 1, 64 * KIB))]);
        let layouts = lay_out(&planned);
        assert!(pool_needs(&layouts).is_empty());
        assert!(matches!(cut_slices(&layouts, [])[0].slices, JobSlices::Nothing));
    }
}
