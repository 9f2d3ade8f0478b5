//! Workloads that a device computes and the host sends and takes back: which there are, and a run of one.
//!
//! In the manner of the Scalable Heterogeneous Computing benchmarks (Danalis and others, GPGPU 2010),
//! whose programs and problem sizes these are, written anew.

use std::fmt;

use nearfar_machine::{Accelerator, Backend};
use nearfar_units::{Bytes, words};
use serde::{Deserialize, Serialize};

use crate::device_error::{DeviceError, Kind};
use crate::host_pages::HostPages;
use crate::instruments::Instruments;
use crate::opencl;
pub use crate::opencl::workloads::{HostArray, Setup};
use crate::opencl::workloads::{fft, gemm, md, reduction, scan, sort, spmv, stencil2d};
use crate::transfer::{described, failed, usable};

/// A workload without its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DeviceWorkload {
    Fft,
    Gemm,
    Md,
    Reduction,
    Scan,
    Sort,
    Spmv,
    Stencil2d,
}

words!(DeviceWorkload);

/// What a workload is, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceWorkloadFacts {
    /// What it computes.
    pub computes: &'static str,
    /// What its work is counted in.
    pub unit: &'static str,
    /// What its result is held against.
    pub verified_by: &'static str,
}

/// Which of the problem sizes of SHOC, 1 to 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProblemSize(usize);

/// What a step of a pass took, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepTime {
    /// By the device's clock, from the start of its first command to the end of its last; null
    /// where that says nothing.
    pub device_ns: Option<u64>,
    /// By the host's clock, from before the first command was queued until the last was waited for.
    pub wall_ns: u64,
}

/// The inputs to the device, the kernels, the result back: one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DevicePass {
    pub to_device: StepTime,
    pub kernels: StepTime,
    pub to_host: StepTime,
}

/// A run whose result was right after every pass.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceRun {
    /// After one that is not among them, in which drivers make ready.
    pub passes: Vec<DevicePass>,
    /// Numbers that were compared after each pass.
    pub compared: usize,
    /// The largest error of any pass, of the root mean square of what is expected; of integers the
    /// difference itself.
    pub largest_error: f64,
    /// The most that it may be.
    pub tolerance: f64,
}

impl DeviceWorkload {
    /// All, in the order in which they are listed.
    pub const ALL: [Self; 8] = [
        Self::Fft,
        Self::Gemm,
        Self::Md,
        Self::Reduction,
        Self::Scan,
        Self::Sort,
        Self::Spmv,
        Self::Stencil2d,
    ];

    pub fn facts(self) -> DeviceWorkloadFacts {
        let [computes, unit, verified_by] = match self {
            Self::Fft => {
                ["Fourier transforms of 512 points", "GFLOP", "the transforms in double precision"]
            }
            Self::Gemm => {
                ["product of square matrices, double", "GFLOP", "Freivalds' product: C x = A (B x)"]
            }
            Self::Md => [
                "Lennard-Jones forces by neighbour lists",
                "Mpair",
                "the forces in double precision",
            ],
            Self::Reduction => ["sum of integers", "GB", "the sum, exactly"],
            Self::Scan => ["prefix sums of integers", "GB", "the sums, exactly"],
            Self::Sort => ["radix sort of pairs of integers", "GB", "a stable sort, exactly"],
            Self::Spmv => {
                ["sparse matrix times vector", "GFLOP", "the product in double precision"]
            }
            Self::Stencil2d => {
                ["stencil of nine points, 100 times", "Mcell", "the steps in double precision"]
            }
        };
        DeviceWorkloadFacts { computes, unit, verified_by }
    }

    /// It with its size set, ready to be run.
    pub fn setup(self, size: ProblemSize) -> Setup {
        let of = match self {
            Self::Fft => fft::setup,
            Self::Gemm => gemm::setup,
            Self::Md => md::setup,
            Self::Reduction => reduction::setup,
            Self::Scan => scan::setup,
            Self::Sort => sort::setup,
            Self::Spmv => spmv::setup,
            Self::Stencil2d => stencil2d::setup,
        };
        of(size)
    }
}

impl ProblemSize {
    pub const ALL: [Self; 4] = [Self(1), Self(2), Self(3), Self(4)];

    /// The one of this number.
    pub fn new(number: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|size| size.0 == number)
    }

    pub(crate) fn of<T: Copy>(self, each: [T; 4]) -> T {
        each[self.0 - 1]
    }
}

impl fmt::Display for ProblemSize {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// Runs a workload on a device of OpenCL, several times from the first copy to the last, and looks at
/// the result of each. `arrays` are those of [`Setup::host_arrays`], each from a page's begin (4 KiB);
/// they are lent to the driver as pinned pages are ([`crate::Transfer::open`]).
///
/// # Errors
/// [`Kind::WrongData`] with what was expected and found; [`Kind::NoRoom`] where the device has none;
/// [`Kind::Failed`] with its log where the driver does not compile the kernels, and where the device
/// lacks what they need; others as for copies.
///
/// # Panics
/// When there are other arrays than the setup has.
pub fn run_workload(
    accelerator: &Accelerator,
    setup: &Setup,
    arrays: Vec<&mut [f64]>,
) -> Result<DeviceRun, DeviceError> {
    run_with(Instruments::installed(), accelerator, setup, arrays)
}

pub(crate) fn run_with(
    instruments: &Instruments,
    accelerator: &Accelerator,
    setup: &Setup,
    arrays: Vec<&mut [f64]>,
) -> Result<DeviceRun, DeviceError> {
    let device = described(accelerator);
    if accelerator.backend != Backend::Opencl {
        let why = "workloads for devices are OpenCL's; take the name that OpenCL has for it (nearfar topo)";
        return Err(failed(&device, why));
    }
    let functions = usable(&instruments.opencl, &device)?;
    if let Some(memory) = accelerator.memory_bytes
        && setup.device_bytes() > memory
    {
        return Err(no_room(&device, setup.device_bytes(), memory));
    }
    let context = opencl::Context::open(functions, &[(accelerator, &device)])?;
    let sent = setup.host_arrays();
    assert_eq!(arrays.len(), sent.len(), "other arrays than the workload has");
    let pages: Vec<HostPages<'_>> = arrays.into_iter().map(HostPages::new).collect();
    for (pages, array) in pages.iter().zip(&sent) {
        assert_eq!(pages.bytes(), array.bytes, "array '{}'", array.name);
    }
    opencl::run_workload(&context, setup, pages)
}

pub(crate) fn no_room(device: &str, needed: u64, there: u64) -> DeviceError {
    let [needed, there] = [needed, there].map(Bytes);
    let text = format!("{device}: {needed} are needed and {there} can be had; take a smaller size");
    DeviceError::new(Kind::NoRoom, text)
}
