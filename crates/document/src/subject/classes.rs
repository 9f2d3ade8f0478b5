//! Bandwidth classes: which levels there are, and how far from the theoretical maximum.

use nearfar_machine::{GroupBy, Scope, TheoreticalMaximum};
use nearfar_model::{Class, ClassFigure, ClassNote, Classes, LeftOut, ThreadChoice};
use nearfar_record::Outcome;
use nearfar_units::format_significant;

use super::class_map::class_map;
use super::figures::{count, significant};
use super::pair_words::{cpu_group, group_label, pair_words};
use super::who::Who;
use crate::answer::{Answer, Part, Shown};
use crate::document::Section;
use crate::figure::{Figure, Unit};
use crate::table::{Cell, Column, Table};

/// The answer in a sentence.
pub(crate) fn answer(model: &Classes) -> Option<String> {
    let classes: Vec<&Class> = all(model).map(|(_, class)| class).collect();
    let (first, last) = (classes.first()?, classes.last()?);
    let (best, judged) = (rate(first.max).words(), judged(model));
    if classes.len() == 1 && first.pairs.len() == 1 {
        // With nothing beside it, it is in no class.
        return None;
    }
    if classes.len() == 1 {
        return Some(format!(
            "Every pair of cores and memory node that was measured is alike: {best} ({judged})."
        ));
    }
    if model.rule.per_group {
        return answer_per_group(model);
    }
    Some(format!(
        "Pairs of cores and memory node fall into {} bandwidth classes: the fastest reaches {best}, \
         the slowest {}, {} of it ({judged}).",
        classes.len(),
        rate(last.max).words(),
        format_significant(last.alpha_relative, 2)
    ))
}

/// Of groups that are classed each by itself.
fn answer_per_group(model: &Classes) -> Option<String> {
    let sizes = model.sets.iter().map(|set| set.classes.len());
    let classes = match (sizes.clone().min()?, sizes.max()?) {
        (1, 1) => return Some("Of each group of CPUs all memory nodes measure alike.".into()),
        (least, most) if least == most => format!("{most} bandwidth classes"),
        (least, most) => format!("{least} to {most} bandwidth classes"),
    };
    let slowest = all(model).map(|(_, class)| class);
    let slowest = slowest.min_by(|a, b| a.alpha_relative.total_cmp(&b.alpha_relative))?;
    let judged = judged(model);
    Some(format!(
        "Each group of CPUs has {classes} of memory nodes: the least is {} of its group's fastest, {} \
         ({judged}).",
        format_significant(slowest.alpha_relative, 2),
        rate(slowest.max).words()
    ))
}

/// The classes, and what other kernels give.
pub(crate) fn section(model: &Classes, who: &Who) -> Section {
    Section::new(
        "classes",
        "Bandwidth classes",
        "Useful bandwidth (STREAM's count of bytes) of each group of cores with each memory \
                node. A class is a group of pairs that measure alike.",
        tables(model, who),
    )
}

/// The same, and the map of classes.
pub(crate) fn told(model: &Classes, who: &Who) -> Answer {
    let section = section(model, who);
    let map = [Part::Gap, Part::ClassMap(class_map(model, who, true))];
    Answer::default()
        .and_all(Shown::First, answer(model).map(|words| Part::words("", words)))
        .and_section(section, FIRST_ROWS)
        .and_all(Shown::Always, map)
}

/// Rows of the first screen.
const FIRST_ROWS: usize = 8;

/// The classes, and what other kernels and thread counts give on the same pairs.
pub(crate) fn tables(model: &Classes, who: &Who) -> Vec<Table> {
    let (others, note) = others(model);
    let mut classes = class_table(model, who);
    classes.notes.extend(note);
    std::iter::once(classes).chain(others).collect()
}

fn all(model: &Classes) -> impl Iterator<Item = (Option<u32>, &Class)> {
    let sets = model.sets.iter();
    sets.flat_map(|set| set.classes.iter().map(|class| (set.cpu_group, class)))
}

/// `best round of triad by one thread (triad_nt was not measured)`.
fn judged(model: &Classes) -> String {
    let absent = model.absent_kernels.join(", ");
    let absent = match model.absent_kernels.len() {
        0 => String::new(),
        1 => format!(" ({absent} was not measured)"),
        _ => format!(" ({absent} were not measured)"),
    };
    format!("best round of {}{absent}", kernels_and_threads(model))
}

/// `triad, triad_nt by one thread`.
pub(crate) fn kernels_and_threads(model: &Classes) -> String {
    format!("{} by {}", model.kernels.join(", "), model.rule.threads)
}

fn class_table(model: &Classes, of: &Who) -> Table {
    let own = model.rule.per_group;
    let rows = all(model).map(|(index, class)| {
        let who = index.map(|index| Cell::Text(group_label(model.group_by, index, of)));
        let pairs = pair_words(&class.groups, model.group_by, of).join("; ") + &class_marks(class);
        who.into_iter().chain(class_cells(class)).chain([Cell::text(pairs)]).collect()
    });
    let who = own.then(|| Column::words(""));
    let variant = match &model.rule.variant {
        Some(variant) => format!("variant {variant}"),
        None => "all variants that walk in order".into(),
    };
    let columns = who.into_iter().chain(class_columns()).chain([Column::words("which")]);
    Table::new(format!("Bandwidth classes: {}, {variant}", judged(model)), columns, rows)
        .with_notes(notes(model, of))
}

/// The columns of classes, but for the one that names their pairs.
pub(crate) fn class_columns() -> [Column; 6] {
    [
        Column::words("class"),
        Column::of("max", Unit::GbPerS),
        Column::of("min", Unit::GbPerS),
        Column::of("alpha", Unit::One),
        Column::of("of class 0", Unit::One),
        Column::words("pairs"),
    ]
}

/// What stands in them.
pub(crate) fn class_cells<Pair>(class: &Class<Pair>) -> [Cell; 6] {
    [
        Cell::text(class.class),
        Cell::Figure(rate(class.max)),
        Cell::Figure(rate(class.min)),
        Cell::figure(class.alpha.map(alpha_figure)),
        Cell::Figure(alpha_figure(class.alpha_relative)),
        Cell::text(class.pairs.len()),
    ]
}

pub(crate) fn rate(bytes_per_s: f64) -> Figure {
    Figure::new(bytes_per_s / 1e9, None, Unit::GbPerS)
}

/// An alpha, or what is computed from alphas, with four digits as papers print them.
pub(crate) fn alpha_figure(alpha: f64) -> Figure {
    Figure { text: format_significant(alpha, 4), ..Figure::new(alpha, None, Unit::One) }
}

/// `9.29 - 9.26`.
fn range_words(max: f64, min: f64) -> String {
    let (max, min) = (rate(max).text, rate(min).text);
    if max == min { max } else { format!("{max} - {min}") }
}

/// What to know of a class, in brackets behind its pairs.
pub(crate) fn class_marks<Pair>(class: &Class<Pair>) -> String {
    let marks = [
        (class.wide, "spans over 10 %"),
        (class.widened_by_noise, "wider by noise"),
        (class.border_within_noise, "the next class is within the noise"),
    ];
    let words: Vec<&str> =
        marks.into_iter().filter_map(|(holds, word)| holds.then_some(word)).collect();
    if words.is_empty() { String::new() } else { format!(" [{}]", words.join("; ")) }
}

/// What alphas are relative to.
pub(crate) fn alpha_note(maximum: &Outcome<TheoreticalMaximum>) -> String {
    match maximum.as_result() {
        Ok(maximum) => format!("alpha = maximum / {}.", maximum_words(maximum)),
        Err(unknown) => format!("alpha is unknown: {unknown}."),
    }
}

/// `17.07 GB/s (DDR3-2133, one channel; JEDEC ..)`, `51.20 GB/s (given)`.
pub(crate) fn maximum_words(maximum: &TheoreticalMaximum) -> String {
    let gb_per_s = format_significant(maximum.gb_per_s(), 4);
    let scope = match maximum.scope {
        Scope::Channel => ", one channel",
        Scope::Stack => ", one stack",
        Scope::Node => ", one memory node",
        Scope::Link => ", one link",
        Scope::Given => return format!("{gb_per_s} GB/s (given)"),
    };
    format!("{gb_per_s} GB/s ({}{scope}; {})", maximum.name, maximum.source)
}

/// How many rounds a pair has, and what they say of noise.
pub(crate) fn rounds_note(fewest: usize, noise: Option<f64>) -> String {
    match noise {
        Some(noise) => {
            format!("Rounds of a pair: {fewest} or more, which scatter by {}.", percent(noise))
        }
        None => "One round a pair: their noise is not known.".into(),
    }
}

/// How far a class may span.
pub(crate) fn span_words(span: f64) -> String {
    format!(
        "A class spans at most {} % of its maximum and what noise explains",
        significant(span * 100.0, 2)
    )
}

fn percent(fraction: f64) -> String {
    format!("{} %", format_significant(100.0 * fraction, 2))
}

fn notes(model: &Classes, who: &Who) -> Vec<String> {
    let own = if model.rule.per_group { "; each group of CPUs alone" } else { "" };
    let mut notes = vec![
        span_words(model.rule.span) + own + ".",
        alpha_note(&model.gamma),
        rounds_note(model.fewest_rounds, model.noise),
    ];
    notes.extend(left_out(model, who));
    notes.extend(model.notes.iter().map(|note| note_words(note, model, who)));
    notes
}

fn left_out(model: &Classes, who: &Who) -> Vec<String> {
    let (refused, missing): (Vec<&LeftOut>, Vec<&LeftOut>) =
        model.left_out.iter().partition(|out| out.refused.is_some());
    let name = |out: &&LeftOut| pair_name(model.group_by, out.cpu_group, out.memory_node, who);
    let words = |of: &[&LeftOut], why: &str| {
        let (pairs, names) = (count(of.len(), "pair"), some(of.iter().map(name)));
        format!("{pairs} left out because {why}: {names}")
    };
    let mut notes = Vec::new();
    if let Some(reason) = refused.first().and_then(|first| first.refused.as_deref()) {
        notes.push(format!("{} ({reason}).", words(&refused, "the machine refused")));
    }
    if !missing.is_empty() {
        notes.push(words(&missing, "not measured with these kernels and threads") + ".");
    }
    notes
}

fn note_words(note: &ClassNote, model: &Classes, who: &Who) -> String {
    let kind = model.group_by;
    let of = |index: &Option<u32>| {
        index.map_or_else(String::new, |index| format!(" of {}", cpu_group(kind, index, who)))
    };
    let error = || percent(model.standard_error.unwrap_or_default());
    match note {
        ClassNote::AllLocal => {
            "All pairs are of cores and memory of their own: nothing here is remote.".into()
        }
        ClassNote::AllRemote => {
            "No pair is of cores and memory of their own: class 0 here is remote.".into()
        }
        ClassNote::FewerThreads { cpu_groups } => {
            let fewer = cpu_groups.iter().map(|it| {
                format!(
                    "{} of {} cores of {}",
                    it.threads,
                    it.cores,
                    cpu_group(kind, it.index, who)
                )
            });
            format!("All threads are here the most that were measured: {}.", some(fewer))
        }
        ClassNote::FewRounds { enough } => format!(
            "A pair has {} only; classes of single runs go wrong, and braithwaite2012 takes the best \
             of at least {enough}.",
            count(model.fewest_rounds, "round")
        ),
        ClassNote::Disturbed { pairs } => format!(
            "{} on disturbed windows only: {}.",
            if pairs.len() == 1 {
                "1 pair rests".into()
            } else {
                format!("{} pairs rest", pairs.len())
            },
            some(pairs.iter().map(|pair| pair_name(kind, pair.index, pair.memory_node, who)))
        ),
        ClassNote::UnknownNoise => "With one round a pair the scatter of rounds is unknown, and \
                                    classes that it alone separates are not merged."
            .into(),
        ClassNote::MuchNoise { pairs, spread } => format!(
            "The scatter of rounds alone spreads the {pairs} pairs of the largest class over {}: \
             measure more rounds (--samples).",
            percent(*spread)
        ),
        ClassNote::Widened { index, class, span, pairs } => format!(
            "Class {class}{} spans {}: wider than {}, which a standard error of {} in each of its {} \
             explains.",
            of(index),
            percent(*span),
            percent(model.rule.span),
            error(),
            count(*pairs, "pair")
        ),
        ClassNote::ArbitraryBorders { least_gap, above } => format!(
            "Arbitrary {}, between classes {}: the gap is less than {least_gap} standard errors ({} \
             each), so that they are a continuum and not levels.",
            if above.len() == 1 { "border" } else { "borders" },
            some(
                above
                    .iter()
                    .map(|it| { format!("{} and {}{}", it.class, it.class + 1, of(&it.index)) })
            ),
            error()
        ),
    }
}

/// `CPUs 0-3 on node 2`.
fn pair_name(kind: GroupBy, index: u32, memory_node: u32, who: &Who) -> String {
    format!("{} on node {memory_node}", cpu_group(kind, index, who))
}

/// The first few of many.
fn some(names: impl ExactSizeIterator<Item = String>) -> String {
    const SHOWN: usize = 4;
    let more = names.len().saturating_sub(SHOWN);
    let shown: Vec<String> = names.take(SHOWN).collect();
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}

/// What other kernels and thread counts give on the pairs of each class; of classes of every
/// group of CPUs a note, since the table would be as wide as the machine has groups of CPUs.
fn others(model: &Classes) -> (Option<Table>, Option<String>) {
    type Kind<'a> = (&'a str, ThreadChoice);
    fn kind(figure: &ClassFigure) -> Kind<'_> {
        (&figure.kernel, figure.threads)
    }
    let mut kinds: Vec<Kind<'_>> = Vec::new();
    for figure in all(model).flat_map(|(_, class)| &class.others) {
        if !kinds.contains(&kind(figure)) {
            kinds.push(kind(figure));
        }
    }
    if kinds.is_empty() {
        return (None, None);
    }
    if model.rule.per_group {
        let note = "What other kernels and thread counts give on the same pairs is in --json, and \
                    without --per-group in a table.";
        return (None, Some(note.into()));
    }
    let cell = |class: &Class, of: Kind<'_>| {
        let figure = class.others.iter().find(|figure| kind(figure) == of);
        figure.map_or(Cell::Empty, |it| {
            let mark = if it.only_disturbed { "!" } else { "" };
            Cell::text(format!("{}{mark}", range_words(it.max, it.min)))
        })
    };
    let row = |&of: &Kind<'_>| {
        let label = Cell::text(format!("{}, {}", of.0, of.1));
        std::iter::once(label).chain(all(model).map(|(_, class)| cell(class, of))).collect()
    };
    let classes = all(model).map(|(_, class)| Column::words(format!("class {}", class.class)));
    let table = Table::new(
        "The same pairs by other kernels and thread counts, GB/s",
        std::iter::once(Column::words("")).chain(classes),
        kinds.iter().map(row),
    );
    let mut figures = all(model).flat_map(|(_, class)| &class.others);
    let note =
        figures.any(|it| it.only_disturbed).then_some("! every sample of a pair was disturbed.");
    (Some(table.with_notes(note.map(String::from))), None)
}
