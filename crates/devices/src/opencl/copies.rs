//! Copies by OpenCL's queues.

use std::ffi::c_void;
use std::ptr;
use std::rc::Rc;

use super::events::{span, wait};
use super::handles::{Buffer, Context, Event, PinnedPages, Queue};
use crate::device_error::DeviceError;
use crate::transfer::{Route, Toward};

/// The copies of one step, each with a queue and a memory of its own.
pub(crate) struct Copies {
    context: Rc<Context>,
    /// Way n by queue n. To a peer: the sender's and the receiver's.
    queues: Vec<Queue>,
    /// Way n with memory n. To a peer: the sender's and the receiver's.
    memories: Vec<Buffer>,
    ways: Vec<Route>,
    /// Let go of after the queues are done.
    _pinned: Option<PinnedPages>,
}

impl Copies {
    /// Ways between the device and the host.
    pub(crate) fn with_host(
        context: Rc<Context>,
        ways: &[Route],
        pinned: Option<(*mut c_void, usize)>,
    ) -> Result<Self, DeviceError> {
        let of_device = |way: &Route| Buffer::create(&context, 0, way.bytes, ptr::null_mut());
        let memories = ways.iter().map(of_device).collect::<Result<_, _>>()?;
        let queues = ways.iter().map(|_| Queue::open(&context, 0)).collect::<Result<_, _>>()?;
        let pin = |(start, bytes)| PinnedPages::pin(&context, start, bytes);
        let pinned = pinned.map(pin).transpose()?;
        Ok(Self { context, queues, memories, ways: ways.to_vec(), _pinned: pinned })
    }

    /// From the context's first device to its second.
    pub(crate) fn with_peer(context: Rc<Context>, bytes: usize) -> Result<Self, DeviceError> {
        let memories = (0..2)
            .map(|device| Buffer::create(&context, device, bytes, ptr::null_mut()))
            .collect::<Result<_, _>>()?;
        let queues =
            (0..2).map(|device| Queue::open(&context, device)).collect::<Result<_, _>>()?;
        let ways = vec![Route { toward: Toward::Peer, bytes }];
        Ok(Self { context, queues, memories, ways, _pinned: None })
    }

    /// One copy of each way, all at once. Returns what the device's clock says, where it does.
    pub(crate) fn run(&mut self) -> Result<Option<u64>, DeviceError> {
        let mut events = Vec::new();
        for index in 0..self.ways.len() {
            events.extend(self.enqueue(index)?);
        }
        for queue in &self.queues {
            queue.flush()?;
        }
        wait(&self.queues[0], &events)?;
        let to_peer = self.ways.iter().any(|way| matches!(way.toward, Toward::Peer));
        // Two devices' clocks cannot be compared.
        Ok(if to_peer { None } else { span(&events) })
    }

    /// Queues a way's copy.
    fn enqueue(&self, index: usize) -> Result<Vec<Event>, DeviceError> {
        let (queue, memory) = (&self.queues[index], &self.memories[index]);
        let bytes = self.ways[index].bytes;
        let mut event = ptr::null_mut();
        match self.ways[index].toward {
            // SAFETY: the memory has as many bytes as the way, and so have the host's pages, which
            // are borrowed until the queue is finished.
            Toward::Device { from } => unsafe {
                queue.write(memory, 0, from, bytes, Some(&mut event))?;
            },
            // SAFETY: as above; nobody looks at the pages before the copy was waited for.
            Toward::Host { into } => unsafe {
                queue.read(memory, 0, into, bytes, Some(&mut event))?;
            },
            Toward::Peer => return self.enqueue_to_peer(bytes),
        }
        Ok(vec![Event::queued(&self.context, event)])
    }

    /// Copies on the sender, then moves what was written to the receiver. A copy alone would leave
    /// it to the driver on which of the two the bytes end up.
    fn enqueue_to_peer(&self, bytes: usize) -> Result<Vec<Event>, DeviceError> {
        let functions = &self.context.functions;
        let [(sender, from), (receiver, to)] =
            [0, 1].map(|index| (&self.queues[index], &self.memories[index]));
        let mut event = ptr::null_mut();
        // SAFETY: both memories have this many bytes and belong to the queue's context.
        let code = unsafe {
            (functions.enqueue_copy_buffer)(
                sender.handle(),
                from.handle,
                to.handle,
                0,
                0,
                bytes,
                0,
                ptr::null(),
                &raw mut event,
            )
        };
        sender.succeeded("clEnqueueCopyBuffer", code)?;
        let copied = Event::queued(&self.context, event);
        // What the other queue waits for has to be under way.
        sender.flush()?;
        let mut event = ptr::null_mut();
        // SAFETY: one memory and one event to wait for, both of this context.
        let code = unsafe {
            (functions.enqueue_migrate_mem_objects)(
                receiver.handle(),
                1,
                &raw const to.handle,
                0,
                1,
                &raw const copied.handle,
                &raw mut event,
            )
        };
        receiver.succeeded("clEnqueueMigrateMemObjects", code)?;
        Ok(vec![copied, Event::queued(&self.context, event)])
    }

    /// Writes words into a memory, outside of any measurement.
    pub(crate) fn write(
        &mut self,
        memory: usize,
        at: usize,
        words: &[u64],
    ) -> Result<(), DeviceError> {
        let (queue, memory) = (&self.queues[memory], &self.memories[memory]);
        // SAFETY: within the memory, by [`crate::Transfer`]; returns when the words were read.
        unsafe { queue.write(memory, at, words.as_ptr().cast(), size_of_val(words), None) }
    }

    /// Reads words out of a memory, outside of any measurement.
    pub(crate) fn read(
        &mut self,
        memory: usize,
        at: usize,
        words: &mut [u64],
    ) -> Result<(), DeviceError> {
        let (queue, memory) = (&self.queues[memory], &self.memories[memory]);
        let bytes = size_of_val(words);
        // SAFETY: within the memory, by [`crate::Transfer`]; returns when the words were written.
        unsafe { queue.read(memory, at, words.as_mut_ptr().cast(), bytes, None) }
    }
}
