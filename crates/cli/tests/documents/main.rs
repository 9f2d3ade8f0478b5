//! The files that `report` writes, read as others read them (`make documents`): by programs of
//! Python, by a real Chromium, by TeX.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod comparison;
mod csv;
mod fleet;
mod guides;
mod hostile_record;
mod metrics;
mod page;
mod python;
mod reports;
mod tex;
