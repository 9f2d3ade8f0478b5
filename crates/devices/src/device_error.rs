//! What goes wrong with a device.

use std::error::Error;
use std::fmt;

/// What went wrong, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The device is gone, or its driver can use it no more in this process.
    Lost,
    /// The device's memory has no room.
    NoRoom,
    /// The host's pages could not be locked.
    NotPinned,
    /// What arrived is not what was sent.
    WrongData,
    /// Anything else.
    Failed,
}

/// A copy that could not be made, or that was made wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceError {
    /// What went wrong.
    pub what: Kind,
    /// What failed, on which device, and the interface's own name for the error.
    pub text: String,
}

impl DeviceError {
    pub(crate) fn new(what: Kind, text: impl Into<String>) -> Self {
        Self { what, text: text.into() }
    }

    /// The same of a call that locks pages, unless the device is gone.
    pub(crate) fn not_pinned(self) -> Self {
        let what = if self.what == Kind::Lost { Kind::Lost } else { Kind::NotPinned };
        Self { what, ..self }
    }
}

impl fmt::Display for DeviceError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl Error for DeviceError {}
