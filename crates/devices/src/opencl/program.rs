//! Kernels, which the driver compiles when they are asked for.

use std::ffi::{CStr, c_char};
use std::ptr;
use std::rc::Rc;

use super::error_name::{BUILD_PROGRAM_FAILURE, error_name};
use super::functions::{Handle, PROGRAM_BUILD_LOG, SUCCESS};
use super::handles::{Buffer, Context, Event, Held, Queue};
use crate::device_error::{DeviceError, Kind};

/// More of a compiler's log tells nothing more, characters.
const MOST_OF_LOG: usize = 1500;

/// Sources that were compiled for the context's first device.
pub(super) struct Program {
    context: Rc<Context>,
    held: Held,
}

/// What a kernel is given.
#[derive(Clone, Copy)]
pub(super) enum Argument<'a> {
    Memory(&'a Buffer),
    Number(u32),
}

/// A kernel with its arguments.
pub(super) struct Kernel {
    held: Held,
    groups: usize,
    items: usize,
}

impl Program {
    /// Compiles sources, one after the other as if they stood in one file.
    ///
    /// # Errors
    /// With the driver's log where it does not compile them.
    pub(super) fn build(context: &Rc<Context>, sources: &[String]) -> Result<Self, DeviceError> {
        let functions = &context.functions;
        let starts: Vec<*const c_char> = sources.iter().map(|it| it.as_ptr().cast()).collect();
        let lengths: Vec<usize> = sources.iter().map(String::len).collect();
        let count = u32::try_from(sources.len()).unwrap_or(u32::MAX);
        let mut code = SUCCESS;
        // SAFETY: this many texts of these lengths, which are copied before it returns.
        let handle = unsafe {
            (functions.create_program_with_source)(
                context.handle,
                count,
                starts.as_ptr(),
                lengths.as_ptr(),
                &raw mut code,
            )
        };
        if code != SUCCESS {
            return Err(context.failure(0, "clCreateProgramWithSource", code));
        }
        let held = Held::new(context, handle, functions.release_program);
        let device = context.device(0);
        // SAFETY: a program and a device of the context; null stands for no options and no callback,
        // so that it returns when it is done.
        let code = unsafe {
            (functions.build_program)(
                handle,
                1,
                &raw const device,
                ptr::null(),
                ptr::null(),
                ptr::null_mut(),
            )
        };
        let program = Self { context: Rc::clone(context), held };
        match code {
            SUCCESS => Ok(program),
            BUILD_PROGRAM_FAILURE => Err(program.not_compiled()),
            _ => Err(context.failure(0, "clBuildProgram", code)),
        }
    }

    fn not_compiled(&self) -> DeviceError {
        let log = self.log().unwrap_or_else(|| "its log is empty".into());
        let text = format!(
            "{}: its driver does not compile the kernels ({}), which are OpenCL C 1.2; try another \
             device or a newer driver. It says: {log}",
            self.context.label(0),
            error_name(BUILD_PROGRAM_FAILURE)
        );
        DeviceError::new(Kind::Failed, text)
    }

    /// What the compiler said.
    fn log(&self) -> Option<String> {
        let get = self.context.functions.get_program_build_info;
        let (program, device) = (self.held.handle, self.context.device(0));
        let mut length = 0;
        // SAFETY: a program and the device that it was built for; only the length is asked.
        let code =
            unsafe { get(program, device, PROGRAM_BUILD_LOG, 0, ptr::null_mut(), &raw mut length) };
        if code != SUCCESS {
            return None;
        }
        let mut log = vec![0u8; length];
        let into = log.as_mut_ptr().cast();
        // SAFETY: as before, and `into` has `length` bytes.
        let code =
            unsafe { get(program, device, PROGRAM_BUILD_LOG, length, into, ptr::null_mut()) };
        let text = String::from_utf8_lossy(&log);
        // A message is a line.
        let lines = text.trim_end_matches('\0').lines().map(str::trim).filter(|it| !it.is_empty());
        let line = lines.collect::<Vec<_>>().join(" | ");
        (code == SUCCESS && !line.is_empty()).then(|| line.chars().take(MOST_OF_LOG).collect())
    }

    /// One of its kernels, to be launched by `groups` groups of `items` work items each.
    pub(super) fn kernel(
        &self,
        name: &CStr,
        arguments: &[Argument<'_>],
        (groups, items): (usize, usize),
    ) -> Result<Kernel, DeviceError> {
        let functions = &self.context.functions;
        let mut code = SUCCESS;
        // SAFETY: a program that was built, and a name that ends.
        let handle =
            unsafe { (functions.create_kernel)(self.held.handle, name.as_ptr(), &raw mut code) };
        if code != SUCCESS {
            return Err(self.context.failure(0, "clCreateKernel", code));
        }
        let held = Held::new(&self.context, handle, functions.release_kernel);
        for (index, argument) in (0..).zip(arguments) {
            let (bytes, from) = match argument {
                Argument::Memory(memory) => {
                    (size_of::<Handle>(), (&raw const memory.handle).cast())
                }
                Argument::Number(number) => (size_of::<u32>(), ptr::from_ref(number).cast()),
            };
            // SAFETY: `from` has this many bytes, which are copied before it returns.
            let code = unsafe { (functions.set_kernel_arg)(handle, index, bytes, from) };
            if code != SUCCESS {
                return Err(self.context.failure(0, "clSetKernelArg", code));
            }
        }
        Ok(Kernel { held, groups, items })
    }
}

impl Kernel {
    /// Queues it.
    ///
    /// # Safety
    /// The memories that it was given are held until it was waited for, and it stays within them.
    pub(super) unsafe fn enqueue(&self, queue: &Queue) -> Result<Event, DeviceError> {
        let context = queue.context();
        let (all, group) = (self.groups * self.items, self.items);
        let mut event = ptr::null_mut();
        // SAFETY: one dimension, and nothing to wait for; the rest as the caller promises.
        let code = unsafe {
            (context.functions.enqueue_nd_range_kernel)(
                queue.handle(),
                self.held.handle,
                1,
                ptr::null(),
                &raw const all,
                &raw const group,
                0,
                ptr::null(),
                &raw mut event,
            )
        };
        queue.succeeded("clEnqueueNDRangeKernel", code)?;
        Ok(Event::queued(context, event))
    }
}
