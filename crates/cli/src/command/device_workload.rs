//! `workload` on a device.

use anyhow::bail;
use nearfar_devices::Kind;
use nearfar_document::device_workload_answer;
use nearfar_machine::{Accelerator, Backend, Machine, MemoryPolicy, NodeSet};
use nearfar_place::Placement;
use nearfar_record::ArrayPlacement;
use nearfar_workloads::{
    DeviceWorkload, DeviceWorkloadReport, NoDeviceRun, ProblemSize, RefusedDeviceRun, ThreadNodes,
    run_on_device,
};

use super::workload::{inherited_policy, placed};
use crate::args::{WorkloadArguments, problem_size};
use crate::exit_status::ExitStatus;
use crate::live_accelerators::live_accelerators;
use crate::{live_machine, output};

/// Runs one with its arrays where the arguments say, or on each node in turn.
pub fn run(
    arguments: &WorkloadArguments,
    workload: DeviceWorkload,
    size: Option<&str>,
) -> anyhow::Result<ExitStatus> {
    let size = sized(arguments, workload, size)?;
    let Some(asked) = &arguments.device else {
        bail!(
            "{workload} is computed by a device: add --device opencl0, say (`nearfar doctor` lists devices)"
        );
    };
    let machine = live_machine::read_to_measure()?;
    let device = accelerator(&machine, asked)?;
    let near = match &arguments.placement {
        Some(placement) => placement.clone(),
        None => near_device(&machine, &device)?,
    };
    let (cpus, by_default) = placed(&machine, &near, Some(1), None)?;
    let Some(&cpu) = cpus.first() else { bail!("there is no CPU to call the device from") };
    let nodes = ThreadNodes::of_cpus(&machine, &cpus);
    let placements = match arguments.each_node {
        true => each_node(&machine, &device, &nodes),
        false => vec![by_default],
    };
    let mut report = DeviceWorkloadReport::new(workload, size, device, cpu);
    let mut status = ExitStatus::Done;
    for placement in &placements {
        match run_on_device((workload, size), &report.device, cpu, placement, &nodes) {
            Ok(run) => report.runs.push(run),
            Err(refused) => {
                if status != ExitStatus::CheckFailed {
                    status = status_of(&refused);
                }
                let reason = refused.to_string();
                report.refused.push(RefusedDeviceRun { placement: placement.clone(), reason });
                output::complain(&refused.into());
            }
        }
    }
    if let (true, Some(nearest)) = (arguments.each_node, placements.first()) {
        report.relate_to(nearest);
    }
    if !report.runs.is_empty() {
        output::answer(arguments.form(), &report, || device_workload_answer(&report))?;
    }
    Ok(status)
}

fn sized(
    arguments: &WorkloadArguments,
    workload: DeviceWorkload,
    size: Option<&str>,
) -> anyhow::Result<ProblemSize> {
    let of_hosts = [
        ("--class", arguments.class.is_some()),
        ("--threads", arguments.threads.is_some()),
        ("--init", arguments.init.is_some()),
    ];
    if let Some((option, _)) = of_hosts.into_iter().find(|(_, is_said)| *is_said) {
        bail!(
            "{workload} is computed by a device, and {option} is of programs that CPUs compute; leave it out"
        );
    }
    let named = size.map(problem_size).transpose().map_err(anyhow::Error::msg)?;
    match (named, arguments.size) {
        (Some(named), Some(size)) => {
            bail!(
                "{workload}.{named} has a size; leave --size {size} out, or write {workload} alone"
            )
        }
        (named, size) => Ok(named.or(size).unwrap_or(ProblemSize::ALL[0])),
    }
}

/// The device of this name, which OpenCL shows.
fn accelerator(machine: &Machine, asked: &str) -> anyhow::Result<Accelerator> {
    let found = live_accelerators(machine).inputs;
    let of_opencl = |it: &&Accelerator| it.backend == Backend::Opencl;
    let there: Vec<&Accelerator> = found.accelerators.iter().filter(of_opencl).collect();
    if let Some(device) = there.iter().find(|it| it.id == asked) {
        return Ok((*device).clone());
    }
    let names: Vec<&str> = there.iter().map(|it| it.id.as_str()).collect();
    let absent = found.absent.iter().find(|it| it.backend == Backend::Opencl);
    let known = match (absent, found.accelerators.iter().find(|it| it.id == asked)) {
        (Some(absent), _) => format!("OpenCL shows none: {}", absent.reason),
        (None, Some(other)) => format!(
            "it is of {}, and these workloads are OpenCL's, which shows {}",
            other.backend,
            names.join(", ")
        ),
        (None, None) => format!("OpenCL shows {}", names.join(", ")),
    };
    bail!("there is no device '{asked}' for it; {known} (`nearfar doctor` tells of each)")
}

/// The arrays on the node next to the device, and the thread that calls it there, where that is known and
/// may be used, and nobody asked for another policy.
fn near_device(machine: &Machine, device: &Accelerator) -> anyhow::Result<Placement> {
    let can_be_used = |node: &u32| {
        let cpus = machine.node(*node).map(|node| &node.cpus);
        machine.allowed_nodes.contains(*node)
            && cpus.is_some_and(|cpus| !cpus.intersection(&machine.allowed_cpus).is_empty())
    };
    let nearest = device.nodes.iter().find(can_be_used).filter(|_| !device.shares_host_memory);
    let is_free = inherited_policy()?.is_none();
    Ok(Placement::Local(nearest.filter(|_| is_free).map(NodeSet::single)))
}

/// All nodes that may be used, the one next to the device first; where that is not known, or the device
/// has the host's memory, that of the thread.
fn each_node(machine: &Machine, device: &Accelerator, thread: &ThreadNodes) -> Vec<ArrayPlacement> {
    let allowed = |node: &u32| machine.allowed_nodes.contains(*node);
    let of_device = device.nodes.iter().find(allowed).filter(|_| !device.shares_host_memory);
    let nearest = of_device.or(thread.of.first().copied());
    let others = machine.allowed_nodes.iter().filter(|&node| Some(node) != nearest);
    let on = |node| ArrayPlacement::Policy(MemoryPolicy::Bind(NodeSet::single(node)));
    nearest.into_iter().chain(others).map(on).collect()
}

fn status_of(refused: &NoDeviceRun) -> ExitStatus {
    match refused {
        NoDeviceRun::Device(error) if error.what == Kind::WrongData => ExitStatus::CheckFailed,
        _ => ExitStatus::Refused,
    }
}
