//! Applies a placement to a program without root, and says what became of it.
//!
//! A [`Placement`] is what a user asks for; [`resolve`] finds out what it means on this machine: a
//! binding of CPUs and a memory policy, which this process takes on ([`bind`]) and the program that it
//! becomes ([`become_program`]) keeps: no library is preloaded, so that static programs and children
//! have it as well. [`watch`] stays with a program instead and looks where its memory and threads are.
//! [`verify`] finds out whether the program is faster for it.
//! [`profile_program`] and [`profile_process`] watch a program without any placement, and count what
//! it does.

mod changes;
mod command_executor;
mod command_run;
mod family_sizes;
mod far_memory;
mod file_list;
mod file_paths;
mod file_placing;
mod file_users;
mod files;
mod follow;
mod instance_group;
mod job;
mod kernel_weights;
mod launch;
mod listed_processes;
mod loss;
mod mending;
mod metric_pattern;
mod move_step;
mod moved_process;
mod moving;
mod named_files;
mod output_tail;
mod pace;
mod page_deal;
mod pinned_threads;
mod pinning;
mod placement;
mod present_memory;
mod process_family;
mod process_list;
mod profile;
mod program_file;
mod program_memory;
mod report;
mod resolution;
mod seen_threads;
mod usable;
mod verification;
mod watch;
mod weights;

pub use command_executor::CommandExecutor;
pub use command_run::{NotRun, run_once};
pub use file_list::{
    FileChange, FileKind, FileList, FileMemory, FileUser, ListedFile, StayedPages, WhyStayed,
};
pub use files::{FileTreatment, list_files};
pub use instance_group::{InstanceEnd, await_instances, end_instances};
pub use job::await_signals;
pub use kernel_weights::{KernelWeights, set_kernel_weights};
pub use launch::{NotLaunched, become_program, bind, launch};
pub use listed_processes::{ListedNode, ListedProcess, NotListed, PassedOver, ProcessList};
pub use loss::Loss;
pub use mending::Mending;
pub use metric_pattern::{MetricPattern, PatternError};
pub use moved_process::{MovedProcess, NotMoved, UndoneMove};
pub use moving::{MoveQuestion, move_process};
pub use named_files::{file_against, named_files};
pub use page_deal::PageDeal;
pub use pinning::Pinning;
pub use placement::{Placement, PlacementError};
pub use process_list::{ProcessQuestion, list_processes};
pub use profile::{OwnThreads, ProfileOrigin, ProgramCounters, profile_process, profile_program};
pub use program_file::{ProgramFileError, parse_programs, read_programs};
pub use program_memory::{CountMethod, SharedKind};
pub use report::{
    PlacementVerdict, ReportedFile, ReportedMemory, ReportedProcess, ReportedShared, RunReport,
};
pub use resolution::{Resolution, resolve};
pub use seen_threads::SeenThread;
pub use usable::{Present, Usable, UsableNodes, named};
pub use verification::{Side, Verdict, Verification, verify};
pub use watch::{Outcome, Steering, Watched, start_watched, watch};
pub use weights::{WeightsBy, policy_for};
