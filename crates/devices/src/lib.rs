//! Copies between the host's memory and devices, and from one device to another, by CUDA, HIP and
//! OpenCL; and workloads that devices compute, by OpenCL.
//!
//! The drivers are loaded when they are first asked for: the crate builds without a toolkit and
//! runs where there is no driver. Each interface is a table of the C functions that are used, so
//! that a test can put one that lies, or that refuses, in place of a driver's.
//!
//! Start with [`find_accelerators`], then [`Transfer`], or [`DeviceWorkload`] and [`run_workload`].

mod bus_id;
mod content;
mod device_error;
mod device_workload;
mod found;
mod host_pages;
mod instruments;
mod library;
mod opencl;
mod streams;
mod transfer;

pub use bus_id::normalized_bus_id;
pub use device_error::{DeviceError, Kind};
pub use device_workload::{
    DevicePass, DeviceRun, DeviceWorkload, DeviceWorkloadFacts, HostArray, ProblemSize, Setup,
    StepTime, run_workload,
};
pub use found::{Found, NoDevices, find_accelerators, find_accelerators_of};
pub use transfer::{Copied, Transfer};
