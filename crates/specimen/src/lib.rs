//! Records made by hand, for tests: the machine, the cases and what was measured are what the test
//! says. Every window is a second long, so that counts are rates, and pages are where their policy
//! puts them. What is special in a test is changed in the record afterwards.

mod actor;
mod case;
mod machine;
mod record;
mod sample;

pub use actor::{IN_MEMORY, chase, compute, stream};
pub use case::{case_at, hybrid, latency, pair, roof, scaling, sharing};
pub use machine::{empty_machine, machine};
pub use record::{absent, add, add_alone, add_at, add_chase, disturb, record, record_of};
pub use sample::{at_clock, done, evenly, pages, run_of, window, with_flops};
