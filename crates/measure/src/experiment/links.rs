//! `links`: all cores of one package on the memory of another, one way and both: what the links
//! between packages carry. No pair of a cluster and a node fills a link that several share.

use nearfar_machine::{Machine, MemoryKind, MemoryPolicy, NodeSet};
use nearfar_record::{
    Absent, Actor, Case, Coordinates, Experiment, LinkCoordinates, Reason, ReasonCode, Way,
};

use super::Planned;
use super::omitted::{no_variant, omitted, omitted_for};
use super::setting::Setting;
use super::unusable::unusable_parts;
use super::whole_cluster::WholeCluster;

/// One that reads and one that writes past the caches: links carry data either way.
const KERNELS: [&str; 2] = ["load", "copy_nt"];

/// Every ordered pair of packages one way, and every two packages both ways, which is one case:
/// it stands at the coordinates of the package with the lower number.
pub(super) fn plan(setting: Setting<'_>) -> Planned {
    let mut planned = Planned::default();
    let machine = setting.machine;
    if machine.packages.len() < 2 {
        let text = match machine.packages.len() {
            0 => "the machine's description names no packages, so no link between them is known",
            _ => "the machine has one package, so no link to another",
        };
        let name = Experiment::Links.as_str();
        planned.absent.push(omitted(name, ReasonCode::OnePackage, text));
        return planned;
    }
    planned.absent = unusable_parts(setting, Experiment::Links);
    let (ends, skipped) = ends(setting);
    planned.absent.extend(skipped);
    for kernel in setting.kernels(&KERNELS) {
        let Some(variant) = setting.preferred(kernel.name) else {
            let forced = setting.inputs.variant.as_deref();
            planned.absent.push(no_variant(format!("links/{}", kernel.name), kernel.name, forced));
            continue;
        };
        let streams = Streams { setting, kernel: kernel.name, variant };
        for from in &ends {
            for to in ends.iter().filter(|to| to.package != from.package) {
                planned.extend([streams.case(from, to, Way::OneWay)]);
                if from.package < to.package {
                    planned.extend([streams.case(from, to, Way::BothWays)]);
                }
            }
        }
    }
    planned
}

/// A package with cores and memory of its own.
struct End {
    package: u32,
    clusters: Vec<WholeCluster>,
    nodes: NodeSet,
}

impl End {
    fn threads(&self) -> u32 {
        self.clusters.iter().map(WholeCluster::threads).sum()
    }
}

/// The packages that can stand at the end of a link, and why others cannot.
fn ends(setting: Setting<'_>) -> (Vec<End>, Vec<Absent>) {
    let machine = setting.machine;
    let clusters = machine.clusters();
    let usable = WholeCluster::all(setting);
    let mut ends = Vec::new();
    let mut absent = Vec::new();
    for package in &machine.packages {
        let number = package.os_index;
        let skip =
            |code: ReasonCode, text: String| omitted(format!("links/package{number}"), code, text);
        let is_own = |cpus| machine.only_package(cpus) == Some(number);
        if !clusters.iter().any(|cluster| is_own(&cluster.cpus)) {
            let text = format!("package {number} has no cores whose near memory is its own only");
            absent.push(skip(ReasonCode::OneCluster, text));
            continue;
        }
        let own = usable.iter().filter(|whole| is_own(&whole.cluster.cpus));
        let clusters: Vec<WholeCluster> = own.cloned().collect();
        let nodes = nodes_of_package(setting, number);
        if clusters.is_empty() {
            let text = format!("this process may use no CPU of package {number}");
            absent.push(skip(ReasonCode::CpusNotAllowed, text));
        } else if nodes.is_empty() {
            let text = format!("this process may use no memory node of package {number} alone");
            absent.push(skip(ReasonCode::NodeNotAllowed, text));
        } else {
            ends.push(End { package: number, clusters, nodes });
        }
    }
    (ends, absent)
}

/// The memory of a package, of the kinds that its nodes with CPUs have: pages that lie in turn
/// on nodes of several kinds would be held up by the slowest. All of it where none of these may
/// be used.
fn nodes_of_package(setting: Setting<'_>, package: u32) -> NodeSet {
    let machine: &Machine = setting.machine;
    let nodes = machine
        .nodes
        .iter()
        .filter(|node| machine.only_package(&node.locality) == Some(package))
        .collect::<Vec<_>>();
    let with_cpus = nodes.iter().filter(|node| !node.cpus.is_empty());
    let kinds: Vec<MemoryKind> = with_cpus.map(|node| node.kind).collect();
    let targets: NodeSet = setting.targets().collect();
    let usable = || nodes.iter().filter(|node| targets.contains(node.os_index));
    let ordinary: NodeSet =
        usable().filter(|node| kinds.contains(&node.kind)).map(|node| node.os_index).collect();
    if ordinary.is_empty() { usable().map(|node| node.os_index).collect() } else { ordinary }
}

/// What the cases of a kernel have in common.
struct Streams<'a> {
    setting: Setting<'a>,
    kernel: &'a str,
    variant: String,
}

impl Streams<'_> {
    fn case(&self, from: &End, to: &End, way: Way) -> Result<Case, Absent> {
        let id = format!(
            "links/package{}-package{}/{}/{}/{}",
            from.package,
            to.package,
            way.as_str(),
            self.kernel,
            self.variant
        );
        let directions = match way {
            Way::OneWay => vec![(from, to)],
            Way::BothWays => vec![(from, to), (to, from)],
        };
        let actors: Result<Vec<Vec<Actor>>, Reason> =
            directions.into_iter().map(|(from, to)| self.actors(from, to)).collect();
        let actors = match actors {
            Ok(actors) => actors.concat(),
            Err(reason) => return Err(omitted_for(id, reason)),
        };
        Ok(Case {
            id,
            coordinates: vec![Coordinates::Links(LinkCoordinates {
                from_package: from.package,
                to_package: to.package,
                way,
                kernel: self.kernel.into(),
                variant: self.variant.clone(),
                threads: from.threads(),
            })],
            actors,
        })
    }

    /// All clusters of a package with all their cores on the memory of another.
    fn actors(&self, from: &End, to: &End) -> Result<Vec<Actor>, Reason> {
        let memory = match to.nodes.first() {
            Some(node) if to.nodes.len() == 1 => MemoryPolicy::Preferred(node),
            _ => MemoryPolicy::Interleave(to.nodes.clone()),
        };
        let sharers = from.clusters.len() as u64;
        let stream = |cluster: &WholeCluster| {
            let plan = cluster.stream(self.kernel, &self.variant, memory.clone(), sharers);
            plan.on_memory(self.setting).map(Actor::Stream)
        };
        from.clusters.iter().map(stream).collect()
    }
}
