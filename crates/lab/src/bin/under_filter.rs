//! Runs a command as a container would that forbids system calls:
//! `under_filter mbind=EPERM,move_pages=OK -- COMMAND ARGUMENTS`.
//!
//! The status is the command's; 125 when the filter is wrong or refused, 126 when the
//! command cannot be started.

#![expect(clippy::print_stderr, reason = "what went wrong is for whoever runs it")]

use std::env;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use nearfar_lab::SyscallFilter;

const USAGE: &str = "usage: under_filter CALL=ERROR[,CALL=ERROR].. -- COMMAND [ARGUMENT]..\n\
    Each CALL fails with ERROR, or with OK returns 0 and does nothing: \
    under_filter mbind=EPERM,move_pages=OK -- nearfar doctor";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [filter, separator, command, rest @ ..] = arguments.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::from(125);
    };
    if separator != "--" {
        eprintln!("{USAGE}");
        return ExitCode::from(125);
    }
    let installed = filter.parse().and_then(|filter: SyscallFilter| filter.install());
    if let Err(error) = installed {
        eprintln!("under_filter: {error:#}");
        return ExitCode::from(125);
    }
    let error = Command::new(command).args(rest).exec();
    eprintln!("under_filter: cannot start {command}: {error}");
    ExitCode::from(126)
}
