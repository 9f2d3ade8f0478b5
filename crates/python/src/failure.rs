//! What went wrong, in the program's words; and what was interrupted.

use std::fmt::Display;
use std::panic::resume_unwind;
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
    // Closed when the computation ends, however it does.
    let (open, mut closed) = channel::<()>();
    let worker = thread::spawn(move || {
        let _open = open;
        compute()
    });
    // The receiver is another thread's while it waits.
    while let (back, Err(RecvTimeoutError::Timeout)) = py.detach(move || {
        let waited = closed.recv_timeout(LOOK);
        (closed, waited)
    }) {
        closed = back;
        py.check_signals()?;
    }
    // A panic is Python's to raise.
    worker.join().unwrap_or_else(|panic| resume_unwind(panic)).map_err(failed)
}
