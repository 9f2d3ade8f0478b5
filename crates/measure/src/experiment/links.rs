//! `links`: all cores of one package on the memory of another, one way and both: what the links
//! between packages carry. No pair of an initiator and a node fills a link that several share. Then
//! each initiator alone on the same memory: what its own way to the other package carries.

use nearfar_machine::{Machine, MemoryKind, MemoryPolicy, NodeSet};
use nearfar_record::{
    Absent, Actor, Case, Coordinates, Experiment, LinkCoordinates, Reason, ReasonCode, Suite, Way,
};

use super::Planned;
use super::omitted::{made, omitted, unusable_parts};
use super::setting::{Loop, Setting};
use super::whole_initiator::WholeInitiator;

/// One that reads and one that writes past the caches: links carry data either way. But for
/// `full` one initiator alone has the first only, which models of shared parts are made from.
const KERNELS: [&str; 2] = ["load", "copy_nt"];

/// Every ordered pair of packages one way, and every two packages both ways, which is one case:
/// it stands at the coordinates of the package with the lower number. After them each initiator of a
/// package alone.
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
    let kernels = setting.kernels(&KERNELS);
    let loops = setting.loops(Experiment::Links, kernels, &mut planned.absent);
    let loops: Vec<Streams<'_>> = loops.iter().map(|of| Streams { setting, of }).collect();
    let pairs = || ends.iter().flat_map(|from| ends.iter().map(move |to| (from, to)));
    let links: Vec<(&End, &End)> = pairs().filter(|(a, b)| a.package != b.package).collect();
    for streams in &loops {
        for &(from, to) in &links {
            planned.extend([streams.case(from, to, Way::OneWay)]);
            if from.package < to.package {
                planned.extend([streams.case(from, to, Way::BothWays)]);
            }
        }
    }
    let is_full = setting.inputs.suite == Suite::Full;
    let (measured, left_out) =
        loops.split_at(if is_full { loops.len() } else { loops.len().min(1) });
    for streams in measured {
        for &(from, to) in &links {
            planned
                .extend(from.initiators_alone(to).iter().map(|only| streams.alone(from, only, to)));
        }
    }
    if let ([first, ..], [_, ..]) = (measured, left_out)
        && links.iter().any(|(from, to)| !from.initiators_alone(to).is_empty())
    {
        let others: Vec<&str> = left_out.iter().map(|streams| streams.of.kernel.as_str()).collect();
        let text = format!(
            "one initiator alone uses another package's memory by {} only; --suite full measures {} \
             there too",
            first.of.kernel,
            others.join(", ")
        );
        planned.absent.push(omitted("links/alone_kernels", ReasonCode::FullSuiteOnly, text));
    }
    planned
}

/// A package with cores and memory of its own.
struct End {
    package: u32,
    initiators: Vec<WholeInitiator>,
    nodes: NodeSet,
}

impl End {
    fn threads(&self) -> u32 {
        self.initiators.iter().map(WholeInitiator::threads).sum()
    }

    /// The initiators that are also measured alone on another package's memory: none where that is
    /// another case again, of the whole package (it has one initiator) or of `pairs` (one node).
    fn initiators_alone(&self, to: &Self) -> &[WholeInitiator] {
        if self.initiators.len() > 1 && to.nodes.len() > 1 { &self.initiators } else { &[] }
    }
}

/// The packages that can stand at the end of a link, and why others cannot.
fn ends(setting: Setting<'_>) -> (Vec<End>, Vec<Absent>) {
    let machine = setting.machine;
    let initiators = machine.initiators();
    let usable = WholeInitiator::all(setting);
    let mut ends = Vec::new();
    let mut absent = Vec::new();
    for package in &machine.packages {
        let number = package.os_index;
        let skip =
            |code: ReasonCode, text: String| omitted(format!("links/package{number}"), code, text);
        let is_own = |cpus| machine.only_package(cpus) == Some(number);
        if !initiators.iter().any(|initiator| is_own(&initiator.cpus)) {
            let text = format!("package {number} has no cores whose near memory is its own only");
            absent.push(skip(ReasonCode::OneInitiator, text));
            continue;
        }
        let own = usable.iter().filter(|whole| is_own(&whole.initiator.cpus));
        let initiators: Vec<WholeInitiator> = own.cloned().collect();
        let nodes = nodes_of_package(setting, number);
        if initiators.is_empty() {
            let text = format!("this process may use no CPU of package {number}");
            absent.push(skip(ReasonCode::CpusNotAllowed, text));
        } else if nodes.is_empty() {
            let text = format!("this process may use no memory node of package {number} alone");
            absent.push(skip(ReasonCode::NodeNotAllowed, text));
        } else {
            ends.push(End { package: number, initiators, nodes });
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
    of: &'a Loop,
}

impl Streams<'_> {
    /// All initiators of a package on the memory of another, and back.
    fn case(&self, from: &End, to: &End, way: Way) -> Result<Case, Absent> {
        let name = format!("package{}", from.package);
        let place = self.place(from.package, to.package, way, from.threads());
        let there = self.actors(&from.initiators, to);
        let actors = match way {
            Way::OneWay => there,
            Way::BothWays => there.and_then(|there| {
                let back = self.actors(&to.initiators, from)?;
                Ok([there, back].concat())
            }),
        };
        named(&name, place, actors)
    }

    /// One initiator of a package on the memory of another.
    fn alone(&self, from: &End, only: &WholeInitiator, to: &End) -> Result<Case, Absent> {
        let name = format!("initiator{}", only.index());
        let place = LinkCoordinates {
            initiator: Some(only.index()),
            ..self.place(from.package, to.package, Way::OneWay, only.threads())
        };
        named(&name, place, self.actors(std::slice::from_ref(only), to))
    }

    fn place(&self, from_package: u32, to_package: u32, way: Way, threads: u32) -> LinkCoordinates {
        LinkCoordinates {
            from_package,
            to_package,
            initiator: None,
            way,
            kernel: self.of.kernel.clone(),
            variant: self.of.variant.clone(),
            threads,
        }
    }

    /// Initiators with all their cores on the memory of a package.
    fn actors(&self, initiators: &[WholeInitiator], to: &End) -> Result<Vec<Actor>, Reason> {
        let memory = match to.nodes.first() {
            Some(node) if to.nodes.len() == 1 => MemoryPolicy::Preferred(node),
            _ => MemoryPolicy::Interleave(to.nodes.clone()),
        };
        let sharers = initiators.len() as u64;
        let stream = |initiator: &WholeInitiator| {
            let plan = initiator.stream(self.of, memory.clone(), sharers);
            plan.on_memory(self.setting).map(Actor::Stream)
        };
        initiators.iter().map(stream).collect()
    }
}

/// A case of these actors, named by who moves data; or why there is none.
fn named(
    name: &str,
    place: LinkCoordinates,
    actors: Result<Vec<Actor>, Reason>,
) -> Result<Case, Absent> {
    let LinkCoordinates { to_package, way, kernel, variant, .. } = &place;
    let id = format!("links/{name}-package{to_package}/{}/{kernel}/{variant}", way.as_str());
    made(id, vec![Coordinates::Links(place)], actors)
}
