//! What in a record cannot be: lines that contradict themselves, each other or the
//! header, whatever their seals say. The engine holds every line against the same rules
//! before it is written.

mod bounds;
mod case;
mod command;
mod header;
mod history;
mod placement;
mod sample;
mod workload;

pub(crate) use command::check_count;
pub(crate) use header::check_header;
pub use history::History;
