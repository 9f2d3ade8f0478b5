//! The links between packages as `show` prints them.

use nearfar_model::{LinkFigures, RecordFigures, links};
use nearfar_record::Way;
use nearfar_units::format_significant;
use serde::Serialize;

use super::show_figure::{BandwidthView, CaseView, Footnotes, kernel_title, section};
use super::show_grid::{Side, grid, groups, sorted};
use crate::printable::printable;

/// The cores of one package on the memory of another.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkView {
    #[serde(flatten)]
    pub case: CaseView,
    /// The package whose cores move data.
    pub from_package: u32,
    /// The package whose memory they use.
    pub to_package: u32,
    /// The cluster of the first package that moves data while the others rest; null: all of them
    /// do.
    pub cluster: Option<u32>,
    /// Whether the other package does the same at the same time.
    pub way: Way,
    pub kernel: String,
    /// Instruction-set variant.
    pub variant: String,
    /// Threads of the first package.
    pub threads: u32,
    /// All threads of the case, or null.
    pub total: Option<BandwidthView>,
    /// Those of the first package, or null.
    pub from: Option<BandwidthView>,
    /// Those of the other package; null one way.
    pub back: Option<BandwidthView>,
}

pub(crate) fn link_views(figures: &RecordFigures<'_>) -> Vec<LinkView> {
    links(figures).iter().map(view).collect()
}

fn view(link: &LinkFigures) -> LinkView {
    let place = link.place.clone();
    LinkView {
        case: CaseView::new(&link.case),
        from_package: place.from_package,
        to_package: place.to_package,
        cluster: place.cluster,
        way: place.way,
        kernel: place.kernel,
        variant: place.variant,
        threads: place.threads,
        total: BandwidthView::of(link.total.as_ref()),
        from: BandwidthView::of(link.from.as_ref()),
        back: BandwidthView::of(link.back.as_ref()),
    }
}

/// A table for each kernel and way, and one of clusters alone.
pub(crate) fn links_text(views: &[LinkView]) -> String {
    let mut text = section(
        "links",
        "all cores of one package (rows) on the memory of another (columns). GB/s (1e9 useful \
         bytes/s), sum: all threads together, below it its 95 % interval. both ways: each package on \
         the other's memory at the same time, below the sum the part of the row's + that of the \
         column's cores. one cluster alone: so many cores of it, the rest of its package idle.",
    );
    let mut footnotes = Footnotes::default();
    for ((kernel, variant, way, is_alone), of) in
        groups(views, |view| (&view.kernel, &view.variant, view.way, view.cluster.is_some()))
    {
        let way = match (way, is_alone) {
            (Way::OneWay, true) => "one cluster alone",
            (Way::OneWay, false) => "one way",
            (Way::BothWays, _) => "both ways",
        };
        text += &format!("\n{way}: {}, {}\n", kernel_title(kernel), printable(variant));
        let from = Side {
            keys: sorted(of.iter().map(|view| row(view))),
            of: row,
            label: |(package, cluster, threads): &(u32, Option<u32>, u32)| match cluster {
                Some(cluster) => format!("cluster {cluster} x {threads}"),
                None => format!("package {package} x {threads}"),
            },
        };
        let to = Side {
            keys: sorted(of.iter().map(|view| view.to_package)),
            of: |view: &LinkView| view.to_package,
            label: |package: &u32| format!("memory of\npackage {package}"),
        };
        let cell = |view: &LinkView| cell_text(view, &mut footnotes);
        text += &grid(&of, &from, &to, cell, |_, _| "-".into());
    }
    text + &footnotes.lines()
}

/// Whose cores move data, and how many.
fn row(view: &LinkView) -> (u32, Option<u32>, u32) {
    (view.from_package, view.cluster, view.threads)
}

fn cell_text(view: &LinkView, footnotes: &mut Footnotes) -> String {
    let mut text = footnotes.with_interval(&view.case, view.total.as_ref().map(Into::into));
    if let (Some(from), Some(back)) = (&view.from, &view.back) {
        let three = |value| format_significant(value, 3);
        text += &format!("\n{} + {}", three(from.sum_gb_per_s), three(back.sum_gb_per_s));
    }
    text
}
