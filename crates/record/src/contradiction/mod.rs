//! What in a record cannot be: lines that contradict themselves, each other or the
//! header, whatever their seals say. The engine holds every sample against the same rules
//! before it is written.

mod case;
mod header;
mod history;
mod placement;
mod sample;

pub(crate) use header::check_header;
pub(crate) use history::History;
pub use sample::check_sample;
