//! The roofs of clusters in words and tables.

use std::collections::HashMap;

use nearfar_record::{Roof, RoofPurpose};
use nearfar_units::format_significant;

use super::figures::{count, significant};
use super::show_figure::{Footnotes, caption, section};
use super::show_grid::{Side, dotted_grid, groups, in_order};
use super::show_roofs::RoofView;
use crate::printable::printable;

/// For each cluster its bandwidths, its arithmetic and the points below them.
pub(crate) fn roofs_text(views: &[RoofView]) -> String {
    let mut text = section(
        "roofs",
        "what each level of the memory gives a cluster, and what its cores compute at most; sum: all \
         its threads together. local and remote: the rest of the machine is idle; interleaved: so too, \
         all nodes of a kind, page by page in turn; contended: several clusters use one node at once; \
         all local: each cluster uses its own node; congested: all clusters use all nodes of a kind, \
         page by page in turn.",
    );
    let mut footnotes = Footnotes::default();
    // Columns stand in one order for all clusters.
    let all: Vec<&RoofView> = views.iter().collect();
    let kernels = labels(&all, kernel_and_variant);
    for (cluster, of) in groups(views, |view| view.cluster) {
        let cpus = of.first().map(|view| view.cpus.to_string()).unwrap_or_default();
        let title = format!("cluster {cluster} (CPUs {cpus})");
        let pick = |purpose: RoofPurpose, is_compute: bool| -> Vec<&RoofView> {
            let wanted = |view: &&&RoofView| {
                view.purpose == purpose && (view.roof == Roof::Compute) == is_compute
            };
            of.iter().filter(wanted).copied().collect()
        };
        text += &bandwidths(&title, &pick(RoofPurpose::Roof, false), &kernels, &mut footnotes);
        text += &arithmetic(&title, &pick(RoofPurpose::Roof, true), &mut footnotes);
        text += &points(&title, &pick(RoofPurpose::Validation, false), &mut footnotes);
    }
    text + &footnotes.lines()
}

/// A table of views by what two functions say of them; a place without a view is a dot.
fn labelled(
    views: &[&RoofView],
    (rows, row): (Vec<String>, impl Fn(&RoofView) -> String),
    (columns, column): (Vec<String>, impl Fn(&RoofView) -> String),
    cell: impl FnMut(&RoofView) -> String,
) -> String {
    let rows = Side { keys: rows, of: row, label: String::clone };
    let columns = Side { keys: columns, of: column, label: String::clone };
    dotted_grid(views, &rows, &columns, cell)
}

/// What a function says of views, each once.
fn labels(views: &[&RoofView], label: impl Fn(&RoofView) -> String) -> Vec<String> {
    in_order(views.iter().map(|view| label(view)))
}

fn kernel_and_variant(view: &RoofView) -> String {
    format!("{}\n{}", printable(&view.kernel), printable(&view.variant))
}

fn threads(views: &[&RoofView]) -> String {
    let threads = in_order(views.iter().map(|view| view.threads));
    match threads[..] {
        [threads] => format!(", {}", count(threads as usize, "thread")),
        _ => String::new(),
    }
}

fn bandwidths(
    title: &str,
    views: &[&RoofView],
    kernels: &[String],
    footnotes: &mut Footnotes,
) -> String {
    if views.is_empty() {
        return String::new();
    }
    let knows_cycles = views.iter().any(|view| is_in_cycles(view));
    let cycles =
        if knows_cycles { ", below it bytes of a core in a cycle, median over cores" } else { "" };
    let mut columns = labels(views, kernel_and_variant);
    columns.sort_by_cached_key(|column| kernels.iter().position(|known| known == column));
    let (rows, columns) =
        ((labels(views, RoofView::name), RoofView::name), (columns, kernel_and_variant));
    let table = labelled(views, rows, columns, |view| {
        let text = footnotes.figure(&view.case, view.bandwidth.as_ref().map(Into::into));
        match view.bytes_per_cycle {
            Some(bytes) if is_in_cycles(view) => {
                format!("{text}\n{} B/cycle", format_significant(bytes, 3))
            }
            _ => text,
        }
    });
    let what = format!("{title}{}: GB/s (1e9 useful bytes/s){cycles}", threads(views));
    caption(&what) + &table + &footnotes.widest_interval()
}

/// Caches run with the core's clock, memory does not.
fn is_in_cycles(view: &RoofView) -> bool {
    matches!(view.roof, Roof::Cache { .. }) && view.bytes_per_cycle.is_some()
}

fn arithmetic(title: &str, views: &[&RoofView], footnotes: &mut Footnotes) -> String {
    if views.is_empty() {
        return String::new();
    }
    // `fma_add_dp`: the operation, and the width of its numbers.
    let parts = |view: &RoofView| -> (String, String) {
        let (operation, precision) = view.kernel.rsplit_once('_').unwrap_or((&view.kernel, ""));
        (printable(operation).into(), printable(precision).to_uppercase())
    };
    let column = |view: &RoofView| format!("{}\n{}", parts(view).1, printable(&view.variant));
    let row = |view: &RoofView| parts(view).0;
    let (rows, columns) = ((labels(views, row), row), (labels(views, column), column));
    let table = labelled(views, rows, columns, |view| {
        let text = footnotes.figure(&view.case, view.flops.as_ref().map(Into::into));
        match (view.flops_per_cycle, view.core_ghz) {
            (Some(flops), Some(ghz)) => {
                format!("{text}\n{} at {} GHz", significant(flops, 3), format_significant(ghz, 3))
            }
            _ => text,
        }
    });
    let knows_cycles = views.iter().any(|view| view.flops_per_cycle.is_some());
    let cycles = if knows_cycles {
        ", below it FLOPs of a core in a cycle, median over cores, and their clock"
    } else {
        ""
    };
    let what = format!("{title}{}: arithmetic, GFLOP/s (1e9 FLOP/s){cycles}", threads(views));
    caption(&what) + &table + &footnotes.widest_interval()
}

fn points(title: &str, views: &[&RoofView], footnotes: &mut Footnotes) -> String {
    if views.is_empty() {
        return String::new();
    }
    // A point without a figure stands where others of its mix have one.
    let known: HashMap<&str, f64> = views
        .iter()
        .filter_map(|view| Some((view.kernel.as_str(), view.flops_per_byte?)))
        .collect();
    let intensity = |kernel: &str| known.get(kernel).copied();
    let row = |view: &RoofView| {
        let kernel = printable(&view.kernel);
        intensity(&view.kernel).map_or_else(
            || kernel.to_string(),
            |value| format!("{} ({kernel})", significant(value, 3)),
        )
    };
    let mut by_intensity: Vec<&RoofView> = views.to_vec();
    by_intensity.sort_by(|one, other| {
        let key = |view: &RoofView| intensity(&view.kernel).unwrap_or(f64::INFINITY);
        key(one).total_cmp(&key(other))
    });
    let (rows, columns) =
        ((labels(&by_intensity, row), row), (labels(views, RoofView::name), RoofView::name));
    let table = labelled(views, rows, columns, |view| {
        let text = footnotes.figure(&view.case, view.flops.as_ref().map(Into::into));
        match (view.attainable_gflop_per_s, view.attainable_ratio) {
            (Some(attainable), Some(ratio)) => {
                format!("{text} of {}\n{ratio:.3}", format_significant(attainable, 3))
            }
            _ => text,
        }
    });
    let what = format!(
        "{title}{}: points below the roofs, GFLOP/s (1e9 FLOP/s) measured of what the lower \
         roof allows, arithmetic or intensity x bandwidth, below it their ratio. Rows: FLOPs per byte that the cores request (mix)",
        threads(views)
    );
    caption(&what) + &table + &footnotes.widest_interval()
}
