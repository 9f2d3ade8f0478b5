//! `workload`: one of the papers' programs, run and verified.

use anyhow::bail;
use nearfar_document::{WorkloadList, workload_answer};
use nearfar_machine::{CpuSet, Machine, MemoryPolicy, PlacementStrategy};
use nearfar_measure::experiment::{compact_order, last_level_bytes, scatter_order, spread_order};
use nearfar_place::{Placement, Resolution, Usable, resolve};
use nearfar_record::ArrayPlacement;
use nearfar_units::words_of;
use nearfar_workloads::{
    Class, Clock, DeviceWorkload, ThreadNodes, Workload, WorkloadName, WorkloadReport,
    run as run_on,
};

use super::device_workload;
use crate::args::{WorkloadArguments, WorkloadChoice};
use crate::exit_status::ExitStatus;
use crate::last_level::{self, Counted};
use crate::{live_machine, output};

pub fn run(arguments: &WorkloadArguments) -> anyhow::Result<ExitStatus> {
    let workload = match &arguments.workload {
        WorkloadChoice::List => {
            let list = WorkloadList::new();
            if let Some(option) = arguments.of_runs() {
                bail!("workload list runs nothing: leave {option} out");
            }
            return output::answer(arguments.form(), &list, || list.answer());
        }
        WorkloadChoice::OnDevice(workload, size) => {
            return device_workload::run(arguments, *workload, size.as_deref());
        }
        WorkloadChoice::Named(name, size) => {
            if let Some(device) = &arguments.device {
                let of_devices = words_of::<DeviceWorkload>().join(", ");
                bail!(
                    "{name} is computed by CPUs; leave --device {device} out, or take {of_devices}"
                );
            }
            sized(*name, size.as_deref(), arguments.class)?
        }
    };
    let machine = live_machine::read_to_measure()?;
    let placement = arguments.placement.clone().unwrap_or(Placement::Local(None));
    let (cpus, placement) = placed(&machine, &placement, arguments.threads, arguments.init)?;
    let nodes = ThreadNodes::of_cpus(&machine, &cpus);
    let caches = last_level_bytes(&machine, &cpus);
    let counted = arguments.misses.then(|| Counted::try_out(&machine));
    let clock = counted.as_ref().map_or_else(Clock::default, Counted::clock);
    let ran = match run_on(&*workload.program(), (&cpus, caches), &placement, &nodes, clock) {
        Ok(ran) => ran,
        Err(refused) => {
            output::complain(&refused.into());
            return Ok(ExitStatus::Refused);
        }
    };
    let mut report = WorkloadReport::new(workload, cpus, placement, ran);
    report.last_level = counted.map(|counted| {
        let simulated = |why| last_level::simulate(workload, arguments, caches, why);
        counted.misses().or_else(simulated).into()
    });
    output::answer(arguments.form(), &report, || workload_answer(&report))?;
    Ok(if report.is_verified { ExitStatus::Done } else { ExitStatus::CheckFailed })
}

fn sized(name: WorkloadName, size: Option<&str>, class: Option<Class>) -> anyhow::Result<Workload> {
    Ok(match (size, class) {
        (Some(size), Some(class)) => {
            bail!("{name}.{size} has a size; leave --class {class} out, or write {name} alone")
        }
        (Some(size), None) => Workload::new(name, size)?,
        (None, class) => Workload::of_class(name, class.unwrap_or(Class::A)),
    })
}

/// The CPU of each thread, and by what the pages are placed.
pub(super) fn placed(
    machine: &Machine,
    placement: &Placement,
    threads: Option<u32>,
    init: Option<PlacementStrategy>,
) -> anyhow::Result<(Vec<u32>, ArrayPlacement)> {
    let usable = Usable::of_this_process();
    let resolution = resolve(placement, None, &usable, || Ok(machine.clone()));
    if let Some(loss) = resolution.losses.first() {
        bail!("{loss}");
    }
    let cpus = thread_cpus(threads, machine, placement, &resolution.start.cpus)?;
    Ok((cpus, pages(init, placement, &resolution)?))
}

/// As many CPUs as there are threads: spread evenly, neighbours together, unless the placement says
/// how.
fn thread_cpus(
    threads: Option<u32>,
    machine: &Machine,
    placement: &Placement,
    cpus: &CpuSet,
) -> anyhow::Result<Vec<u32>> {
    let there = Machine { allowed_cpus: cpus.clone(), ..machine.clone() };
    let cores = there.allowed_cores(cpus).len();
    let threads = threads.map_or(cores, |threads| threads as usize);
    if threads > cpus.len() {
        bail!(
            "{threads} threads do not fit on {} CPUs ({cpus}), each on its own; take fewer \
             --threads, or a placement with more CPUs",
            cpus.len()
        );
    }
    Ok(match placement {
        Placement::Compact => compact_order(&there).into_iter().take(threads).collect(),
        Placement::Scatter => scatter_order(&there).into_iter().take(threads).collect(),
        _ => spread_order(&there, threads),
    })
}

fn pages(
    init: Option<PlacementStrategy>,
    placement: &Placement,
    resolution: &Resolution,
) -> anyhow::Result<ArrayPlacement> {
    let policy = match placement {
        Placement::Memory(MemoryPolicy::Weighted(_)) => bail!(
            "workload does not place pages by weights; try `nearfar run --placement \
             {placement} -- COMMAND` with a program of yours, or --placement interleave here"
        ),
        Placement::Memory(_) | Placement::InterleaveAll => Some(&resolution.start.memory),
        Placement::Local(Some(nodes)) if nodes.len() == 1 => Some(&resolution.start.memory),
        _ => None,
    };
    let named = match placement {
        Placement::Strategy(strategy) => Some(*strategy),
        _ => None,
    };
    Ok(match (init.or(named), policy) {
        (Some(strategy), Some(_)) if !matches!(placement, Placement::Local(_)) => bail!(
            "--placement {placement} says where all pages are, and --init {strategy} who places \
             them; take one of the two"
        ),
        (Some(strategy), _) => ArrayPlacement::Strategy(strategy),
        (None, Some(policy)) => ArrayPlacement::Policy(policy.clone()),
        (None, None) => inherited_policy()?.map_or(
            ArrayPlacement::Strategy(PlacementStrategy::ParallelInit),
            ArrayPlacement::Policy,
        ),
    })
}

/// The policy that this process was started under, by numactl or `nearfar run`; `None` for none.
pub(super) fn inherited_policy() -> anyhow::Result<Option<MemoryPolicy>> {
    // Where the call is forbidden, so is setting one.
    let Ok(policy) = nearfar_sys::thread_policy() else { return Ok(None) };
    match policy.as_memory_policy() {
        Some(MemoryPolicy::FirstTouch) => Ok(None),
        Some(policy) => Ok(Some(policy)),
        None => bail!(
            "this process was started under the memory policy {policy}, of which it cannot be \
             proven that pages follow it; take that away, or say --init or --placement"
        ),
    }
}
