//! What one thread does, block by block.

use nearfar_kernels::Pattern;
use nearfar_record::Reason;

use super::chasing::Chasing;
use super::compute::Computing;
use super::copying::Copying;
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
    Transfer(Copying<'a>),
}

impl<'a> Work<'a> {
    /// Gets ready to do it on these slices, which hold the pattern and whose pages are
    /// present. `None` where the slices are another loop's.
    ///
    /// # Errors
    /// Where a device says no.
    pub fn begin(
        actor_loop: ActorLoop<'_>,
        slices: JobSlices<'a>,
        pattern: &'a Pattern,
        instruments: Instruments,
    ) -> Result<Option<Self>, Reason> {
        Ok(match (actor_loop, slices) {
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
            (ActorLoop::Chase { actor, seed }, JobSlices::Whole(slice)) => {
                let run_chase = instruments.run_chase;
                let chasing = Chasing::new(slice.elements, actor.group_bytes, seed, run_chase);
                Some(Self::Chase(chasing))
            }
            (ActorLoop::Compute(compute_loop), JobSlices::Nothing) => {
                Some(Self::Compute(Computing::new(compute_loop, instruments.run_flops)))
            }
            (ActorLoop::Transfer { actor, devices }, slices) => {
                let slice = match slices {
                    JobSlices::Whole(slice) => Some(slice),
                    JobSlices::Nothing => None,
                    JobSlices::Stream { .. } => return Ok(None),
                };
                let open = instruments.open_transfer;
                Some(Self::Transfer(Copying::new(actor, &devices, slice, open)?))
            }
            _ => None,
        })
    }

    /// What was done so far: useful bytes; of arithmetic on registers, operations.
    pub fn done(&self) -> u64 {
        match self {
            Self::Stream(stream) => stream.useful_bytes(),
            Self::Chase(chasing) => chasing.useful_bytes(),
            Self::Compute(computing) => computing.flops(),
            Self::Transfer(copying) => copying.useful_bytes(),
        }
    }

    /// Whether what it does counts towards the bytes that a window has to move.
    pub fn is_stream(&self) -> bool {
        matches!(self, Self::Stream(_))
    }

    /// Time of all copies of a device so far by its own clock, ns; `None` where there is none.
    pub fn device_ns(&self) -> Option<u64> {
        match self {
            Self::Transfer(copying) => copying.device_ns(),
            Self::Stream(_) | Self::Chase(_) | Self::Compute(_) => None,
        }
    }

    /// Passes over all slices or nodes; of arithmetic, calls; of a transfer, copies.
    pub fn passes(&self) -> u64 {
        match self {
            Self::Stream(stream) => stream.passes(),
            Self::Chase(chasing) => chasing.passes(),
            Self::Compute(computing) => computing.calls(),
            Self::Transfer(copying) => copying.copies(),
        }
    }

    /// Whether the caches and the core are as in a long run.
    pub fn is_warm(&self) -> bool {
        match self {
            Self::Stream(stream) => stream.is_warm(),
            Self::Chase(chasing) => chasing.is_warm(),
            Self::Compute(computing) => computing.is_warm(),
            Self::Transfer(copying) => copying.is_warm(),
        }
    }

    /// Sets the block to about so much, in the unit of [`Work::done`].
    pub fn set_block(&mut self, amount: u64) {
        match self {
            Self::Stream(stream) => stream.set_block(amount),
            Self::Chase(chasing) => chasing.set_block(amount),
            Self::Compute(computing) => computing.set_block(amount),
            Self::Transfer(copying) => copying.set_block(amount),
        }
    }

    /// Cuts the block in two, where that can be.
    pub fn halve_block(&mut self) {
        match self {
            Self::Stream(stream) => stream.halve_block(),
            Self::Chase(chasing) => chasing.halve_block(),
            Self::Compute(computing) => computing.halve_block(),
            Self::Transfer(copying) => copying.halve_block(),
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
            Self::Transfer(copying) => copying.step(),
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
            Self::Transfer(copying) => copying.check(),
        }
    }

    /// Checks what was left at the end.
    ///
    /// # Errors
    /// When it is wrong.
    pub fn check_results(&mut self) -> Result<(), Reason> {
        match self {
            Self::Stream(stream) => stream.check_results(),
            Self::Chase(chasing) => chasing.check(),
            Self::Compute(computing) => computing.check(),
            Self::Transfer(copying) => copying.check(),
        }
    }
}
