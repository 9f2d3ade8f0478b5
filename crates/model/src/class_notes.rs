//! What to know about the classes of a record.

use std::collections::BTreeMap;

use nearfar_machine::Machine;
use nearfar_stats::{GAP_IN_STANDARD_ERRORS, expected_range};
use serde::Serialize;

use crate::class_rule::ThreadChoice;
use crate::classes::{ClassPair, Classes};

/// A pair that was judged, and what its figure rests on.
pub(crate) struct Judged<Pair = ClassPair> {
    pub pair: Pair,
    /// Standard deviation / mean of its rounds; `None` with one.
    pub deviation: Option<f64>,
    /// Whether something disturbed every window.
    pub only_disturbed: bool,
}

/// A pair that the record knows and the rule could not judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// The CPU group's number.
    #[serde(rename = "index")]
    pub cpu_group: u32,
    /// The node that would have been accessed.
    pub memory_node: u32,
    /// Why the machine refused it; null when it was not measured in the way asked for.
    pub refused: Option<String>,
}

/// What to know about classes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum ClassNote {
    /// All pairs are of cores and memory of their own.
    AllLocal,
    /// No pair is: class 0 is remote.
    AllRemote,
    /// "All threads" are the most that were measured, which these groups of CPUs have more cores than.
    FewerThreads { cpu_groups: Vec<FewerThreads> },
    /// A pair has fewer rounds than its best should be taken from.
    FewRounds { enough: usize },
    /// Every window of these pairs was disturbed.
    Disturbed { pairs: Vec<DisturbedPair> },
    /// With one round a pair the scatter of rounds is unknown, and classes that it alone separates
    /// are not merged.
    UnknownNoise,
    /// The scatter of rounds alone spreads the pairs of the largest class by this fraction.
    MuchNoise { pairs: usize, spread: f64 },
    /// A class spans this fraction of its maximum, which is more than the rule's span, and which the
    /// standard error of its pairs explains.
    Widened {
        /// The group of CPUs whose class it is, or null.
        index: Option<u32>,
        class: usize,
        span: f64,
        pairs: usize,
    },
    /// The gap between classes is less than `least_gap` standard errors: a continuum and not levels.
    ArbitraryBorders { least_gap: f64, above: Vec<ClassAbove> },
}

/// A group of CPUs that was measured with fewer threads than it has cores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FewerThreads {
    /// Its number.
    pub index: u32,
    pub threads: u32,
    pub cores: usize,
}

/// A pair whose windows were all disturbed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DisturbedPair {
    /// The CPU group's number.
    pub index: u32,
    pub memory_node: u32,
}

/// The class above a border.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassAbove {
    /// The group of CPUs whose class it is, or null.
    pub index: Option<u32>,
    pub class: usize,
}

/// Rounds that the thesis asks for (section 3.4).
pub(crate) const ENOUGH_ROUNDS: usize = 5;

/// A class that noise widens by more than this asks for more rounds.
const MUCH_NOISE: f64 = 0.03;

/// `most_threads` are the most that were planned for each group of CPUs.
pub(crate) fn notes(
    classes: &Classes,
    judged: &[Judged],
    machine: &Machine,
    most_threads: &BTreeMap<u32, u32>,
) -> Vec<ClassNote> {
    let mut notes: Vec<ClassNote> = locality(judged, machine).into_iter().collect();
    notes.extend(fewer_threads(classes, machine, most_threads));
    if classes.fewest_rounds < ENOUGH_ROUNDS {
        notes.push(ClassNote::FewRounds { enough: ENOUGH_ROUNDS });
    }
    let disturbed = judged.iter().filter(|judged| judged.only_disturbed);
    let pairs: Vec<DisturbedPair> = disturbed
        .map(|Judged { pair, .. }| DisturbedPair {
            index: pair.cpu_group,
            memory_node: pair.memory_node,
        })
        .collect();
    if !pairs.is_empty() {
        notes.push(ClassNote::Disturbed { pairs });
    }
    notes.extend(noise(classes));
    let of_sets = || {
        let sets = classes.sets.iter();
        sets.flat_map(|set| set.classes.iter().map(|class| (set.cpu_group, class)))
    };
    let widened = of_sets().filter(|(_, class)| class.widened_by_noise);
    notes.extend(widened.map(|(index, class)| ClassNote::Widened {
        index,
        class: class.class,
        span: 1.0 - class.min / class.max,
        pairs: class.pairs.len(),
    }));
    let bordering = of_sets().filter(|(_, class)| class.border_within_noise);
    let above: Vec<ClassAbove> =
        bordering.map(|(index, class)| ClassAbove { index, class: class.class }).collect();
    if !above.is_empty() {
        notes.push(ClassNote::ArbitraryBorders { least_gap: GAP_IN_STANDARD_ERRORS, above });
    }
    notes
}

/// Whether all pairs, or none, are of an initiator and memory of its own.
fn locality(judged: &[Judged], machine: &Machine) -> Option<ClassNote> {
    let initiators = machine.initiators();
    let is_own = |judged: &Judged| {
        let initiator =
            initiators.iter().find(|initiator| initiator.index == judged.pair.initiator);
        initiator.map(|initiator| initiator.memory_nodes.contains(judged.pair.memory_node))
    };
    // Where the record does not know an initiator, nothing is said.
    let own: Vec<bool> = judged.iter().map(is_own).collect::<Option<_>>()?;
    let (first, rest) = own.split_first()?;
    match first {
        _ if rest.iter().any(|own| own != first) => None,
        true => Some(ClassNote::AllLocal),
        false => Some(ClassNote::AllRemote),
    }
}

/// Where "all threads" are fewer than the cores.
fn fewer_threads(
    classes: &Classes,
    machine: &Machine,
    most_threads: &BTreeMap<u32, u32>,
) -> Option<ClassNote> {
    let mut shown = classes.sets.iter().flat_map(|set| &set.classes).flat_map(|it| &it.others);
    let speaks_of_all = classes.rule.threads == ThreadChoice::All
        || shown.any(|figure| figure.threads == ThreadChoice::All);
    let of = |cpu_group: &nearfar_machine::CpuGroup| {
        let (&threads, cores) = (most_threads.get(&cpu_group.index)?, cpu_group.cores.len());
        let is_fewer = usize::try_from(threads).is_ok_and(|threads| threads < cores);
        is_fewer.then_some(FewerThreads { index: cpu_group.index, threads, cores })
    };
    let cpu_groups = machine.cpu_groups(classes.group_by);
    let cpu_groups: Vec<FewerThreads> = cpu_groups.iter().filter_map(of).collect();
    (speaks_of_all && !cpu_groups.is_empty()).then_some(ClassNote::FewerThreads { cpu_groups })
}

fn noise(classes: &Classes) -> Option<ClassNote> {
    let Some(error) = classes.standard_error else { return Some(ClassNote::UnknownNoise) };
    let all = classes.sets.iter().flat_map(|set| &set.classes);
    let pairs = all.map(|class| class.pairs.len()).max()?;
    let spread = error * expected_range(pairs);
    (spread > MUCH_NOISE).then_some(ClassNote::MuchNoise { pairs, spread })
}
