//! What to know about the classes of a record, in sentences.

use std::collections::BTreeMap;

use nearfar_machine::{InitiatorKind, Machine};
use nearfar_stats::{GAP_IN_STANDARD_ERRORS, expected_range};

use crate::classes::{Class, ClassPair, ClassSet, Classes, ThreadChoice};

/// A pair that was judged, and what its figure rests on.
pub(crate) struct Judged {
    pub pair: ClassPair,
    /// Standard deviation / mean of its rounds; `None` with one.
    pub deviation: Option<f64>,
    /// Whether something disturbed every window.
    pub only_disturbed: bool,
}

/// A pair that the record knows and the rule could not judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The initiator's number.
    pub initiator: u32,
    /// The node that would have been accessed.
    pub memory_node: u32,
    /// Why the machine refused it; `None` when it was not measured in the way asked for.
    pub refused: Option<String>,
}

/// What the sentences need to know of the record.
pub(crate) struct Surroundings<'a> {
    pub machine: &'a Machine,
    /// What the pairs' initiators are.
    pub initiator: InitiatorKind,
    /// The most threads that were planned for each initiator.
    pub most_threads: &'a BTreeMap<u32, u32>,
}

/// Rounds that the thesis asks for (section 3.4).
const ENOUGH_ROUNDS: usize = 5;

/// A class that noise widens by more than this asks for more rounds.
const MUCH_NOISE: f64 = 0.03;

pub(crate) fn describe(
    classes: &Classes,
    judged: &[Judged],
    left_out: &[LeftOut],
    around: &Surroundings<'_>,
) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(describe_left_out(left_out, around.initiator));
    notes.extend(describe_locality(judged, around.machine));
    notes.extend(describe_threads(classes, around));
    notes.extend(describe_rounds(classes));
    notes.extend(describe_disturbed(judged, around.initiator));
    notes.extend(describe_width(classes));
    for set in &classes.sets {
        for class in &set.classes {
            notes.extend(describe_wide(class, &of_set(set, around.initiator), classes));
        }
    }
    notes.extend(describe_borders(classes, around.initiator));
    notes
}

fn describe_left_out(left_out: &[LeftOut], kind: InitiatorKind) -> Vec<String> {
    let mut notes = Vec::new();
    let name = |out: &LeftOut| name_pair(kind, out.initiator, out.memory_node);
    let (refused, missing): (Vec<_>, Vec<_>) =
        left_out.iter().partition(|out| out.refused.is_some());
    if let Some(first) = refused.first() {
        notes.push(format!(
            "{} left out because the machine refused: {} ({})",
            count_pairs(refused.len()),
            name_some(refused.iter().map(|out| name(out))),
            first.refused.as_deref().unwrap_or_default()
        ));
    }
    if !missing.is_empty() {
        notes.push(format!(
            "{} left out because not measured with these kernels and threads: {}",
            count_pairs(missing.len()),
            name_some(missing.iter().map(|out| name(out)))
        ));
    }
    notes
}

/// Says so when all pairs, or none, are of a cluster and memory of its own.
fn describe_locality(judged: &[Judged], machine: &Machine) -> Option<String> {
    let clusters = machine.clusters();
    let is_own = |judged: &Judged| {
        let cluster = clusters.iter().find(|cluster| cluster.index == judged.pair.cluster);
        cluster.map(|cluster| cluster.memory_nodes.contains(judged.pair.memory_node))
    };
    // Where the record does not know a cluster, nothing is said.
    let own: Vec<bool> = judged.iter().map(is_own).collect::<Option<_>>()?;
    let (first, rest) = own.split_first()?;
    let said = match first {
        _ if rest.iter().any(|own| own != first) => return None,
        true => "all pairs are of cores and memory of their own: nothing here is remote",
        false => "no pair is of cores and memory of their own: class 0 here is remote",
    };
    Some(said.into())
}

/// Says so when "all threads" are fewer than the cores.
fn describe_threads(classes: &Classes, around: &Surroundings<'_>) -> Option<String> {
    let mut shown = classes.sets.iter().flat_map(|set| &set.classes).flat_map(|it| &it.others);
    let speaks_of_all = classes.rule.threads == ThreadChoice::All
        || shown.any(|figure| figure.threads == ThreadChoice::All);
    let mut fewer = Vec::new();
    for initiator in around.machine.initiators(around.initiator) {
        let Some(&most) = around.most_threads.get(&initiator.index) else { continue };
        if usize::try_from(most).is_ok_and(|most| most < initiator.cores.len()) {
            let (index, cores) = (initiator.index, initiator.cores.len());
            fewer.push(format!("{most} of {cores} cores of {} {index}", around.initiator));
        }
    }
    (speaks_of_all && !fewer.is_empty()).then(|| {
        format!(
            "all threads are here the most that were measured: {}",
            name_some(fewer.into_iter())
        )
    })
}

fn describe_rounds(classes: &Classes) -> Option<String> {
    let rounds = classes.fewest_rounds;
    (rounds < ENOUGH_ROUNDS).then(|| {
        format!(
            "a pair has {rounds} round{} only; classes of single runs go wrong, and \
             braithwaite2012 takes the best of at least {ENOUGH_ROUNDS}",
            if rounds == 1 { "" } else { "s" }
        )
    })
}

fn describe_disturbed(judged: &[Judged], kind: InitiatorKind) -> Option<String> {
    let disturbed: Vec<String> = judged
        .iter()
        .filter(|judged| judged.only_disturbed)
        .map(|judged| name_pair(kind, judged.pair.initiator, judged.pair.memory_node))
        .collect();
    (!disturbed.is_empty()).then(|| {
        format!(
            "{} on disturbed windows only: {}",
            if disturbed.len() == 1 {
                "1 pair rests".into()
            } else {
                format!("{} pairs rest", disturbed.len())
            },
            name_some(disturbed.into_iter())
        )
    })
}

fn describe_width(classes: &Classes) -> Option<String> {
    let Some(error) = classes.standard_error else {
        return Some(
            "with one round a pair the scatter of rounds is unknown, and classes that it alone \
             separates are not merged"
                .into(),
        );
    };
    let largest =
        classes.sets.iter().flat_map(|set| &set.classes).map(|class| class.pairs.len()).max()?;
    let width = error * expected_range(largest);
    (width > MUCH_NOISE).then(|| {
        format!(
            "the scatter of rounds alone spreads the {largest} pairs of the largest class over {}: \
             measure more rounds (--samples)",
            percent(width)
        )
    })
}

fn describe_wide(class: &Class, of: &str, classes: &Classes) -> Option<String> {
    class.widened_by_noise.then(|| {
        format!(
            "class {}{of} spans {}: wider than {}, which a standard error of {} in each of its {} \
             explains",
            class.class,
            percent(1.0 - class.min / class.max),
            percent(classes.rule.span),
            percent(classes.standard_error.unwrap_or_default()),
            count_pairs(class.pairs.len())
        )
    })
}

/// All borders within the noise, in one sentence.
fn describe_borders(classes: &Classes, kind: InitiatorKind) -> Option<String> {
    let mut borders = Vec::new();
    for set in &classes.sets {
        for class in set.classes.iter().filter(|class| class.border_within_noise) {
            borders.push(format!("{} and {}{}", class.class, class.class + 1, of_set(set, kind)));
        }
    }
    let arbitrary = if borders.len() == 1 { "border" } else { "borders" };
    (!borders.is_empty()).then(|| {
        format!(
            "arbitrary {arbitrary}, between classes {}: the gap is less than {GAP_IN_STANDARD_ERRORS} \
             standard errors ({} each), so that they are a continuum and not levels",
            name_some(borders.into_iter()),
            percent(classes.standard_error.unwrap_or_default())
        )
    })
}

/// " of cluster 3" for the classes of one initiator.
fn of_set(set: &ClassSet, kind: InitiatorKind) -> String {
    set.initiator.map_or_else(String::new, |number| format!(" of {kind} {number}"))
}

fn name_pair(kind: InitiatorKind, initiator: u32, node: u32) -> String {
    format!("{kind} {initiator} on node {node}")
}

fn count_pairs(count: usize) -> String {
    if count == 1 { "1 pair".into() } else { format!("{count} pairs") }
}

/// The first few of many.
fn name_some(names: impl ExactSizeIterator<Item = String>) -> String {
    const SHOWN: usize = 4;
    let more = names.len().saturating_sub(SHOWN);
    let shown: Vec<String> = names.take(SHOWN).collect();
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}

fn percent(fraction: f64) -> String {
    format!("{} %", nearfar_units::format_significant(100.0 * fraction, 2))
}
