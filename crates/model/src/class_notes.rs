//! What to know about the classes of a record, in sentences.

use nearfar_stats::expected_range;

use crate::classes::{Class, ClassPair, Classes};

/// A pair that was judged, and what its figure rests on.
pub(crate) struct Judged {
    /// The pair.
    pub pair: ClassPair,
    /// Standard deviation / mean of its rounds; `None` with one.
    pub deviation: Option<f64>,
    /// Whether something disturbed every window.
    pub only_disturbed: bool,
}

/// A pair that the record knows and the rule could not judge.
pub(crate) struct LeftOut {
    pub initiator: u32,
    pub memory_node: u32,
    /// Why the machine refused it; `None` when it was not measured in the way asked for.
    pub refused: Option<String>,
}

/// Rounds that the thesis asks for (section 3.4).
const ENOUGH_ROUNDS: usize = 5;

/// A class that noise widens by more than this asks for more rounds.
const MUCH_NOISE: f64 = 0.03;

pub(crate) fn describe(classes: &Classes, judged: &[Judged], left_out: &[LeftOut]) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(describe_left_out(left_out));
    notes.extend(describe_nodes(judged));
    notes.extend(describe_rounds(classes));
    notes.extend(describe_disturbed(judged));
    notes.extend(describe_noise(classes));
    for set in &classes.sets {
        let of = set.initiator.map_or_else(String::new, |number| format!(" of initiator {number}"));
        for class in &set.classes {
            notes.extend(describe_class(class, &of, classes));
        }
    }
    notes
}

fn describe_left_out(left_out: &[LeftOut]) -> Vec<String> {
    let mut notes = Vec::new();
    let name = |out: &LeftOut| format!("{} on node {}", out.initiator, out.memory_node);
    let (refused, missing): (Vec<_>, Vec<_>) =
        left_out.iter().partition(|out| out.refused.is_some());
    if let Some(first) = refused.first() {
        notes.push(format!(
            "{} left out because the machine refused: initiator {} ({})",
            count_pairs(refused.len()),
            name_some(refused.iter().map(|out| name(out))),
            first.refused.as_deref().unwrap_or_default()
        ));
    }
    if !missing.is_empty() {
        notes.push(format!(
            "{} left out because not measured with these kernels and threads: initiator {}",
            count_pairs(missing.len()),
            name_some(missing.iter().map(|out| name(out)))
        ));
    }
    notes
}

fn describe_nodes(judged: &[Judged]) -> Option<String> {
    let first = judged.first()?.pair.memory_node;
    judged
        .iter()
        .all(|judged| judged.pair.memory_node == first)
        .then(|| format!("all pairs are with node {first}: nothing here is remote"))
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

fn describe_disturbed(judged: &[Judged]) -> Option<String> {
    let disturbed: Vec<String> = judged
        .iter()
        .filter(|judged| judged.only_disturbed)
        .map(|judged| format!("{} on node {}", judged.pair.initiator, judged.pair.memory_node))
        .collect();
    (!disturbed.is_empty()).then(|| {
        format!(
            "{} rest on disturbed windows only: initiator {}",
            count_pairs(disturbed.len()),
            name_some(disturbed.into_iter())
        )
    })
}

fn describe_noise(classes: &Classes) -> Option<String> {
    let Some(error) = classes.standard_error else {
        return Some(
            "with one round a pair the noise is unknown, and classes that noise alone separates \
             are not merged"
                .into(),
        );
    };
    let largest =
        classes.sets.iter().flat_map(|set| &set.classes).map(|class| class.pairs.len()).max()?;
    let width = error * expected_range(largest);
    (width > MUCH_NOISE).then(|| {
        format!(
            "noise alone spreads the {largest} pairs of the largest class over {}: measure more \
             rounds (--samples)",
            percent(width)
        )
    })
}

fn describe_class(class: &Class, of: &str, classes: &Classes) -> Vec<String> {
    let mut notes = Vec::new();
    let error = percent(classes.standard_error.unwrap_or_default());
    if class.widened_by_noise {
        notes.push(format!(
            "class {}{of} spans {}: wider than {}, which noise of {error} in each of its {} \
             explains",
            class.class,
            percent(1.0 - class.min / class.max),
            percent(classes.rule.span),
            count_pairs(class.pairs.len())
        ));
    }
    if class.border_within_noise {
        notes.push(format!(
            "the border between classes {} and {}{of} is arbitrary: the gap is less than twice the \
             noise of {error}, so they are a continuum and not two levels",
            class.class,
            class.class + 1
        ));
    }
    notes
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
