//! A record as `show` prints it: figures for programs, tables for people.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use nearfar_model::{
    ChaseFigures, HybridFigures, LinkFigures, Mix, PlacedCell, RecordFigures, RoofFigures,
    ScalingRuns, SharingCell, TransferFigures, chases, hybrid_points, links, mixes, pairs, roofs,
    scaling, sharing_grid, transfers,
};
use nearfar_record::{Absence, Absent, Executor, Experiment, Record, Suite, Warning};
use nearfar_units::format_duration;
use serde::Serialize;

use super::figures::{count, percent_of};
use super::origin::Origin;
use crate::grid::groups;
use crate::printable::printable;
use crate::table::AbsenceKind;
use crate::terminal::paragraph::paragraph;

/// A record in figures; `show --json` prints it. Each experiment is a list of its cases, empty
/// where the record holds none.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShownRecord {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: Origin,
    /// How much was measured.
    pub suite: Suite,
    /// The experiments that were asked for, in their order.
    pub experiments: Vec<Experiment>,
    /// The CPU's name, or null.
    pub cpu: Option<String>,
    /// Kernel release, or null.
    pub kernel_release: Option<String>,
    /// Seconds that was measured, by all runs of the program that ended in order; null
    /// when none did.
    pub seconds: Option<f64>,
    /// Whether the program was killed while measuring.
    pub unfinished: bool,
    /// Samples in the record.
    pub samples: usize,
    /// Samples that something disturbed.
    pub disturbed: usize,
    /// Samples of cases that touch memory.
    pub samples_on_memory: usize,
    /// Of these, the ones whose pages were all proven, by the weakest method that did.
    pub proven_by: BTreeMap<&'static str, usize>,
    /// Smallest share of an actor's pages that were on the node asked for, or null.
    pub least_placed: Option<f64>,
    /// Of pages dealt out over nodes, the most that a node's share was off the one asked for, or
    /// null.
    pub worst_share_deviation: Option<f64>,
    /// Share of the memory that huge pages backed, or null.
    pub huge_page_share: Option<f64>,
    /// The matrix, cell by cell.
    pub pairs: Vec<PlacedCell>,
    /// Runs by thread count and affinity.
    pub scaling: Vec<ScalingRuns>,
    /// Local and remote threads on one node.
    pub sharing: Vec<SharingCell>,
    /// Packages on the memory of others.
    pub links: Vec<LinkFigures>,
    /// Roofs, and points below them.
    pub roofs: Vec<RoofFigures>,
    /// Fast and slow memory.
    pub hybrid: Vec<HybridFigures>,
    /// Random sets of streams.
    pub mixes: Vec<Mix>,
    /// Times of an access.
    pub latency: Vec<ChaseFigures>,
    /// Copies between memory and devices.
    pub devices: Vec<TransferFigures>,
    /// Cases of programs; `sensitivity --from` shows their runs.
    pub placed_programs: usize,
    /// What was not asked for, does not apply, or was refused by the machine.
    pub absent: Vec<Absent>,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
}

impl ShownRecord {
    pub fn new(record: &Record) -> Self {
        Self::of(&RecordFigures::new(record))
    }

    /// The view of a record whose figures are sorted already.
    pub fn of(figures: &RecordFigures<'_>) -> Self {
        let record = figures.record();
        let evidence = figures.evidence();
        let header = &record.header;
        Self {
            schema: "nearfar.show/3",
            measured: Origin::new(record),
            suite: header.inputs.suite,
            experiments: header.inputs.experiments.clone(),
            cpu: header.environment.cpu.model_name.clone(),
            kernel_release: header.environment.kernel_release.clone(),
            seconds: (record.seconds > 0.0).then_some(record.seconds),
            unfinished: record.finished.is_none(),
            samples: evidence.samples,
            disturbed: evidence.disturbed,
            samples_on_memory: evidence.on_memory,
            proven_by: evidence
                .proven_by
                .iter()
                .map(|(method, &samples)| (method.as_str(), samples))
                .collect(),
            least_placed: evidence.least_placed,
            worst_share_deviation: evidence.worst_share,
            huge_page_share: evidence.huge_page_share,
            pairs: pairs(figures).placed(),
            scaling: scaling(figures),
            sharing: sharing_grid(figures),
            links: links(figures),
            roofs: roofs(figures),
            hybrid: hybrid_points(figures),
            mixes: mixes(figures),
            latency: chases(figures),
            devices: transfers(figures),
            placed_programs: record.cases.iter().filter(|case| case.command().is_some()).count(),
            absent: record.absent.clone(),
            warnings: record.warnings.clone(),
        }
    }
}

impl ShownRecord {
    pub(super) fn why_nothing(&self, experiment: Experiment) -> String {
        let own = self.absent.iter().filter(|absent| absent.experiment() == Some(experiment));
        let reasons: Vec<String> = groups(own, |absent| absent.reason.text.as_str())
            .into_iter()
            .map(|(reason, _)| printable(reason).into_owned())
            .collect();
        let why = if reasons.is_empty() {
            "nothing was measured: the record holds no case of it".into()
        } else {
            format!("nothing was measured: {}", reasons.join("; "))
        };
        format!("\n{}", paragraph(&format!("{experiment}: "), &why))
    }

    pub(super) fn head(&self) -> String {
        let suite = self.suite.as_str();
        let mut text = format!(
            "{}, {}, {suite} suite: {}",
            printable(&self.measured.host),
            printable(&self.measured.started),
            count(self.samples, "sample")
        );
        if let Some(seconds) = self.seconds {
            text += &format!(" in {}", format_duration(Duration::from_secs_f64(seconds)));
            if self.measured.executor == Executor::Simulated {
                text += " of the simulated machine's own clock";
            }
        }
        text.push('\n');
        let cpu = self.cpu.as_deref().unwrap_or("unknown CPU");
        let release = self.kernel_release.as_deref().unwrap_or("unknown");
        text += &format!("{}, Linux {}\n", printable(cpu), printable(release));
        text += &self.measured.cautions();
        if self.unfinished {
            text += "unfinished: the program was killed while measuring; resume by --resume\n";
        }
        text
    }

    pub(super) fn evidence(&self) -> String {
        if self.samples == 0 {
            return String::new();
        }
        let mut text = match self.measured.executor {
            Executor::Native => self.proofs(),
            Executor::Simulated => "\nproven pages: none; a simulated machine has no pages, its \
                                    data are where a case asks for them"
                .into(),
        };
        text += &format!(
            "\ndisturbed samples: {} of {} ({})\n",
            self.disturbed,
            self.samples,
            percent_of(self.disturbed, self.samples)
        );
        text
    }

    fn proofs(&self) -> String {
        let proven: Vec<String> =
            self.proven_by.iter().map(|(method, count)| format!("{count} by {method}")).collect();
        let mut text = format!(
            "\nsamples with proven pages: {} of {} that touch memory",
            self.proven_by.values().sum::<usize>(),
            self.samples_on_memory
        );
        if !proven.is_empty() {
            text += &format!(" ({})", proven.join(", "));
        }
        let least = self
            .least_placed
            .map(|least| format!("at least {:.2} % on the nodes asked for", least * 100.0));
        let off = self.worst_share_deviation.map(|off| {
            format!("interleaved or weighted pages: shares off by {:.2} % at most", off * 100.0)
        });
        let huge = self
            .huge_page_share
            .map(|share| format!("{:.0} % of the memory in huge pages", share * 100.0));
        let known: Vec<String> = [least, off, huge].into_iter().flatten().collect();
        if !known.is_empty() {
            text += &format!("\n{}", paragraph("pages: ", &known.join("; ")).trim_end());
        }
        text
    }

    /// One line for each reason within an experiment, however many cases it holds for.
    pub(super) fn not_measured(&self) -> String {
        let mut text = String::new();
        for absence in [Absence::Omitted, Absence::Refused] {
            let word = AbsenceKind::from(absence).as_str();
            let own = self.absent.iter().filter(|absent| absent.absence == absence);
            let why = |absent: &Absent| (absent.experiment(), absent.reason.text.clone());
            for ((_, reason), of) in groups(own, why) {
                // Sorted, each once.
                let cases: BTreeSet<&str> = of.iter().map(|absent| absent.case.as_str()).collect();
                let more = match cases.len() {
                    1 => String::new(),
                    count => format!(" and {} more", count - 1),
                };
                let first = cases.first().copied().unwrap_or_default();
                text += &format!("{word}: {}{more}: {}\n", printable(first), printable(&reason));
            }
        }
        if text.is_empty() { text } else { format!("\nnot measured\n{text}") }
    }

    pub(super) fn warning_lines(&self) -> String {
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
