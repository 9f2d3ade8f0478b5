//! One instance of a program or several, by where their data lies: steps or bytes a second, and memory.

use nearfar_advise::{
    Arrangement, Arrangements, DataPlace, InstanceKind, InstanceQuestion, MOST_TOLERANCE, Room,
    Step,
};
use nearfar_machine::{MemoryPolicy, NodeSet};
use nearfar_record::{Estimate, Record};
use nearfar_units::{Bytes, PerSecond, Quantity, format_duration};
use serde::Serialize;

use super::advise::AdviceBasis;
use super::advise_text::{command_part, trust_words, why_not_narrower};
use super::figures::{gib, significant};
use super::flow::part_words;
use super::origin::Origin;
use crate::answer::{Answer, Part, Shown};
use crate::figure::Figure;
use crate::table::{Cell, Column, GB, PER_S, Table, WORDS};

/// Rows of the first screen.
const FIRST_ROWS: usize = 8;

/// What instances of a program get, by how many there are and where their data lies; `advise RECORD
/// --instances --json` and `predict RECORD --bytes-per-step --json` print it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArrangedInstances {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: Origin,
    pub basis: AdviceBasis,
    /// Bytes of the data of which each instance, or node, can have a copy; null where not known.
    pub data_bytes: Option<u64>,
    /// What an instance does in a step; null where bytes a second are told.
    pub step: Option<Step>,
    /// All last-level caches of the machine together; null where not known.
    pub last_level_cache_bytes: Option<u64>,
    /// The most steps, or bytes, of all instances together first.
    pub arrangements: Vec<Arrangement>,
    /// The position of the best for one instance, of those whose data fits; null where nothing fits.
    pub best_each: Option<usize>,
    /// The same for all instances together.
    pub best_together: Option<usize>,
    /// The position of one instance whose threads each read the same part in every step, where that gets
    /// more than the best for one instance by what the model can tell: not every program can.
    pub better_with_own_parts: Option<usize>,
    /// Whether, of one instance over all nodes, it matters where its data lies: the best gets more than the
    /// worst by what the model can tell. Null where there is one place.
    pub does_place_matter: Option<bool>,
}

impl ArrangedInstances {
    pub fn new(record: &Record, asked: &InstanceQuestion, found: Arrangements) -> Self {
        let whole = || found.all.iter().filter(|it| it.instances == InstanceKind::OneOverAll);
        let ends = whole().next().zip(whole().next_back());
        let does_place_matter = ends.map(|(most, least)| found.is_more(most, least, true));
        let best = found.best_each.and_then(|it| found.all.get(it));
        let is_better = |it: &Arrangement| {
            it.data == DataPlace::OwnParts
                && !matches!(it.room, Room::TooSmall { .. })
                && best.is_some_and(|best| found.is_more(it, best, false))
        };
        let better_with_own_parts = found.all.iter().position(is_better);
        let machine = &record.header.machine;
        let caches = machine.last_level_caches(&machine.cpus());
        let all_caches: Option<u64> = caches.iter().map(|cache| cache.bytes).sum();
        Self {
            schema: "nearfar.instances/1",
            measured: Origin::new(record),
            basis: AdviceBasis::of(&found.basis, &found.unmeasured),
            data_bytes: asked.data_bytes,
            step: asked.step,
            last_level_cache_bytes: all_caches.filter(|&bytes| bytes > 0),
            best_each: found.best_each,
            best_together: found.best_together,
            better_with_own_parts,
            does_place_matter,
            arrangements: found.all,
        }
    }

    /// For people.
    pub fn answer(&self) -> Answer {
        let mut said: Vec<Part> = self.says().into_iter().map(|it| Part::words("", it)).collect();
        let best = self.best_each.and_then(|it| self.arrangements.get(it));
        if let Some(weights) = best.and_then(|it| it.weights.clone()) {
            let pages = MemoryPolicy::Weighted(weights);
            said.insert(1, command_part(&format!("nearfar run --placement {pages} -- CMD")));
        }
        let notes = self.notes().into_iter().map(|it| Part::words("- ", it));
        self.measured
            .answer()
            .and_gap()
            .and_all(Shown::Always, said)
            .and_gap()
            .and_table(self.table(), FIRST_ROWS)
            .and_gap()
            .and_all(Shown::Always, notes)
    }

    fn says(&self) -> Vec<String> {
        let at = |place: Option<usize>| place.and_then(|it| self.arrangements.get(it));
        let Some((each, together)) = at(self.best_each).zip(at(self.best_together)) else {
            return vec!["The data fits nowhere on this machine.".into()];
        };
        let mut said = vec![format!(
            "One instance is fastest {}: {}{}.",
            self.label(each),
            self.rate(each, false),
            self.against(each)
        )];
        if self.best_together != self.best_each {
            let (label, all) = (self.label(together), self.rate(together, true));
            said.push(match together.count {
                1 => format!("All cores together get most from one instance {label}: {all}."),
                _ => {
                    let each = self.rate(together, false);
                    let who = match (is_uneven(together), together.count) {
                        (false, _) => "each",
                        (true, 2) => "the slower",
                        (true, _) => "the slowest",
                    };
                    format!("All cores together get most from {label}: {all}, {who} {each}.")
                }
            });
        }
        if let Some(own_parts) = at(self.better_with_own_parts) {
            said.push(format!(
                "A program whose threads each read the same part in every step gets more {}: {}.",
                self.label(own_parts),
                self.rate(own_parts, false)
            ));
        }
        if self.does_place_matter == Some(false) {
            let bound = each.steps.as_ref().is_some_and(|it| it.is_bound_by_compute);
            let why = if bound { ": its cores are what limits it" } else { "" };
            said.push(format!("Where its data lies makes no difference that can be told{why}."));
        }
        let too_large = self.arrangements.iter().find_map(|it| match it.room {
            Room::TooSmall { node, needed_bytes, usable_bytes } if it.copies > 1 => {
                Some((it, node, needed_bytes, usable_bytes))
            }
            _ => None,
        });
        if let Some((it, node, needed, usable)) = too_large {
            said.push(format!(
                "Too large: {}, {} for node {node}, which has {} for programs.",
                self.label(it),
                gib(needed),
                gib(usable)
            ));
        }
        said
    }

    /// What the best for one instance gets against one instance whose data lies on one node.
    fn against(&self, best: &Arrangement) -> String {
        let is_worst = |it: &&Arrangement| {
            (it.instances, it.data) == (InstanceKind::OneOverAll, DataPlace::OneNode)
        };
        let Some(worst) = self.arrangements.iter().rfind(is_worst) else { return String::new() };
        let ratio = match (&best.steps, &worst.steps) {
            (Some(best), Some(worst)) => best.each.value / worst.each.value,
            _ => best.each.value / worst.each.value,
        };
        if self.does_place_matter != Some(true) || ratio - 1.0 <= MOST_TOLERANCE {
            return String::new();
        }
        format!(", {} times what it gets {}", significant(ratio, 2), self.label(worst))
    }

    /// Which instances, and where their data lies.
    fn label(&self, it: &Arrangement) -> String {
        use {DataPlace as Data, InstanceKind as Kind};
        let nodes: NodeSet = it.memory_nodes.iter().copied().collect();
        let on = format!("node{} {nodes}", if nodes.len() == 1 { "" } else { "s" });
        // Where CPUs have several kinds of memory not all nodes are among them.
        let is_beyond = |other: &Arrangement| !other.memory_nodes.is_subset(&it.memory_nodes);
        let name = match (it.instances, it.data) {
            (Kind::OneOverAll, Data::Interleaved) if self.arrangements.iter().any(is_beyond) => {
                format!("interleaved over {on}")
            }
            (Kind::OneOverAll, Data::Interleaved) => "interleaved".into(),
            (Kind::OneOverAll, Data::OneNode) => format!("with data on {on}"),
            (Kind::OneOverAll, Data::Weighted) => format!("by weights on {on}"),
            (Kind::OneOverAll, Data::OwnParts) => "with own parts".into(),
            (Kind::OneOverAll, _) => "with a copy per node".into(),
            (Kind::OneOnNode | Kind::OneOnPackage, _) => format!("near {on}"),
            (Kind::OnePerPackage, _) => format!("{} instances, one per package", it.count),
            (Kind::OnePerNode, _) => format!("{} instances, one per node", it.count),
        };
        let is_same = |other: &&Arrangement| {
            (other.instances, other.data) == (it.instances, it.data)
                && !matches!(it.data, Data::OneNode | Data::Interleaved)
        };
        // Where CPUs have several kinds of memory.
        let name = match self.arrangements.iter().filter(is_same).count() {
            0 | 1 => name,
            _ => format!("{name}, {on}"),
        };
        match it.alike.len() {
            0 => name,
            alike => format!("{name} ({alike} alike)"),
        }
    }

    fn rate(&self, it: &Arrangement, is_together: bool) -> String {
        fn told<U: Quantity>(each: &Estimate<U>, all: &Estimate<U>, is_together: bool) -> Figure {
            Figure::of(if is_together { all } else { each })
        }
        match &it.steps {
            Some(steps) => {
                let figure = told(&steps.each, &steps.together, is_together);
                figure.words().replace(PerSecond::UNIT.as_str(), "steps/s")
            }
            None => told(&it.each, &it.together, is_together).words(),
        }
    }

    fn table(&self) -> Table {
        let limit = |it: &Arrangement| match (&it.limit, &it.steps) {
            (_, Some(steps)) if steps.is_bound_by_compute => "its cores".into(),
            (Some(part), _) => part_words(part, &self.measured.who),
            (None, _) if self.basis.trust.is_none() => "not known".into(),
            (None, _) => "latency".into(),
        };
        let row = |it: &Arrangement| {
            let room = if matches!(it.room, Room::TooSmall { .. }) { ", too much" } else { "" };
            let memory = it.bytes.map(|bytes| format!("{}{room}", Bytes(bytes)));
            let figures = match &it.steps {
                Some(steps) => [Figure::of(&steps.each), Figure::of(&steps.together)],
                None => [Figure::of(&it.each), Figure::of(&it.together)],
            };
            let [each, together] = figures.map(Cell::Figure);
            let memory = memory.unwrap_or_else(|| match it.copies {
                1 => "1 copy".into(),
                copies => format!("{copies} copies"),
            });
            vec![
                Cell::Text(self.label(it)),
                each,
                together,
                Cell::Text(memory),
                Cell::Text(limit(it)),
            ]
        };
        let (of, unit) = match self.step {
            Some(step) => (step_words(step), PER_S),
            None => (format!("Of {}", self.basis.kernel), GB),
        };
        let each = match self.arrangements.iter().any(is_uneven) {
            true => "slowest",
            false => "each",
        };
        Table::new(
            of,
            Column::all(
                ["where", each, "together", "memory", "limited by"],
                [WORDS, unit, unit, WORDS, WORDS],
            ),
            self.arrangements.iter().map(row),
        )
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        match (&self.basis.trust, &self.basis.without_flow) {
            (Some(trust), _) => notes.push(trust_words(trust, "Differences")),
            (None, Some(without)) => notes.push(format!(
                "By pairs alone, so that ranges are wide {}",
                why_not_narrower(without)
            )),
            (None, None) => {}
        }
        if let (Some(step), Some(caches)) = (self.step, self.last_level_cache_bytes)
            && step.bytes <= caches
        {
            notes.push(format!(
                "What a step streams fits the last-level caches ({} together): a program that streams the \
                 same bytes in every step gets more than memory gives.",
                Bytes(caches)
            ));
        }
        if self.data_bytes.is_none() {
            notes.push("Whether copies fit is not known: give --working-set.".into());
        }
        if self.arrangements.iter().any(|it| it.copies > 1) {
            notes.push(
                "Instances that map one file share its pages: a copy for each is a file for each, read on its \
                 node. Copies per node, or own parts, of one instance are up to the program."
                    .into(),
            );
        }
        if !self.basis.unmeasured_nodes.is_empty() {
            let nodes: NodeSet = self.basis.unmeasured_nodes.iter().copied().collect();
            notes.push(format!("The record lacks figures of node {nodes}."));
        }
        notes
    }
}

/// Whether its instances get more than what is told of each, the slowest, by what figures show.
fn is_uneven(it: &Arrangement) -> bool {
    const SHOWN: f64 = 0.02;
    let (each, together) = match &it.steps {
        Some(steps) => (steps.each.value.0, steps.together.value.0),
        None => (it.each.value.0, it.together.value.0),
    };
    together > each * it.count as f64 * (1.0 + SHOWN)
}

fn step_words(step: Step) -> String {
    let compute = (step.compute_s > 0.0).then(|| {
        let time = format_duration(std::time::Duration::from_secs_f64(step.compute_s));
        format!(", {time} of computing by all cores, which memory may hide or not")
    });
    format!("Steps of {}{}", Bytes(step.bytes), compute.unwrap_or_default())
}
