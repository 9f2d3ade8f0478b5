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

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(place: Place) -> Shortfall {
        Shortfall {
            place,
            or_place: None,
            ratio: 0.8,
            interval: (0.784, 0.8161),
            cells: 12,
            of: 48,
            fewest_twins: 7,
            memory_share: None,
            kernels: ["load", "triad"].map(String::from).into(),
            threads: [8, 16].into(),
        }
    }

    #[test]
    fn a_finding_says_what_by_how_much_and_on_what_it_rests() {
        let words = shortfall_words(&finding(Place::Memory { node: 5 }), InitiatorKind::Cluster);
        assert_eq!(
            words,
            "memory of node 5: 0.800 (0.784 to 0.816) of its twins (7 or more), in 12 of 48 cells; \
             with load, triad; threads 8, 16"
        );
        let either = Shortfall {
            or_place: Some(Place::Cluster { cluster: 5 }),
            ..finding(Place::Memory { node: 5 })
        };
        let words = shortfall_words(&either, InitiatorKind::Cluster);
        assert!(words.starts_with("memory of node 5 or cores of cluster 5: "), "{words}");
        let domain = finding(Place::Initiator { index: 9, cluster: 4 });
        let words = shortfall_words(&domain, InitiatorKind::L3);
        assert!(words.starts_with("L3 domain 9 of cluster 4: "), "{words}");
    }

    #[test]
    fn a_node_with_less_memory_misses_a_module() {
        let smaller = Shortfall { memory_share: Some(0.75), ..finding(Place::Memory { node: 5 }) };
        assert!(remedy(&smaller).contains("missing memory module: the node has 0.75 of"));
        let equal = Shortfall { memory_share: Some(0.99), ..finding(Place::Memory { node: 5 }) };
        assert!(remedy(&equal).contains("missing, slow or unevenly placed"));
    }

    #[test]
    fn of_two_the_caveat_is_said() {
        let of_two = Shortfall { fewest_twins: 1, ..finding(Place::Cluster { cluster: 1 }) };
        assert!(shortfall_words(&of_two, InitiatorKind::Cluster).contains("of its only twin"));
        assert!(remedy(&of_two).ends_with("figures cannot say which of them is wrong"));
        assert!(!remedy(&finding(Place::Cluster { cluster: 1 })).contains("cannot say"));
    }
}
