//! What CUDA's driver hands out. Giving it back says nothing and never panics: a device that is
//! gone cannot be told so.

use std::ffi::c_void;
use std::ptr;
use std::rc::Rc;

use nearfar_machine::Accelerator;

use super::devices::{device, start};
use super::error_name::{
    PEER_ACCESS_ALREADY_ENABLED, PEER_ACCESS_UNSUPPORTED, TOO_MANY_PEERS, failure,
};
use super::functions::{Address, EVENT_DEFAULT, Functions, Handle, STREAM_NON_BLOCKING, SUCCESS};
use crate::device_error::{DeviceError, Kind};

/// A device's primary context: the one that it shares with other users in this process.
pub(crate) struct Context {
    pub(super) functions: Functions,
    pub(super) handle: Handle,
    device: i32,
    label: String,
}

impl Context {
    /// Takes the context of a device, which messages name by the label, and makes it the calling
    /// thread's.
    pub(crate) fn open(
        functions: Functions,
        accelerator: &Accelerator,
        label: &str,
    ) -> Result<Self, DeviceError> {
        start(&functions)
            .map_err(|why| DeviceError::new(Kind::Lost, format!("{label}: {}", why.reason)))?;
        let device = device(&functions, accelerator.number).map_err(|code| DeviceError {
            what: Kind::Lost,
            ..failure(&functions, label, "cuDeviceGet", code)
        })?;
        let mut handle = ptr::null_mut();
        // SAFETY: a device of the driver; `handle` has room for the context.
        let code = unsafe { (functions.retain_context)(&raw mut handle, device) };
        if code != SUCCESS {
            return Err(failure(&functions, label, "cuDevicePrimaryCtxRetain", code));
        }
        let context = Self { functions, handle, device, label: label.into() };
        context.make_current()?;
        Ok(context)
    }

    /// Makes it the calling thread's: calls mean the context that is.
    pub(super) fn make_current(&self) -> Result<(), DeviceError> {
        // SAFETY: a context that is held.
        let code = unsafe { (self.functions.set_context)(self.handle) };
        self.succeeded("cuCtxSetCurrent", code)
    }

    /// Waits for all that the device has to do.
    pub(super) fn wait(&self) -> Result<(), DeviceError> {
        // SAFETY: without arguments; means the calling thread's context.
        let code = unsafe { (self.functions.wait_for_context)() };
        self.succeeded("cuCtxSynchronize", code)
    }

    pub(super) fn succeeded(&self, call: &str, code: i32) -> Result<(), DeviceError> {
        if code == SUCCESS { Ok(()) } else { Err(self.failure(call, code)) }
    }

    fn failure(&self, call: &str, code: i32) -> DeviceError {
        failure(&self.functions, &self.label, call, code)
    }

    /// Lets this device reach another's memory where the two can; copies go by the host else.
    pub(super) fn reach(&self, peer: &Self) -> Result<(), DeviceError> {
        self.make_current()?;
        let mut can = 0;
        // SAFETY: two devices of the driver; `can` has room for the answer.
        let code =
            unsafe { (self.functions.can_access_peer)(&raw mut can, self.device, peer.device) };
        self.succeeded("cuDeviceCanAccessPeer", code)?;
        if can == 0 || self.device == peer.device {
            return Ok(());
        }
        // SAFETY: a context that is held, and flags that must be 0.
        let code = unsafe { (self.functions.enable_peer_access)(peer.handle, 0) };
        match code {
            PEER_ACCESS_ALREADY_ENABLED | PEER_ACCESS_UNSUPPORTED | TOO_MANY_PEERS => Ok(()),
            code => self.succeeded("cuCtxEnablePeerAccess", code),
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained once by `open`, released once.
        unsafe { (self.functions.release_context)(self.device) };
    }
}

/// What a context handed out: an address of its memory, pages that are locked, a stream, an event.
/// Given back when it is dropped, after the streams were waited for.
pub(super) struct Held<T: Copy> {
    pub(super) context: Rc<Context>,
    pub(super) handle: T,
    give_back: unsafe extern "C" fn(T) -> i32,
}

impl<T: Copy> Held<T> {
    /// Has it handed out by a call, which messages name, to where the empty handle is.
    fn take(
        context: &Rc<Context>,
        call: &str,
        mut handle: T,
        take: impl FnOnce(&Functions, *mut T) -> i32,
        give_back: unsafe extern "C" fn(T) -> i32,
    ) -> Result<Self, DeviceError> {
        context.make_current()?;
        let code = take(&context.functions, &raw mut handle);
        context.succeeded(call, code)?;
        Ok(Self { context: Rc::clone(context), handle, give_back })
    }
}

impl<T: Copy> Drop for Held<T> {
    fn drop(&mut self) {
        if self.context.make_current().is_ok() {
            // SAFETY: handed out once by `take`, given back once, to the function for its kind.
            unsafe { (self.give_back)(self.handle) };
        }
    }
}

/// Memory of a device.
pub(super) type Memory = Held<Address>;

impl Memory {
    pub(super) fn new(context: &Rc<Context>, bytes: usize) -> Result<Self, DeviceError> {
        let call = format!("cuMemAlloc of {bytes} bytes");
        let allocate = |functions: &Functions, address| {
            // SAFETY: `address` has room for the answer.
            unsafe { (functions.allocate)(address, bytes) }
        };
        Self::take(context, &call, 0, allocate, context.functions.free)
    }
}

/// The host's pages, locked where they are.
pub(super) type PinnedPages = Held<*mut c_void>;

pub(super) fn pin(
    context: &Rc<Context>,
    start: *mut c_void,
    bytes: usize,
) -> Result<PinnedPages, DeviceError> {
    let call = format!("cuMemHostRegister of {bytes} bytes");
    let register = |functions: &Functions, _: *mut Handle| {
        // SAFETY: the pages are borrowed for as long as the transfer lives, which lets go of them
        // before it ends.
        unsafe { (functions.register_host)(start, bytes, 0) }
    };
    Held::take(context, &call, start, register, context.functions.unregister_host)
        .map_err(DeviceError::not_pinned)
}

/// A queue of copies.
pub(super) struct Stream(Held<Handle>);

impl Stream {
    pub(super) fn open(context: &Rc<Context>) -> Result<Self, DeviceError> {
        let create = |functions: &Functions, stream| {
            // SAFETY: `stream` has room for the answer.
            unsafe { (functions.create_stream)(stream, STREAM_NON_BLOCKING) }
        };
        let close = context.functions.destroy_stream;
        Held::take(context, "cuStreamCreate", ptr::null_mut(), create, close).map(Self)
    }

    pub(super) fn handle(&self) -> Handle {
        self.0.handle
    }

    pub(super) fn wait(&self) -> Result<(), DeviceError> {
        let context = &self.0.context;
        // SAFETY: a stream that is open.
        let code = unsafe { (context.functions.wait_for_stream)(self.0.handle) };
        context.succeeded("cuStreamSynchronize", code)
    }

    /// Lets what comes next wait for the event.
    pub(super) fn wait_for(&self, event: &Event) -> Result<(), DeviceError> {
        let context = &self.0.context;
        // SAFETY: a stream and an event of one context, and flags that must be 0.
        let code =
            unsafe { (context.functions.stream_wait_for_event)(self.0.handle, event.0.handle, 0) };
        context.succeeded("cuStreamWaitEvent", code)
    }

    /// Notes the time when all that is in it so far is done.
    pub(super) fn note(&self, event: &Event) -> Result<(), DeviceError> {
        let context = &self.0.context;
        // SAFETY: a stream and an event of one context.
        let code = unsafe { (context.functions.record_event)(event.0.handle, self.0.handle) };
        context.succeeded("cuEventRecord", code)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // What is in it may still reach the host's pages.
        self.0.context.make_current().and_then(|()| self.wait()).ok();
    }
}

/// A note of a time by the device's clock.
pub(super) struct Event(Held<Handle>);

impl Event {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self, DeviceError> {
        let create = |functions: &Functions, event| {
            // SAFETY: `event` has room for the answer.
            unsafe { (functions.create_event)(event, EVENT_DEFAULT) }
        };
        let destroy = context.functions.destroy_event;
        Held::take(context, "cuEventCreate", ptr::null_mut(), create, destroy).map(Self)
    }

    /// Nanoseconds from an earlier note to this one; None where the driver does not say, or says
    /// that none passed.
    pub(super) fn ns_since(&self, earlier: &Self) -> Option<u64> {
        let Self(Held { context, handle, .. }) = self;
        let mut ms = 0f32;
        // SAFETY: two events that are noted; `ms` has room for the answer.
        let code =
            unsafe { (context.functions.elapsed_ms)(&raw mut ms, earlier.0.handle, *handle) };
        (code == SUCCESS).then(|| nanoseconds(ms)).flatten()
    }
}

fn nanoseconds(ms: f32) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive and finite; what is too large becomes the largest"
    )]
    (ms.is_finite() && ms > 0.0).then(|| (f64::from(ms) * 1e6).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::nanoseconds;

    #[test]
    fn a_time_that_did_not_pass_is_none() {
        assert_eq!(nanoseconds(1.5), Some(1_500_000));
        assert_eq!(nanoseconds(0.000_5), Some(500));
        for ms in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert_eq!(nanoseconds(ms), None, "{ms}");
        }
    }
}
