//! The library as C sees it: the header, the example, and what happens at the border.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod allocation;
mod border;
mod compiler;
mod example;
mod header;
mod record;
