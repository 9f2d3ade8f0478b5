//! What records mean. One file per model, pure functions from a record to
//! figures; nothing here knows how a number was measured or how it is shown.

mod evidence;
mod pairs;

pub use evidence::{Evidence, weigh_evidence};
pub use pairs::{Cell, Figure, InitiatorRow, Pairs, pairs};
