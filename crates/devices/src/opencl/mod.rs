//! OpenCL, by the loader of the installed drivers (`libOpenCL.so.1`).

mod copies;
mod devices;
#[cfg(test)]
mod discovery;
mod error_name;
mod events;
mod functions;
mod handles;
#[cfg(test)]
mod lies;
mod program;
mod workload_run;
pub(crate) mod workloads;

pub(crate) use copies::Copies;
pub(crate) use devices::find;
pub(crate) use functions::Functions;
pub(crate) use handles::Context;
pub(crate) use workload_run::run_workload;
