//! What went wrong, in the program's words.

use std::fmt::Display;

use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::PyException;

create_exception!(nearfar, Error, PyException, "What went wrong, and what to do about it.");

pub fn failed(why: impl Display) -> PyErr {
    Error::new_err(why.to_string())
}
