//! `exchange`: how long two CPUs take to hand a cache line to each other, by store and load and by
//! compare-and-swap.

use std::collections::BTreeMap;

use nearfar_machine::{Binding, CpuRelation, MemoryPolicy};
use nearfar_record::{
    Absent, Actor, Case, Coordinates, Exchange, ExchangeCoordinates, Experiment, HandOver, Pages,
    ReasonCode, Suite,
};

use super::Planned;
use super::omitted::omitted;
use super::setting::Setting;

/// Pairs that take some minutes. Where there are more, `standard` measures some of each kind.
const MOST_PAIRS: usize = 60;

/// Two CPUs, and how they lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CpuPair {
    first: u32,
    second: u32,
    relation: Option<CpuRelation>,
}

/// Each two CPUs that the process may use, on a line of the first one's node; in `full` also on one of the
/// second one's, where that is another.
pub(super) fn plan(setting: Setting<'_>) -> Planned {
    let all = pairs(setting);
    let name = Experiment::Exchange.as_str();
    if setting.variants.of(name).is_empty() {
        let text = "the file of this simulated machine says nothing of hand-overs ([exchange])";
        let absent = vec![omitted(name, ReasonCode::NoVariant, text)];
        return Planned { cases: Vec::new(), absent };
    }
    if all.is_empty() {
        let text = format!(
            "this process may use one CPU ({}): nobody is there to hand a line to",
            setting.machine.allowed_cpus
        );
        let absent = vec![omitted(name, ReasonCode::OneCore, text)];
        return Planned { cases: Vec::new(), absent };
    }
    let is_full = setting.inputs.suite == Suite::Full;
    let kept = if is_full { all.clone() } else { thinned(&all) };
    let mut planned = Planned::default();
    planned.absent.extend(thinning(all.len(), kept.len()));
    for pair in kept {
        let nodes = line_nodes(setting, pair, is_full);
        if nodes.is_empty() {
            let case = format!("{name}/cpu{}/cpu{}", pair.first, pair.second);
            let text = format!(
                "no memory node that the process may use is near CPU {} or {}",
                pair.first, pair.second
            );
            planned.absent.push(omitted(case, ReasonCode::NodeNotAllowed, text));
        }
        for node in nodes {
            let cases = HandOver::ALL.into_iter().map(|by| Ok(case(pair, node, by)));
            planned.extend(cases);
        }
    }
    planned
}

fn pairs(setting: Setting<'_>) -> Vec<CpuPair> {
    let machine = setting.machine;
    let known = machine.cpus();
    let cpus: Vec<u32> = machine.allowed_cpus.iter().filter(|&cpu| known.contains(cpu)).collect();
    let mut pairs = Vec::new();
    for (place, &first) in cpus.iter().enumerate() {
        let others = cpus[place + 1..].iter();
        pairs.extend(others.map(|&second| CpuPair {
            first,
            second,
            relation: machine.cpu_relation(first, second),
        }));
    }
    pairs
}

/// As many of each kind of pair, spread over all of it; of a kind that has few all.
fn thinned(all: &[CpuPair]) -> Vec<CpuPair> {
    if all.len() <= MOST_PAIRS {
        return all.to_vec();
    }
    let mut kinds: BTreeMap<Option<CpuRelation>, Vec<usize>> = BTreeMap::new();
    for (place, pair) in all.iter().enumerate() {
        kinds.entry(pair.relation).or_default().push(place);
    }
    let of_each = MOST_PAIRS / kinds.len();
    let mut kept: Vec<usize> = Vec::new();
    for places in kinds.values() {
        let count = of_each.min(places.len());
        // Midway in each of `count` equal parts: neither all of one CPU nor in step with the cores.
        kept.extend((0..count).map(|part| places[(2 * part + 1) * places.len() / (2 * count)]));
    }
    kept.sort_unstable();
    kept.into_iter().map(|place| all[place]).collect()
}

fn thinning(all: usize, kept: usize) -> Option<Absent> {
    let text = format!(
        "there are {all} pairs of CPUs here; to stay within minutes the suites below full measure \
         {kept} of them, as many of each kind (same core, same L3, same memory node, same package, \
         other package); --suite full measures all"
    );
    (kept < all).then(|| omitted("exchange/thinned", ReasonCode::FullSuiteOnly, text))
}

/// The node of the first CPU, then that of the second.
fn line_nodes(setting: Setting<'_>, pair: CpuPair, both: bool) -> Vec<u32> {
    let initiators = setting.machine.initiators();
    let targets: Vec<u32> = setting.targets().collect();
    let node_of = |cpu: u32| {
        let own = initiators.iter().find(|it| it.cpus.contains(cpu))?;
        setting.machine.home_memory(own).filter(|node| targets.contains(node))
    };
    let mut nodes: Vec<u32> = node_of(pair.first).into_iter().collect();
    let other = node_of(pair.second).filter(|node| !nodes.contains(node));
    if both || nodes.is_empty() {
        nodes.extend(other);
    }
    nodes
}

fn case(pair: CpuPair, memory_node: u32, by: HandOver) -> Case {
    let CpuPair { first: first_cpu, second: second_cpu, .. } = pair;
    let exchange = Exchange {
        binding: Binding {
            cpus: [first_cpu, second_cpu].into_iter().collect(),
            memory: MemoryPolicy::Preferred(memory_node),
        },
        thread_cpus: vec![first_cpu, second_cpu],
        by,
        // One line of one page: what backs it does not matter, and a base page is there at once.
        pages: Pages::Small,
    };
    Case {
        id: format!("exchange/cpu{first_cpu}/cpu{second_cpu}/node{memory_node}/{by}"),
        coordinates: vec![Coordinates::Exchange(ExchangeCoordinates {
            first_cpu,
            second_cpu,
            memory_node,
            by,
        })],
        actors: vec![Actor::Exchange(exchange)],
    }
}
