//! Local and remote threads on one memory node as `show` prints them.

use std::cell::Cell;

use nearfar_model::{GridPlace, RecordFigures, SharingCell};
use nearfar_units::format_significant;
use serde::Serialize;

use super::show_figure::{BandwidthView, CaseView, Footnotes, section};
use super::show_grid::{Side, grid, groups, sorted};
use crate::printable::printable;

/// n local threads beside m remote ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharingView {
    #[serde(flatten)]
    pub case: CaseView,
    /// The node whose memory both groups use.
    pub memory_node: u32,
    pub local_cluster: u32,
    pub remote_cluster: u32,
    /// n.
    pub local_threads: u32,
    /// m.
    pub remote_threads: u32,
    pub kernel: String,
    /// Instruction-set variant.
    pub variant: String,
    /// Both groups together, or null.
    pub total: Option<BandwidthView>,
    /// The local group, or null.
    pub local: Option<BandwidthView>,
    /// The remote group, or null.
    pub remote: Option<BandwidthView>,
    /// Median sum of the remote group / its threads, or null.
    pub remote_per_thread_gb_per_s: Option<f64>,
}

/// The grids of a record.
pub(crate) fn sharing_views(figures: &RecordFigures<'_>) -> Vec<SharingView> {
    figures.sharing_grid().iter().map(view).collect()
}

fn view(cell: &SharingCell) -> SharingView {
    let place = cell.place.clone();
    SharingView {
        case: CaseView::new(&cell.case),
        memory_node: place.memory_node,
        local_cluster: place.local_cluster,
        remote_cluster: place.remote_cluster,
        local_threads: place.local_threads,
        remote_threads: place.remote_threads,
        kernel: place.kernel,
        variant: place.variant,
        total: BandwidthView::of(cell.total.as_ref()),
        local: BandwidthView::of(cell.local.as_ref()),
        remote: BandwidthView::of(cell.remote.as_ref()),
        remote_per_thread_gb_per_s: cell.remote_per_thread.map(|bytes_per_s| bytes_per_s / 1e9),
    }
}

impl SharingView {
    pub(crate) fn place(&self) -> GridPlace {
        GridPlace {
            memory_node: self.memory_node,
            local_cluster: self.local_cluster,
            remote_cluster: self.remote_cluster,
            kernel: self.kernel.clone(),
            variant: self.variant.clone(),
        }
    }

    fn grid(&self) -> (u32, u32, u32, &str, &str) {
        let (kernel, variant) = (&self.kernel, &self.variant);
        (self.memory_node, self.local_cluster, self.remote_cluster, kernel, variant)
    }
}

/// A table for each node, pair of clusters and kernel.
pub(crate) fn sharing_text(views: &[SharingView]) -> String {
    let mut text = section(
        "sharing",
        "threads local to a memory node (rows) beside threads of another cluster (columns), all on that \
         node's memory. GB/s (1e9 useful bytes/s), sum: all threads together, below it the part of \
         the local + that of the remote group, and what each remote thread got where there are \
         several.",
    );
    let mut footnotes = Footnotes::default();
    for ((node, local, remote, kernel, variant), cells) in groups(views, SharingView::grid) {
        text += &format!(
            "\nmemory of node {node}: cluster {local} (local) and cluster {remote} (remote), {} {}\n",
            printable(kernel),
            printable(variant)
        );
        text += &grid_text(&cells, &mut footnotes);
        text += &footnotes.widest_interval();
    }
    text + &footnotes.lines()
}

fn grid_text(cells: &[&SharingView], footnotes: &mut Footnotes) -> String {
    let locals = Side {
        keys: sorted(cells.iter().map(|cell| cell.local_threads)),
        of: |cell: &SharingView| cell.local_threads,
        label: |threads: &u32| format!("{threads} local"),
    };
    let remotes = Side {
        keys: sorted(cells.iter().map(|cell| cell.remote_threads)),
        of: |cell: &SharingView| cell.remote_threads,
        label: |threads: &u32| format!("{threads} remote"),
    };
    let has_blanks = Cell::new(false);
    let blank = |local: &u32, remote: &u32| {
        // Nobody is in the corner of both noughts.
        if (*local, *remote) == (0, 0) {
            return String::new();
        }
        has_blanks.set(true);
        ".".into()
    };
    let text = grid(cells, &locals, &remotes, |cell| cell_text(cell, footnotes), blank);
    if has_blanks.get() {
        return text + " . is not in this record's grid; --grid full has more\n";
    }
    text
}

fn cell_text(cell: &SharingView, footnotes: &mut Footnotes) -> String {
    let mut text = footnotes.figure(&cell.case, cell.total.as_ref().map(Into::into));
    let three = |value| format_significant(value, 3);
    if let (Some(local), Some(remote)) = (&cell.local, &cell.remote) {
        text += &format!("\n{} + {}", three(local.sum_gb_per_s), three(remote.sum_gb_per_s));
    }
    if let (Some(each), 2..) = (cell.remote_per_thread_gb_per_s, cell.remote_threads) {
        text += &format!("\n{} each", three(each));
    }
    text
}
