//! `nearfar`: arguments in, library calls, exit status out.

mod args;
mod command;
mod exit_status;
mod foreign_machine;
mod hwloc;
mod last_level;
mod live_accelerators;
mod live_machine;
mod live_network;
mod output;
mod progress;
mod record_continuation;
mod record_file;
mod record_header;

use std::process::ExitCode;

use exit_status::ExitStatus;

/// What arguments and models take of the first thread's stack at most.
const MIN_STACK: u64 = 512 << 10;

fn main() -> ExitCode {
    if nearfar_sys::stack_limit().is_some_and(|bytes| bytes < MIN_STACK) {
        output::say_laid_out(
            "nearfar: the stack is limited to less than 512 KiB, which is too little; begin with: ulimit -s 8192",
        );
        return ExitStatus::WrongInput.into();
    }
    let arguments = match args::Arguments::parse_flowing() {
        Ok(arguments) => arguments,
        Err(error) => return exit_status::of_usage(error).into(),
    };
    output::set_verbosity(arguments.quiet, arguments.verbose);
    output::colour(arguments.color);
    outlive_file_limits();
    match command::run(arguments.command) {
        Ok(ExitStatus::EndedBySignal(signal)) => {
            nearfar_sys::end_by_signal(signal);
            ExitStatus::EndedBySignal(signal).into()
        }
        Ok(status) => status.into(),
        Err(error) => {
            let status = exit_status::of_error(&error);
            if status != ExitStatus::Done {
                output::complain(&error);
            }
            status.into()
        }
    }
}

/// A file that may grow no further (`ulimit -f`) is told by the write that fails, and does not end
/// the program. A handler, unlike an ignored signal, is not what started programs inherit.
fn outlive_file_limits() {
    use std::sync::{Arc, atomic::AtomicBool};
    // Where it cannot be watched, it ends the program as before.
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)))
        .ok();
}
