//! `scaling`: bandwidth against the number of threads and their affinity (vladimirov2012,
//! figures 2 to 5). Every run has new threads, and new pages that they touch first: what differs
//! from run to run is where the system put them.

use std::collections::BTreeSet;

use nearfar_machine::{CpuSet, Initiator, MemoryPolicy};
use nearfar_record::{
    Absent, Actor, Affinity, Case, Coordinates, Experiment, ReasonCode, ScalingCoordinates, Suite,
};

use super::Planned;
use super::affinity::{compact_order, scatter_order};
use super::omitted::{made, omitted};
use super::setting::{Loop, Setting};
use super::stream::StreamPlan;
use super::working_set::memory_working_set;
use crate::kernel_name::MemoryKernel;

/// The kernels of STREAM, which the paper ran, and the read path; `standard` two of them.
fn suite_kernels(suite: Suite) -> &'static [&'static str] {
    match suite {
        Suite::Quick | Suite::Standard => &["copy", "triad"],
        Suite::Full => &["copy", "scale", "add", "triad", "load"],
    }
}

/// Each thread count with unbound threads, compact and scattered.
pub(super) fn plan(setting: Setting<'_>) -> Planned {
    let mut planned = Planned::default();
    let places = Places::of(setting);
    if places.scatter.is_empty() {
        planned.absent.push(omitted(
            Experiment::Scaling.as_str(),
            ReasonCode::CpusNotAllowed,
            "this process may use none of the machine's CPUs",
        ));
        return planned;
    }
    let counts = thread_counts(setting, &places);
    let kernels = setting.kernels(suite_kernels(setting.inputs.suite));
    for of in setting.loops(Experiment::Scaling, kernels, &mut planned.absent) {
        for &threads in &counts {
            planned.extend(cases(setting, &places, &of, threads));
        }
    }
    planned
}

/// Where threads can be: looked up once for all cases.
struct Places {
    compact: Vec<u32>,
    scatter: Vec<u32>,
    initiators: Vec<Initiator>,
}

impl Places {
    fn of(setting: Setting<'_>) -> Self {
        let machine = setting.machine;
        Self {
            compact: compact_order(machine),
            scatter: scatter_order(machine),
            initiators: machine.initiators(),
        }
    }

    /// Nodes that pages go to when threads on these CPUs touch them first: the nodes of the
    /// CPUs, or where those have none, any.
    fn homes(&self, setting: Setting<'_>, cpus: &CpuSet) -> Vec<u32> {
        let own: BTreeSet<u32> = self
            .initiators
            .iter()
            .filter(|initiator| initiator.cpus.intersects(cpus))
            .filter_map(|initiator| initiator.cpu_node)
            .collect();
        let found: Vec<u32> = setting.targets().filter(|node| own.contains(node)).collect();
        if found.is_empty() { setting.targets().collect() } else { found }
    }
}

/// Thread counts, ascending: one, half the cores, all cores, all CPUs; `full` also the cores of
/// a package and the powers of two.
fn thread_counts(setting: Setting<'_>, places: &Places) -> Vec<u32> {
    let machine = setting.machine;
    let all_cpus = places.scatter.len();
    let cores = machine.allowed_cores(&machine.cpus()).len();
    let mut counts = BTreeSet::from([1, cores.div_ceil(2), cores, all_cpus]);
    if setting.inputs.suite == Suite::Full {
        let packages = machine.packages.iter();
        let of_package = packages.map(|package| machine.allowed_cores(&package.cpus).len());
        counts.extend(of_package.filter(|&count| count > 0));
        let powers = std::iter::successors(Some(2), |count| Some(count * 2));
        counts.extend(powers.take_while(|&count| count < all_cpus));
    }
    counts.into_iter().filter_map(|count| u32::try_from(count).ok()).collect()
}

/// The affinities of one thread count. Where compact and scattered threads have the same CPUs
/// they are one case, with both coordinates.
fn cases(
    setting: Setting<'_>,
    places: &Places,
    of: &Loop,
    threads: u32,
) -> impl Iterator<Item = Result<Case, Absent>> {
    let [compact, scatter] =
        [&places.compact, &places.scatter].map(|order| order[..threads as usize].to_vec());
    let set = |cpus: &[u32]| -> CpuSet { cpus.iter().copied().collect() };
    let pinned = if set(&compact) == set(&scatter) {
        vec![(vec![Affinity::Compact, Affinity::Scatter], Some(scatter))]
    } else {
        vec![(vec![Affinity::Compact], Some(compact)), (vec![Affinity::Scatter], Some(scatter))]
    };
    std::iter::once((vec![Affinity::Unbound], None))
        .chain(pinned)
        .map(move |(affinities, cpus)| case(setting, places, of, threads, &affinities, cpus))
}

fn case(
    setting: Setting<'_>,
    places: &Places,
    of: &Loop,
    threads: u32,
    affinities: &[Affinity],
    thread_cpus: Option<Vec<u32>>,
) -> Result<Case, Absent> {
    let machine = setting.machine;
    // Unbound threads can reach as many caches at a time as scattered ones. All affinities of a
    // thread count have that working set, so that only the places differ.
    let scattered: CpuSet = places.scatter[..threads as usize].iter().copied().collect();
    let pinned = thread_cpus.as_ref().map(|cpus| cpus.iter().copied().collect::<CpuSet>());
    let may_use = pinned.clone().unwrap_or_else(|| places.scatter.iter().copied().collect());
    let seen = pinned.unwrap_or_else(|| scattered.clone());
    let caches_of =
        |cpus: &CpuSet| setting.places.cache_bytes(cpus.iter(), &places.homes(setting, cpus));
    // Compact threads may put all pages on one node: the smallest room counts, of all nodes.
    let everywhere = places.homes(setting, &machine.allowed_cpus);
    let room = everywhere.into_iter().map(|node| setting.available_on(node)).min().flatten();
    let arrays = MemoryKernel::named(&of.kernel).map_or(1, |kernel| kernel.array_widths().len());
    let wanted = memory_working_set(caches_of(&scattered), room, setting.inputs, arrays as u64);
    let plan = StreamPlan {
        of,
        cpus: may_use,
        thread_cpus,
        threads,
        memory: MemoryPolicy::FirstTouch,
        write_memory: None,
        sharers: 1,
    };
    let names: Vec<&str> = affinities.iter().map(|affinity| affinity.as_str()).collect();
    let Loop { kernel, variant } = of;
    let id = format!("scaling/{kernel}/{variant}/t{threads}/{}", names.join("+"));
    let coordinates = |&affinity: &Affinity| {
        Coordinates::Scaling(ScalingCoordinates {
            affinity,
            threads,
            kernel: kernel.clone(),
            variant: variant.clone(),
        })
    };
    let stream = plan.with_working_set(setting, wanted, caches_of(&seen));
    let actors = stream.map(|stream| vec![Actor::Stream(stream)]);
    made(id, affinities.iter().map(coordinates).collect(), actors)
}
