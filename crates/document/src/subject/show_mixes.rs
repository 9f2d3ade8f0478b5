//! Random sets of streams as `show` prints them.

use nearfar_machine::MemoryPolicy;
use nearfar_model::{Mix, RecordFigures, mixes};
use nearfar_units::format_significant;
use serde::Serialize;

use super::show_figure::{BandwidthView, CaseView, Footnotes, section};
use crate::printable::printable;
use crate::terminal::table::table_with_numbers;

/// A set of streams.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MixView {
    #[serde(flatten)]
    pub case: CaseView,
    /// Its number.
    pub index: u32,
    /// All streams together, or null.
    pub total: Option<BandwidthView>,
    pub streams: Vec<MixStreamView>,
}

/// One stream of a set.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MixStreamView {
    /// The cluster of its threads; null where they are of several.
    pub cluster: Option<u32>,
    pub threads: u32,
    pub kernel: String,
    /// Instruction-set variant.
    pub variant: String,
    /// Policy of its pages.
    pub memory: String,
    /// What it got, or null.
    pub bandwidth: Option<BandwidthView>,
    /// Where its pages are, in words.
    #[serde(skip)]
    pub place: String,
    /// The actor of the case that it is, by its position.
    #[serde(skip)]
    pub actor: usize,
}

/// The sets of a record.
pub(crate) fn mix_views(figures: &RecordFigures<'_>) -> Vec<MixView> {
    mixes(figures).iter().map(view).collect()
}

fn view(mix: &Mix) -> MixView {
    let streams = mix.streams.iter().map(|stream| MixStreamView {
        cluster: stream.cluster,
        threads: stream.threads,
        kernel: stream.kernel.clone(),
        variant: stream.variant.clone(),
        memory: stream.memory.to_string(),
        bandwidth: BandwidthView::of(stream.bandwidth.as_ref()),
        place: place(&stream.memory),
        actor: stream.actor,
    });
    MixView {
        case: CaseView::new(&mix.case),
        index: mix.index,
        total: BandwidthView::of(mix.total.as_ref()),
        streams: streams.collect(),
    }
}

fn place(memory: &MemoryPolicy) -> String {
    match memory {
        MemoryPolicy::Bind(nodes) | MemoryPolicy::Interleave(nodes) if nodes.len() > 1 => {
            format!("nodes {nodes}")
        }
        MemoryPolicy::Bind(nodes) | MemoryPolicy::Interleave(nodes) => format!("node {nodes}"),
        MemoryPolicy::Preferred(node) => format!("node {node}"),
        MemoryPolicy::FirstTouch | MemoryPolicy::Weighted(_) => memory.to_string(),
    }
}

/// A line for each stream.
pub(crate) fn mixes_text(views: &[MixView]) -> String {
    let mut text = section(
        "mixes",
        "random sets of streams that run at the same time. GB/s (1e9 useful bytes/s), sum: all \
         threads of a stream, and of a set, together. Several nodes: pages on each in turn.",
    );
    text.push('\n');
    let mut footnotes = Footnotes::default();
    let header = ["set", "threads", "memory", "kernel", "GB/s", "total"].map(String::from);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for view in views {
        let total = footnotes.figure(&view.case, view.total.as_ref().map(Into::into));
        let who = |stream: &MixStreamView| match stream.cluster {
            Some(cluster) => format!("cluster {cluster} x {}", stream.threads),
            None => format!("several clusters x {}", stream.threads),
        };
        let lines = |line: &dyn Fn(&MixStreamView) -> String| {
            view.streams.iter().map(line).collect::<Vec<_>>().join("\n")
        };
        rows.push(vec![
            view.index.to_string(),
            lines(&who),
            lines(&|stream| stream.place.clone()),
            lines(&|stream| {
                format!("{} {}", printable(&stream.kernel), printable(&stream.variant))
            }),
            lines(&|stream| {
                let three = |figure: &BandwidthView| format_significant(figure.sum_gb_per_s, 3);
                stream.bandwidth.as_ref().map_or_else(|| "-".into(), three)
            }),
            total,
        ]);
    }
    text += &table_with_numbers(header.to_vec(), rows, 4..6);
    text += &footnotes.widest_interval();
    text + &footnotes.lines()
}
