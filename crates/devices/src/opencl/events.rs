//! Commands that were queued: their end, and how long they took.

use std::ffi::c_void;
use std::ptr;

use super::error_name::{EXEC_STATUS_ERROR, error_name};
use super::functions::{EVENT_COMMAND_EXECUTION_STATUS, SUCCESS};
use super::handles::{Event, Queue};
use crate::device_error::DeviceError;

/// Waits for the end of commands, of which there is one at least; failures are told as the queue's.
pub(super) fn wait(queue: &Queue, events: &[Event]) -> Result<(), DeviceError> {
    let functions = &queue.context().functions;
    let handles: Vec<_> = events.iter().map(|event| event.handle).collect();
    let count = u32::try_from(handles.len()).unwrap_or(u32::MAX);
    // SAFETY: this many events of one context, held until the end of this function.
    let code = unsafe { (functions.wait_for_events)(count, handles.as_ptr()) };
    if code != EXEC_STATUS_ERROR {
        return queue.succeeded("clWaitForEvents", code);
    }
    // Which one failed, and how, its own status says.
    let own = handles.iter().find_map(|&handle| {
        let mut status = 0i32;
        let into: *mut c_void = (&raw mut status).cast();
        // SAFETY: an event that is held; `into` has the 4 bytes of a status.
        let asked = unsafe {
            (functions.get_event_info)(
                handle,
                EVENT_COMMAND_EXECUTION_STATUS,
                size_of::<i32>(),
                into,
                ptr::null_mut(),
            )
        };
        (asked == SUCCESS && status < 0).then_some(status)
    });
    queue.succeeded(&format!("a command ({})", error_name(code)), own.unwrap_or(code))
}

/// From the start of the first to the end of the last by the device's clock, ns, where it ran.
pub(super) fn span(events: &[Event]) -> Option<u64> {
    let times: Vec<(u64, u64)> = events.iter().map(Event::times).collect::<Option<_>>()?;
    let first = times.iter().map(|(start, _)| *start).min()?;
    let last = times.iter().map(|(_, end)| *end).max()?;
    last.checked_sub(first).filter(|&ns| ns > 0)
}
