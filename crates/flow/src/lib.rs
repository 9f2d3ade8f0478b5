//! What streams get when they share the capacities of a machine, and machines that
//! nobody here has, described by such capacities and by what their caches, cores and
//! latencies are.
//!
//! [`System`] is the solver, [`Capacities`] a machine's parts and [`Load`]s on them,
//! [`Overlap`] the hybrid model, [`SimulatedMachine`] what a file in `machines/` describes, read by
//! [`read_machine`]. `docs/simulated-machines.md` lists the keys of such a file.

mod assembly;
mod bounds;
mod cache_roof;
mod calibration;
mod capacities;
mod error;
mod exchange;
mod fault;
mod flows;
mod hybrid;
mod latency;
mod latency_family;
mod layout;
mod linear_system;
mod loads;
mod machine_file;
mod machine_reader;
mod mix_name;
mod noise;
mod origin;
mod pair_figures;
mod pair_selection;
mod path;
mod pressures;
mod shared_parts;
mod simulated_device;
mod simulated_machine;
mod slopes;
mod solver;
mod system;
mod transfers;
mod utilisation;

pub use cache_roof::{CacheRate, CacheRoof, MEMORY_SIDE_LEVEL};
pub use capacities::{Capacities, ControllerPressure, DemandCurve, Part, SharedLink};
pub use error::FlowError;
pub use exchange::HandOvers;
pub use fault::Fault;
pub use flows::{Flows, ScaledLoad, UsedPart};
pub use hybrid::{HybridBytes, Overlap};
pub use latency::{Latency, Queue, Translation};
pub use latency_family::{FamilyCurve, LatencyFamily};
pub use loads::Load;
pub use machine_file::{ByAccess, KernelBehaviour};
pub use machine_reader::{
    builtin_machines, builtin_names, builtin_text, parse_machine, published_machines, read_machine,
};
pub use noise::{Disturbed, Disturber, Mode, ModeUnit, Noise, Outliers, UnboundMode};
pub use origin::{Origin, Published, Source};
pub use simulated_device::{Hub, SimulatedDevice};
pub use simulated_machine::{KernelLoad, SimulatedMachine};
pub use slopes::Slopes;
pub use solver::Solution;
pub use system::{Stream, System};
pub use transfers::{DeviceLoad, RatesTogether};
