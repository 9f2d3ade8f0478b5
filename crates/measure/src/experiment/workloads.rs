//! `workloads`: the papers' programs, by the threads of one initiator on one node of every kind of
//! place (braithwaite2012, figures 6.2 to 6.4), and by each strategy over the machine's cores
//! (ribeiro2010, figures 3 to 8).

use nearfar_machine::{MemoryPolicy, PlacementStrategy};
use nearfar_record::{
    Actor, ArrayPlacement, Case, Coordinates, Experiment, ReasonCode, Suite, Workload,
    WorkloadCoordinates,
};
use nearfar_workloads::{Class, Workload as Named, WorkloadName};

use super::Planned;
use super::affinity::spread_order;
use super::omitted::{omitted, one_initiator};
use super::setting::Setting;
use super::whole_initiator::WholeInitiator;

/// Those whose figures the papers print.
const STANDARD: [WorkloadName; 6] = [
    WorkloadName::Cg,
    WorkloadName::Mg,
    WorkloadName::Ft,
    WorkloadName::Is,
    WorkloadName::Bfs,
    WorkloadName::Elastic,
];

/// One that streams, one that gathers, and one that does not touch memory.
const QUICK: [WorkloadName; 3] = [WorkloadName::Mg, WorkloadName::Cg, WorkloadName::Ep];

pub(super) fn plan(setting: Setting<'_>) -> Planned {
    let mut planned = Planned::default();
    let initiators = WholeInitiator::all(setting);
    let Some(first) = initiators.first() else {
        planned.absent.push(omitted(
            Experiment::Workloads.as_str(),
            ReasonCode::CpusNotAllowed,
            "this process may use none of the machine's CPUs",
        ));
        return planned;
    };
    let targets: Vec<u32> = setting.targets().collect();
    let beyond_caches_of = |initiators: &[WholeInitiator]| {
        let cpus = initiators.iter().flat_map(|it| it.thread_cpus.iter().copied());
        workloads(setting, setting.places.cache_bytes(cpus, &targets))
    };
    for workload in beyond_caches_of(&initiators[..1]) {
        planned.cases.extend(on_nodes(setting, first, workload));
    }
    if initiators.len() < 2 {
        planned.absent.push(one_initiator("workloads/strategies", setting.machine));
        return planned;
    }
    for workload in beyond_caches_of(&initiators) {
        planned.cases.extend(by_strategies(setting, workload));
    }
    planned
}

/// Those that were asked for by name and size, else the suite's.
fn workloads(setting: Setting<'_>, caches: Option<u64>) -> Vec<Named> {
    if let Some(asked) = &setting.inputs.kernels {
        let named: Vec<Named> = asked.iter().filter_map(|name| name.parse().ok()).collect();
        if !named.is_empty() {
            return named;
        }
    }
    match setting.inputs.suite {
        Suite::Quick => QUICK.map(|name| Named::of_class(name, Class::W)).to_vec(),
        Suite::Standard => STANDARD.map(|name| beyond(name, caches)).to_vec(),
        Suite::Full => WorkloadName::ALL.map(|name| beyond(name, caches)).to_vec(),
    }
}

/// The smallest class from A on whose arrays no cache holds; of those that have next to no arrays A,
/// of others that fit whatever their class the largest.
fn beyond(name: WorkloadName, caches: Option<u64>) -> Named {
    let [least, .., most] =
        [Class::A, Class::B, Class::C].map(|class| Named::of_class(name, class));
    let Some(caches) = caches else { return least };
    let classes = [Class::A, Class::B, Class::C].map(|class| Named::of_class(name, class));
    let larger = classes.into_iter().find(|workload| workload.bytes() > caches);
    let grows = most.bytes() > 4 * least.bytes();
    larger.unwrap_or(if grows { most } else { least })
}

/// On the initiator's own node, and one of each kind of place (`full`: on every node).
fn on_nodes(setting: Setting<'_>, initiator: &WholeInitiator, workload: Named) -> Vec<Case> {
    let machine = setting.machine;
    let mut seen = Vec::new();
    let nodes = initiator.targets(setting).into_iter().filter(|&node| {
        let place = (initiator.owns(node), initiator.relation(machine, node));
        let is_new = setting.inputs.suite == Suite::Full || !seen.contains(&place);
        seen.push(place);
        is_new
    });
    let number = initiator.index();
    let case = |(node, threads): (u32, usize)| {
        let cpus = &initiator.thread_cpus[..threads];
        let place = WorkloadCoordinates {
            workload: workload.to_string(),
            initiator: Some(number),
            cpu_node: initiator.initiator.cpu_node,
            memory_node: Some(node),
            strategy: None,
            threads: u32::try_from(threads).unwrap_or(u32::MAX),
        };
        let id = format!("workloads/{workload}/initiator{number}/node{node}/t{threads}");
        // Preferred, as of a program: one that does not fit is refused by its proof, and not killed.
        let placement = ArrayPlacement::Policy(MemoryPolicy::Preferred(node));
        case(id, place, workload, cpus, placement)
    };
    // One thread, as the thesis's classes are of one, and all that the initiator has.
    let all = initiator.thread_cpus.len();
    let counts = if all > 1 { vec![1, all] } else { vec![all] };
    let nodes = nodes.flat_map(|node| counts.iter().map(move |&threads| (node, threads)));
    nodes.map(case).collect()
}

/// By each strategy, with all cores; in `full` also with 2, 4, 8 .. threads.
fn by_strategies(setting: Setting<'_>, workload: Named) -> Vec<Case> {
    let machine = setting.machine;
    let cores = machine.allowed_cores(&machine.cpus()).len();
    let mut counts = vec![cores];
    if setting.inputs.suite == Suite::Full {
        let powers = std::iter::successors(Some(2), |count| Some(count * 2));
        counts.extend(powers.take_while(|&count| count < cores));
        counts.sort_unstable();
    }
    let case = |threads: usize, strategy: PlacementStrategy| {
        let cpus = spread_order(machine, threads);
        let place = WorkloadCoordinates {
            workload: workload.to_string(),
            initiator: None,
            cpu_node: None,
            memory_node: None,
            strategy: Some(strategy),
            threads: u32::try_from(threads).unwrap_or(u32::MAX),
        };
        let id = format!("workloads/{workload}/{strategy}/t{threads}");
        case(id, place, workload, &cpus, ArrayPlacement::Strategy(strategy))
    };
    let all = counts.into_iter().flat_map(|threads| {
        PlacementStrategy::ALL.into_iter().map(move |strategy| (threads, strategy))
    });
    all.map(|(threads, strategy)| case(threads, strategy)).collect()
}

fn case(
    id: String,
    place: WorkloadCoordinates,
    workload: Named,
    thread_cpus: &[u32],
    placement: ArrayPlacement,
) -> Case {
    let arrays = workload.program().arrays(thread_cpus.len());
    let actor = Workload {
        workload: workload.to_string(),
        cpus: thread_cpus.iter().copied().collect(),
        thread_cpus: thread_cpus.to_vec(),
        placement,
        working_set_bytes: arrays.iter().map(|array| array.bytes as u64).sum(),
    };
    Case {
        id,
        coordinates: vec![Coordinates::Workloads(place)],
        actors: vec![Actor::Workload(actor)],
    }
}
