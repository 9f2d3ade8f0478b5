//! The exit statuses, all of them.

use std::io;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use nearfar_record::WriteError;
use nearfar_units::excerpt_of;

use crate::output::OutputError;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// Done: all was measured, or omitted with its reason.
    Done,
    /// A check or a comparison failed.
    CheckFailed,
    /// `fleet`: nothing is bad, and of some machine it is not known.
    NotKnown,
    /// Wrong usage or input, or another nearfar is measuring: nothing was measured.
    WrongInput,
    /// The machine refused: at least one case, or to take the record or what is printed
    /// to its end. The rest is in the record.
    Refused,
    /// Ended by this signal; the record is kept.
    Interrupted(i32),
    /// `run`, `profile`: what the program that it started ended with.
    OfProgram(u8),
    /// `run`: this signal ended the program, and ends this one as well.
    EndedBySignal(i32),
    /// `run`, `profile`: the program was not started, by something that is not its own.
    NotStarted,
    /// `run`, `profile`: the program cannot be executed.
    NotExecutable,
    /// `run`, `profile`: there is no such program.
    NotFound,
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        match status {
            ExitStatus::Done => Self::SUCCESS,
            ExitStatus::CheckFailed => Self::from(1),
            ExitStatus::WrongInput | ExitStatus::NotKnown => Self::from(2),
            ExitStatus::Refused => Self::from(3),
            ExitStatus::Interrupted(signal) | ExitStatus::EndedBySignal(signal) => {
                Self::from(u8::try_from(128 + signal).unwrap_or(130))
            }
            ExitStatus::OfProgram(status) => Self::from(status),
            ExitStatus::NotStarted => Self::from(125),
            ExitStatus::NotExecutable => Self::from(126),
            ExitStatus::NotFound => Self::from(127),
        }
    }
}

/// Characters of what was typed that an error repeats.
const LONGEST_VALUE: usize = 200;

/// Prints what is wrong with the arguments, or the help that they ask for. Of `run`, which other
/// programs stand behind, wrong usage has a status of its own.
pub fn of_usage(mut error: clap::Error) -> ExitStatus {
    let is_of_run = std::env::args_os().nth(1).is_some_and(|command| command == "run");
    if is_of_run && error.kind() == ErrorKind::UnknownArgument {
        // That the mistyped option could be the program is no help.
        error.remove(ContextKind::Suggested);
    }
    // Nobody reads more of what was typed.
    for kind in [ContextKind::InvalidArg, ContextKind::InvalidValue, ContextKind::InvalidSubcommand]
    {
        if let Some(ContextValue::String(typed)) = error.get(kind) {
            let typed = excerpt_of(typed, LONGEST_VALUE);
            error.insert(kind, ContextValue::String(typed));
        }
    }
    // Of an error there is nowhere else to say it.
    let printed = error.print();
    match is_of_run {
        _ if !error.use_stderr() => match printed {
            Err(why) if why.kind() != io::ErrorKind::BrokenPipe => ExitStatus::Refused,
            _ => ExitStatus::Done,
        },
        true => ExitStatus::NotStarted,
        false => ExitStatus::WrongInput,
    }
}

/// The status of an error: 3 where the machine failed while measuring or has no room for
/// what is written, else 2.
pub fn of_error(error: &anyhow::Error) -> ExitStatus {
    let is_full = |cause: &io::Error| {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        matches!(cause.kind(), StorageFull | QuotaExceeded | FileTooLarge)
    };
    let has_no_room = error.chain().filter_map(|cause| cause.downcast_ref()).any(is_full);
    if error.is::<OutputError>() || has_no_room {
        return ExitStatus::Refused;
    }
    match error.downcast_ref::<WriteError>() {
        Some(
            WriteError::Begin { .. }
            | WriteError::Append { .. }
            | WriteError::Pipe { .. }
            | WriteError::Stdout(_),
        ) => ExitStatus::Refused,
        _ => ExitStatus::WrongInput,
    }
}
