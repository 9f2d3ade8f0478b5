//! Bandwidth classes: the few levels into which the pairs of a machine fall.
//! Units: useful bytes/s.          Source: braithwaite2012, sections 3.4 and 4.1.
//! A pair counts by its best round of the best of kernels and variants: what disturbs
//! only lowers, and single runs cannot be classed. The rule and its error rates are
//! in `docs/models/classes.md`.
//! Holds when: a machine has levels, at least a tenth apart, and every pair five rounds.
//! Fails when: bandwidth is a continuum; a border is then where the span put it, which
//! `border_within_noise` shows when noise alone bridges it.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::{GroupBy, NodePosition, TheoreticalMaximum};
use nearfar_record::{Estimate, Experiment, Outcome, Record};
use nearfar_stats::{PartitionRule, deviation_of_largest, partition, pooled_deviation};
use nearfar_units::{BytesPerSecond, format_significant, serialize_gb_per_s};
use serde::Serialize;

use crate::class_notes::{ClassNote, Judged, LeftOut, notes};
use crate::class_rule::{ClassRule, ThreadChoice};
use crate::inapplicable::{Inapplicable, adding_command, measuring_command};
use crate::pair_groups::{PairGroup, pair_groups, positions};
use crate::pairs::{Cell, Figure, Pairs, pairs};
use crate::record_figures::RecordFigures;

/// What gives a theoretical maximum where the record does not.
const GAMMA_REMEDY: &str =
    "give the theoretical maximum by --gamma, for example DDR4-3200x8 or 204.8GB/s";

/// The classes of a record.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Classes {
    /// How CPUs were grouped.
    pub group_by: GroupBy,
    /// Kernels of which a pair's best counts.
    pub kernels: Vec<String>,
    /// Kernels that would count and of which the record holds no figure, by these threads and this
    /// variant.
    pub absent_kernels: Vec<String>,
    #[serde(flatten)]
    pub rule: ClassRule,
    /// What alphas are relative to.
    pub gamma: Outcome<TheoreticalMaximum>,
    /// Pooled relative standard deviation of a pair's rounds; null with one round each.
    pub noise: Option<f64>,
    /// Relative standard error of a pair's best round, which is that deviation times
    /// what is left of it in the best of as many rounds as pairs have; null as above.
    pub standard_error: Option<f64>,
    /// Fewest rounds that a pair has; the thesis asks for five.
    pub fewest_rounds: usize,
    /// One set, or one for each group of CPUs.
    pub sets: Vec<ClassSet>,
    /// Pairs that the record knows and that are in no class, by group of CPUs, then by node.
    pub left_out: Vec<LeftOut>,
    /// What to know about them.
    pub notes: Vec<ClassNote>,
}

/// Classes that belong together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassSet {
    /// The group of CPUs whose classes these are; null for the whole machine.
    #[serde(rename = "index")]
    pub cpu_group: Option<u32>,
    /// The fastest first.
    pub classes: Vec<Class>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Class<Pair = ClassPair> {
    /// 0 is the fastest.
    pub class: usize,
    /// Best value of its pairs, useful bytes.
    #[serde(rename = "max_gb_per_s", serialize_with = "serialize_gb_per_s")]
    pub max: f64,
    /// Lowest best value of its pairs, useful bytes.
    #[serde(rename = "min_gb_per_s", serialize_with = "serialize_gb_per_s")]
    pub min: f64,
    /// Maximum / theoretical maximum (eq. 4.3 of braithwaite2012); null where that is not known. One that
    /// the user gives and that is exceeded is refused; by the memory modules it is above 1 where the
    /// system names too few.
    pub alpha: Option<f64>,
    /// Maximum / maximum of class 0.
    pub alpha_relative: f64,
    /// Whether it spans more than ten percent.
    pub wide: bool,
    /// Whether it is wider than the rule's span because the scatter of rounds explains the rest.
    pub widened_by_noise: bool,
    /// Whether the border to the next slower class is within the noise, so that the
    /// two are a continuum and not two levels.
    pub border_within_noise: bool,
    /// Its pairs, by group of CPUs or device, then by node.
    pub pairs: Vec<Pair>,
    /// The same pairs of groups of CPUs and memory nodes, in few groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<PairGroup>,
    /// What other kernels and thread counts give on the same pairs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<ClassFigure>,
}

/// A pair of a group of CPUs and a memory node.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassPair {
    /// The CPU group's number.
    #[serde(rename = "index")]
    pub cpu_group: u32,
    pub initiator: u32,
    /// The initiator's lowest node with CPUs, or null.
    pub cpu_node: Option<u32>,
    /// The node that is accessed.
    pub memory_node: u32,
    #[serde(flatten)]
    pub position: NodePosition,
    /// Best round, useful bytes.
    #[serde(rename = "best_gb_per_s", serialize_with = "serialize_gb_per_s")]
    pub best: f64,
    /// Median over rounds, useful bytes.
    #[serde(rename = "median_gb_per_s")]
    pub median: Estimate<BytesPerSecond>,
    /// Kernel that gave the best.
    pub kernel: String,
    /// Variant that gave the best.
    pub variant: String,
    pub threads: u32,
    pub rounds: usize,
}

/// A kernel at one thread or all, on the pairs of a class.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassFigure {
    pub kernel: String,
    pub threads: ThreadChoice,
    /// Best value of the class's pairs, useful bytes.
    #[serde(rename = "max_gb_per_s", serialize_with = "serialize_gb_per_s")]
    pub max: f64,
    /// Lowest best value of the class's pairs, useful bytes.
    #[serde(rename = "min_gb_per_s", serialize_with = "serialize_gb_per_s")]
    pub min: f64,
    /// Whether something disturbed every sample of one of these pairs.
    pub only_disturbed: bool,
}

/// The best of many rounds may be above what memory carries by so much.
const ABOVE_BY_NOISE: f64 = 1.02;

/// Why a record has no classes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoClasses {
    #[error("the record holds no samples of pairs; `{0}` measures them")]
    NoPairs(String),
    #[error("{}{}", .0.why, measures(.0))]
    NotMeasured(Inapplicable),
    #[error(
        "the fastest pair moves {fastest}, more than --gamma {gamma}: alpha would be {alpha}, and no \
         memory exceeds its theoretical maximum; give that of a whole node (DDR4-3200x8: eight \
         channels), or leave --gamma out"
    )]
    AboveGamma { fastest: String, gamma: String, alpha: String },
    #[error("the class span {0} is not above 0 and below 1; ten percent is 0.10")]
    Span(String),
}

/// What measures pairs by a kernel of the rule: one has to be asked for where the record's are others.
fn command_for(record: &Record, rule: &ClassRule, has_others: bool) -> String {
    let inputs = &record.header.inputs;
    let pairs = [Experiment::Pairs];
    let asked = inputs.kernels.as_ref();
    let is_asked = |kernel| asked.map_or(!has_others, |asked| asked.contains(kernel));
    match rule.kernels.first() {
        Some(kernel) if !rule.kernels.iter().any(is_asked) => {
            format!("{} --kernel {kernel}", adding_command(record, &pairs, inputs.suite))
        }
        _ => measuring_command(record, &pairs, inputs.suite),
    }
}

fn measures(lacking: &Inapplicable) -> String {
    let command = lacking.remedy.as_ref();
    command.map_or_else(String::new, |command| format!("; `{command}` measures them"))
}

/// The classes of a record.
///
/// # Errors
/// When the record holds nothing to class, or the rule's span is no fraction.
pub fn classes(figures: &RecordFigures<'_>, rule: &ClassRule) -> Result<Classes, NoClasses> {
    if !(rule.span > 0.0 && rule.span < 1.0) {
        return Err(NoClasses::Span(rule.span.to_string()));
    }
    let record = figures.record();
    let matrix = pairs(figures);
    if matrix.cells().all(|(.., cell)| cell.figures.is_empty()) {
        return Err(NoClasses::NoPairs(command_for(record, rule, false)));
    }
    let most = most_threads(&matrix);
    let known = matrix.cells().map(|(cpu_group, node, ..)| (cpu_group, node)).collect();
    let positions = positions(record, &known);
    let (judged, left_out) = judge(&matrix, rule, &most, &positions);
    if judged.is_empty() {
        let asked = format!("{} by {}", rule.kernels.join(" or "), describe_choice(rule));
        let there = describe_content(&matrix);
        let has = |kernel: &String| matrix.cells().any(|(_, _, name, ..)| name == kernel);
        return Err(NoClasses::NotMeasured(Inapplicable {
            why: format!("the record holds no samples of {asked}; it holds {there}"),
            remedy: (!rule.kernels.iter().any(has)).then(|| command_for(record, rule, true)),
        }));
    }
    let scatter = Scatter::of(judged.iter().map(|it| (it.deviation, it.pair.rounds)));
    let Scatter { noise, standard_error, fewest_rounds } = scatter;

    let absent = |kernel: &String| {
        !matrix.cells().any(|(cpu_group, _, name, threads, cell)| {
            name == kernel
                && rule.has_threads(threads, most[&cpu_group])
                && best_figure(cell, rule).is_some()
        })
    };
    let (absent_kernels, kernels) = rule.kernels.iter().cloned().partition(absent);
    let machine = &record.header.machine;
    let gamma: Outcome<TheoreticalMaximum> = match &rule.gamma {
        Some(given) => Outcome::Found(given.clone()),
        None => TheoreticalMaximum::of_memory(machine)
            .map_err(|why| format!("{why}; {GAMMA_REMEDY}"))
            .into(),
    };
    let whole = gamma.found().map(|gamma| gamma.bytes_per_s);
    let fastest = judged.iter().map(|judged| judged.pair.best).fold(0.0, f64::max);
    if let Some(given) = &rule.gamma
        && fastest > given.bytes_per_s * ABOVE_BY_NOISE
    {
        return Err(NoClasses::AboveGamma {
            fastest: BytesPerSecond(fastest).to_string(),
            gamma: BytesPerSecond(given.bytes_per_s).to_string(),
            alpha: format_significant(fastest / given.bytes_per_s, 3),
        });
    }

    let mut groups: BTreeMap<Option<u32>, Vec<&Judged>> = BTreeMap::new();
    for judged in &judged {
        let cpu_group = rule.per_group.then_some(judged.pair.cpu_group);
        groups.entry(cpu_group).or_default().push(judged);
    }
    let of_group = |(cpu_group, group): (Option<u32>, Vec<&Judged>)| {
        let mut classes = part(
            &group,
            |judged| (&judged.pair, judged.pair.best),
            rule.span,
            standard_error,
            whole,
        );
        let ends = cpu_group.map_or((0, u32::MAX), |only| (only, only));
        let all = positions.range((ends.0, 0)..=(ends.1, u32::MAX));
        let all = all.map(|(&pair, &position)| (pair, position)).collect();
        for class in &mut classes {
            let of_class = class.pairs.iter().map(|pair| (pair.cpu_group, pair.memory_node));
            class.groups = pair_groups(&of_class.collect(), &all);
        }
        ClassSet { cpu_group, classes }
    };
    let mut sets: Vec<ClassSet> = groups.into_iter().map(of_group).collect();
    add_others(&mut sets, &matrix, rule, &most);
    let mut found = Classes {
        group_by: record.header.inputs.group_by,
        kernels,
        absent_kernels,
        rule: rule.clone(),
        gamma,
        noise,
        standard_error,
        fewest_rounds,
        sets,
        left_out,
        notes: Vec::new(),
    };
    found.notes = notes(&found, &judged, machine, &most);
    Ok(found)
}

/// The highest thread count that was planned for each group of CPUs.
fn most_threads(matrix: &Pairs) -> BTreeMap<u32, u32> {
    let mut most: BTreeMap<u32, u32> = BTreeMap::new();
    for (cpu_group, _, _, threads, _) in matrix.cells() {
        let known = most.entry(cpu_group).or_default();
        *known = threads.max(*known);
    }
    most
}

/// The pairs that the rule can judge, by group of CPUs, then by node, and those it cannot.
fn judge(
    matrix: &Pairs,
    rule: &ClassRule,
    most: &BTreeMap<u32, u32>,
    positions: &BTreeMap<(u32, u32), NodePosition>,
) -> (Vec<Judged>, Vec<LeftOut>) {
    let rows: BTreeMap<u32, _> = matrix.cpu_groups.iter().map(|row| (row.index, row)).collect();
    let mut best: BTreeMap<(u32, u32), Option<Judged>> = BTreeMap::new();
    let mut refused: BTreeMap<(u32, u32), String> = BTreeMap::new();
    for (cpu_group, node, kernel, threads, cell) in matrix.cells() {
        let place = best.entry((cpu_group, node)).or_default();
        if !rule.has_threads(threads, most[&cpu_group])
            || !rule.kernels.iter().any(|name| name == kernel)
        {
            continue;
        }
        if let Some(absent) = cell.refused.first() {
            refused.entry((cpu_group, node)).or_insert_with(|| absent.reason.text.clone());
        }
        let Some(figure) = best_figure(cell, rule) else { continue };
        if place.as_ref().is_some_and(|known| known.pair.best >= figure.summary.best_sum) {
            continue;
        }
        // Every case that has samples has a row.
        let (Some(row), Some(&position)) =
            (rows.get(&cpu_group), positions.get(&(cpu_group, node)))
        else {
            continue;
        };
        *place = Some(Judged {
            pair: ClassPair {
                cpu_group,
                initiator: row.initiator,
                cpu_node: row.cpu_node,
                memory_node: node,
                position,
                best: figure.summary.best_sum,
                median: Estimate::of_rounds(&figure.summary.sum, &figure.case),
                kernel: kernel.into(),
                variant: figure.variant.clone(),
                threads,
                rounds: figure.summary.sum.count,
            },
            deviation: figure.summary.deviation_between_rounds,
            only_disturbed: figure.summary.only_disturbed,
        });
    }
    let mut judged = Vec::new();
    let mut left_out = Vec::new();
    for ((cpu_group, memory_node), found) in best {
        match found {
            Some(found) => judged.push(found),
            None => left_out.push(LeftOut {
                cpu_group,
                memory_node,
                refused: refused.remove(&(cpu_group, memory_node)),
            }),
        }
    }
    (judged, left_out)
}

/// The variant (the rule's, or any that walks in order where there is one) with the highest round of a
/// cell. A figure that is not positive (nothing moved in any window) is none.
fn best_figure<'a>(cell: &'a Cell, rule: &ClassRule) -> Option<&'a Figure> {
    let in_order = cell.best().is_some_and(Figure::walks_in_order);
    cell.figures
        .iter()
        .filter(|figure| match &rule.variant {
            Some(name) => *name == figure.variant,
            None => figure.walks_in_order() == in_order,
        })
        .filter(|figure| figure.summary.best_sum > 0.0 && figure.summary.best_sum.is_finite())
        .max_by(|a, b| a.summary.best_sum.total_cmp(&b.summary.best_sum))
}

/// How far rounds of pairs scatter.
pub(crate) struct Scatter {
    /// Pooled relative standard deviation of a pair's rounds; `None` with one round each.
    pub noise: Option<f64>,
    /// Relative standard error of the best round of a pair with the usual number of them.
    pub standard_error: Option<f64>,
    /// Fewest rounds that a pair has.
    pub fewest_rounds: usize,
}

impl Scatter {
    /// Of the deviation and the number of each pair's rounds.
    pub fn of(pairs: impl Iterator<Item = (Option<f64>, usize)>) -> Self {
        let (mut deviations, mut rounds) = (Vec::new(), Vec::new());
        for (deviation, count) in pairs {
            deviations.extend(deviation.map(|deviation| (deviation, count)));
            rounds.push(count);
        }
        rounds.sort_unstable();
        let usual = rounds.get(rounds.len() / 2).copied().unwrap_or(0);
        let noise = pooled_deviation(&deviations);
        Self {
            noise,
            standard_error: noise.map(|noise| noise * deviation_of_largest(usual)),
            fewest_rounds: rounds.first().copied().unwrap_or(0),
        }
    }
}

/// The classes of what was judged: `pair_of` gives its pair and the value by which it counts,
/// bytes/s. `noise` is the relative standard error of a value, `whole` the theoretical maximum.
pub(crate) fn part<Judged, Pair: Clone>(
    judged: &[Judged],
    pair_of: impl Fn(&Judged) -> (&Pair, f64),
    span: f64,
    noise: Option<f64>,
    whole: Option<f64>,
) -> Vec<Class<Pair>> {
    let values: Vec<f64> = judged.iter().map(|judged| pair_of(judged).1).collect();
    // `None` is for values that are not let through to here.
    let parts = partition(&values, &PartitionRule { span, noise }).unwrap_or_default();
    let fastest = parts.first().map_or(f64::NAN, |part| part.max);
    parts
        .into_iter()
        .enumerate()
        .map(|(class, part)| Class {
            class,
            max: part.max,
            min: part.min,
            alpha: whole.map(|whole| part.max / whole),
            alpha_relative: part.max / fastest,
            wide: part.span() > WIDE,
            widened_by_noise: part.widened_by_noise,
            border_within_noise: part.border_within_noise,
            pairs: part.members.iter().map(|&index| pair_of(&judged[index]).0.clone()).collect(),
            groups: Vec::new(),
            others: Vec::new(),
        })
        .collect()
}

/// The thesis's rule: ten percent.
const WIDE: f64 = 0.10;

/// What each kernel gives at one thread and at all cores on the pairs of each class.
fn add_others(sets: &mut [ClassSet], matrix: &Pairs, rule: &ClassRule, most: &BTreeMap<u32, u32>) {
    let mut class_of: BTreeMap<(u32, u32), (usize, usize)> = BTreeMap::new();
    for (set, classes) in sets.iter().enumerate() {
        for (number, class) in classes.classes.iter().enumerate() {
            for pair in &class.pairs {
                class_of.insert((pair.cpu_group, pair.memory_node), (set, number));
            }
        }
    }
    /// Set and class, the kernel's number in the plan, whether at all cores.
    type Key = ((usize, usize), usize, bool);
    let mut figures: BTreeMap<Key, (f64, f64, bool)> = BTreeMap::new();
    for (cpu_group, node, kernel, threads, cell) in matrix.cells() {
        let one = threads == 1;
        let (Some(&class), true) =
            (class_of.get(&(cpu_group, node)), one || threads == most[&cpu_group])
        else {
            continue;
        };
        let Some(figure) = best_figure(cell, rule) else { continue };
        let order = matrix.kernels.iter().position(|name| name == kernel).unwrap_or(usize::MAX);
        let best = figure.summary.best_sum;
        let (high, low, disturbed) =
            figures.entry((class, order, !one)).or_insert((best, best, false));
        *high = high.max(best);
        *low = low.min(best);
        *disturbed |= figure.summary.only_disturbed;
    }
    for (((set, number), order, all), (max, min, only_disturbed)) in figures {
        let Some(kernel) = matrix.kernels.get(order) else { continue };
        let threads = if all { ThreadChoice::All } else { ThreadChoice::Count(1) };
        let judged = rule.threads == threads && rule.kernels == std::slice::from_ref(kernel);
        if !judged {
            let kernel = kernel.clone();
            let figure = ClassFigure { kernel, threads, max, min, only_disturbed };
            sets[set].classes[number].others.push(figure);
        }
    }
}

fn describe_choice(rule: &ClassRule) -> String {
    match &rule.variant {
        Some(variant) => format!("{} with {variant}", rule.threads),
        None => rule.threads.to_string(),
    }
}

fn describe_content(matrix: &Pairs) -> String {
    let (mut kernels, mut variants) = (BTreeSet::new(), BTreeSet::new());
    let mut threads = BTreeSet::new();
    for (_, _, kernel, count, cell) in matrix.cells() {
        for figure in &cell.figures {
            kernels.insert(kernel);
            threads.insert(count);
            variants.insert(figure.variant.as_str());
        }
    }
    let [kernels, variants] = [kernels, variants].map(|names| Vec::from_iter(names).join(", "));
    let threads: Vec<String> = threads.iter().map(u32::to_string).collect();
    format!("{kernels} by {} threads with {variants}", threads.join(", "))
}
