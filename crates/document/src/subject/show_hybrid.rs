//! A fast and a slow memory as `show` prints them.

use nearfar_machine::{Machine, MemoryKind};
use nearfar_model::{HybridFigures, RecordFigures, fast_share, hybrid_points, load_share};
use nearfar_record::{HybridPoint, PageSplit, TransferKind};
use serde::Serialize;

use super::figures::{count, rounded};
use super::show_figure::{BandwidthView, CaseView, Footnotes, section};
use super::show_grid::{Side, dotted_grid, groups, in_order};
use crate::printable::printable;
use crate::terminal::table::table;

/// Loads and stores shared out over two memories.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridView {
    #[serde(flatten)]
    pub case: CaseView,
    pub cluster: u32,
    pub fast_node: u32,
    pub fast_kind: MemoryKind,
    pub slow_node: u32,
    pub slow_kind: MemoryKind,
    /// `corner`, `pair` or `surface`.
    pub point: &'static str,
    /// The kind of a corner, or null.
    pub of: Option<TransferKind>,
    /// The kind of a pair that takes longer, or null.
    pub dominating: Option<TransferKind>,
    /// The other kind of a pair, or null.
    pub beside: Option<TransferKind>,
    /// Loads for each `stores`.
    pub loads: u32,
    /// Stores for each `loads`.
    pub stores: u32,
    /// Share of loads in all bytes.
    pub load_share: f64,
    /// Share of the fast memory in all bytes, as asked for.
    pub fast_share: f64,
    /// Share of the read pages that was to be in the fast memory, or null.
    pub asked_load_fast_share: Option<f64>,
    /// Share of the read pages that was found there, or null.
    pub found_load_fast_share: Option<f64>,
    /// Share of the written pages that was to be in the fast memory, or null.
    pub asked_store_fast_share: Option<f64>,
    /// Share of the written pages that was found there, or null.
    pub found_store_fast_share: Option<f64>,
    /// Mix.
    pub kernel: String,
    /// Instruction-set variant.
    pub variant: String,
    pub threads: u32,
    /// All bytes, or null.
    pub bandwidth: Option<BandwidthView>,
    /// Of a pair, t of the kind beside / t of the dominating one, or null.
    pub time_ratio: Option<f64>,
}

/// The points of a record.
pub(crate) fn hybrid_views(figures: &RecordFigures<'_>) -> Vec<HybridView> {
    let machine = &figures.record().header.machine;
    hybrid_points(figures).iter().map(|point| view(point, machine)).collect()
}

fn view(figures: &HybridFigures, machine: &Machine) -> HybridView {
    let place = &figures.place;
    let (point, of, dominating, beside) = match place.point {
        HybridPoint::Corner { of } => ("corner", Some(of), None, None),
        HybridPoint::Pair { dominating, beside } => ("pair", None, Some(dominating), Some(beside)),
        HybridPoint::Surface => ("surface", None, None, None),
    };
    HybridView {
        case: CaseView::new(&figures.case),
        cluster: place.cluster,
        fast_node: place.fast_node,
        fast_kind: machine.memory_kind(place.fast_node),
        slow_node: place.slow_node,
        slow_kind: machine.memory_kind(place.slow_node),
        point,
        of,
        dominating,
        beside,
        loads: place.loads,
        stores: place.stores,
        load_share: load_share(place),
        fast_share: fast_share(place),
        asked_load_fast_share: place.load_pages.map(PageSplit::fast_share),
        found_load_fast_share: figures.load_fast_share,
        asked_store_fast_share: place.store_pages.map(PageSplit::fast_share),
        found_store_fast_share: figures.store_fast_share,
        kernel: place.kernel.clone(),
        variant: place.variant.clone(),
        threads: place.threads,
        bandwidth: BandwidthView::of(figures.total.as_ref()),
        time_ratio: figures.time_ratio,
    }
}

/// Corners, pairs and the surface of each cluster and its two memories.
pub(crate) fn hybrid_text(views: &[HybridView]) -> String {
    let mut text = section(
        "hybrid",
        "a cluster's loads (l) and stores (s) over a fast (f) and a slow (s) memory: lf is a load from \
         the fast one, ss a store to the slow one. GB/s (1e9 useful bytes/s), sum: all threads \
         together. Stores bypass the caches.",
    );
    let mut footnotes = Footnotes::default();
    let memories = |view: &HybridView| (view.cluster, view.fast_node, view.slow_node);
    for ((cluster, fast, slow), of) in groups(views, memories) {
        let Some(first) = of.first() else { continue };
        text += &format!(
            "\ncluster {cluster}, {}, fast: node {fast} ({}), slow: node {slow} ({}), {}\n",
            count(first.threads as usize, "thread"),
            first.fast_kind,
            first.slow_kind,
            printable(&first.variant)
        );
        let points = |point: &str| -> Vec<&HybridView> {
            of.iter().filter(|view| view.point == point).copied().collect()
        };
        text += &corners(&points("corner"), &mut footnotes);
        text += &pairs(&points("pair"), &mut footnotes);
        text += &surface(&points("surface"), &points("corner"), &mut footnotes);
    }
    text + &footnotes.lines()
}

fn bandwidth(view: &HybridView, footnotes: &mut Footnotes) -> String {
    footnotes.figure(&view.case, view.bandwidth.as_ref().map(Into::into))
}

fn corners(views: &[&HybridView], footnotes: &mut Footnotes) -> String {
    if views.is_empty() {
        return String::new();
    }
    let kind = |view: &&HybridView| view.of.map_or("", TransferKind::as_str).to_string();
    let header: Vec<String> =
        std::iter::once(String::new()).chain(views.iter().map(kind)).collect();
    let mut row = vec!["one kind alone (b)".to_string()];
    row.extend(views.iter().map(|view| bandwidth(view, footnotes)));
    format!("{}{}", table(header, vec![row], 1), footnotes.widest_interval())
}

/// A share of pages as it was asked for and as it was found.
fn shares(asked: Option<f64>, found: Option<f64>) -> String {
    match (asked, found) {
        (None, _) => "-".into(),
        (Some(asked), None) => format!("{asked:.3} / -"),
        (Some(asked), Some(found)) => format!("{asked:.3} / {found:.3}"),
    }
}

fn pairs(views: &[&HybridView], footnotes: &mut Footnotes) -> String {
    if views.is_empty() {
        return String::new();
    }
    let header = [
        "longer, beside",
        "loads : stores",
        "reads fast,\nasked / found",
        "writes fast,\nasked / found",
        "GB/s",
        "t beside /\nt longer",
    ];
    let kind = |kind: Option<TransferKind>| kind.map_or("", TransferKind::as_str);
    let rows = views.iter().map(|view| {
        vec![
            format!("{}, {}", kind(view.dominating), kind(view.beside)),
            format!("{} : {}", view.loads, view.stores),
            shares(view.asked_load_fast_share, view.found_load_fast_share),
            shares(view.asked_store_fast_share, view.found_store_fast_share),
            bandwidth(view, footnotes),
            view.time_ratio.map_or_else(|| "-".into(), |ratio| format!("{ratio:.3}")),
        ]
    });
    let rows = rows.collect();
    format!(
        "\n pairs: two kinds at once, one to take a little longer (t = bytes / b)\n{}{}",
        table(header.map(String::from).to_vec(), rows, 1),
        footnotes.widest_interval()
    )
}

/// A matrix where the points make one, its corners being those of one kind alone; else a line for
/// each point.
fn surface(views: &[&HybridView], corners: &[&HybridView], footnotes: &mut Footnotes) -> String {
    if views.is_empty() {
        return String::new();
    }
    let two = |share: f64| rounded(share, 2);
    let side = |keys: Vec<String>| {
        let mut keys = in_order(keys);
        keys.sort_by(|one, other| {
            let value = |label: &String| label.parse().unwrap_or(f64::INFINITY);
            value(one).total_cmp(&value(other))
        });
        keys
    };
    let rows = Side {
        keys: side(views.iter().map(|view| two(view.load_share)).collect()),
        of: |view: &HybridView| two(view.load_share),
        label: |share: &String| format!("{share} loads"),
    };
    let columns = Side {
        keys: side(views.iter().map(|view| two(view.fast_share)).collect()),
        of: |view: &HybridView| two(view.fast_share),
        label: |share: &String| format!("{share} fast"),
    };
    let is_matrix = 2 * views.len() >= rows.keys.len() * columns.keys.len();
    let (title, table) = if is_matrix {
        let cell = |view: &HybridView| bandwidth(view, footnotes);
        let title = "rows: share of loads in all bytes; columns: of the fast memory";
        let all = [views, corners].concat();
        (title, dotted_grid(&all, &rows, &columns, cell))
    } else {
        let header = ["loads in\nall bytes", "fast memory\nin all bytes", "loads : stores", "GB/s"];
        let lines = views.iter().map(|view| {
            vec![
                two(view.load_share),
                two(view.fast_share),
                format!("{} : {}", view.loads, view.stores),
                bandwidth(view, footnotes),
            ]
        });
        let lines = lines.collect();
        ("single points", table(header.map(String::from).to_vec(), lines, 0))
    };
    format!("\n surface: {title}\n{table}{}", footnotes.widest_interval())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_that_are_not_known_are_dashes() {
        assert_eq!(shares(None, None), "-");
        assert_eq!(shares(Some(0.5), None), "0.500 / -");
        assert_eq!(shares(Some(0.5), Some(0.5004)), "0.500 / 0.500");
    }
}
