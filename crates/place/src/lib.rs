//! Applies a placement to a program without root, and says what became of it.
//!
//! A [`Placement`] is what a user asks for; [`resolve`] finds out what it means on this machine: a
//! binding of CPUs and a memory policy, set in a thread of ours and inherited by the program
//! ([`launch`]): no library is preloaded, so that static programs and children follow as well.
//! [`watch`] waits for the program and looks where its memory and threads are. [`verify`] finds out
//! whether the program is faster for it.
//! [`profile_program`] and [`profile_process`] watch a program without any placement, and count what
//! it does.

mod command_executor;
mod command_run;
mod kernel_weights;
mod launch;
mod loss;
mod metric_pattern;
mod output_tail;
mod peak_memory;
mod pinning;
mod placement;
mod process_family;
mod profile;
mod program_pages;
mod resolution;
mod seen_threads;
mod verification;
mod watch;
mod weights;

pub use command_executor::CommandExecutor;
pub use kernel_weights::{KernelWeights, set_kernel_weights};
pub use launch::{Launched, NotLaunched, launch};
pub use loss::Loss;
pub use metric_pattern::{MetricPattern, PatternError};
pub use pinning::Pinning;
pub use placement::{Placement, PlacementError};
pub use profile::{ProfileOrigin, ProgramCounters, profile_process, profile_program};
pub use program_pages::{CountMethod, ProgramPages};
pub use resolution::{Resolution, Usable, UsableNodes, resolve};
pub use seen_threads::SeenThread;
pub use verification::{Side, Verdict, Verification, verify};
pub use watch::{Outcome, Steering, await_signals, watch};
pub use weights::{WeightsBy, policy_for};
