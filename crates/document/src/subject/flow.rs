//! What streams get that share the parts of a machine, by the flow model.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::NodeSet;
use nearfar_model::{
    Fitted, FlowErrors, FlowPlacement, FlowSummary, JudgedCases, JudgedErrors, MachinePart, Mix,
    PartCapacity, PlacementKind, PlacementLimit,
};
use nearfar_units::{BytesPerSecond, Quantity, Ratio};

use super::figures::{count, rounded, significant};
use super::who::Who;
use crate::document::Section;
use crate::figure::{Counted, Figure, Unit};
use crate::table::{Cell, Column, GB, Table, WORDS};

/// Fewer cases say little of an error.
const FEW: usize = 4;

/// What was measured of streams at the same time, and what the model makes of it.
pub(crate) fn section(mixes: &[Mix], model: Option<&FlowSummary>, who: &Who) -> Section {
    let measured =
        "Random sets of concurrent streams over the whole machine: the bandwidth of each.";
    let measured = (!mixes.is_empty()).then(|| measured.to_string());
    let about: Vec<String> = measured.into_iter().chain(model.map(law)).collect();
    let of_model = model.into_iter().flat_map(|model| tables(model, who));
    let tables = streams(mixes, who).unless_empty().into_iter().chain(of_model).collect();
    Section::new("mixes", "Several streams at once", about.join(" "), tables)
        .with_findings(model.map(|model| findings(model, who)).unwrap_or_default())
}

fn streams(mixes: &[Mix], who: &Who) -> Table {
    let all = mixes.iter().flat_map(|mix| mix.streams.iter().map(move |stream| (mix, stream)));
    let rows = all.map(|(mix, stream)| {
        let cpus = stream.initiator.map_or_else(|| "several groups".into(), |it| who.cpus(it));
        let bandwidth = stream.bandwidth.as_ref().map(Figure::sum);
        vec![
            Cell::text(mix.index),
            Cell::Text(format!("{cpus}, {}", count(stream.threads as usize, "thread"))),
            Cell::Text(format!("{} {}", stream.kernel, stream.variant)),
            Cell::text(&stream.memory),
            Cell::of(&mix.case, bandwidth, Counted::ActorBytes(stream.actor)),
        ]
    });
    let columns = Column::all(
        ["set", "CPUs", "kernel", "memory", "bandwidth"],
        [WORDS, WORDS, WORDS, WORDS, GB],
    );
    Table::new("Streams of each set", columns, rows)
}

fn law(model: &FlowSummary) -> String {
    format!(
        "Flow model of {} ({}), useful GB/s: streams share paths, controllers, issue limits and \
         links, which fill up smoothly (p = {}) and are divided with fairness {} (0: every thread \
         alike, 1: by demand). In brackets: a lower bound, as no case reaches it.",
        model.kernel.kernel,
        model.kernel.variant,
        exponent(&model.saturation),
        exponent(&model.fairness),
    )
}

fn tables(model: &FlowSummary, who: &Who) -> Vec<Table> {
    let asked = model.one_thread.iter().map(|it| (it.initiator, it.memory_node, &it.demand));
    let paths = model.parts.iter().filter_map(|it| match it.part {
        MachinePart::Path { initiator, memory_node } => {
            Some((initiator, memory_node, &it.capacity))
        }
        _ => None,
    });
    let tables = [
        Some(pair_table("Demand of one thread", asked, who)),
        Some(pair_table("What a path carries", paths, who)),
        shared_parts(model, who),
        Some(error_table(model)),
    ];
    tables.into_iter().flatten().collect()
}

/// Initiators against nodes.
fn pair_table<'a>(
    caption: &str,
    cells: impl Iterator<Item = (u32, u32, &'a Fitted<BytesPerSecond>)>,
    who: &Who,
) -> Table {
    let cells: BTreeMap<(u32, u32), Cell> = cells
        .map(|(initiator, node, rate)| {
            ((initiator, node), Cell::Figure(bounded(rate, Figure::plain(rate.value))))
        })
        .collect();
    let initiators: BTreeSet<u32> = cells.keys().map(|(initiator, _)| *initiator).collect();
    let nodes: BTreeSet<u32> = cells.keys().map(|(_, node)| *node).collect();
    let row = |initiator: &u32| {
        let cell = |node: &u32| cells.get(&(*initiator, *node)).cloned().unwrap_or(Cell::Empty);
        let first = std::iter::once(Cell::Text(who.label(*initiator)));
        first.chain(nodes.iter().map(cell)).collect()
    };
    let of_node = |node: &u32| Column::of(format!("node {node}"), Unit::GbPerS);
    Table::new(
        caption,
        std::iter::once(Column::words("")).chain(nodes.iter().map(of_node)),
        initiators.iter().map(row),
    )
}

fn shared_parts(model: &FlowSummary, who: &Who) -> Option<Table> {
    let is_path = |it: &&PartCapacity| matches!(it.part, MachinePart::Path { .. });
    let row = |it: &PartCapacity| {
        let Fitted { value, interval, is_bound } = it.capacity;
        let interval = is_bound.then(|| interval.map(Quantity::in_unit));
        let figure = Figure::new(value.in_unit(), interval, Unit::GbPerS);
        vec![Cell::Text(part_words(&it.part, who)), Cell::Figure(bounded(&it.capacity, figure))]
    };
    let rows: Vec<Vec<Cell>> = model.parts.iter().filter(|it| !is_path(it)).map(row).collect();
    let ratio = |it: &nearfar_model::KernelRatio| {
        format!(
            "{} ({}) moves {} times the useful bytes of {} through the same full parts.",
            it.kernel.kernel,
            it.kernel.variant,
            exponent(&it.bytes),
            model.kernel.kernel
        )
    };
    let notes: Vec<String> = model.kernels.iter().map(ratio).collect();
    (!rows.is_empty() || !notes.is_empty()).then(|| {
        Table::new("What shared parts carry", Column::all(["part", "carries"], [WORDS, GB]), rows)
            .with_notes(notes)
    })
}

/// A number that no case binds stands in brackets.
fn bounded<U>(fitted: &Fitted<U>, figure: Figure) -> Figure {
    if fitted.is_bound { figure } else { figure.bracketed() }
}

fn error_table(model: &FlowSummary) -> Table {
    let row = |it: &JudgedErrors| {
        let words = match it.cases_are {
            JudgedCases::Fitted => "fitted",
            JudgedCases::HeldOut => "not fitted",
            JudgedCases::LeftOut => "leave-one-out",
        };
        let errors = &it.errors;
        let words = [errors.experiment.to_string(), words.into()];
        let counts = [errors.cases.to_string(), errors.streams.to_string()];
        let errors = [errors.mean, errors.worst].map(percents);
        words.into_iter().chain(counts).chain(errors).map(Cell::Text).collect()
    };
    let names = ["cases of", "", "cases", "streams", "mean error", "worst"];
    Table::new(
        "How far the model's streams are off",
        names.map(Column::words),
        model.errors.iter().map(row),
    )
}

/// What to do about it.
pub(crate) fn findings(model: &FlowSummary, who: &Who) -> Vec<String> {
    let mut sentences = Vec::new();
    let own = placement(model, PlacementKind::OwnNodes);
    if let Some(own) = own {
        sentences.push(format!(
            "All CPUs on their own node, all cores: expect {} in total; {}.",
            expected(own),
            limit_words(model, own.limit.as_ref(), who)
        ));
    }
    if let (Some(own), Some(all)) = (own, placement(model, PlacementKind::AllNodes)) {
        sentences.push(format!(
            "Interleaving all pages over {} instead: expect {}, {}; {}.",
            interleaved_over(model),
            expected(all),
            against(model, all, own),
            limit_words(model, all.limit.as_ref(), who)
        ));
    }
    if let (Some(own), Some(other)) = (own, placement(model, PlacementKind::OtherPackages)) {
        sentences.push(format!(
            "If every package's data lies in other packages: expect {}, {}; {}.",
            expected(other),
            against(model, other, own),
            limit_words(model, other.limit.as_ref(), who)
        ));
    }
    sentences.extend(one_node(model));
    sentences.extend(links(model));
    sentences.extend(trust(model));
    if model.lone_variant != model.kernel.variant {
        sentences.push(format!(
            "Where the record has no lone figures of {} ({variant}), those of {} are used instead, \
             which is valid where both are memory-bound; `{} --isa {variant}` measures them in one \
             variant.",
            model.kernel.kernel,
            model.lone_variant,
            model.more_cases,
            variant = model.kernel.variant
        ));
    }
    if !model.has_converged {
        sentences.push(
            "The fit did not converge in 12 steps: its parameters may be off by more than their \
             intervals; the errors above are those of this fit."
                .into(),
        );
    }
    sentences
}

fn placement(model: &FlowSummary, kind: PlacementKind) -> Option<&FlowPlacement> {
    model.placements.iter().find(|it| it.kind == kind)
}

/// The nodes of [`PlacementKind::AllNodes`]: not all where some have another kind of memory than those
/// with CPUs.
fn interleaved_over(model: &FlowSummary) -> String {
    let ordinary = model.placements.iter().filter_map(|it| match it.kind {
        PlacementKind::OneNode { memory_node } => Some(memory_node),
        _ => None,
    });
    let ordinary: NodeSet = ordinary.collect();
    let is_of_all = model.one_thread.iter().all(|it| ordinary.contains(it.memory_node));
    if is_of_all { "all nodes".into() } else { format!("nodes {ordinary}") }
}

/// The answer in a sentence.
pub(crate) fn answer(model: &FlowSummary) -> Option<String> {
    let rate = |kind| Some(shown(best_known(placement(model, kind)?)));
    let own = rate(PlacementKind::OwnNodes)?;
    let all = rate(PlacementKind::AllNodes)
        .map(|it| format!(", {it} interleaved over {}", interleaved_over(model)));
    Some(format!(
        "All cores reach {own} GB/s on their own nodes{} ({}; expect streams within {}).",
        all.unwrap_or_default(),
        model.kernel.kernel,
        percents(model.trust.interval_error)
    ))
}

/// How far to believe it.
fn trust(model: &FlowSummary) -> Vec<String> {
    let trust = &model.trust;
    let sentence = |judged: &FlowErrors| {
        let few = format!(" Few cases for an error: `{}` measures more.", model.more_cases);
        format!(
            "Leave-one-out error of a stream of {}: {} on average, {} at worst ({}). Model error, \
             the largest mean above: {} ({}). 95 of 100 predictions are expected within {}; differences below {} \
             are not significant.{}",
            judged.experiment,
            percents(judged.mean),
            percents(judged.worst),
            count(judged.streams, "stream"),
            percents(trust.model_error),
            trust.judged_by,
            percents(trust.interval_error),
            percents(trust.least_difference_share),
            if judged.cases < FEW { few.as_str() } else { "" }
        )
    };
    let judged = model.errors.iter().find(|it| it.cases_are == JudgedCases::LeftOut);
    let left = model.not_foretold_cases;
    let more = (left > 0).then(|| {
        let cases = count(left, "case");
        format!("{cases} cannot be predicted from the others: not counted in these errors.")
    });
    judged.map(|it| sentence(&it.errors)).into_iter().chain(more).collect()
}

fn limit_words(model: &FlowSummary, limit: Option<&PlacementLimit>, who: &Who) -> String {
    let Some(limit) = limit else {
        return "latency-bound: more threads would help".into();
    };
    let capacity = model.parts.iter().find(|it| it.part == limit.part);
    let of = capacity.map_or_else(String::new, |it| {
        let capacity = shown(it.capacity.value);
        format!(" (it carries {} of its {capacity} GB/s)", percents(limit.filled_share))
    });
    let whom = if limit.initiators.is_empty() {
        String::new()
    } else {
        let cpus = who.all_cpus(limit.initiators.iter().copied());
        format!("; {} limit {cpus} first", kind_words(&limit.part))
    };
    format!("limited by {}{of}{whom}", part_words(&limit.part, who))
}

/// All parts of a part's kind.
fn kind_words(part: &MachinePart) -> &'static str {
    match part {
        MachinePart::Path { .. } => "the paths",
        MachinePart::Controller { .. } => "the memory controllers",
        MachinePart::Issue { .. } => "the cores' issue limits",
        MachinePart::Link { .. } | MachinePart::InitiatorLink { .. } => "the links",
        MachinePart::Channels { .. } => "the memory channels",
    }
}

/// What a placement gains or costs against another, where the model can tell.
fn against(model: &FlowSummary, one: &FlowPlacement, other: &FlowPlacement) -> String {
    let gain = best_known(one) / best_known(other) - 1.0;
    if one.measured.is_some() && other.measured.is_some() {
        return format!("{} vs own nodes, both as measured", signed(gain));
    }
    let least = model.trust.least_difference_share;
    if gain.abs() < least {
        return format!(
            "no significant difference ({}; significant from {} on)",
            signed(gain),
            percents(least)
        );
    }
    format!("{} vs own nodes", signed(gain))
}

fn one_node(model: &FlowSummary) -> Option<String> {
    let node = |it: &FlowPlacement| match it.kind {
        PlacementKind::OneNode { memory_node } => Some(memory_node),
        _ => None,
    };
    let of_nodes = model.placements.iter().filter_map(|it| Some((node(it)?, it)));
    let mut of_nodes: Vec<(u32, &FlowPlacement)> = of_nodes.collect();
    of_nodes.sort_by(|(_, a), (_, b)| best_known(a).0.total_cmp(&best_known(b).0));
    let ((slow, least), (fast, most)) = (of_nodes.first()?, of_nodes.last()?);
    Some(format!(
        "All cores on one node's memory: expect {} on node {slow} up to {} on node {fast}; if a \
         program of all cores asks for more, spread its data (interleave, or first touch by its \
         users).",
        expected(least),
        expected(most),
    ))
}

fn links(model: &FlowSummary) -> Vec<String> {
    let sentence = |it: &PartCapacity| {
        let MachinePart::Link { from_package: from, to_package: to } = it.part else { return None };
        let [low, high] = it.capacity.interval.map(shown);
        Some(if it.capacity.is_bound {
            format!(
                "The cores of package {from} reach at most {} GB/s ({low} to {high}) of package \
                 {to}'s memory together: keep threads and data in one package where they ask for \
                 more.",
                shown(it.capacity.value),
            )
        } else {
            format!(
                "No case saturates the link from package {from} to package {to}: paths and \
                 controllers saturate before it."
            )
        })
    };
    model.parts.iter().filter_map(sentence).collect()
}

/// `the controller of node 3`.
pub(crate) fn part_words(part: &MachinePart, who: &Who) -> String {
    match part {
        MachinePart::Path { initiator, memory_node } => {
            format!("the path from {} to node {memory_node}", who.cpus(*initiator))
        }
        MachinePart::Controller { memory_node } => format!("the controller of node {memory_node}"),
        MachinePart::Issue { initiator } => format!("the issue limit of {}", who.cpus(*initiator)),
        MachinePart::Link { from_package, to_package } => {
            format!("the link from package {from_package} to package {to_package}")
        }
        MachinePart::InitiatorLink { initiator, to_package } => {
            format!("the link from {} to package {to_package}", who.cpus(*initiator))
        }
        MachinePart::Channels { package, memory_kind } => {
            format!("the {memory_kind} channels of package {package}")
        }
    }
}

fn shown(rate: BytesPerSecond) -> String {
    significant(rate.in_unit(), 3)
}

fn exponent(number: &Fitted<Ratio>) -> String {
    let [low, high] = number.interval.map(|end| significant(end.0, 2));
    let told = if number.is_bound { "" } else { "; not constrained by any case" };
    format!("{} ({low} to {high}{told})", significant(number.value.0, 2))
}

/// What was measured, else what is predicted.
fn best_known(placement: &FlowPlacement) -> BytesPerSecond {
    placement.measured.unwrap_or(placement.total.value)
}

/// `240 GB/s (230 to 250)`; `238 GB/s as measured (the model: 240)`.
fn expected(placement: &FlowPlacement) -> String {
    let predicted = shown(placement.total.value);
    if let Some(measured) = placement.measured {
        return format!("{} GB/s as measured (the model: {predicted})", shown(measured));
    }
    let [low, high] = placement.total.ends().map(shown);
    format!("{predicted} GB/s ({low} to {high})")
}

pub(crate) fn percents(fraction: f64) -> String {
    format!("{} %", rounded(fraction * 100.0, 1))
}

/// Over or under something else.
pub(crate) fn signed(fraction: f64) -> String {
    let size = percents(fraction.abs());
    let sign = match fraction {
        _ if size == percents(0.0) => "",
        fraction if fraction < 0.0 => "-",
        _ => "+",
    };
    format!("{sign}{size}")
}
