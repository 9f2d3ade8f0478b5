//! The time of an access in words and tables.

use std::collections::HashMap;

use nearfar_model::AccessTime;
use nearfar_record::{ChaseWalk, Pages};
use nearfar_units::{Bytes, format_significant};

use super::figures::count;
use super::show_figure::{Footnotes, Shown, caption, section};
use super::show_grid::{Side, dotted_grid, grid, groups, in_order, sorted};
use super::show_latency::{LatencyView, LoadView};
use crate::printable::printable;
use crate::terminal::table::table;

/// The idle matrix, the curves by size, and the loaded curves.
pub(crate) fn latency_text(views: &[LatencyView]) -> String {
    let mut text = section(
        "latency",
        "one thread follows pointers, each access waits for the one before; ns for an access, median \
         over rounds. in groups: of pages that lie together, whose addresses the core keeps at hand; \
         anywhere: most accesses also wait until their address is found. huge pages: asked for; what \
         was got is said below.",
    );
    let mut footnotes = Footnotes::default();
    text += &matrix(views, &mut footnotes);
    for (_, of) in groups(views, |view| (view.cluster, view.memory_node)) {
        text += &curve(&of, &mut footnotes);
        text += &loaded(&of, &mut footnotes);
    }
    text + &footnotes.lines()
}

impl From<&AccessTime> for Shown {
    fn from(time: &AccessTime) -> Self {
        Self {
            median: time.time.value.0,
            interval: time.time.ends().map(|end| end.0),
            confidence: time.time.confidence,
            only_disturbed: time.only_disturbed,
        }
    }
}

fn words(pages: Pages, walk: ChaseWalk) -> String {
    let pages = match pages {
        Pages::Small => "base pages",
        Pages::Transparent => "huge pages",
        Pages::Huge => "reserved huge pages",
    };
    let walk = match walk {
        ChaseWalk::PageGroups => "in groups",
        ChaseWalk::Anywhere => "anywhere",
    };
    format!("{pages}, {walk}")
}

fn matrix(views: &[LatencyView], footnotes: &mut Footnotes) -> String {
    let cells: Vec<&LatencyView> = views.iter().filter(|view| view.in_matrix).collect();
    if cells.is_empty() {
        return String::new();
    }
    let nodes = Side {
        keys: sorted(cells.iter().map(|view| view.memory_node)),
        of: |view: &LatencyView| view.memory_node,
        label: |node: &u32| format!("node {node}"),
    };
    let clusters = Side {
        keys: sorted(cells.iter().map(|view| view.cluster)),
        of: |view: &LatencyView| view.cluster,
        label: |cluster: &u32| format!("cluster {cluster}"),
    };
    let cell = |view: &LatencyView| to_memory(view, footnotes);
    let table = grid(&cells, &clusters, &nodes, cell, |_, _| "-".into());
    let how = in_order(cells.iter().map(|view| words(view.pages, view.walk)));
    let sizes = in_order(cells.iter().map(|view| Bytes(view.working_set_bytes).to_string()));
    let what = format!(
        "idle, ns, below it the 95 % interval; {} of {}",
        sizes.join(" or "),
        how.join(" or ")
    );
    caption(&what) + &table
}

/// ns by size, for a cluster and a node of which there are several sizes or walks.
fn curve(views: &[&LatencyView], footnotes: &mut Footnotes) -> String {
    let idle: Vec<&LatencyView> =
        views.iter().filter(|view| view.load.is_none()).copied().collect();
    let Some(first) = idle.first().filter(|_| idle.len() > 1) else { return String::new() };
    let mut ways = Side {
        keys: in_order(idle.iter().map(|view| (view.pages, view.walk))),
        of: |view: &LatencyView| (view.pages, view.walk),
        label: |&(pages, walk): &(Pages, ChaseWalk)| words(pages, walk).replacen(", ", ",\n", 1),
    };
    ways.keys.sort_by_key(|&(pages, walk)| (walk, pages == Pages::Small, pages));
    let sizes = Side {
        keys: sorted(idle.iter().map(|view| view.working_set_bytes)),
        of: |view: &LatencyView| view.working_set_bytes,
        label: |&bytes: &u64| Bytes(bytes).to_string(),
    };
    let cell = |view: &LatencyView| {
        if view.has_empty_round {
            return EMPTY_ROUND.into();
        }
        let text = footnotes.figure(&view.case, view.latency.as_ref().map(Into::into));
        match view.translation_ns {
            Some(ns) if view.is_translation_noise => format!("{text}\n{ns:+.1} (within noise)"),
            Some(ns) => format!("{text}\n{ns:+.1} translation"),
            None => text,
        }
    };
    let table = dotted_grid(&idle, &sizes, &ways, cell);
    let mut translation = String::new();
    if idle.iter().any(|view| view.translation_ns.is_some()) {
        translation += " translation: what finding the address adds, anywhere - in groups\n";
    }
    if idle.iter().any(|view| view.is_translation_noise) {
        translation += " within noise: such a difference, but the intervals leave room for none\n";
    }
    let what = format!("idle by size, cluster {} on node {}, ns", first.cluster, first.memory_node);
    caption(&what) + &table + &footnotes.widest_interval() + &translation
}

/// ns and GB/s by pause, for each kernel that loaded the memory.
fn loaded(views: &[&LatencyView], footnotes: &mut Footnotes) -> String {
    let loads: Vec<(&LatencyView, &LoadView)> =
        views.iter().filter_map(|view| Some((*view, view.load.as_ref()?))).collect();
    // What the same chase took without load.
    let chase = |view: &LatencyView| (view.working_set_bytes, view.pages, view.walk);
    let idle = views.iter().filter(|view| view.load.is_none());
    let idle: HashMap<_, &LatencyView> = idle.map(|view| (chase(view), *view)).collect();
    let mut text = String::new();
    let kind = |(_, load): &(&LatencyView, &'_ LoadView)| {
        (load.kernel.clone(), load.variant.clone(), load.threads)
    };
    for ((kernel, variant, threads), of) in groups(&loads, kind) {
        let Some(&&(first, _)) = of.first() else { continue };
        let header = ["pause, cycles", "ns", "GB/s"].map(String::from).to_vec();
        let mut rows = Vec::new();
        if let Some(idle) = idle.get(&chase(first)) {
            let ns = to_memory(idle, footnotes);
            rows.push(vec!["no load".into(), ns, "-".into()]);
        }
        for (view, load) in of.into_iter().copied() {
            let ns = to_memory(view, footnotes);
            let three = |rate: f64| format_significant(rate, 3);
            let rate = load.bandwidth.as_ref().map(|bandwidth| three(bandwidth.sum_gb_per_s));
            rows.push(vec![load.pause_cycles.to_string(), ns, rate.unwrap_or_else(|| "-".into())]);
        }
        let what = format!(
            "loaded, cluster {} on node {}: ns beside {} of {} {}, and what these move in GB/s (1e9 \
             useful bytes/s, sum), by the cycles that each pauses after 1 KiB of each array",
            first.cluster,
            first.memory_node,
            count(threads as usize, "thread"),
            printable(&kernel),
            printable(&variant),
        );
        text += &(caption(&what) + &table(header, rows, 0));
    }
    text
}

/// In place of a time where a round had no access: rounds that had some would say too little.
const EMPTY_ROUND: &str = "no access in a round";

/// A chase that stands for memory.
fn to_memory(view: &LatencyView, footnotes: &mut Footnotes) -> String {
    if view.has_empty_round {
        return EMPTY_ROUND.into();
    }
    footnotes.access_to_memory(&view.case, view.latency.as_ref().map(Into::into))
}
