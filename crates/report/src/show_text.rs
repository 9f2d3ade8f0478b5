//! A record in words and tables.

use std::time::Duration;

use nearfar_kernels::find;
use nearfar_record::{Executor, Suite};
use nearfar_units::format_duration;

use crate::figures::{gb_per_s, percent};
use crate::printable::printable;
use crate::show::{CellView, FigureView, ShowView};
use crate::table::table;

impl ShowView {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.head();
        if self.pairs.is_empty() {
            text += "\nthe record holds no pairs\n";
        } else {
            text += "\nUseful bandwidth in GB/s (1e9 bytes/s), STREAM's count. Rows: who accesses; columns: \
                     whose memory.\nMedian over rounds, below it its 95 % interval. sum: all threads \
                     together; paced: threads x\nthe slowest thread, what a statically divided loop sees.\n";
        }
        let mut footnotes = Vec::new();
        for kernel in self.kernels() {
            text += &self.kernel_table(&kernel, &mut footnotes);
        }
        for (number, footnote) in (1..).zip(&footnotes) {
            text += &format!("({number}) refused: {}\n", printable(footnote));
        }
        text += &self.evidence();
        text += &self.not_measured();
        text + &self.warning_lines()
    }

    fn head(&self) -> String {
        let suite = match self.suite {
            Suite::Quick => "quick",
            Suite::Standard => "standard",
            Suite::Full => "full",
        };
        let mut text = format!(
            "{}, {}, {suite} suite: {} samples",
            printable(&self.host),
            printable(&self.started),
            self.samples
        );
        if let Some(seconds) = self.seconds {
            text += &format!(" in {}", format_duration(Duration::from_secs_f64(seconds)));
        }
        text.push('\n');
        let cpu = self.cpu.as_deref().unwrap_or("unknown CPU");
        let release = self.kernel_release.as_deref().unwrap_or("unknown");
        text += &format!("{}, Linux {}\n", printable(cpu), printable(release));
        if self.executor == Executor::Simulated {
            text += "SIMULATED: these figures were worked out, not measured\n";
        }
        if self.unfinished {
            text += "unfinished: the program was killed while measuring; go on with --resume\n";
        }
        text
    }

    fn kernels(&self) -> Vec<String> {
        let mut kernels: Vec<String> = Vec::new();
        for cell in &self.pairs {
            if !kernels.contains(&cell.kernel) {
                kernels.push(cell.kernel.clone());
            }
        }
        kernels
    }

    fn kernel_table(&self, kernel: &str, footnotes: &mut Vec<String>) -> String {
        let cells: Vec<&CellView> =
            self.pairs.iter().filter(|cell| cell.kernel == kernel).collect();
        let mut nodes: Vec<u32> = cells.iter().map(|cell| cell.memory_node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut initiators: Vec<u32> = cells.iter().map(|cell| cell.index).collect();
        initiators.dedup();
        let header = ["from", "threads", ""]
            .map(String::from)
            .into_iter()
            .chain(nodes.iter().map(|node| format!("node {node}")))
            .collect();
        let mut rows = Vec::new();
        for initiator in initiators {
            let row_cells: Vec<&CellView> =
                cells.iter().copied().filter(|cell| cell.index == initiator).collect();
            for (position, threads) in shown_thread_counts(&row_cells).into_iter().enumerate() {
                rows.extend(thread_rows(&row_cells, &nodes, threads, position == 0, footnotes));
            }
            rows.extend(peak_row(&row_cells, &nodes));
        }
        let formula = find(kernel).map_or("", |kernel| kernel.formula);
        let bypass = if kernel.ends_with("_nt") { ", stores bypass the caches" } else { "" };
        format!(
            "\n{}   {formula}{bypass}\n{}{}",
            printable(kernel),
            table(header, rows, 3),
            variant_line(&cells)
        )
    }

    fn evidence(&self) -> String {
        if self.samples == 0 {
            return String::new();
        }
        let proven: Vec<String> =
            self.proven_by.iter().map(|(method, count)| format!("{count} by {method}")).collect();
        let mut text = format!("\npages proven: {}", proven.join(", "));
        if let Some(least) = self.least_placed {
            text += &format!("; at least {:.2} % of them on the node asked for", least * 100.0);
        }
        if let Some(share) = self.huge_page_share {
            text += &format!("; {:.0} % of the memory in huge pages", share * 100.0);
        }
        text += &format!(
            "\ndisturbed samples, left out of the figures: {} of {} ({})\n",
            self.disturbed,
            self.samples,
            percent(self.disturbed as u64, self.samples as u64)
        );
        text
    }

    fn not_measured(&self) -> String {
        let mut text = String::new();
        for (word, absences) in [("omitted", &self.omitted), ("refused", &self.refused)] {
            for absent in absences {
                text += &format!(
                    "{word}: {}: {}\n",
                    printable(&absent.case),
                    printable(&absent.reason)
                );
            }
        }
        if text.is_empty() { text } else { format!("\nnot measured\n{text}") }
    }

    fn warning_lines(&self) -> String {
        if self.warnings.is_empty() {
            return String::new();
        }
        let mut text = String::from("\nwhat to know about these figures\n");
        for warning in &self.warnings {
            text += &format!("- {}\n", printable(&warning.message));
            text += &format!("  -> {}\n", printable(&warning.remedy));
        }
        text
    }
}

/// One thread and all threads; what lies between is in the peak row and in `--json`.
fn shown_thread_counts(cells: &[&CellView]) -> Vec<u32> {
    let mut counts: Vec<u32> = cells.iter().map(|cell| cell.threads).collect();
    counts.sort_unstable();
    counts.dedup();
    match counts.as_slice() {
        [first, .., last] => vec![*first, *last],
        _ => counts,
    }
}

fn thread_rows(
    cells: &[&CellView],
    nodes: &[u32],
    threads: u32,
    name_it: bool,
    footnotes: &mut Vec<String>,
) -> Vec<Vec<String>> {
    let cell_at = |node: u32| {
        cells.iter().copied().find(|cell| cell.memory_node == node && cell.threads == threads)
    };
    let name = cells.first().filter(|_| name_it).map_or(String::new(), |cell| {
        format!("{} {}\nCPUs {}", cell.initiator, cell.index, cell.cpus)
    });
    let kinds: &[&str] = if threads == 1 { &[""] } else { &["sum", "paced"] };
    kinds
        .iter()
        .map(|&kind| {
            let first = kind != "paced";
            let mut row = vec![
                if first { name.clone() } else { String::new() },
                if first { threads.to_string() } else { String::new() },
                kind.to_string(),
            ];
            for &node in nodes {
                row.push(match cell_at(node) {
                    None => "not planned".into(),
                    Some(cell) => cell_text(cell, kind, footnotes),
                });
            }
            row
        })
        .collect()
}

fn cell_text(cell: &CellView, kind: &str, footnotes: &mut Vec<String>) -> String {
    let number_of = |reason: &String, footnotes: &mut Vec<String>| {
        let known = footnotes.iter().position(|footnote| footnote == reason);
        known.unwrap_or_else(|| {
            footnotes.push(reason.clone());
            footnotes.len() - 1
        }) + 1
    };
    let refused = cell.refused.first().map(|reason| number_of(reason, footnotes));
    match (cell.figures.first(), refused) {
        (Some(figure), None) => figure_text(figure, kind),
        (Some(figure), Some(note)) => format!("{} ({note})", figure_text(figure, kind)),
        (None, Some(note)) => format!("refused ({note})"),
        (None, None) => "not measured".into(),
    }
}

fn figure_text(figure: &FigureView, kind: &str) -> String {
    let (median, interval) = match kind {
        "paced" => (figure.paced_gb_per_s, figure.paced_interval_gb_per_s),
        _ => (figure.sum_gb_per_s, figure.sum_interval_gb_per_s),
    };
    let mark = match (figure.only_disturbed, figure.confidence < 0.95) {
        (true, _) => "\nall disturbed",
        (false, true) => "\nfew rounds",
        (false, false) => "",
    };
    format!(
        "{}\n{} - {}{mark}",
        gb_per_s(median * 1e9),
        gb_per_s(interval[0] * 1e9),
        gb_per_s(interval[1] * 1e9)
    )
}

/// The highest sum over all thread counts, where there are more than two.
fn peak_row(cells: &[&CellView], nodes: &[u32]) -> Option<Vec<String>> {
    let mut counts: Vec<u32> = cells.iter().map(|cell| cell.threads).collect();
    counts.sort_unstable();
    counts.dedup();
    if counts.len() < 3 {
        return None;
    }
    let mut row = vec![String::new(), "peak".into(), "sum".into()];
    for &node in nodes {
        let peak = cells.iter().find(|cell| cell.memory_node == node && cell.peak);
        row.push(peak.map_or("-".into(), |cell| {
            let best = cell.figures.first();
            best.map_or("-".into(), |figure| {
                format!("{}\nat {} threads", gb_per_s(figure.sum_gb_per_s * 1e9), cell.threads)
            })
        }));
    }
    Some(row)
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
                .map(|(name, count)| format!("{} in {count} cells", printable(name)))
                .collect();
            format!(" best of {tried} variants: {}\n", counts.join(", "))
        }
    }
}
