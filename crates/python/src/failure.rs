//! What went wrong, in the program's words; and what was interrupted.

use std::fmt::Display;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::{PyErr, PyResult, Python};

create_exception!(nearfar, Error, PyException, "What went wrong, and what to do about it.");

/// Between two looks whether Python has a signal to raise.
const LOOK: Duration = Duration::from_millis(50);

pub fn failed(why: impl Display) -> PyErr {
    Error::new_err(why.to_string())
}

/// Computes what may take long on a thread of its own, so that Ctrl-C is raised at once; what was begun then comes
/// to its end unseen.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    compute: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = channel();
    // Nobody may wait for it any more.
    thread::spawn(move || sender.send(compute()).ok());
    loop {
        // It is another thread's while it waits.
        let waited = py.detach(move || {
            let computed = receiver.recv_timeout(LOOK);
            (receiver, computed)
        });
        receiver = waited.0;
        match waited.1 {
            Ok(computed) => return computed.map_err(failed),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => return Err(failed("it ended in a panic")),
        }
    }
}
