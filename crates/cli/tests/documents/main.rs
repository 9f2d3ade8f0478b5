//! The files that `report` writes, read as others read them.
//!
//! Programs of Python read them (scripts/python-packages installs them); NEARFAR_WITHOUT_PYTHON=1
//! leaves these out, and says so. A real Chromium opens pages (scripts/install-packages and `make
//! web` install what that takes); NEARFAR_WITHOUT_BROWSER=1 leaves this out, and says so.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod comparison;
mod csv;
mod hostile_record;
mod metrics;
mod page;
mod python;
mod reports;
mod tex;
