//! What one thread does, block by block.

use nearfar_kernels::Pattern;
use nearfar_record::Reason;

use super::chasing::Chasing;
use super::compute::Computing;
use super::instruments::Instruments;
use super::job::JobSlices;
use super::loops::ActorLoop;
use super::stream::{Source, Stream};

/// One thread's part of what an actor does.
#[derive(Debug)]
pub(super) enum Work<'a> {
    Stream(Stream<'a>),
    Chase(Chasing<'a>),
    Compute(Computing),
}

impl<'a> Work<'a> {
    /// Gets ready to do it on these slices, which hold the pattern and whose pages are
    /// present. `None` where the slices are another loop's.
    pub fn begin(
        actor_loop: ActorLoop<'_>,
        slices: JobSlices<'a>,
        pattern: &'a Pattern,
        instruments: Instruments,
    ) -> Option<Self> {
        match (actor_loop, slices) {
            (
                ActorLoop::Stream { actor, memory_loop },
                JobSlices::Stream { destination, sources },
            ) => {
                let destination = destination.map(|slice| slice.elements);
                let sources = sources
                    .into_iter()
                    .map(|slice| Source {
                        elements: slice.elements,
                        first_index: slice.first_index,
                    })
                    .collect();
                let mut stream = Stream::new(memory_loop, pattern, destination, sources);
                stream.run_by(instruments.run_loop);
                stream.pause_for(actor.pause_cycles);
                Some(Self::Stream(stream))
            }
            (ActorLoop::Chase { actor, seed }, JobSlices::Chase(slice)) => {
                let run_chase = instruments.run_chase;
                let chasing = Chasing::new(slice.elements, actor.group_bytes, seed, run_chase);
                Some(Self::Chase(chasing))
            }
            (ActorLoop::Compute(compute_loop), JobSlices::Nothing) => {
                Some(Self::Compute(Computing::new(compute_loop, instruments.run_flops)))
            }
            _ => None,
        }
    }

    /// What was done so far: useful bytes; of arithmetic on registers, operations.
    pub fn done(&self) -> u64 {
        match self {
            Self::Stream(stream) => stream.useful_bytes(),
            Self::Chase(chasing) => chasing.useful_bytes(),
            Self::Compute(computing) => computing.flops(),
        }
    }

    /// Whether what it does counts towards the bytes that a window has to move.
    pub fn is_stream(&self) -> bool {
        matches!(self, Self::Stream(_))
    }

    /// Passes over all slices or nodes; of arithmetic, calls.
    pub fn passes(&self) -> u64 {
        match self {
            Self::Stream(stream) => stream.passes(),
            Self::Chase(chasing) => chasing.passes(),
            Self::Compute(computing) => computing.calls(),
        }
    }

    /// Whether the caches and the core are as in a long run.
    pub fn is_warm(&self) -> bool {
        match self {
            Self::Stream(stream) => stream.is_warm(),
            Self::Chase(chasing) => chasing.is_warm(),
            Self::Compute(computing) => computing.is_warm(),
        }
    }

    /// Sets the block to about so much, in the unit of [`Work::done`].
    pub fn set_block(&mut self, amount: u64) {
        match self {
            Self::Stream(stream) => stream.set_block(amount),
            Self::Chase(chasing) => chasing.set_block(amount),
            Self::Compute(computing) => computing.set_block(amount),
        }
    }

    /// Cuts the block in two, where that can be.
    pub fn halve_block(&mut self) {
        match self {
            Self::Stream(stream) => stream.halve_block(),
            Self::Chase(chasing) => chasing.halve_block(),
            Self::Compute(computing) => computing.halve_block(),
        }
    }

    /// Does the next block.
    ///
    /// # Errors
    /// When a result is wrong.
    pub fn step(&mut self) -> Result<(), Reason> {
        match self {
            Self::Stream(stream) => stream.step(),
            Self::Chase(chasing) => {
                chasing.step();
                Ok(())
            }
            Self::Compute(computing) => computing.step(),
        }
    }

    /// Checks what the warm-up left, just before the windows.
    ///
    /// # Errors
    /// When it is wrong.
    pub fn check_warm_up(&mut self) -> Result<(), Reason> {
        match self {
            Self::Stream(stream) => stream.check_and_mark(),
            Self::Chase(chasing) => chasing.check(),
            Self::Compute(computing) => computing.check(),
        }
    }

    /// Checks what was left at the end.
    ///
    /// # Errors
    /// When it is wrong.
    pub fn check_results(&self) -> Result<(), Reason> {
        match self {
            Self::Stream(stream) => stream.check_results(),
            Self::Chase(chasing) => chasing.check(),
            Self::Compute(computing) => computing.check(),
        }
    }
}
