//! A run of a workload: its kernels are compiled, then each pass sends, computes, takes back, and is
//! looked at.

use std::ptr;
use std::rc::Rc;
use std::time::Instant;

use super::devices::{has_double, most_bytes_of_buffer, most_items_of_group};
use super::events::{span, wait};
use super::handles::{Buffer, Context, Event, PinnedPages, Queue};
use super::program::{Argument, Kernel, Program};
use super::workloads::{Role, Setup, Value};
use crate::device_error::{DeviceError, Kind};
use crate::device_workload::{DevicePass, DeviceRun, StepTime, no_room};
use crate::host_pages::HostPages;
use crate::transfer::failed;

/// Passes that count; one more before them lets the driver make ready.
const PASSES: usize = 5;

/// Runs it on the context's device with these pages for its arrays.
pub(crate) fn run_workload(
    context: &Rc<Context>,
    setup: &Setup,
    mut pages: Vec<HostPages<'_>>,
) -> Result<DeviceRun, DeviceError> {
    check_device(context, setup)?;
    let program = Program::build(context, &setup.sources)?;
    let inputs = setup.buffers.iter().filter(|it| it.role == Role::Input).count();
    let mut taken = pages.split_off(inputs);
    let mut sent = pages;
    (setup.result.fill)(&mut sent.iter_mut().map(HostPages::words_mut).collect::<Vec<_>>());
    let expected = (setup.result.expected)(&words(&sent));

    let memory = |bytes| Buffer::create(context, 0, bytes, ptr::null_mut());
    let memories: Vec<Buffer> =
        setup.buffers.iter().map(|it| memory(it.bytes)).collect::<Result<_, _>>()?;
    let of = |role| {
        let all = setup.buffers.iter().zip(&memories);
        all.filter(move |(buffer, _)| buffer.role == role).map(|(_, memory)| memory)
    };
    let (inputs, outputs): (Vec<&Buffer>, Vec<&Buffer>) =
        (of(Role::Input).collect(), of(Role::Output).collect());
    let kernels = kernels(&program, setup, &memories)?;
    let pin = |it: &HostPages<'_>| PinnedPages::pin(context, it.start(), it.bytes());
    let _pinned: Vec<PinnedPages> = sent.iter().chain(&taken).map(pin).collect::<Result<_, _>>()?;
    // Dropped first: what is in it may still reach memories and pages.
    let queue = Queue::open(context, 0)?;

    let mut ran = DeviceRun {
        passes: Vec::new(),
        compared: expected.len(),
        largest_error: 0.0,
        tolerance: setup.result.tolerance,
    };
    for pass in 0..=PASSES {
        spoil(&queue, &mut taken, &outputs)?;
        let timed = DevicePass {
            to_device: step(&queue, || {
                sent.iter().zip(&inputs).map(|(from, to)| send(&queue, from, to)).collect()
            })?,
            kernels: step(&queue, || {
                // SAFETY: the memories are held longer than the queue, and the kernels stay within
                // those of the sizes that the setup gives them.
                kernels.iter().map(|it| unsafe { it.enqueue(&queue) }).collect()
            })?,
            to_host: step(&queue, || {
                taken.iter().zip(&outputs).map(|(to, from)| take(&queue, from, to)).collect()
            })?,
        };
        let found = (setup.result.found)(&words(&sent), &words(&taken));
        let error = largest_error(setup, &expected, &found).map_err(|how| {
            let text = format!("{}: {}: {how}", context.label(0), setup.workload);
            DeviceError::new(Kind::WrongData, text)
        })?;
        ran.largest_error = ran.largest_error.max(error);
        if pass > 0 {
            ran.passes.push(timed);
        }
    }
    Ok(ran)
}

fn words<'a>(pages: &'a [HostPages<'_>]) -> Vec<&'a [u64]> {
    pages.iter().map(HostPages::words).collect()
}

/// Whether the device has what the setup needs.
fn check_device(context: &Context, setup: &Setup) -> Result<(), DeviceError> {
    let (functions, device, label) = (&context.functions, context.device(0), context.label(0));
    if setup.needs_double && !has_double(functions, device) {
        let why = format!(
            "it has no double precision, in which {} computes; take another workload, fft say",
            setup.workload
        );
        return Err(failed(label, &why));
    }
    let items = setup.launches.iter().map(|it| it.items as u64).max().unwrap_or(0);
    if let Some(most) = most_items_of_group(functions, device)
        && items > most
    {
        let why = format!(
            "its groups have at most {most} items, and {} needs {items}; take another device",
            setup.workload
        );
        return Err(failed(label, &why));
    }
    let largest = setup.buffers.iter().map(|it| it.bytes as u64).max().unwrap_or(0);
    match most_bytes_of_buffer(functions, device) {
        Some(most) if largest > most => Err(no_room(label, largest, most)),
        _ => Ok(()),
    }
}

fn kernels(
    program: &Program,
    setup: &Setup,
    memories: &[Buffer],
) -> Result<Vec<Kernel>, DeviceError> {
    let argument = |value: &Value| match *value {
        Value::Of(buffer) => Argument::Memory(&memories[buffer]),
        Value::Number(number) => Argument::Number(number),
    };
    let kernel = |launch: &super::workloads::Launch| {
        let arguments: Vec<Argument<'_>> = launch.arguments.iter().map(argument).collect();
        program.kernel(launch.kernel, &arguments, (launch.groups, launch.items))
    };
    setup.launches.iter().map(kernel).collect()
}

/// Sets all bits of what the result comes to, on the device and on the host: a result that is not
/// computed, or not taken back, is seen.
fn spoil(
    queue: &Queue,
    taken: &mut [HostPages<'_>],
    outputs: &[&Buffer],
) -> Result<(), DeviceError> {
    for (pages, memory) in taken.iter_mut().zip(outputs) {
        pages.words_mut().fill(u64::MAX);
        // SAFETY: the memory has as many bytes as the pages; returns when they were read.
        unsafe { queue.write(memory, 0, pages.start(), pages.bytes(), None)? };
    }
    Ok(())
}

/// What queuing commands, of which there is one at least, and waiting for their end takes.
fn step(
    queue: &Queue,
    enqueue: impl FnOnce() -> Result<Vec<Event>, DeviceError>,
) -> Result<StepTime, DeviceError> {
    let begin = Instant::now();
    let events = enqueue()?;
    queue.flush()?;
    wait(queue, &events)?;
    let wall_ns = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
    Ok(StepTime { device_ns: span(&events), wall_ns })
}

fn send(queue: &Queue, from: &HostPages<'_>, to: &Buffer) -> Result<Event, DeviceError> {
    let mut event = ptr::null_mut();
    // SAFETY: the memory has as many bytes as the pages, which are borrowed until the queue is
    // finished.
    unsafe { queue.write(to, 0, from.start(), from.bytes(), Some(&mut event))? };
    Ok(Event::queued(queue.context(), event))
}

fn take(queue: &Queue, from: &Buffer, to: &HostPages<'_>) -> Result<Event, DeviceError> {
    let mut event = ptr::null_mut();
    // SAFETY: as for `send`; nobody looks at the pages before the copy was waited for.
    unsafe { queue.read(from, 0, to.start(), to.bytes(), Some(&mut event))? };
    Ok(Event::queued(queue.context(), event))
}

/// The largest error, as [`DeviceRun::largest_error`] counts it; in words where it is too large.
fn largest_error(setup: &Setup, expected: &[f64], found: &[f64]) -> Result<f64, String> {
    let is_exact = setup.result.tolerance == 0.0;
    let square = expected.iter().map(|it| it * it).sum::<f64>() / expected.len() as f64;
    let scale = if is_exact { 1.0 } else { square.sqrt() };
    let mut largest = 0.0;
    for (index, (&expected, &found)) in expected.iter().zip(found).enumerate() {
        let error = (found - expected).abs() / scale;
        if error.is_nan() || error > setup.result.tolerance {
            let within = setup.result.tolerance * scale;
            return Err(format!(
                "number {index} of its result is {found}, expected {expected} within {within:e}; the \
                 device or its driver computes wrongly"
            ));
        }
        largest = error.max(largest);
    }
    Ok(largest)
}

#[cfg(test)]
mod tests {
    use super::super::discovery::{ANSWER, answered};
    use super::super::functions::Functions;
    use super::super::lies::{honest, idle_read, short_write};
    use super::super::workloads::planted::run;
    use super::*;
    use crate::device_workload::{DeviceWorkload, ProblemSize};
    use crate::library::Answering;

    fn refused(functions: Functions, setup: &Setup, what: Kind, expected: &str) {
        let error = run(functions, setup).expect_err(expected);
        assert_eq!(error.what, what, "{error}");
        assert!(error.text.contains(expected), "{error}");
    }

    #[test]
    #[ignore = "needs PoCL: make devices"]
    fn what_is_not_copied_is_seen() {
        let functions = honest();
        let setup = DeviceWorkload::Reduction.setup(ProblemSize::ALL[0]);
        for functions in [
            Functions { enqueue_write_buffer: short_write::<true>, ..functions },
            Functions { enqueue_read_buffer: idle_read::<false>, ..functions },
        ] {
            refused(functions, &setup, Kind::WrongData, "number 0 of its result is");
        }
    }

    #[test]
    #[ignore = "needs PoCL: make devices"]
    fn each_refusal_is_told() {
        let functions = honest();
        let gemm = || DeviceWorkload::Gemm.setup(ProblemSize::ALL[0]);
        for (functions, expected) in [
            (
                Functions { build_program: Answering::answering::<-3>(), ..functions },
                "clBuildProgram failed: CL_COMPILER_NOT_AVAILABLE",
            ),
            (
                Functions { set_kernel_arg: Answering::answering::<-51>(), ..functions },
                "clSetKernelArg failed: CL_INVALID_ARG_SIZE",
            ),
            (
                Functions { enqueue_nd_range_kernel: Answering::answering::<-54>(), ..functions },
                "clEnqueueNDRangeKernel failed: CL_INVALID_WORK_GROUP_SIZE",
            ),
        ] {
            refused(functions, &gemm(), Kind::Failed, expected);
        }
        let mut unknown = gemm();
        unknown.launches[0].kernel = c"no_such";
        refused(functions, &unknown, Kind::Failed, "CL_INVALID_KERNEL_NAME");
        let mut wrong = gemm();
        wrong.sources.push("this is no kernel;".into());
        refused(functions, &wrong, Kind::Failed, "does not compile the kernels");
        refused(functions, &wrong, Kind::Failed, "unknown type name 'this'");
        let answers = Functions { get_device_info: answered, ..functions };
        ANSWER.set(|what| match what {
            0x1032 => vec![0; 8],
            _ => Vec::new(),
        });
        refused(answers, &gemm(), Kind::Failed, "it has no double precision");
        ANSWER.set(|what| match what {
            0x1010 => (64_u64 << 10).to_ne_bytes().into(),
            _ => Vec::new(),
        });
        refused(answers, &gemm(), Kind::NoRoom, "128 KiB are needed and 64 KiB can be had");
        ANSWER.set(|_| Vec::new());
        let mut huge = gemm();
        huge.buffers[2].bytes = 1 << 60;
        huge.buffers[2].role = Role::Scratch;
        refused(functions, &huge, Kind::NoRoom, "take a smaller size");
    }
}
