//! Experiments, the measuring engine, and the executors that answer it.
//!
//! An experiment ([`experiment`]) turns a machine into cases. The [`Engine`] runs
//! rounds over them, writes every sample as it is taken, and stops by a rule
//! ([`StoppingRule`]), a budget or a signal. An [`Executor`] answers one case:
//! [`native::NativeExecutor`] on this machine, [`simulated::SimulatedExecutor`]
//! on a virtual clock.

pub mod experiment;
pub mod native;
pub mod simulated;

mod accelerator_checks;
mod arm_cpu;
mod checks;
mod engine;
mod environment;
mod estimate;
mod executor;
mod host_lock;
mod kernel_name;
mod schedule;
mod size_screen;
mod suite;
mod traffic;
mod utc;
mod warning;

pub use accelerator_checks::check_accelerators;
pub use checks::{check_machine, check_threads};
pub use engine::{Engine, Outcome, Status};
pub use environment::read_environment;
pub use estimate::{Estimate, estimate};
pub use executor::{Executor, Failure, Interrupt, OfferedVariants, Rates, Window, WindowRequest};
pub use host_lock::{HostLock, HostLockError};
pub use kernel_name::{MemoryKernel, flop_names};
pub use schedule::{StoppingRule, order_of_round, shuffle};
pub use size_screen::{DEFAULT_CACHE_MULTIPLE, ScreenedSizes, screen_sizes};
pub use suite::{suite_experiments, suite_inputs};
pub use traffic::{Traffic, store_method, traffic};
pub use utc::now_utc;
pub use warning::before_measuring;
