//! What `doctor RECORD` finds, in words.

use nearfar_machine::InitiatorKind;
use nearfar_model::{Place, Shortfall};
use nearfar_units::format_significant;

use crate::doctor::check_lines;
use crate::figures::simulated_line;
use crate::printable::printable;
use crate::record_doctor::RecordDoctorView;

/// A node with less memory than this share of its twins' lacks a module.
const SMALLER: f64 = 0.9;

impl RecordDoctorView {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        format!(
            "{}{}, measured {}\n{}",
            simulated_line(self.executor),
            printable(&self.host),
            printable(&self.started),
            check_lines(&self.checks)
        )
    }
}

/// What falls short, by how much, and what that rests on.
pub(crate) fn shortfall_words(finding: &Shortfall, kind: InitiatorKind) -> String {
    let part = match finding.or_place {
        Some(other) => {
            format!("{} or {}", part_words(finding.place, kind), part_words(other, kind))
        }
        None => part_words(finding.place, kind),
    };
    let ratio = |value| format_significant(value, 3);
    let twins = match finding.fewest_twins {
        1 => "its only twin".to_string(),
        count => format!("its twins ({count} or more)"),
    };
    let threads: Vec<String> = finding.threads.iter().map(u32::to_string).collect();
    let kernels: Vec<&str> = finding.kernels.iter().map(String::as_str).collect();
    format!(
        "{part}: {} ({} to {}) of {twins}, in {} of {} cells; with {}; threads {}",
        ratio(finding.ratio),
        ratio(finding.interval.0),
        ratio(finding.interval.1),
        finding.cells,
        finding.of,
        kernels.join(", "),
        threads.join(", ")
    )
}

/// A part in the machine's terms.
fn part_words(place: Place, kind: InitiatorKind) -> String {
    match place {
        Place::Memory { node } => format!("memory of node {node}"),
        Place::Cluster { cluster } => format!("cores of cluster {cluster}"),
        Place::Initiator { index, cluster } => {
            let name = match kind {
                InitiatorKind::Cluster => "cluster",
                InitiatorKind::L3 => "L3 domain",
                InitiatorKind::Core => "core",
            };
            format!("{name} {index} of cluster {cluster}")
        }
        Place::PackageLink { first, second } => {
            format!("link between packages {first} and {second}")
        }
        Place::PackageToPackage { from, to } => format!("link from package {from} to package {to}"),
        Place::ClusterToPackage { cluster, to } => {
            format!("link from cluster {cluster} to package {to}")
        }
        Place::Path { cluster, node } => format!("path from cluster {cluster} to node {node}"),
    }
}

/// What to look for.
pub(crate) fn remedy(finding: &Shortfall) -> String {
    let mut look = match finding.place {
        Place::Memory { .. } => match finding.memory_share {
            Some(share) if share < SMALLER => format!(
                "look for a missing memory module: the node has {} of the memory of its twins",
                format_significant(share, 2)
            ),
            _ => "look for a missing, slow or unevenly placed memory module (`nearfar topo` as \
                  root, the firmware's log)"
                .to_string(),
        },
        Place::Cluster { .. } | Place::Initiator { .. } => {
            "look for a lower clock: heat, a power limit, the firmware's settings; and for other \
             processes on these cores"
                .into()
        }
        Place::PackageLink { .. } | Place::PackageToPackage { .. } | Place::ClusterToPackage { .. } => {
            "look for a link with fewer lanes or at a lower rate (the firmware's log and settings)"
                .into()
        }
        Place::Path { .. } => {
            "look at how the machine is wired: this pair may have a path of its own; if not, as for \
             a link"
                .into()
        }
    };
    if finding.fewest_twins == 1 {
        look += "; of two that differ this is the lower one: figures cannot say which of them is \
                 wrong";
    }
    look
}
