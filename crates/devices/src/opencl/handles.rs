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
    handle: Handle,
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

/// A queue of a device that notes times.
pub(super) struct Queue {
    pub(super) context: Rc<Context>,
    pub(super) handle: Handle,
    pub(super) device: usize,
}

impl Queue {
    pub(super) fn open(context: &Rc<Context>, device: usize) -> Result<Self, DeviceError> {
        let mut code = SUCCESS;
        let (of, _) = context.devices[device];
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
        Ok(Self { context: Rc::clone(context), handle, device })
    }

    pub(super) fn succeeded(&self, call: &str, code: i32) -> Result<(), DeviceError> {
        if code == SUCCESS { Ok(()) } else { Err(self.context.failure(self.device, call, code)) }
    }

    /// Sends what is queued to the device.
    pub(super) fn flush(&self) -> Result<(), DeviceError> {
        // SAFETY: a queue that is open.
        let code = unsafe { (self.context.functions.flush)(self.handle) };
        self.succeeded("clFlush", code)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: the reference that `open` was given, released once; `finish` before it waits
        // for whatever still reaches the host's pages.
        unsafe { (self.context.functions.finish)(self.handle) };
        // SAFETY: as above.
        unsafe { (self.context.functions.release_command_queue)(self.handle) };
    }
}

/// Memory of a context: a device's, or the host's pages.
pub(super) struct Buffer {
    context: Rc<Context>,
    pub(super) handle: Handle,
}

impl Buffer {
    /// Memory that the device of this number will hold.
    pub(super) fn on_device(
        context: &Rc<Context>,
        device: usize,
        bytes: usize,
    ) -> Result<Self, DeviceError> {
        let mut code = SUCCESS;
        // SAFETY: the context is open; no pages of the host are handed over.
        let handle = unsafe {
            (context.functions.create_buffer)(
                context.handle,
                MEM_READ_WRITE,
                bytes,
                ptr::null_mut(),
                &raw mut code,
            )
        };
        if code != SUCCESS {
            let call = format!("clCreateBuffer of {bytes} bytes");
            return Err(context.failure(device, &call, code));
        }
        Ok(Self { context: Rc::clone(context), handle })
    }

    fn over_pages(
        context: &Rc<Context>,
        start: *mut c_void,
        bytes: usize,
    ) -> Result<Self, DeviceError> {
        let mut code = SUCCESS;
        // SAFETY: the pages are borrowed for as long as the transfer lives, which releases the
        // buffer before it ends.
        let handle = unsafe {
            (context.functions.create_buffer)(
                context.handle,
                MEM_READ_WRITE | MEM_USE_HOST_PTR,
                bytes,
                start,
                &raw mut code,
            )
        };
        if code != SUCCESS {
            let call = format!("clCreateBuffer over {bytes} bytes of the host");
            return Err(not_pinned(context.failure(0, &call, code)));
        }
        Ok(Self { context: Rc::clone(context), handle })
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the reference that was given when it was made, released once.
        unsafe { (self.context.functions.release_mem_object)(self.handle) };
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
        let buffer = Buffer::over_pages(context, start, bytes)?;
        let queue = Queue::open(context, 0)?;
        let mut code = SUCCESS;
        // SAFETY: a buffer of the queue's context, mapped whole.
        let mapped = unsafe {
            (context.functions.enqueue_map_buffer)(
                queue.handle,
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
        if code != SUCCESS {
            return Err(not_pinned(context.failure(0, "clEnqueueMapBuffer", code)));
        }
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
        // SAFETY: mapped once by `pin`, unmapped once; the queue waits for it when it is dropped.
        unsafe {
            (self.queue.context.functions.enqueue_unmap_mem_object)(
                self.queue.handle,
                self.buffer.handle,
                self.start,
                0,
                ptr::null(),
                ptr::null_mut(),
            )
        };
        // SAFETY: an open queue. The buffer, the first field, is released before the queue.
        unsafe { (self.queue.context.functions.finish)(self.queue.handle) };
    }
}

fn not_pinned(error: DeviceError) -> DeviceError {
    let what = if error.what == Kind::Lost { Kind::Lost } else { Kind::NotPinned };
    DeviceError { what, ..error }
}

/// A copy that was queued.
pub(super) struct Event {
    context: Rc<Context>,
    pub(super) handle: Handle,
}

impl Event {
    pub(super) fn new(context: &Rc<Context>, handle: Handle) -> Self {
        Self { context: Rc::clone(context), handle }
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

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the reference that the enqueuing gave, released once.
        unsafe { (self.context.functions.release_event)(self.handle) };
    }
}

/// What a blocking flag is for a copy that is waited for by its event.
pub(super) const NOT_BLOCKING: u32 = FALSE;
/// For one that returns when it is done.
pub(super) const BLOCKING: u32 = TRUE;
