//! Bandwidth classes as `model` prints them.

use nearfar_machine::{InitiatorKind, MemoryKind, Relation, TheoreticalMaximum};
use nearfar_model::{Class, ClassFigure, ClassPair, Classes, LeftOut, ThreadChoice, alphas};
use nearfar_record::Record;
use serde::{Serialize, Serializer};

use super::classes_text::threads_words;
use super::measured::MeasuredView;
use super::pair_position::{PairPosition, positions};
use super::relations::Relations;

/// What gives the theoretical maximum where the record does not.
pub(crate) const GAMMA_REMEDY: &str =
    "give the theoretical maximum by --gamma, for example DDR4-3200x8 or 204.8GB/s";

/// Bandwidth classes of a record (braithwaite2012); `model RECORD classes --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassesView {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    /// How CPUs were grouped.
    pub initiator: InitiatorKind,
    /// Kernels of which a pair's best counts.
    pub kernels: Vec<String>,
    /// Kernels that would count and of which the record holds no such figure.
    pub absent_kernels: Vec<String>,
    /// Threads of the cases that were classed.
    pub threads: ThreadsView,
    /// The one variant that counts, or null for the best of all.
    pub variant: Option<String>,
    /// A class spans at most this fraction of its maximum, and what noise explains.
    pub class_span: f64,
    /// Whether every initiator has classes of its own.
    pub per_initiator: bool,
    /// The theoretical maximum, or null.
    pub gamma: Option<TheoreticalMaximum>,
    /// Why there is none, or null when there is.
    pub gamma_unknown: Option<String>,
    /// What gives one, or null when there is.
    pub gamma_remedy: Option<String>,
    /// Relative standard deviation of a pair's rounds, or null with one round each.
    pub noise: Option<f64>,
    /// Relative standard error of a pair's best round, or null as above.
    pub standard_error: Option<f64>,
    /// Fewest rounds that a pair has.
    pub fewest_rounds: usize,
    /// The classes, the fastest first; one set after the other.
    pub classes: Vec<ClassView>,
    /// Pairs that the record knows and that are in no class.
    pub left_out: Vec<LeftOutView>,
    /// What to know about them.
    pub notes: Vec<String>,
    /// All pairs of the classes' initiators and the machine's nodes, for words that must
    /// not claim more than is there.
    #[serde(skip)]
    pub(crate) positions: Vec<PairPosition>,
}

/// A pair that is in no class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOutView {
    /// The initiator's number.
    pub index: u32,
    /// The node that would have been accessed.
    pub memory_node: u32,
    /// Why the machine refused it, or null when it was not measured in the way that is classed.
    pub refused: Option<String>,
}

/// A number of threads: a count, or the word `all`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(with = "serde_json::Value"),
    schemars(extend("anyOf" = [{"type": "integer", "minimum": 1}, {"const": "all"}]))
)]
pub struct ThreadsView(pub ThreadChoice);

impl ThreadsView {
    /// `one thread`, `4 threads`, `all threads`.
    pub fn words(self) -> String {
        threads_words(self.0)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassView {
    /// The initiator whose class it is, or null for the whole machine's.
    pub index: Option<u32>,
    /// 0 is the fastest.
    pub class: usize,
    /// Best value of its pairs, useful GB/s.
    pub max_gb_per_s: f64,
    /// Lowest best value of its pairs, useful GB/s.
    pub min_gb_per_s: f64,
    /// Maximum / theoretical maximum, or null when that is unknown.
    pub alpha: Option<f64>,
    /// Maximum / maximum of class 0.
    pub alpha_relative: f64,
    /// Whether it spans more than ten percent.
    pub wide: bool,
    /// Whether noise makes it wider than the span.
    pub widened_by_noise: bool,
    /// Whether the next slower class is nearer than the noise.
    pub border_within_noise: bool,
    pub pairs: Vec<ClassPairView>,
    /// What other kernels and thread counts give on the same pairs.
    pub others: Vec<ClassFigureView>,
}

/// A pair of an initiator and a memory node.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassPairView {
    /// The initiator's number.
    pub index: u32,
    pub cluster: u32,
    /// The lowest node with CPUs of that cluster, or null.
    pub cpu_node: Option<u32>,
    /// The node that is accessed.
    pub memory_node: u32,
    /// What it is made of.
    pub memory_kind: MemoryKind,
    /// How the two lie to each other, or null where that is not said.
    pub relation: Option<Relation>,
    /// Relative distance by the firmware from the cluster's node, or null.
    pub distance: Option<u64>,
    /// Best round, useful GB/s.
    pub gb_per_s: f64,
    /// Median over rounds, useful GB/s.
    pub median_gb_per_s: f64,
    pub interval_gb_per_s: [f64; 2],
    /// Kernel that gave the best.
    pub kernel: String,
    /// Variant that gave the best.
    pub variant: String,
    pub threads: u32,
    pub rounds: usize,
}

/// Another kernel or thread count on the pairs of a class.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassFigureView {
    pub kernel: String,
    pub threads: ThreadsView,
    /// Best value of the class's pairs, useful GB/s.
    pub max_gb_per_s: f64,
    /// Lowest best value of the class's pairs, useful GB/s.
    pub min_gb_per_s: f64,
}

impl Serialize for ThreadsView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            ThreadChoice::Count(count) => serializer.serialize_u32(count),
            ThreadChoice::All => serializer.serialize_str("all"),
        }
    }
}

impl ClassesView {
    /// The view of a record's classes. `gamma` is the theoretical maximum, or why
    /// there is none.
    pub fn new(
        record: &Record,
        classes: &Classes,
        gamma: &Result<TheoreticalMaximum, String>,
    ) -> Self {
        let header = &record.header;
        let relations = Relations::new(&header.machine);
        let mut views = Vec::new();
        for set in &classes.sets {
            let alphas = alphas(&set.classes, gamma.clone());
            for (position, (class, &relative)) in
                set.classes.iter().zip(&alphas.relative).enumerate()
            {
                views.push(ClassView {
                    index: set.initiator,
                    class: class.class,
                    max_gb_per_s: class.max / 1e9,
                    min_gb_per_s: class.min / 1e9,
                    alpha: alphas.absolute.as_ref().and_then(|all| all.get(position).copied()),
                    alpha_relative: relative,
                    wide: class.wide,
                    widened_by_noise: class.widened_by_noise,
                    border_within_noise: class.border_within_noise,
                    pairs: pair_views(class, &relations),
                    others: class.others.iter().map(figure_view).collect(),
                });
            }
        }
        Self {
            schema: "nearfar.classes/1",
            measured: MeasuredView::new(record),
            initiator: header.inputs.initiator,
            kernels: measured_kernels(classes),
            absent_kernels: classes.absent_kernels.clone(),
            threads: ThreadsView(classes.rule.threads),
            variant: classes.rule.variant.clone(),
            class_span: classes.rule.span,
            per_initiator: classes.rule.per_initiator,
            gamma: gamma.as_ref().ok().cloned(),
            gamma_unknown: gamma.as_ref().err().cloned(),
            gamma_remedy: gamma.as_ref().err().map(|_| GAMMA_REMEDY.into()),
            noise: classes.noise,
            standard_error: classes.standard_error,
            fewest_rounds: classes.fewest_rounds,
            classes: views,
            left_out: classes.left_out.iter().map(left_out_view).collect(),
            notes: classes.notes.clone(),
            positions: positions(record, classes),
        }
    }
}

fn measured_kernels(classes: &Classes) -> Vec<String> {
    let absent = &classes.absent_kernels;
    classes.rule.kernels.iter().filter(|kernel| !absent.contains(kernel)).cloned().collect()
}

fn left_out_view(out: &LeftOut) -> LeftOutView {
    LeftOutView { index: out.initiator, memory_node: out.memory_node, refused: out.refused.clone() }
}

fn pair_views(class: &Class, relations: &Relations<'_>) -> Vec<ClassPairView> {
    let view = |pair: &ClassPair| ClassPairView {
        index: pair.initiator,
        cluster: pair.cluster,
        cpu_node: pair.cpu_node,
        memory_node: pair.memory_node,
        memory_kind: relations.kind(pair.memory_node),
        relation: relations.of(pair.cluster, pair.memory_node),
        distance: relations.distance(pair.cpu_node, pair.memory_node),
        gb_per_s: pair.best / 1e9,
        median_gb_per_s: pair.median / 1e9,
        interval_gb_per_s: [pair.interval.0 / 1e9, pair.interval.1 / 1e9],
        kernel: pair.kernel.clone(),
        variant: pair.variant.clone(),
        threads: pair.threads,
        rounds: pair.rounds,
    };
    class.pairs.iter().map(view).collect()
}

fn figure_view(figure: &ClassFigure) -> ClassFigureView {
    ClassFigureView {
        kernel: figure.kernel.clone(),
        threads: ThreadsView(figure.threads),
        max_gb_per_s: figure.max / 1e9,
        min_gb_per_s: figure.min / 1e9,
    }
}
