//! The pairs matrix as `show` prints it.

use nearfar_machine::CpuSet;
use nearfar_model::{Cell, Figure, Pairs};
use serde::Serialize;

use super::figures::{count, gb_per_s};
use super::show_figure::{AbsentView, BandwidthView, Footnotes, kernel_title};
use super::show_grid::{groups, sorted};
use crate::printable::printable;
use crate::terminal::table::table;

/// One initiator on one node with one kernel and one number of threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellView {
    /// `cluster`, `l3` or `core`.
    pub initiator: String,
    /// The initiator's number.
    pub index: u32,
    pub cluster: u32,
    /// The lowest node with CPUs of that cluster, or null.
    pub cpu_node: Option<u32>,
    pub cpus: CpuSet,
    /// The node that is accessed.
    pub memory_node: u32,
    pub kernel: String,
    pub threads: u32,
    /// Whether this is the thread count with the highest sum.
    pub peak: bool,
    /// Figures by variant, the best first; empty when refused.
    pub figures: Vec<FigureView>,
    /// Refusals, at most one for each run of the program and variant; empty when it was not refused.
    pub refused: Vec<AbsentView>,
}

/// Figures of one variant.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FigureView {
    /// The case, by its id in the record.
    pub case: String,
    /// Instruction-set variant.
    pub variant: String,
    /// Useful bytes/s.
    #[serde(flatten)]
    pub bandwidth: BandwidthView,
    /// Working set / caches involved, or null.
    pub llc_multiple: Option<f64>,
}

pub(crate) fn cell_views(matrix: &Pairs) -> Vec<CellView> {
    matrix.cells().filter_map(|cell| cell_view(matrix, cell)).collect()
}

fn cell_view(
    matrix: &Pairs,
    (index, memory_node, kernel, threads, cell): (u32, u32, &str, u32, &Cell),
) -> Option<CellView> {
    let row = matrix.initiators.iter().find(|row| row.index == index)?;
    let peak = matrix.peak(index, memory_node, kernel).map(|(threads, _)| threads);
    Some(CellView {
        initiator: row.kind.clone(),
        index,
        cluster: row.cluster,
        cpu_node: row.cpu_node,
        cpus: row.cpus.clone(),
        memory_node,
        kernel: kernel.into(),
        threads,
        peak: peak == Some(threads),
        figures: cell.figures.iter().map(figure_view).collect(),
        refused: cell.refused.iter().map(AbsentView::new).collect(),
    })
}

fn figure_view(figure: &Figure) -> FigureView {
    FigureView {
        case: figure.case.clone(),
        variant: figure.variant.clone(),
        bandwidth: BandwidthView::new(&figure.summary),
        llc_multiple: figure.llc_multiple,
    }
}

/// The matrix in tables, one for each kernel.
pub(crate) fn pairs_text(cells: &[CellView]) -> String {
    let mut text = String::from(
        "\nUseful bandwidth in GB/s (1e9 bytes/s), STREAM's count. Rows: who accesses; columns: \
         whose memory.\nMedian over rounds, below it its 95 % interval. sum: all threads \
         together; paced: threads x\nthe slowest thread, what a statically divided loop sees.\n",
    );
    let mut footnotes = Footnotes::default();
    for (kernel, of) in groups(cells, |cell| &cell.kernel) {
        text += &kernel_table(&of, kernel, &mut footnotes);
    }
    text + &footnotes.lines()
}

fn kernel_table(cells: &[&CellView], kernel: &str, footnotes: &mut Footnotes) -> String {
    let nodes = sorted(cells.iter().map(|cell| cell.memory_node));
    let mut rows = Vec::new();
    for section in [Section::OneThread, Section::Sum, Section::Paced, Section::Peak] {
        let of_section: Vec<Vec<String>> = rows_of_section(cells, &nodes, section, footnotes);
        if !of_section.is_empty() {
            rows.push(vec![section.title().to_string()]);
            rows.extend(of_section);
        }
    }
    let header = std::iter::once(String::new())
        .chain(nodes.iter().map(|node| format!("node {node}")))
        .collect();
    format!("\n{}\n{}{}", kernel_title(kernel), table(header, rows, 1), variant_line(cells))
}

/// The parts of a kernel's matrix.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    OneThread,
    Sum,
    Paced,
    Peak,
}

impl Section {
    fn title(self) -> &'static str {
        match self {
            Self::OneThread => "one thread",
            Self::Sum => "all threads, sum",
            Self::Paced => "all threads, paced",
            Self::Peak => "peak over thread counts, sum",
        }
    }

    /// Whether an initiator's cell stands in this part. `counts` are the thread
    /// counts of the initiator, ascending.
    fn shows(self, cell: &CellView, counts: &[u32]) -> bool {
        let all = counts.last() == Some(&cell.threads);
        match self {
            Self::OneThread => cell.threads == 1,
            Self::Sum | Self::Paced => all && cell.threads > 1,
            Self::Peak => counts.len() > 2 && cell.peak,
        }
    }
}

fn rows_of_section(
    cells: &[&CellView],
    nodes: &[u32],
    section: Section,
    footnotes: &mut Footnotes,
) -> Vec<Vec<String>> {
    let mut initiators: Vec<u32> = cells.iter().map(|cell| cell.index).collect();
    initiators.dedup();
    let mut rows = Vec::new();
    for initiator in initiators {
        let of_row: Vec<&CellView> =
            cells.iter().copied().filter(|cell| cell.index == initiator).collect();
        let mut counts: Vec<u32> = of_row.iter().map(|cell| cell.threads).collect();
        counts.sort_unstable();
        counts.dedup();
        let shown: Vec<&CellView> =
            of_row.into_iter().filter(|cell| section.shows(cell, &counts)).collect();
        let Some(first) = shown.first() else { continue };
        let threads = match section {
            Section::Sum | Section::Paced => format!(" x {}", first.threads),
            Section::OneThread | Section::Peak => String::new(),
        };
        let mut row =
            vec![format!("  {} {}{threads}\n  {}", first.initiator, initiator, cpus_text(first))];
        for &node in nodes {
            let shown_here = shown.iter().find(|cell| cell.memory_node == node);
            // Where no thread count gave a figure there is no peak, but a refusal.
            let refused = cells.iter().find(|cell| {
                cell.index == initiator && cell.memory_node == node && !cell.refused.is_empty()
            });
            let cell = shown_here.or(refused);
            row.push(cell.map_or("-".into(), |cell| cell_text(cell, section, footnotes)));
        }
        rows.push(row);
    }
    rows
}

fn cpus_text(cell: &CellView) -> String {
    let plural = if cell.cpus.len() == 1 { "" } else { "s" };
    format!("CPU{plural} {}", cell.cpus)
}

fn cell_text(cell: &CellView, section: Section, footnotes: &mut Footnotes) -> String {
    // Of a cell with figures only refusals of the variant that is shown concern it.
    let best = cell.figures.first();
    let mut refusals =
        cell.refused.iter().filter(|absent| best.is_none_or(|figure| figure.case == absent.case));
    let refused = refusals.next().map(|absent| footnotes.number("refused", &absent.reason));
    match (best, refused) {
        (Some(figure), None) => figure_text(&figure.bandwidth, section, cell.threads, footnotes),
        (Some(figure), Some(note)) => {
            format!(
                "{}\nthen refused ({note})",
                figure_text(&figure.bandwidth, section, cell.threads, footnotes)
            )
        }
        (None, Some(note)) => format!("refused ({note})"),
        (None, None) => "not measured".into(),
    }
}

/// A median, below it its interval. `*`: fewer than six rounds, so that the
/// interval holds the median less often than 95 %; `!`: every sample was disturbed.
fn figure_text(
    figure: &BandwidthView,
    section: Section,
    threads: u32,
    footnotes: &mut Footnotes,
) -> String {
    let (median, interval) = match section {
        Section::Paced => (figure.paced_gb_per_s, figure.paced_interval_gb_per_s),
        Section::OneThread | Section::Sum | Section::Peak => {
            (figure.sum_gb_per_s, figure.sum_interval_gb_per_s)
        }
    };
    let [few, disturbed] =
        footnotes.marks(Some(figure.rounds.confidence), figure.rounds.only_disturbed);
    let median = gb_per_s(median * 1e9);
    if section == Section::Peak {
        return format!("{median}{disturbed}\nat {threads} threads");
    }
    if figure.rounds.rounds == 1 {
        return format!("{median}{disturbed}\n1 round*");
    }
    format!(
        "{median}{disturbed}\n{} - {}{few}",
        gb_per_s(interval[0] * 1e9),
        gb_per_s(interval[1] * 1e9)
    )
}

/// Which variants the shown figures are from.
fn variant_line(cells: &[&CellView]) -> String {
    let mut variants: Vec<(&str, usize)> = Vec::new();
    for figure in cells.iter().filter_map(|cell| cell.figures.first()) {
        match variants.iter_mut().find(|(name, _)| *name == figure.variant) {
            Some((_, count)) => *count += 1,
            None => variants.push((&figure.variant, 1)),
        }
    }
    let tried = cells.iter().map(|cell| cell.figures.len()).max().unwrap_or(0);
    match (variants.as_slice(), tried) {
        ([], _) => String::new(),
        ([(name, _)], 0 | 1) => format!(" variant: {}\n", printable(name)),
        ([(name, _)], _) => {
            format!(" best of {tried} variants, in every cell: {}\n", printable(name))
        }
        _ => {
            let counts: Vec<String> = variants
                .iter()
                .map(|(name, cells)| format!("{} in {}", printable(name), count(*cells, "cell")))
                .collect();
            format!(" best of {tried} variants: {}\n", counts.join(", "))
        }
    }
}
