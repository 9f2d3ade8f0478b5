//! A record in words and tables.

use std::time::Duration;

use nearfar_kernels::find;
use nearfar_record::{Executor, Suite};
use nearfar_units::format_duration;

use crate::figures::{count, gb_per_s, percent, simulated_line};
use crate::printable::printable;
use crate::show::{AbsentView, CellView, FigureView, ShowView};
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
        let figures = || self.pairs.iter().flat_map(|cell| &cell.figures);
        if figures().any(|figure| figure.confidence < 0.95) {
            text += "* fewer than six undisturbed rounds: the interval is not one of 95 %\n";
        }
        if figures().any(|figure| figure.only_disturbed) {
            text += "! every sample was disturbed; none is left out\n";
        }
        for (number, footnote) in (1..).zip(&footnotes) {
            text += &format!("({number}) refused: {}\n", printable(footnote));
        }
        if let Some(classes) = &self.classes {
            text += &format!("\n{}", classes.summary());
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
            "{}, {}, {suite} suite: {}",
            printable(&self.host),
            printable(&self.started),
            count(self.samples, "sample")
        );
        if let Some(seconds) = self.seconds {
            text += &format!(" in {}", format_duration(Duration::from_secs_f64(seconds)));
            if self.executor == Executor::Simulated {
                text += " of the simulated machine's own clock";
            }
        }
        text.push('\n');
        let cpu = self.cpu.as_deref().unwrap_or("unknown CPU");
        let release = self.kernel_release.as_deref().unwrap_or("unknown");
        text += &format!("{}, Linux {}\n", printable(cpu), printable(release));
        text += simulated_line(self.executor);
        text += &self.sealing.warning();
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
        let mut rows = Vec::new();
        for section in [Section::OneThread, Section::Sum, Section::Paced, Section::Peak] {
            let of_section: Vec<Vec<String>> = rows_of_section(&cells, &nodes, section, footnotes);
            if !of_section.is_empty() {
                rows.push(vec![section.title().to_string()]);
                rows.extend(of_section);
            }
        }
        let header = std::iter::once(String::new())
            .chain(nodes.iter().map(|node| format!("node {node}")))
            .collect();
        let formula = find(kernel).map_or("", |kernel| kernel.formula);
        let bypass = if kernel.ends_with("_nt") { ", stores bypass the caches" } else { "" };
        format!(
            "\n{}   {formula}{bypass}\n{}{}",
            printable(kernel),
            table(header, rows, 1),
            variant_line(&cells)
        )
    }

    fn evidence(&self) -> String {
        if self.samples == 0 {
            return String::new();
        }
        let mut text = match self.executor {
            Executor::Native => self.proofs(),
            Executor::Simulated => "\nproven pages: none; a simulated machine has no pages, its \
                                    data are where a case asks for them"
                .into(),
        };
        text += &format!(
            "\ndisturbed samples: {} of {} ({})\n",
            self.disturbed,
            self.samples,
            percent(self.disturbed as u64, self.samples as u64)
        );
        text
    }

    fn proofs(&self) -> String {
        let proven: Vec<String> =
            self.proven_by.iter().map(|(method, count)| format!("{count} by {method}")).collect();
        let mut text = format!("\nsamples with proven pages: {}", proven.join(", "));
        if let Some(least) = self.least_placed {
            text +=
                &format!("; at least {:.2} % of the pages on the node asked for", least * 100.0);
        }
        if let Some(share) = self.huge_page_share {
            text += &format!("; {:.0} % of the memory in huge pages", share * 100.0);
        }
        text
    }

    /// One line for each reason, however many cases it holds for.
    fn not_measured(&self) -> String {
        let mut text = String::new();
        for (word, absences) in [("omitted", &self.omitted), ("refused", &self.refused)] {
            let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
            for absent in absences {
                match groups.iter_mut().find(|(reason, _)| *reason == absent.reason) {
                    Some((_, cases)) => cases.push(&absent.case),
                    None => groups.push((&absent.reason, vec![&absent.case])),
                }
            }
            for (reason, mut cases) in groups {
                cases.sort_unstable();
                cases.dedup();
                let more = match cases.len() {
                    1 => String::new(),
                    count => format!(" and {} more", count - 1),
                };
                text += &format!("{word}: {}{more}: {}\n", printable(cases[0]), printable(reason));
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
    footnotes: &mut Vec<String>,
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

fn cell_text(cell: &CellView, section: Section, footnotes: &mut Vec<String>) -> String {
    // Of a cell with figures only refusals of the variant that is shown concern it.
    let best = cell.figures.first();
    let mut refusals =
        cell.refused.iter().filter(|absent| best.is_none_or(|figure| figure.case == absent.case));
    let refused = refusals.next().map(|AbsentView { reason, .. }| {
        let known = footnotes.iter().position(|footnote| footnote == reason);
        known.unwrap_or_else(|| {
            footnotes.push(reason.clone());
            footnotes.len() - 1
        }) + 1
    });
    match (best, refused) {
        (Some(figure), None) => figure_text(figure, section, cell.threads),
        (Some(figure), Some(note)) => {
            format!("{}\nthen refused ({note})", figure_text(figure, section, cell.threads))
        }
        (None, Some(note)) => format!("refused ({note})"),
        (None, None) => "not measured".into(),
    }
}

/// A median, below it its interval. `*`: fewer than six rounds, so that the
/// interval holds the median less often than 95 %; `!`: every sample was disturbed.
fn figure_text(figure: &FigureView, section: Section, threads: u32) -> String {
    let (median, interval) = match section {
        Section::Paced => (figure.paced_gb_per_s, figure.paced_interval_gb_per_s),
        Section::OneThread | Section::Sum | Section::Peak => {
            (figure.sum_gb_per_s, figure.sum_interval_gb_per_s)
        }
    };
    let disturbed = if figure.only_disturbed { "!" } else { "" };
    let median = gb_per_s(median * 1e9);
    if section == Section::Peak {
        return format!("{median}{disturbed}\nat {threads} threads");
    }
    if figure.rounds == 1 {
        return format!("{median}{disturbed}\n1 round*");
    }
    let few = if figure.confidence < 0.95 { "*" } else { "" };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(memory_node: u32, variants: &[&str]) -> CellView {
        let figure = |variant: &&str| FigureView {
            case: format!("pairs/cluster0/node{memory_node}/load/{variant}/t1"),
            variant: (*variant).into(),
            sum_gb_per_s: 9.0,
            sum_interval_gb_per_s: [8.9, 9.1],
            paced_gb_per_s: 9.0,
            paced_interval_gb_per_s: [8.9, 9.1],
            confidence: 0.97,
            rounds: 6,
            samples: 6,
            disturbed: 0,
            only_disturbed: false,
            spread_between_rounds: None,
            spread_within_rounds: None,
            llc_multiple: None,
        };
        CellView {
            initiator: "cluster".into(),
            index: 0,
            cluster: 0,
            cpu_node: Some(0),
            cpus: [0].into_iter().collect(),
            memory_node,
            kernel: "load".into(),
            threads: 1,
            peak: true,
            figures: variants.iter().map(figure).collect(),
            refused: Vec::new(),
        }
    }

    #[test]
    fn one_cell_and_one_cpu_are_one() {
        let cells = [
            cell(0, &["avx512", "avx2"]),
            cell(1, &["avx512", "avx2"]),
            cell(2, &["avx2", "avx512"]),
        ];
        let cells: Vec<&CellView> = cells.iter().collect();
        assert_eq!(
            variant_line(&cells),
            " best of 2 variants: avx512 in 2 cells, avx2 in 1 cell\n"
        );
        assert_eq!(cpus_text(cells[0]), "CPU 0");
        let wide = CellView { cpus: (0..4).collect(), ..cell(0, &[]) };
        assert_eq!(cpus_text(&wide), "CPUs 0-3");
    }
}
