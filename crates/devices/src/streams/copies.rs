//! Copies by streams.

use std::ffi::c_void;
use std::rc::Rc;

use super::calls::Address;
use super::handles::{Context, Event, Memory, PinnedPages, Stream, pin};
use crate::device_error::DeviceError;
use crate::transfer::{Route, Toward};

/// The copies of one step. In the order in which they are given back: streams are waited for
/// before pages and memories go.
pub(crate) struct Copies {
    ways: Vec<Way>,
    /// Noted before the first copy.
    began: Event,
    _pinned: Option<PinnedPages>,
    /// Way n with memory n. To a peer: the sender's and the receiver's.
    memories: Vec<Memory>,
    /// The sender's.
    context: Rc<Context>,
}

struct Way {
    stream: Stream,
    /// Noted after the copy.
    ended: Event,
    route: Route,
}

impl Way {
    fn open(context: &Rc<Context>, route: Route) -> Result<Self, DeviceError> {
        Ok(Self { stream: Stream::open(context)?, ended: Event::new(context)?, route })
    }
}

impl Copies {
    /// Ways between the device and the host.
    pub(crate) fn with_host(
        context: Rc<Context>,
        routes: &[Route],
        pinned: Option<(*mut c_void, usize)>,
    ) -> Result<Self, DeviceError> {
        let of_device = |route: &Route| Memory::new(&context, route.bytes);
        let memories = routes.iter().map(of_device).collect::<Result<_, _>>()?;
        let pinned = pinned.map(|(start, bytes)| pin(&context, start, bytes)).transpose()?;
        let ways =
            routes.iter().map(|&route| Way::open(&context, route)).collect::<Result<_, _>>()?;
        let began = Event::new(&context)?;
        Ok(Self { ways, began, _pinned: pinned, memories, context })
    }

    /// From one device to another.
    pub(crate) fn with_peer(
        sender: Rc<Context>,
        receiver: Rc<Context>,
        bytes: usize,
    ) -> Result<Self, DeviceError> {
        receiver.reach(&sender)?;
        sender.reach(&receiver)?;
        let memories = vec![Memory::new(&sender, bytes)?, Memory::new(&receiver, bytes)?];
        let ways = vec![Way::open(&sender, Route { toward: Toward::Peer, bytes })?];
        let began = Event::new(&sender)?;
        Ok(Self { ways, began, _pinned: None, memories, context: sender })
    }

    /// One copy of each way, all at once. Returns what the device's clock says, where it does.
    pub(crate) fn run(&mut self) -> Result<Option<u64>, DeviceError> {
        self.context.make_current()?;
        let Some((first, others)) = self.ways.split_first() else { return Ok(None) };
        first.stream.note(&self.began)?;
        // All begin together, as nvbandwidth's streams do (memcpy.cpp).
        for way in others {
            way.stream.wait_for(&self.began)?;
        }
        for (index, way) in self.ways.iter().enumerate() {
            self.enqueue(index, way)?;
            way.stream.note(&way.ended)?;
        }
        for way in &self.ways {
            way.stream.wait()?;
        }
        let times = self.ways.iter().map(|way| way.ended.ns_since(&self.began));
        let times: Option<Vec<u64>> = times.collect();
        Ok(times.and_then(|times| times.into_iter().max()))
    }

    fn enqueue(&self, index: usize, way: &Way) -> Result<(), DeviceError> {
        let driver = &self.context.driver;
        let (memory, stream) = (&self.memories[index], way.stream.handle());
        let bytes = way.route.bytes;
        match way.route.toward {
            Toward::Device { from } => self.context.call(driver.calls.queue_to_device, |queue| {
                // SAFETY: the memory has as many bytes as the way, and so have the host's pages,
                // which are borrowed until the stream was waited for.
                unsafe { queue(memory.handle, from, bytes, stream) }
            }),
            Toward::Host { into } => self.context.call(driver.calls.queue_to_host, |queue| {
                // SAFETY: as above; nobody looks at the pages before the stream was waited for.
                unsafe { queue(into, memory.handle, bytes, stream) }
            }),
            Toward::Peer => {
                let of = |memory: &Memory| (memory.handle, memory.context.device);
                let (to, from) = (of(&self.memories[1]), of(memory));
                // SAFETY: both memories have this many bytes and are on the devices beside them.
                self.context.told(unsafe { driver.queue_to_peer(to, from, bytes, stream) })
            }
        }
    }

    /// Writes words into a memory, outside of any measurement.
    pub(crate) fn write(
        &mut self,
        memory: usize,
        at: usize,
        words: &[u64],
    ) -> Result<(), DeviceError> {
        let (context, to) = self.place(memory, at)?;
        context.call(context.driver.calls.copy_to_device, |copy| {
            // SAFETY: within the memory, by [`crate::Transfer`]; returns when the words were read.
            unsafe { copy(to, words.as_ptr().cast(), size_of_val(words)) }
        })?;
        // The call returns when the words are on their way, and the copies' streams do not wait
        // for them.
        context.wait()
    }

    /// Reads words out of a memory, outside of any measurement.
    pub(crate) fn read(
        &mut self,
        memory: usize,
        at: usize,
        words: &mut [u64],
    ) -> Result<(), DeviceError> {
        let (context, from) = self.place(memory, at)?;
        context.call(context.driver.calls.copy_to_host, |copy| {
            // SAFETY: within the memory, by [`crate::Transfer`]; returns when the words were
            // written.
            unsafe { copy(words.as_mut_ptr().cast(), from, size_of_val(words)) }
        })
    }

    /// An address within a memory, whose device becomes the calling thread's.
    fn place(&self, memory: usize, at: usize) -> Result<(&Context, Address), DeviceError> {
        let Memory { context, handle, .. } = &self.memories[memory];
        context.make_current()?;
        Ok((context, handle + at as u64))
    }
}
