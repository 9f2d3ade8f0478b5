//! A workload that a device computes, with proof of where its arrays of the host were.

use nearfar_devices::{
    DeviceError, DevicePass, DeviceRun, DeviceWorkload, HostArray, ProblemSize, StepTime,
    find_accelerators_of, run_workload,
};
use nearfar_machine::Accelerator;
use nearfar_record::{ArrayPlacement, WorkloadArray};
use serde::Serialize;

use crate::array::ArrayPlan;
use crate::run::{NoRun, on_placed_arrays};
use crate::strategy::ThreadNodes;

/// Runs of a workload on a device; `workload NAME --device DEVICE --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceWorkloadReport {
    pub schema: &'static str,
    /// Its name and size, as `fft.1`.
    pub workload: String,
    pub device: Accelerator,
    /// The CPU of the thread that calls the driver, and initialises the arrays.
    pub cpu: u32,
    /// Work of a pass, in `unit`s.
    pub work: f64,
    /// What its work is counted in.
    pub unit: String,
    /// Bytes that a pass copies to the device.
    pub bytes_to_device: u64,
    /// Bytes that a pass copies back.
    pub bytes_to_host: u64,
    /// Each with its arrays elsewhere, those of the nearest node first.
    pub runs: Vec<PlacedDeviceRun>,
    /// Placements of which there is no run.
    pub refused: Vec<RefusedDeviceRun>,
}

/// A run with its arrays at a place. Its figures are those of one pass, of the median time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlacedDeviceRun {
    /// By what its pages were placed.
    pub placement: ArrayPlacement,
    /// By whose clock the figures are: the device's, unless that said nothing.
    pub clock: PassClock,
    /// Which pass the figures are of, of those of the run, from 0.
    pub median_pass: usize,
    /// `unit`s / second while the kernels ran.
    pub kernel_rate: f64,
    /// `unit`s / second of the copies to the device, the kernels and the copies back.
    pub rate_with_copies: f64,
    /// Which part of that time the copies took.
    pub copy_share: f64,
    /// Its rate with copies by that of the run with the arrays on the nearest node; null where that was
    /// not asked for, or is not known.
    pub of_nearest: Option<f64>,
    pub run: DeviceRun,
    pub arrays: Vec<WorkloadArray>,
}

/// Why there is no run with the arrays at a place.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RefusedDeviceRun {
    pub placement: ArrayPlacement,
    pub reason: String,
}

/// Why a workload was not run on a device, or its run does not count.
#[derive(Debug, thiserror::Error)]
pub enum NoDeviceRun {
    #[error(transparent)]
    Unplaced(#[from] NoRun),
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Whose clock tells what a pass took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PassClock {
    Device,
    Host,
}

impl DeviceWorkloadReport {
    /// One without runs.
    pub fn new(workload: DeviceWorkload, size: ProblemSize, device: Accelerator, cpu: u32) -> Self {
        let setup = workload.setup(size);
        let arrays = setup.host_arrays();
        let bytes = |is_sent| {
            let of = arrays.iter().filter(|array| array.is_sent == is_sent);
            of.map(|array| array.bytes as u64).sum()
        };
        Self {
            schema: "nearfar.device-workload/1",
            workload: format!("{workload}.{size}"),
            device,
            cpu,
            work: setup.work,
            unit: workload.facts().unit.into(),
            bytes_to_device: bytes(true),
            bytes_to_host: bytes(false),
            runs: Vec::new(),
            refused: Vec::new(),
        }
    }

    /// Sets the rates with copies beside that of the run with the arrays there.
    pub fn relate_to(&mut self, nearest: &ArrayPlacement) {
        let rate = |run: &PlacedDeviceRun| run.rate_with_copies;
        let nearest = self.runs.iter().find(|run| run.placement == *nearest).map(rate);
        for run in &mut self.runs {
            run.of_nearest = nearest.map(|nearest| run.rate_with_copies / nearest);
        }
    }
}

/// Runs a workload on a device of OpenCL by a thread that is tied to this CPU, with the arrays of the
/// host placed as said.
///
/// # Errors
/// When there is no room, pages cannot be proven to be where they are to be, or the device or its driver
/// fails, or computes wrongly.
pub fn run_on_device(
    (workload, size): (DeviceWorkload, ProblemSize),
    device: &Accelerator,
    cpu: u32,
    placement: &ArrayPlacement,
    nodes: &ThreadNodes,
) -> Result<PlacedDeviceRun, NoDeviceRun> {
    // A driver starts its threads when it is first asked, and they may use the CPUs that the asking
    // thread may: all, before it is tied to one. Who runs the workload is told what is wrong with it.
    find_accelerators_of(device.backend).ok();
    let setup = workload.setup(size);
    let plan = |it: HostArray| ArrayPlan::shared::<u8>(it.name, (it.bytes, 1), 1, true);
    let plans = setup.host_arrays().into_iter().map(plan).collect();
    let of_device = if device.shares_host_memory { setup.device_bytes() } else { 0 };
    let beside = setup.verification_bytes() + of_device;
    let (ran, placed) =
        on_placed_arrays(plans, beside, (&[cpu], placement, nodes), |arrays, _| {
            run_workload(device, &setup, arrays.iter_mut().map(|it| it.of_mut()).collect())
        })?;
    let run = ran?;
    let clock = clock_of(&run);
    let median_pass = median_pass(&run, clock);
    let [copies, kernels] = times(&run.passes[median_pass], clock).map(|ns| ns as f64 / 1e9);
    Ok(PlacedDeviceRun {
        placement: placement.clone(),
        clock,
        median_pass,
        kernel_rate: setup.work / kernels,
        rate_with_copies: setup.work / (copies + kernels),
        copy_share: copies / (copies + kernels),
        of_nearest: None,
        run,
        arrays: placed.arrays,
    })
}

fn clock_of(run: &DeviceRun) -> PassClock {
    let mut steps = run.passes.iter().flat_map(|it| [it.to_device, it.kernels, it.to_host]);
    match steps.all(|step| step.device_ns.is_some()) {
        true => PassClock::Device,
        false => PassClock::Host,
    }
}

/// The number of the pass that takes the median time.
fn median_pass(run: &DeviceRun, clock: PassClock) -> usize {
    let total = |pass: &DevicePass| times(pass, clock).iter().sum::<u64>();
    let mut passes: Vec<usize> = (0..run.passes.len()).collect();
    passes.sort_by_key(|&pass| total(&run.passes[pass]));
    passes[passes.len() / 2]
}

/// What the copies of a pass and its kernels took, ns.
fn times(pass: &DevicePass, clock: PassClock) -> [u64; 2] {
    let time = |step: StepTime| match clock {
        PassClock::Device => step.device_ns.unwrap_or(step.wall_ns),
        PassClock::Host => step.wall_ns,
    };
    [time(pass.to_device) + time(pass.to_host), time(pass.kernels)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(passes: &[[u64; 3]], has_clock: bool) -> DeviceRun {
        let step = |ns| StepTime { device_ns: has_clock.then_some(ns), wall_ns: 10 * ns };
        let pass = |[to_device, kernels, to_host]: [u64; 3]| DevicePass {
            to_device: step(to_device),
            kernels: step(kernels),
            to_host: step(to_host),
        };
        let passes = passes.iter().map(|ns| pass(*ns)).collect();
        DeviceRun { passes, compared: 1, largest_error: 0.0, tolerance: 0.0 }
    }

    #[test]
    fn figures_are_of_the_pass_in_the_middle_by_one_clock() {
        let passes = [[1, 1, 1], [30, 20, 10], [500, 1, 1]];
        for (has_clock, clock, expected) in
            [(true, PassClock::Device, [40, 20]), (false, PassClock::Host, [400, 200])]
        {
            let run = run(&passes, has_clock);
            assert_eq!(clock_of(&run), clock);
            let median = median_pass(&run, clock);
            assert_eq!((median, times(&run.passes[median], clock)), (1, expected));
        }
        let mut partly = run(&passes, true);
        partly.passes[0].kernels.device_ns = None;
        assert_eq!(clock_of(&partly), PassClock::Host);
    }
}
