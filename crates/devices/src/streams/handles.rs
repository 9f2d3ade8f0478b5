//! What a driver hands out. Giving it back says nothing and never panics: a device that is gone
//! cannot be told so.

use std::ffi::c_void;
use std::ptr;
use std::rc::Rc;

use nearfar_machine::Accelerator;

use super::calls::{
    Address, Call, Calls, Create, EVENT_DEFAULT, Handle, STREAM_NON_BLOCKING, SUCCESS,
};
use super::devices::{device, start};
use super::driver::{DeviceHandle, Driver, Refusal, succeeded};
use super::error_name::{
    PEER_ACCESS_ALREADY_ENABLED, PEER_ACCESS_UNSUPPORTED, TOO_MANY_PEERS, failure,
};
use crate::device_error::{DeviceError, Kind};

/// A device that is held: of CUDA its primary context, the one that it shares with other users in this
/// process.
pub(crate) struct Context {
    pub(super) driver: Driver,
    pub(super) device: DeviceHandle,
    label: String,
}

impl Context {
    /// Takes a device, which messages name by the label, and makes it the calling thread's.
    pub(crate) fn open(
        driver: Driver,
        accelerator: &Accelerator,
        label: &str,
    ) -> Result<Self, DeviceError> {
        start(&driver)
            .map_err(|why| DeviceError::new(Kind::Lost, format!("{label}: {}", why.reason)))?;
        let number = device(&driver, accelerator.number).map_err(|refusal| DeviceError {
            what: Kind::Lost,
            ..failure(&driver, label, refusal, None)
        })?;
        let device = driver.hold(number).map_err(|it| failure(&driver, label, it, None))?;
        let context = Self { driver, device, label: label.into() };
        context.make_current()?;
        Ok(context)
    }

    /// Makes it the calling thread's: calls mean the device that is.
    pub(super) fn make_current(&self) -> Result<(), DeviceError> {
        self.told(self.driver.make_current(self.device))
    }

    /// Waits for all that the device has to do.
    pub(super) fn wait(&self) -> Result<(), DeviceError> {
        // SAFETY: without arguments; means the calling thread's device.
        self.call(self.driver.calls.wait_for_device, |wait| unsafe { wait() })
    }

    /// Makes a call, and says of one that fails which, and on what.
    pub(super) fn call<Function>(
        &self,
        call: Call<Function>,
        make: impl FnOnce(Function) -> i32,
    ) -> Result<(), DeviceError> {
        self.told(succeeded(call.symbol, make(call.function)))
    }

    pub(super) fn told(&self, outcome: Result<(), Refusal>) -> Result<(), DeviceError> {
        outcome.map_err(|refusal| failure(&self.driver, &self.label, refusal, None))
    }

    /// Lets this device reach another's memory where the two can; copies go by the host else.
    pub(super) fn reach(&self, peer: &Self) -> Result<(), DeviceError> {
        self.make_current()?;
        let (own, other) = (self.device.number, peer.device.number);
        let mut can = 0;
        self.call(self.driver.calls.can_access_peer, |can_access_peer| {
            // SAFETY: two devices of the driver; `can` has room for the answer.
            unsafe { can_access_peer(&raw mut can, own, other) }
        })?;
        if can == 0 || own == other {
            return Ok(());
        }
        match self.driver.enable_peer_access(peer.device) {
            Err(Refusal {
                code: PEER_ACCESS_ALREADY_ENABLED | PEER_ACCESS_UNSUPPORTED | TOO_MANY_PEERS,
                ..
            }) => Ok(()),
            outcome => self.told(outcome),
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.driver.release(self.device);
    }
}

/// What a device handed out: an address of its memory, pages that are locked, a stream, an event.
/// Given back when it is dropped, after the streams were waited for.
pub(super) struct Held<T: Copy> {
    pub(super) context: Rc<Context>,
    pub(super) handle: T,
    give_back: unsafe extern "C" fn(T) -> i32,
}

impl<T: Copy> Held<T> {
    /// Has it handed out by a call, of a number of bytes where it has one, to where the empty handle is.
    fn take<Function>(
        context: &Rc<Context>,
        (call, bytes): (Call<Function>, Option<usize>),
        mut handle: T,
        take: impl FnOnce(Function, *mut T) -> i32,
        give_back: unsafe extern "C" fn(T) -> i32,
    ) -> Result<Self, DeviceError> {
        context.make_current()?;
        let code = take(call.function, &raw mut handle);
        succeeded(call.symbol, code)
            .map_err(|refusal| failure(&context.driver, &context.label, refusal, bytes))?;
        Ok(Self { context: Rc::clone(context), handle, give_back })
    }
}

impl Held<Handle> {
    /// Has a stream or an event made, with these flags.
    fn create(
        context: &Rc<Context>,
        call: Call<Create>,
        flags: u32,
        give_back: unsafe extern "C" fn(Handle) -> i32,
    ) -> Result<Self, DeviceError> {
        // SAFETY: `made` has room for the answer.
        let take = |create: Create, made| unsafe { create(made, flags) };
        Self::take(context, (call, None), ptr::null_mut(), take, give_back)
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
        let Calls { allocate, free, .. } = context.driver.calls;
        // SAFETY: `address` has room for the answer.
        let take = |allocate: unsafe extern "C" fn(_, _) -> _, address| unsafe {
            allocate(address, bytes)
        };
        Self::take(context, (allocate, Some(bytes)), 0, take, free.function)
    }
}

/// The host's pages, locked where they are.
pub(super) type PinnedPages = Held<*mut c_void>;

pub(super) fn pin(
    context: &Rc<Context>,
    start: *mut c_void,
    bytes: usize,
) -> Result<PinnedPages, DeviceError> {
    let Calls { register_host, unregister_host, .. } = context.driver.calls;
    // SAFETY: the pages are borrowed for as long as the transfer lives, which lets go of them
    // before it ends.
    let take = |register: unsafe extern "C" fn(_, _, _) -> _, _: *mut Handle| unsafe {
        register(start, bytes, 0)
    };
    Held::take(context, (register_host, Some(bytes)), start, take, unregister_host.function)
        .map_err(DeviceError::not_pinned)
}

/// A queue of copies.
pub(super) struct Stream(Held<Handle>);

impl Stream {
    pub(super) fn open(context: &Rc<Context>) -> Result<Self, DeviceError> {
        let Calls { create_stream, destroy_stream, .. } = context.driver.calls;
        Held::create(context, create_stream, STREAM_NON_BLOCKING, destroy_stream.function).map(Self)
    }

    pub(super) fn handle(&self) -> Handle {
        self.0.handle
    }

    pub(super) fn wait(&self) -> Result<(), DeviceError> {
        let Self(Held { context, handle, .. }) = self;
        // SAFETY: a stream that is open.
        context.call(context.driver.calls.wait_for_stream, |wait| unsafe { wait(*handle) })
    }

    /// Lets what comes next wait for the event.
    pub(super) fn wait_for(&self, event: &Event) -> Result<(), DeviceError> {
        let Self(Held { context, handle, .. }) = self;
        context.call(context.driver.calls.stream_wait_for_event, |wait| {
            // SAFETY: a stream and an event of one device, and flags that must be 0.
            unsafe { wait(*handle, event.0.handle, 0) }
        })
    }

    /// Notes the time when all that is in it so far is done.
    pub(super) fn note(&self, event: &Event) -> Result<(), DeviceError> {
        let Self(Held { context, handle, .. }) = self;
        context.call(context.driver.calls.record_event, |record| {
            // SAFETY: a stream and an event of one device.
            unsafe { record(event.0.handle, *handle) }
        })
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
        let Calls { create_event, destroy_event, .. } = context.driver.calls;
        Held::create(context, create_event, EVENT_DEFAULT, destroy_event.function).map(Self)
    }

    /// Nanoseconds from an earlier note to this one; None where the driver does not say, or says
    /// that none passed.
    pub(super) fn ns_since(&self, earlier: &Self) -> Option<u64> {
        let Self(Held { context, handle, .. }) = self;
        let elapsed_ms = context.driver.calls.elapsed_ms.function;
        let mut ms = 0f32;
        // SAFETY: two events that are noted; `ms` has room for the answer.
        let code = unsafe { elapsed_ms(&raw mut ms, earlier.0.handle, *handle) };
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
