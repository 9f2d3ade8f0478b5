//! What looking over a record finds, in words.

use std::collections::BTreeSet;

use nearfar_machine::GroupBy;
use nearfar_model::{
    Against, Between, HiddenLevel, Place, Shortfall, Unmeasured, Unsteadiness, WhyUnmeasured,
    command_on, resuming_command,
};
use nearfar_record::Record;
use nearfar_units::format_significant;

use super::pair_words::cpu_group;
use super::who::Who;

/// A node with less memory than this share of its twins' lacks a module.
const SMALLER: f64 = 0.9;

/// What falls short, by how much, and what that rests on.
pub(crate) fn shortfall_words(finding: &Shortfall, kind: GroupBy, who: &Who) -> String {
    let part = match finding.or_place {
        Some(other) => {
            format!("{} or {}", part_words(finding.place, kind, who), part_words(other, kind, who))
        }
        None => part_words(finding.place, kind, who),
    };
    let ratio = |value| format_significant(value, 3);
    let twins = match (finding.against, finding.fewest_twins) {
        (Against::OtherDirection, _) => "the other direction".to_string(),
        (Against::Twins, 1) => "its only twin".to_string(),
        (Against::Twins, count) => format!("its twins ({count} or more)"),
    };
    format!(
        "{part}: {} ({} to {}) of {twins}, in {} of {} cells; {}",
        ratio(finding.ratio),
        ratio(finding.interval.0),
        ratio(finding.interval.1),
        finding.cells,
        finding.of,
        loads(&finding.kernels, &finding.threads)
    )
}

/// Kernels and numbers of threads.
fn loads(kernels: &BTreeSet<String>, threads: &BTreeSet<u32>) -> String {
    let kernels: Vec<&str> = kernels.iter().map(String::as_str).collect();
    let threads: Vec<String> = threads.iter().map(u32::to_string).collect();
    format!("with {}; threads {}", kernels.join(", "), threads.join(", "))
}

/// Which part scatters, and how much more than its twins.
pub(crate) fn unsteady_words(part: &Unsteadiness, kind: GroupBy, who: &Who) -> String {
    let percent = |fraction: f64| format_significant(fraction * 100.0, 2);
    format!(
        "{} is unsteady: its rounds scatter by {} %, those of its twins by {} %, in {} of {} \
         cells; {}",
        part_words(part.place, kind, who),
        percent(part.scatter),
        percent(part.twins_scatter),
        part.cells,
        part.of,
        loads(&part.kernels, &part.threads)
    )
}

pub(crate) fn unsteady_remedy() -> String {
    "measure again on a quiet machine; if it stays, look for corrected errors, throttling or a \
     link that trains anew (the firmware's and the system's log)"
        .into()
}

/// Which pairs are further apart than the firmware says.
pub(crate) fn level_words(level: &HiddenLevel, who: &Who) -> String {
    /// Pairs that a line names.
    const MOST: usize = 12;
    let what = match level.between {
        Between::Nodes => "pairs of cores and node",
        Between::Packages => "pairs of packages",
    };
    let pair = |&(from, to): &(u32, u32)| match level.between {
        Between::Nodes => format!("{} on node {to}", who.cpus(from)),
        Between::Packages => format!("{from}-{to}"),
    };
    let pairs: Vec<String> = level.pairs.iter().take(MOST).map(pair).collect();
    let more = if level.pairs.len() > MOST { ", .." } else { "" };
    format!(
        "{} {what} form a level of their own at {} of their twins: {}{more}; the firmware's \
         distances do not tell them apart",
        level.pairs.len(),
        format_significant(level.ratio, 3),
        pairs.join(", ")
    )
}

pub(crate) fn level_remedy(level: &HiddenLevel) -> String {
    match level.between {
        Between::Nodes => {
            "nothing, where the machine is wired so; they were compared with each other only".into()
        }
        Between::Packages => {
            "nothing, where the machine is wired so; if it is not, look for links with fewer lanes \
             or at a lower rate"
                .into()
        }
    }
}

/// Which node has cells without figures, and why.
pub(crate) fn unmeasured_words(missing: &Unmeasured) -> String {
    let Unmeasured { node, cells, of, why } = missing;
    let count = format!("memory of node {node}: {cells} of {of} cells");
    match why {
        WhyUnmeasured::Refused { code, text } => {
            format!("{count} were refused ({}), the first: {text}", code.as_str())
        }
        WhyUnmeasured::NoSample => format!("{count} were planned and not measured"),
        WhyUnmeasured::NoBytes => format!("{count} moved no bytes"),
        WhyUnmeasured::NotPlanned => {
            format!("memory of node {node}: the record holds no cell on it")
        }
    }
}

pub(crate) fn unmeasured_remedy(record: &Record, missing: &Unmeasured) -> String {
    match missing.why {
        WhyUnmeasured::Refused { .. } => {
            let show = command_on(record, "show", "--full");
            format!(
                "these cells were not compared; `{show}` lists them, and `nearfar doctor` on the machine \
                 itself says what can be done"
            )
        }
        WhyUnmeasured::NoSample if record.header.is_of_no_host() => {
            "these cells were not compared; the record ends before them".into()
        }
        WhyUnmeasured::NoSample => format!(
            "these cells were not compared; measure the rest with `{}`",
            resuming_command(record)
        ),
        WhyUnmeasured::NoBytes => "these cells were not compared; measure longer windows".into(),
        WhyUnmeasured::NotPlanned => {
            let show = command_on(record, "show", "--full");
            format!("the node was not compared; see with `{show}` what was asked for")
        }
    }
}

/// A part in the machine's terms.
pub(crate) fn part_words(place: Place, kind: GroupBy, who: &Who) -> String {
    match place {
        Place::Memory { node } => format!("memory of node {node}"),
        Place::Initiator { initiator } => format!("cores of {}", who.cpus(initiator)),
        Place::CpuGroup { index, initiator } => {
            format!("{} of {}", cpu_group(kind, index, who), who.cpus(initiator))
        }
        Place::PackageLink { first, second } => {
            format!("link between packages {first} and {second}")
        }
        Place::PackageToPackage { from, to } => format!("link from package {from} to package {to}"),
        Place::InitiatorToPackage { initiator, to } => {
            format!("link from {} to package {to}", who.cpus(initiator))
        }
        Place::Path { initiator, node } => {
            format!("path from {} to node {node}", who.cpus(initiator))
        }
        Place::OwnPath { initiator, node } => {
            format!("path from {} to their own node {node}", who.cpus(initiator))
        }
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
        Place::Initiator { .. } | Place::CpuGroup { .. } => {
            "look for a lower clock: heat, a power limit, the firmware's settings; and for other \
             processes on these cores"
                .into()
        }
        Place::PackageLink { .. } | Place::PackageToPackage { .. } | Place::InitiatorToPackage { .. } => {
            "look for a link with fewer lanes or at a lower rate (the firmware's log and settings)"
                .into()
        }
        Place::OwnPath { .. } => {
            "other CPUs reach more of this memory, and these CPUs more of other memory: look at the firmware's \
             settings of this package (its mesh's clock, power limits, how memory is interleaved)"
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
    use expect_test::expect_file;

    use super::*;

    fn finding(place: Place) -> Shortfall {
        Shortfall {
            place,
            or_place: None,
            against: Against::Twins,
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
    fn findings_are_worded_as_in_their_golden_file() {
        let node = || finding(Place::Memory { node: 5 });
        let initiator = || finding(Place::Initiator { initiator: 1 });
        let mut text = String::new();
        for (shortfall, kind) in [
            (node(), GroupBy::Memory),
            (
                Shortfall { or_place: Some(Place::Initiator { initiator: 5 }), ..node() },
                GroupBy::Memory,
            ),
            (finding(Place::CpuGroup { index: 9, initiator: 4 }), GroupBy::L3),
            (Shortfall { memory_share: Some(0.75), ..node() }, GroupBy::Memory),
            (Shortfall { memory_share: Some(0.99), ..node() }, GroupBy::Memory),
            (initiator(), GroupBy::Memory),
            (Shortfall { fewest_twins: 1, ..initiator() }, GroupBy::Memory),
            (
                Shortfall {
                    against: Against::OtherDirection,
                    ..finding(Place::Path { initiator: 1, node: 7 })
                },
                GroupBy::Memory,
            ),
        ] {
            let words = shortfall_words(&shortfall, kind, &Who::default());
            text += &format!("{words}\n  {}\n", remedy(&shortfall));
        }
        let part = Unsteadiness {
            place: Place::Memory { node: 2 },
            scatter: 0.354,
            twins_scatter: 0.011,
            cells: 150,
            of: 160,
            kernels: ["load"].map(String::from).into(),
            threads: [1, 16].into(),
        };
        text += &format!("{}\n", unsteady_words(&part, GroupBy::Memory, &Who::default()));
        for pairs in [2, 13] {
            let level = HiddenLevel {
                between: Between::Nodes,
                pairs: (0..pairs).map(|pair| (pair, pair + 1)).collect(),
                ratio: 0.94,
            };
            text += &format!("{}\n", level_words(&level, &Who::default()));
        }
        let code = nearfar_record::ReasonCode::NoRoom;
        let refused = WhyUnmeasured::Refused { code, text: "the node is full".into() };
        for why in [refused, WhyUnmeasured::NoSample] {
            let missing = Unmeasured { node: 2, cells: 64, of: 64, why };
            text += &format!("{}\n", unmeasured_words(&missing));
            text += &format!("  {}\n", unmeasured_remedy(&nearfar_specimen::record(), &missing));
        }
        expect_file!["../../tests/golden/record_doctor.txt"].assert_eq(&text);
    }
}
