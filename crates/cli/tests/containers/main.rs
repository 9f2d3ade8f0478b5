//! The program where a container, a filter or a limit takes something away: what can be
//! measured is measured and proven, the rest is refused with a reason, nothing panics.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod filters;
mod limits;
mod masks;
mod run;
mod sandboxes;
mod support;
