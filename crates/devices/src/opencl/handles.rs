//! What OpenCL counts references of. Releasing says nothing and never panics: a device that is
//! gone cannot be told so.

use std::ffi::c_void;
use std::ptr;
use std::rc::Rc;

use nearfar_machine::Accelerator;

use super::devices::places;
use super::error_name::failure;
use super::functions::{
    FALSE, Functions, Handle, MAP_READ_AND_WRITE, MEM_READ_WRITE, MEM_USE_HOST_PTR,
    PROFILING_COMMAND_END, PROFILING_COMMAND_START, QUEUE_PROFILING_ENABLE, SUCCESS, TRUE,
};
use crate::device_error::{DeviceError, Kind};

/// A context of one device, or of two of one platform.
pub(crate) struct Context {
    pub(super) functions: Functions,
    pub(super) handle: Handle,
    devices: Vec<(Handle, String)>,
}

impl Context {
    /// Opens it for these devices, which are named in messages as said beside them.
    pub(crate) fn open(
        functions: Functions,
        accelerators: &[(&Accelerator, &String)],
    ) -> Result<Rc<Self>, DeviceError> {
        let mut devices = Vec::new();
        let mut platforms = Vec::new();
        let there = places(&functions);
        for (accelerator, label) in accelerators {
            let lost = |why: &str| DeviceError::new(Kind::Lost, format!("{label}: {why}"));
            let there = there.as_ref().map_err(|why| lost(&why.reason))?;
            let place = usize::try_from(accelerator.number)
                .ok()
                .and_then(|number| there.get(number))
                .ok_or_else(|| lost("OpenCL does not show it any more"))?;
            devices.push((place.device, (*label).clone()));
            platforms.push(place.platform);
        }
        let label =
            devices.iter().map(|(_, label)| label.as_str()).collect::<Vec<_>>().join(" to ");
        if platforms.windows(2).any(|pair| pair[0] != pair[1]) {
            let text = format!(
                "{label}: devices of two platforms of OpenCL have no context in common and cannot \
                 copy to each other"
            );
            return Err(DeviceError::new(Kind::Failed, text));
        }
        let handles: Vec<Handle> = devices.iter().map(|(handle, _)| *handle).collect();
        let count = if handles.len() == 1 { 1 } else { 2 };
        let mut code = SUCCESS;
        // SAFETY: the devices were just listed, one platform's; null stands for no properties
        // and no callback.
        let handle = unsafe {
            (functions.create_context)(
                ptr::null(),
                count,
                handles.as_ptr(),
                ptr::null(),
                ptr::null_mut(),
                &raw mut code,
            )
        };
        if code != SUCCESS {
            return Err(failure(&label, "clCreateContext", code));
        }
        Ok(Rc::new(Self { functions, handle, devices }))
    }

    /// A call that failed on the device of this number.
    pub(super) fn failure(&self, device: usize, call: &str, code: i32) -> DeviceError {
        failure(self.label(device), call, code)
    }

    pub(super) fn device(&self, device: usize) -> Handle {
        self.devices[device].0
    }

    pub(super) fn label(&self, device: usize) -> &str {
        self.devices.get(device).map_or("a device", |(_, label)| label)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the reference that `open` was given, released once.
        unsafe { (self.functions.release_context)(self.handle) };
    }
}

/// A reference that OpenCL gave, released when it is dropped.
pub(super) struct Held {
    context: Rc<Context>,
    pub(super) handle: Handle,
    release: unsafe extern "C" fn(Handle) -> i32,
}

impl Held {
    pub(super) fn new(
        context: &Rc<Context>,
        handle: Handle,
        release: unsafe extern "C" fn(Handle) -> i32,
    ) -> Self {
        Self { context: Rc::clone(context), handle, release }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: the reference that was given when it was made, released once by the function
        // for its kind.
        unsafe { (self.release)(self.handle) };
    }
}

/// A queue of a device that notes times.
pub(super) struct Queue {
    held: Held,
    device: usize,
}

impl Queue {
    pub(super) fn open(context: &Rc<Context>, device: usize) -> Result<Self, DeviceError> {
        let mut code = SUCCESS;
        let of = context.device(device);
        // SAFETY: a device of the context.
        let handle = unsafe {
            (context.functions.create_command_queue)(
                context.handle,
                of,
                QUEUE_PROFILING_ENABLE,
                &raw mut code,
            )
        };
        if code != SUCCESS {
            return Err(context.failure(device, "clCreateCommandQueue", code));
        }
        let release = context.functions.release_command_queue;
        Ok(Self { held: Held::new(context, handle, release), device })
    }

    pub(super) fn succeeded(&self, call: &str, code: i32) -> Result<(), DeviceError> {
        let context = &self.held.context;
        if code == SUCCESS { Ok(()) } else { Err(context.failure(self.device, call, code)) }
    }

    pub(super) fn handle(&self) -> Handle {
        self.held.handle
    }

    pub(super) fn context(&self) -> &Rc<Context> {
        &self.held.context
    }

    /// Copies bytes into a memory from its byte `at` on. Where an event is asked for the copy is
    /// queued, else it is waited for.
    ///
    /// # Safety
    /// From `at` the memory has `bytes` bytes, and `from` has them until the copy is done.
    pub(super) unsafe fn write(
        &self,
        memory: &Buffer,
        at: usize,
        from: *const c_void,
        bytes: usize,
        event: Option<&mut Handle>,
    ) -> Result<(), DeviceError> {
        let blocking = if event.is_none() { TRUE } else { FALSE };
        // SAFETY: as the caller promises; the memory is of the queue's context.
        let code = unsafe {
            (self.held.context.functions.enqueue_write_buffer)(
                self.held.handle,
                memory.handle,
                blocking,
                at,
                bytes,
                from,
                0,
                ptr::null(),
                event.map_or(ptr::null_mut(), ptr::from_mut),
            )
        };
        self.succeeded("clEnqueueWriteBuffer", code)
    }

    /// Copies bytes out of a memory: as [`Queue::write`].
    ///
    /// # Safety
    /// From `at` the memory has `bytes` bytes, and `into` has room for them until the copy is done.
    pub(super) unsafe fn read(
        &self,
        memory: &Buffer,
        at: usize,
        into: *mut c_void,
        bytes: usize,
        event: Option<&mut Handle>,
    ) -> Result<(), DeviceError> {
        let blocking = if event.is_none() { TRUE } else { FALSE };
        // SAFETY: as the caller promises; the memory is of the queue's context.
        let code = unsafe {
            (self.held.context.functions.enqueue_read_buffer)(
                self.held.handle,
                memory.handle,
                blocking,
                at,
                bytes,
                into,
                0,
                ptr::null(),
                event.map_or(ptr::null_mut(), ptr::from_mut),
            )
        };
        self.succeeded("clEnqueueReadBuffer", code)
    }

    /// Sends what is queued to the device.
    pub(super) fn flush(&self) -> Result<(), DeviceError> {
        // SAFETY: a queue that is open.
        let code = unsafe { (self.held.context.functions.flush)(self.held.handle) };
        self.succeeded("clFlush", code)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: an open queue; what is in it may still reach the host's pages.
        unsafe { (self.held.context.functions.finish)(self.held.handle) };
    }
}

/// Memory of a context: a device's, or the host's pages.
pub(super) type Buffer = Held;

impl Buffer {
    /// Memory that the device of this number will hold, or the pages of the host that begin at
    /// `host`, if that is not null: they are borrowed for as long as the transfer lives, which
    /// releases the buffer before it ends.
    pub(super) fn create(
        context: &Rc<Context>,
        device: usize,
        bytes: usize,
        host: *mut c_void,
    ) -> Result<Self, DeviceError> {
        let flags = if host.is_null() { 0 } else { MEM_USE_HOST_PTR };
        let mut code = SUCCESS;
        // SAFETY: the context is open; as many bytes of the host are handed over as it has there.
        let handle = unsafe {
            (context.functions.create_buffer)(
                context.handle,
                MEM_READ_WRITE | flags,
                bytes,
                host,
                &raw mut code,
            )
        };
        if code != SUCCESS {
            let call = format!("clCreateBuffer of {bytes} bytes");
            return Err(context.failure(device, &call, code));
        }
        Ok(Self::new(context, handle, context.functions.release_mem_object))
    }
}

/// The host's pages as a buffer that stays mapped at their address.
pub(super) struct PinnedPages {
    buffer: Buffer,
    queue: Queue,
    start: *mut c_void,
}

impl PinnedPages {
    pub(super) fn pin(
        context: &Rc<Context>,
        start: *mut c_void,
        bytes: usize,
    ) -> Result<Self, DeviceError> {
        let buffer = Buffer::create(context, 0, bytes, start).map_err(DeviceError::not_pinned)?;
        let queue = Queue::open(context, 0)?;
        let mut code = SUCCESS;
        // SAFETY: a buffer of the queue's context, mapped whole.
        let mapped = unsafe {
            (context.functions.enqueue_map_buffer)(
                queue.handle(),
                buffer.handle,
                TRUE,
                MAP_READ_AND_WRITE,
                0,
                bytes,
                0,
                ptr::null(),
                ptr::null_mut(),
                &raw mut code,
            )
        };
        queue.succeeded("clEnqueueMapBuffer", code).map_err(DeviceError::not_pinned)?;
        let pinned = Self { buffer, queue, start: mapped };
        if mapped != start {
            let text = format!("{}: OpenCL maps the pages elsewhere", context.label(0));
            return Err(DeviceError::new(Kind::NotPinned, text));
        }
        Ok(pinned)
    }
}

impl Drop for PinnedPages {
    fn drop(&mut self) {
        let functions = &self.buffer.context.functions;
        // SAFETY: mapped once by `pin`, unmapped once.
        unsafe {
            (functions.enqueue_unmap_mem_object)(
                self.queue.handle(),
                self.buffer.handle,
                self.start,
                0,
                ptr::null(),
                ptr::null_mut(),
            )
        };
        // SAFETY: an open queue. The buffer, the first field, is released before the queue.
        unsafe { (functions.finish)(self.queue.handle()) };
    }
}

/// A command that was queued.
pub(super) type Event = Held;

impl Event {
    pub(super) fn queued(context: &Rc<Context>, handle: Handle) -> Self {
        Self::new(context, handle, context.functions.release_event)
    }

    /// When it began and ended by the device's clock, ns.
    pub(super) fn times(&self) -> Option<(u64, u64)> {
        let time = |what| {
            let mut ns = 0u64;
            let into: *mut c_void = (&raw mut ns).cast();
            // SAFETY: an event that is held; `into` has the 8 bytes of a time.
            let code = unsafe {
                (self.context.functions.get_event_profiling_info)(
                    self.handle,
                    what,
                    size_of::<u64>(),
                    into,
                    ptr::null_mut(),
                )
            };
            (code == SUCCESS).then_some(ns)
        };
        Some((time(PROFILING_COMMAND_START)?, time(PROFILING_COMMAND_END)?))
    }
}
