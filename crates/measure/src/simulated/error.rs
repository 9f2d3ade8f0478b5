//! Why a simulated machine was not measured, and why it answers a case by a refusal.

use nearfar_record::{Reason, ReasonCode, WriteError};

/// Why a simulated machine was not measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulateError {
    /// The machine's file gives a figure for a kernel that there is not.
    #[error(
        "the simulated machine {machine}: kernels.{kernel} is no kernel of the catalog; there are \
         {known}"
    )]
    UnknownKernel {
        /// The machine's name.
        machine: String,
        /// The key in its file.
        kernel: String,
        /// The catalog's kernels.
        known: String,
    },
    /// A line of the record could not be put into JSON.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// What its file says nothing of.
pub(super) fn not_simulated(text: impl ToString) -> Reason {
    Reason { code: ReasonCode::NotSimulated, text: text.to_string() }
}

/// What no file says anything of: a program of the user.
pub(super) fn no_program(label: &str) -> Reason {
    not_simulated(format!("{label} is a program, and simulated machines run none"))
}

/// What has no place in its memory.
pub(super) fn no_room(text: String) -> Reason {
    Reason { code: ReasonCode::NoRoom, text }
}

pub(super) fn no_network() -> Reason {
    Reason {
        code: ReasonCode::NotSimulated,
        text: "a simulated machine has no other machine that messages could go to".into(),
    }
}
