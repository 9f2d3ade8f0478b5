//! What streams get when they share the capacities of a machine, and machines that
//! nobody here has, described by such capacities.
//!
//! [`System`] is the solver, [`Capacities`] a machine's parts and [`Load`]s on them,
//! [`SimulatedMachine`] what a file in `machines/` describes, read by
//! [`read_machine`]. `docs/simulated-machines.md` lists the keys of such a file.

mod bounds;
mod builtin;
mod calibration;
mod capacities;
mod error;
mod fault;
mod layout;
mod linear_system;
mod machine_file;
mod noise;
mod pair_selection;
mod path;
mod pressures;
mod simulated_machine;
mod solver;

pub use builtin::{builtin_machines, read_machine};
pub use capacities::{Capacities, Load, SharedLink};
pub use error::FlowError;
pub use fault::Fault;
pub use machine_file::parse_machine;
pub use noise::{Disturbed, Disturber, Mode, ModeUnit, Noise, Outliers};
pub use simulated_machine::{KernelBehaviour, KernelLoad, SimulatedMachine};
pub use solver::{Solution, Stream, System};
