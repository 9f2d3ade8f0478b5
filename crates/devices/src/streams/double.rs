//! Drivers of CUDA and HIP for tests: two devices whose memory is the process's own. They keep account of
//! what they handed out, hold callers to the interfaces' rules (a device is current, ranges are within an
//! allocation, pages are registered once), and can be told to refuse or to lie.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use super::calls::{Address, Call, Calls, Handle};
use super::driver::{
    CUDA_ATTRIBUTE_INTEGRATED, CudaCalls, Driver, HIP_ATTRIBUTE_INTEGRATED, HipCalls, Own,
};

const INVALID_VALUE: i32 = 1;
const INVALID_CONTEXT: i32 = 201;
const INVALID_DEVICE: i32 = 101;
const ALREADY_REGISTERED: i32 = 712;
const NOT_REGISTERED: i32 = 713;

/// Devices that it shows.
const DEVICES: i32 = 2;

/// What the double of this thread holds. Handles count from 1.
#[derive(Default)]
pub(super) struct State {
    /// Calls that answer this code, by their name in the table; with how many of it go well before.
    pub(super) refusals: BTreeMap<&'static str, (u32, i32)>,
    pub(super) started: bool,
    current: usize,
    /// Contexts that are held. HIP's devices need none.
    contexts: [u32; DEVICES as usize],
    needs_no_context: bool,
    memories: BTreeMap<Address, (usize, Box<[u8]>)>,
    registered: BTreeMap<usize, usize>,
    /// Streams and events: whose context.
    handles: BTreeMap<usize, usize>,
    next: usize,
    /// Notes of events: how many copies came before.
    notes: BTreeMap<usize, u32>,
    copies: u32,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

pub(super) fn with<T>(look: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(look)
}

impl State {
    /// What was handed out and not given back.
    pub(super) fn held(&self) -> usize {
        let contexts: u32 = self.contexts.iter().sum();
        contexts as usize + self.memories.len() + self.registered.len() + self.handles.len()
    }

    pub(super) fn is_registered(&self, start: usize) -> bool {
        self.registered.contains_key(&start)
    }

    /// The code that a call answers instead of doing anything.
    fn refusal(&mut self, name: &'static str) -> Option<i32> {
        let (good, code) = self.refusals.get_mut(name)?;
        if *good == 0 {
            return Some(*code);
        }
        *good -= 1;
        None
    }

    fn hand_out(&mut self) -> Result<Handle, i32> {
        let context = self.current()?;
        self.next += 1;
        self.handles.insert(self.next, context);
        Ok(ptr::without_provenance_mut(self.next))
    }

    fn current(&self) -> Result<usize, i32> {
        let is_held = |current: usize| self.needs_no_context || self.contexts[current - 1] > 0;
        if self.current > 0 && is_held(self.current) {
            Ok(self.current)
        } else {
            Err(INVALID_CONTEXT)
        }
    }

    /// The bytes of a device's memory from an address on.
    fn memory(&mut self, address: Address, bytes: usize) -> Result<&mut [u8], i32> {
        let (start, (_, memory)) =
            self.memories.range_mut(..=address).next_back().ok_or(INVALID_VALUE)?;
        let at = usize::try_from(address - start).map_err(|_| INVALID_VALUE)?;
        memory.get_mut(at..at + bytes).ok_or(INVALID_VALUE)
    }

    fn owner(&self, address: Address) -> Option<usize> {
        Some(self.memories.get(&address)?.0)
    }
}

/// Does what a call does, unless the double is to refuse it.
fn call(name: &'static str, act: impl FnOnce(&mut State) -> Result<(), i32>) -> i32 {
    with(|state| match state.refusal(name) {
        Some(code) => code,
        None => act(state).err().unwrap_or(0),
    })
}

/// Gives an answer by a pointer.
fn give<T>(into: *mut T, value: T) {
    // SAFETY: callers give room for the answer, as the driver's do.
    unsafe { into.write(value) };
}

fn give_text(into: *mut c_char, room: i32, text: &str) -> Result<(), i32> {
    let bytes = text.bytes().chain([0]);
    let length = usize::try_from(room).unwrap_or(0);
    if bytes.clone().count() > length {
        return Err(INVALID_VALUE);
    }
    for (index, byte) in bytes.enumerate() {
        give(into.wrapping_add(index), byte.cast_signed());
    }
    Ok(())
}

fn known(device: i32) -> Result<usize, i32> {
    let index = usize::try_from(device).map_err(|_| INVALID_DEVICE)?;
    if device < DEVICES { Ok(index) } else { Err(INVALID_DEVICE) }
}

/// Copies to a device.
fn to_device(state: &mut State, to: Address, from: *const c_void, bytes: usize) -> Result<(), i32> {
    state.current()?;
    let memory = state.memory(to, bytes)?;
    // SAFETY: the caller's memory has as many bytes, which is what is tested.
    unsafe { ptr::copy_nonoverlapping(from.cast::<u8>(), memory.as_mut_ptr(), bytes) };
    Ok(())
}

/// Copies to the host.
fn to_host(state: &mut State, into: *mut c_void, from: Address, bytes: usize) -> Result<(), i32> {
    state.current()?;
    let memory = state.memory(from, bytes)?;
    // SAFETY: as above.
    unsafe { ptr::copy_nonoverlapping(memory.as_ptr(), into.cast::<u8>(), bytes) };
    Ok(())
}

/// A stream of the context that is current.
fn stream_of_current(state: &State, stream: Handle) -> Result<(), i32> {
    let context = state.current()?;
    if state.handles.get(&stream.addr()) == Some(&context) { Ok(()) } else { Err(400) }
}

/// Functions of a driver, and what each does unless it is to refuse.
macro_rules! functions {
    ($($name:ident($($argument:ident: $kind:ty),*) |$state:pat_param| $act:expr;)*) => {
        $(pub(super) unsafe extern "C" fn $name($($argument: $kind),*) -> i32 {
            call(stringify!($name), |$state| $act)
        })*
    };
}

/// The same, and the table of them.
macro_rules! table {
    ($($name:ident($($argument:ident: $kind:ty),*) |$state:pat_param| $act:expr;)*) => {
        functions! { $($name($($argument: $kind),*) |$state| $act;)* }

        const CALLS: Calls = Calls {
            $($name: Call { symbol: stringify!($name), function: $name }),*
        };
    };
}

table! {
    init(flags: u32) |state| {
        state.started = true;
        if flags == 0 { Ok(()) } else { Err(INVALID_VALUE) }
    };
    version(into: *mut i32) |_| {
        give(into, 12080);
        Ok(())
    };
    device_count(into: *mut i32) |_| {
        give(into, DEVICES);
        Ok(())
    };
    device(into: *mut i32, number: i32) |state| {
        known(number)?;
        give(into, number);
        if state.started { Ok(()) } else { Err(3) }
    };
    device_name(into: *mut c_char, room: i32, device: i32) |_| give_text(into, room, &format!("Double {}", known(device)?));
    device_memory(into: *mut usize, device: i32) |_| {
        give(into, (known(device)? + 1) << 30);
        Ok(())
    };
    device_attribute(into: *mut i32, attribute: i32, device: i32) |_| {
        // The second is within the processor.
        give(into, if attribute == CUDA_ATTRIBUTE_INTEGRATED { device } else { -1 });
        known(device).map(|_| ())
    };
    device_bus_id(into: *mut c_char, room: i32, device: i32) |_| {
        let text = if known(device)? == 0 { "0000:3B:00.0" } else { "nothing of PCIe" };
        give_text(into, room, text)
    };
    can_access_peer(into: *mut i32, one: i32, other: i32) |_| {
        give(into, i32::from(known(one)? != known(other)?));
        Ok(())
    };
    wait_for_device() |state| state.current().map(|_| ());
    allocate(into: *mut Address, bytes: usize) |state| {
        let context = state.current()?;
        let memory = vec![0; bytes].into_boxed_slice();
        let address = memory.as_ptr().addr() as Address;
        state.memories.insert(address, (context, memory));
        give(into, address);
        Ok(())
    };
    free(address: Address) |state| state.memories.remove(&address).map(|_| ()).ok_or(INVALID_VALUE);
    register_host(start: *mut c_void, bytes: usize, _flags: u32) |state| {
        state.current()?;
        match state.registered.insert(start.addr(), bytes) {
            None => Ok(()),
            Some(_) => Err(ALREADY_REGISTERED),
        }
    };
    unregister_host(start: *mut c_void) |state| {
        state.registered.remove(&start.addr()).map(|_| ()).ok_or(NOT_REGISTERED)
    };
    copy_to_device(to: Address, from: *const c_void, bytes: usize) |state| to_device(state, to, from, bytes);
    copy_to_host(into: *mut c_void, from: Address, bytes: usize) |state| to_host(state, into, from, bytes);
    queue_to_device(to: Address, from: *const c_void, bytes: usize, stream: Handle) |state| {
        stream_of_current(state, stream)?;
        state.copies += 1;
        to_device(state, to, from, bytes)
    };
    queue_to_host(into: *mut c_void, from: Address, bytes: usize, stream: Handle) |state| {
        stream_of_current(state, stream)?;
        state.copies += 1;
        to_host(state, into, from, bytes)
    };
    create_stream(into: *mut Handle, _flags: u32) |state| {
        give(into, state.hand_out()?);
        Ok(())
    };
    destroy_stream(stream: Handle) |state| state.handles.remove(&stream.addr()).map(|_| ()).ok_or(400);
    wait_for_stream(stream: Handle) |state| stream_of_current(state, stream);
    stream_wait_for_event(stream: Handle, event: Handle, _flags: u32) |state| {
        stream_of_current(state, event)?;
        stream_of_current(state, stream)
    };
    create_event(into: *mut Handle, _flags: u32) |state| {
        give(into, state.hand_out()?);
        Ok(())
    };
    destroy_event(event: Handle) |state| state.handles.remove(&event.addr()).map(|_| ()).ok_or(400);
    record_event(event: Handle, stream: Handle) |state| {
        stream_of_current(state, event)?;
        stream_of_current(state, stream)?;
        state.notes.insert(event.addr(), state.copies);
        Ok(())
    };
    // A millisecond for each copy between the two notes.
    elapsed_ms(into: *mut f32, start: Handle, end: Handle) |state| {
        let note = |event: Handle| state.notes.get(&event.addr()).copied().ok_or(400);
        let copies = note(end)?.checked_sub(note(start)?).ok_or(INVALID_VALUE)?;
        give(into, copies as f32);
        Ok(())
    };
}

// CUDA's own.
functions! {
    retain_context(into: *mut Handle, device: i32) |state| {
        let index = known(device)?;
        state.contexts[index] += 1;
        give(into, ptr::without_provenance_mut(index + 1));
        Ok(())
    };
    release_context(device: i32) |state| {
        let count = &mut state.contexts[known(device)?];
        *count = count.checked_sub(1).ok_or(INVALID_CONTEXT)?;
        Ok(())
    };
    make_current(context: Handle) |state| {
        state.needs_no_context = false;
        state.current = context.addr();
        state.current().map(|_| ())
    };
    enable_peer_access(_peer: Handle, flags: u32) |_| if flags == 0 { Ok(()) } else { Err(INVALID_VALUE) };
    queue_to_peer(
        to: Address, receiver: Handle, from: Address, sender: Handle, bytes: usize, stream: Handle
    ) |state| {
        stream_of_current(state, stream)?;
        let owners = (state.owner(to), state.owner(from));
        if owners != (Some(receiver.addr()), Some(sender.addr())) {
            return Err(INVALID_CONTEXT);
        }
        state.copies += 1;
        let sent = state.memory(from, bytes)?.to_vec();
        state.memory(to, bytes)?.copy_from_slice(&sent);
        Ok(())
    };
}

// HIP's own.
functions! {
    hip_version(into: *mut i32) |_| {
        give(into, 60_241_134);
        Ok(())
    };
    hip_device_attribute(into: *mut i32, attribute: i32, device: i32) |_| {
        give(into, if attribute == HIP_ATTRIBUTE_INTEGRATED { device } else { -1 });
        known(device).map(|_| ())
    };
}

/// The numbers of errors that both have names of, and what others are to a driver of today.
fn name_of(code: i32) -> Option<(&'static CStr, &'static CStr)> {
    match code {
        2 => Some((c"CUDA_ERROR_OUT_OF_MEMORY", c"hipErrorOutOfMemory")),
        100 => Some((c"CUDA_ERROR_NO_DEVICE", c"hipErrorNoDevice")),
        101 => Some((c"CUDA_ERROR_INVALID_DEVICE", c"hipErrorInvalidDevice")),
        712 => Some((
            c"CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
            c"hipErrorHostMemoryAlreadyRegistered",
        )),
        719 => Some((c"CUDA_ERROR_LAUNCH_FAILED", c"hipErrorLaunchFailure")),
        _ => None,
    }
}

unsafe extern "C" fn cuda_error_name(code: i32, into: *mut *const c_char) -> i32 {
    let Some((name, _)) = name_of(code) else { return INVALID_VALUE };
    give(into, name.as_ptr());
    0
}

unsafe extern "C" fn hip_error_name(code: i32) -> *const c_char {
    name_of(code).map_or(c"hipErrorUnknown", |(_, name)| name).as_ptr()
}

unsafe extern "C" fn hip_set_device(device: i32) -> i32 {
    call("make_current", |state| {
        state.needs_no_context = true;
        state.current = known(device)? + 1;
        Ok(())
    })
}

unsafe extern "C" fn hip_enable_peer_access(peer: i32, flags: u32) -> i32 {
    call("enable_peer_access", |state| {
        let is_itself = known(peer)? + 1 == state.current()?;
        if flags == 0 && !is_itself { Ok(()) } else { Err(INVALID_VALUE) }
    })
}

unsafe extern "C" fn hip_queue_to_peer(
    to: Address,
    receiver: i32,
    from: Address,
    sender: i32,
    bytes: usize,
    stream: Handle,
) -> i32 {
    let handle = |device: i32| ptr::without_provenance_mut(device.unsigned_abs() as usize + 1);
    // SAFETY: as its caller says.
    unsafe { queue_to_peer(to, handle(receiver), from, handle(sender), bytes, stream) }
}

/// A driver of CUDA.
pub(super) fn cuda() -> Driver {
    let own = CudaCalls {
        error_name: cuda_error_name,
        retain_context,
        release_context,
        set_context: make_current,
        enable_peer_access,
        queue_to_peer,
    };
    Driver { calls: CALLS.named_by_cuda(), own: Own::Cuda(own) }
}

/// A runtime of HIP.
pub(super) fn hip() -> Driver {
    let mut calls = CALLS.named_by_hip();
    calls.version.function = hip_version;
    calls.device_attribute.function = hip_device_attribute;
    let own = HipCalls {
        error_name: hip_error_name,
        set_device: hip_set_device,
        enable_peer_access: hip_enable_peer_access,
        queue_to_peer: hip_queue_to_peer,
    };
    Driver { calls, own: Own::Hip(own) }
}
