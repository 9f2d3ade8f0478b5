//! What is wrong with a degraded machine. Faults act on capacities, after these were
//! found from the healthy machine's figures.

use serde::Deserialize;

use crate::capacities::{Capacities, DemandCurve};

/// Bytes/s that must be left; no machine file speaks of less.
const LEAST_LEFT: f64 = 1e6;

/// Something wrong with a machine. Factors are what remains, above 0 and at most 1; an initiator is
/// named by its lowest node with CPUs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// A memory module is missing or runs too slowly: the node's controller and every
    /// path to the node carry less. A lone thread is bound by latency, which a channel
    /// less hardly changes: its demand stays, and it loses little.
    SlowMemory { node: u32, factor: f64 },
    /// A link runs with fewer lanes or at a lower rate.
    NarrowLink { link: String, factor: f64 },
    /// The path of one pair carries less.
    NarrowPath { cpu_node: u32, memory_node: u32, factor: f64 },
    /// An initiator's clocks are held down: its threads, its issue limit and its paths are
    /// all slower.
    SlowInitiator { cpu_node: u32, factor: f64 },
    /// A memory node has no room: cases on it are refused.
    FullMemory { node: u32 },
}

impl Fault {
    /// Applies a fault to capacities of initiators with these CPU nodes. Says what is
    /// wrong when it names nothing there, would change nothing, or leaves nothing.
    pub(crate) fn apply(
        &self,
        capacities: &mut Capacities,
        cpu_nodes: &[Option<u32>],
    ) -> Result<(), String> {
        let column = |node: u32| {
            let position = capacities.column(node);
            position.ok_or_else(|| format!("names memory node {node}, which does not exist"))
        };
        let initiator = |cpu_node: u32| {
            let position = cpu_nodes.iter().position(|&known| known == Some(cpu_node));
            position.ok_or_else(|| format!("names node {cpu_node}, which has no cores"))
        };
        let (limits, factor): (Vec<&mut f64>, f64) = match self {
            Self::SlowMemory { node, factor } => {
                let column = column(*node)?;
                let paths = capacities.path.iter_mut().filter_map(|row| row[column].as_mut());
                let pressed = capacities.pressure.iter_mut().filter(|it| it.node == *node);
                let bests = pressed.flat_map(|it| [&mut it.local_best, &mut it.remote_best]);
                let controller = capacities.controller[column].as_mut();
                (controller.into_iter().chain(paths).chain(bests).collect(), *factor)
            }
            Self::NarrowLink { link: name, factor } => {
                let named = capacities.links.iter_mut().filter(|link| link.name == *name);
                (named.map(|link| &mut link.capacity).collect(), *factor)
            }
            Self::NarrowPath { cpu_node, memory_node, factor } => {
                let (initiator, column) = (initiator(*cpu_node)?, column(*memory_node)?);
                (capacities.path[initiator][column].as_mut().into_iter().collect(), *factor)
            }
            Self::SlowInitiator { cpu_node, factor } => {
                let initiator = initiator(*cpu_node)?;
                let one_thread = capacities.one_thread[initiator].iter_mut();
                let paths = capacities.path[initiator].iter_mut().flatten();
                let issue = capacities.issue[initiator].as_mut();
                let own =
                    |curve: &&mut DemandCurve| usize::try_from(curve.initiator) == Ok(initiator);
                let curves = capacities.curves.iter_mut().filter(own);
                let points = curves.flat_map(|curve| &mut curve.demand).map(|(_, rate)| rate);
                (one_thread.chain(paths).chain(issue).chain(points).collect(), *factor)
            }
            Self::FullMemory { node } => return column(*node).map(|_| ()),
        };
        if limits.is_empty() {
            return Err("changes nothing: no such link, or nothing that limits bandwidth there \
                        (no all_threads, no controller)"
                .into());
        }
        for limit in limits {
            *limit *= factor;
            if *limit < LEAST_LEFT {
                return Err("leaves less than 1 MB/s, taken with the faults before it".into());
            }
        }
        Ok(())
    }

    /// What remains; `None` for a fault without a factor.
    pub(crate) fn factor(&self) -> Option<f64> {
        match self {
            Self::SlowMemory { factor, .. }
            | Self::NarrowLink { factor, .. }
            | Self::NarrowPath { factor, .. }
            | Self::SlowInitiator { factor, .. } => Some(*factor),
            Self::FullMemory { .. } => None,
        }
    }
}
