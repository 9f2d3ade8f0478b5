//! What one thread does, block by block.

use nearfar_kernels::{Laying, Pattern};
use nearfar_record::{Reason, WithoutCopy};

use super::chasing::Chasing;
use super::compute::Computing;
use super::copying::Copying;
use super::exchanging::Exchanging;
use super::instruments::Instruments;
use super::job::JobSlices;
use super::loops::ActorLoop;
use super::messaging::Messaging;
use super::stream::{Source, Stream};

/// One thread's part of what an actor does.
pub(super) trait Work {
    /// What was done so far: useful bytes; of arithmetic on registers, operations.
    fn done(&self) -> u64;

    /// Passes over all slices or nodes; of arithmetic, calls; of a transfer, copies; of
    /// messages, messages.
    fn passes(&self) -> u64;

    /// Whether the caches and the core are as in a long run.
    fn is_warm(&self) -> bool;

    /// Sets the block to about so much, in the unit of [`Work::done`].
    fn set_block(&mut self, amount: u64);

    /// Cuts the block in two, where that can be.
    fn halve_block(&mut self);

    /// Does the next block.
    ///
    /// # Errors
    /// When a result is wrong, or a device fails.
    fn step(&mut self) -> Result<(), Reason>;

    /// Checks what was left at the end.
    ///
    /// # Errors
    /// When it is wrong, or a device fails.
    fn check(&mut self) -> Result<(), Reason>;

    /// Checks what the warm-up left, just before the windows.
    ///
    /// # Errors
    /// When it is wrong, or a device fails.
    fn check_warm_up(&mut self) -> Result<(), Reason> {
        self.check()
    }

    /// Makes the pauses that its case has from now on; whether there are any.
    fn begin_pauses(&mut self) -> bool {
        false
    }

    /// Whether what it does counts towards the bytes that a window has to move.
    fn is_stream(&self) -> bool {
        false
    }

    /// Time of all copies of a device so far by its own clock, ns; `None` where there is none.
    fn device_ns(&self) -> Option<u64> {
        None
    }

    /// What the kernel has said so far of sends without a copy; `None` where none are made.
    fn without_copy(&self) -> Option<WithoutCopy> {
        None
    }
}

/// Gets ready to do it on these slices, which hold the pattern and whose pages are present. `None`
/// where the slices are another loop's.
///
/// # Errors
/// Where a device says no.
pub(super) fn begin<'a>(
    actor_loop: ActorLoop<'_>,
    slices: JobSlices<'a>,
    pattern: &'a Pattern,
    instruments: Instruments,
) -> Result<Option<Box<dyn Work + 'a>>, Reason> {
    Ok(match (actor_loop, slices) {
        (ActorLoop::Stream { actor, memory_loop }, JobSlices::Stream { destination, sources }) => {
            let destination = destination.map(|slice| slice.elements);
            let sources = sources
                .into_iter()
                .map(|slice| Source { elements: slice.elements, first_index: slice.first_index });
            let mut stream = Stream::new(memory_loop, pattern, destination, sources.collect());
            stream.run_by(instruments.run_loop);
            stream.pause_for(actor.pause_cycles);
            Some(Box::new(stream))
        }
        (ActorLoop::Chase { actor, seed }, JobSlices::Whole(slice)) => {
            let run_chase = instruments.run_chase;
            let laying = if actor.is_beyond_caches() { Laying::PastCaches } else { Laying::Plain };
            let chase = Chasing::new(slice.elements, actor.group_bytes, (seed, laying), run_chase);
            Some(Box::new(chase))
        }
        (ActorLoop::Exchange(actor), JobSlices::Line(side)) => {
            Some(Box::new(Exchanging::new(side, actor.by, instruments.run_exchange)))
        }
        (ActorLoop::Compute(compute_loop), JobSlices::Nothing) => {
            Some(Box::new(Computing::new(compute_loop, instruments.run_flops)))
        }
        (ActorLoop::Transfer { actor, devices }, slices) => {
            let slice = match slices {
                JobSlices::Whole(slice) => Some(slice),
                JobSlices::Nothing => None,
                JobSlices::Stream { .. } | JobSlices::Line(_) => return Ok(None),
            };
            Some(Box::new(Copying::new(actor, &devices, slice, instruments.open_transfer)?))
        }
        (ActorLoop::Messages { actor, peer }, JobSlices::Whole(slice)) => {
            let open = instruments.open_connection;
            Some(Box::new(Messaging::new(actor, &peer, slice.elements, open)?))
        }
        _ => None,
    })
}
