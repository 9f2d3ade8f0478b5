//! What every table of `show` is made of: a case, its figures, and the marks in their cells.

use nearfar_kernels::find;
use nearfar_model::PlannedCase;
use nearfar_record::{Absence, Absent, CaseSummary, Chase};
use nearfar_units::format_significant;
use serde::Serialize;

use crate::printable::printable;
use crate::terminal::paragraph::paragraph;

/// A case, and what of it was not measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CaseView {
    /// Its id in the record.
    pub case: String,
    /// Of a chase, lines that it touches / caches involved; of streams the smallest working
    /// set / caches; or null.
    pub llc_multiple: Option<f64>,
    /// Why it was not measured, where it was not asked for.
    pub omitted: Vec<AbsentView>,
    /// Refusals by the machine.
    pub refused: Vec<AbsentView>,
}

/// Something that was not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbsentView {
    /// The case or group of cases.
    pub case: String,
    /// For programs.
    pub code: &'static str,
    /// For people.
    pub reason: String,
    /// The round in which it was refused, or null.
    pub round: Option<u32>,
}

/// Useful GB/s (1e9 bytes/s) over rounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BandwidthView {
    /// All threads together, median over rounds.
    pub sum_gb_per_s: f64,
    pub sum_interval_gb_per_s: [f64; 2],
    /// Threads x the slowest thread, median over rounds.
    pub paced_gb_per_s: f64,
    pub paced_interval_gb_per_s: [f64; 2],
    /// What the figures rest on.
    #[serde(flatten)]
    pub rounds: RoundsView,
}

/// GFLOP/s (1e9 floating-point operations/s) over rounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlopsView {
    /// All threads together, median over rounds.
    pub sum_gflop_per_s: f64,
    pub sum_interval_gflop_per_s: [f64; 2],
    /// Threads x the slowest thread, median over rounds.
    pub paced_gflop_per_s: f64,
    pub paced_interval_gflop_per_s: [f64; 2],
    /// What the figures rest on.
    #[serde(flatten)]
    pub rounds: RoundsView,
}

/// What a figure rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoundsView {
    /// How often such an interval holds the true median, a fraction.
    pub confidence: f64,
    /// Rounds that count.
    pub rounds: usize,
    pub samples: usize,
    /// Samples that were left out because something disturbed them.
    pub disturbed: usize,
    /// Whether all samples were disturbed, and so none was left out.
    pub only_disturbed: bool,
    /// (largest - smallest) / median of the round values, or null where the median is 0.
    pub spread_between_rounds: Option<f64>,
    /// The same of the windows within a round, or null with one window a round or
    /// where the median is 0.
    pub spread_within_rounds: Option<f64>,
}

impl CaseView {
    pub(crate) fn new(case: &PlannedCase) -> Self {
        let absences = |kind| case.absences(kind).map(AbsentView::new).collect();
        Self {
            case: case.id.clone(),
            llc_multiple: case.llc_multiple,
            omitted: absences(Absence::Omitted),
            refused: absences(Absence::Refused),
        }
    }
}

impl AbsentView {
    /// The view of an absence.
    pub(crate) fn new(absent: &Absent) -> Self {
        Self {
            case: absent.case.clone(),
            code: absent.reason.code.as_str(),
            reason: absent.reason.text.clone(),
            round: absent.round,
        }
    }
}

fn giga(interval: (f64, f64)) -> [f64; 2] {
    [interval.0 / 1e9, interval.1 / 1e9]
}

impl BandwidthView {
    /// The view of a summary of useful bytes.
    pub(crate) fn new(summary: &CaseSummary) -> Self {
        Self {
            sum_gb_per_s: summary.sum.median / 1e9,
            sum_interval_gb_per_s: giga(summary.sum.interval),
            paced_gb_per_s: summary.paced.median / 1e9,
            paced_interval_gb_per_s: giga(summary.paced.interval),
            rounds: RoundsView::new(summary),
        }
    }

    /// The view of a summary, where there is one.
    pub(crate) fn of(summary: Option<&CaseSummary>) -> Option<Self> {
        summary.map(Self::new)
    }
}

impl FlopsView {
    /// The view of a summary of floating-point operations.
    pub(crate) fn new(summary: &CaseSummary) -> Self {
        Self {
            sum_gflop_per_s: summary.sum.median / 1e9,
            sum_interval_gflop_per_s: giga(summary.sum.interval),
            paced_gflop_per_s: summary.paced.median / 1e9,
            paced_interval_gflop_per_s: giga(summary.paced.interval),
            rounds: RoundsView::new(summary),
        }
    }
}

impl RoundsView {
    fn new(summary: &CaseSummary) -> Self {
        Self {
            confidence: summary.sum.confidence,
            rounds: summary.sum.count,
            samples: summary.samples,
            disturbed: summary.disturbed,
            only_disturbed: summary.only_disturbed,
            spread_between_rounds: finite(summary.spread_between_rounds),
            spread_within_rounds: summary.spread_within_rounds.and_then(finite),
        }
    }
}

/// A fraction of a median that is 0 is no number, and JSON has no word for it.
fn finite(fraction: f64) -> Option<f64> {
    fraction.is_finite().then_some(fraction)
}

/// An experiment's name and what its tables show.
pub(crate) fn section(experiment: &str, what: &str) -> String {
    format!("\n{}", paragraph(&format!("{experiment}: "), what))
}

/// The words above a table.
pub(crate) fn caption(what: &str) -> String {
    format!("\n{}", paragraph("", what))
}

/// A kernel's name with what it does; a mix's name says that itself.
pub(crate) fn kernel_title(kernel: &str) -> String {
    let formula = find(kernel).map_or("", |kernel| kernel.formula);
    let bypass = if kernel.ends_with("_nt") { ", stores bypass the caches" } else { "" };
    format!("{}   {formula}{bypass}", printable(kernel)).trim_end().into()
}

/// A figure as a cell shows it, in the unit that the table's heading names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shown {
    pub median: f64,
    pub interval: [f64; 2],
    pub confidence: Option<f64>,
    pub only_disturbed: bool,
}

impl From<&BandwidthView> for Shown {
    fn from(view: &BandwidthView) -> Self {
        Self {
            median: view.sum_gb_per_s,
            interval: view.sum_interval_gb_per_s,
            confidence: Some(view.rounds.confidence),
            only_disturbed: view.rounds.only_disturbed,
        }
    }
}

impl From<&FlopsView> for Shown {
    fn from(view: &FlopsView) -> Self {
        Self {
            median: view.sum_gflop_per_s,
            interval: view.sum_interval_gflop_per_s,
            confidence: Some(view.rounds.confidence),
            only_disturbed: view.rounds.only_disturbed,
        }
    }
}

/// What the marks in the cells of a section stand for, gathered while they are set.
#[derive(Debug, Default)]
pub(crate) struct Footnotes {
    absences: Vec<(&'static str, String)>,
    few_rounds: bool,
    only_disturbed: bool,
    short_chase: bool,
    /// Half of the widest interval / its median, of figures whose interval is not shown.
    widest: Option<f64>,
}

impl Footnotes {
    /// `refused (2)`: a cell without a figure.
    pub fn absence(&mut self, case: &CaseView) -> String {
        let first = case
            .refused
            .first()
            .map(|absent| ("refused", absent))
            .or_else(|| case.omitted.first().map(|absent| ("omitted", absent)));
        match first {
            None => "not measured".into(),
            Some((word, absent)) => format!("{word} ({})", self.number(word, &absent.reason)),
        }
    }

    /// The number of a reason, known already or new.
    pub fn number(&mut self, word: &'static str, reason: &str) -> usize {
        let known = self.absences.iter().position(|known| (known.0, &*known.1) == (word, reason));
        known.unwrap_or_else(|| {
            self.absences.push((word, reason.into()));
            self.absences.len() - 1
        }) + 1
    }

    /// Median with its marks, and below it what stopped the case before all of its rounds.
    pub fn figure(&mut self, case: &CaseView, shown: Option<Shown>) -> String {
        let Some(shown) = shown else { return self.absence(case) };
        let text = self.marked(shown);
        match case.refused.first() {
            Some(_) => format!("{text}\nthen {}", self.absence(case)),
            None => text,
        }
    }

    /// Median with its marks, below it its interval.
    pub fn with_interval(&mut self, case: &CaseView, shown: Option<Shown>) -> String {
        let widest = self.widest;
        let text = self.figure(case, shown);
        self.widest = widest;
        match shown {
            Some(shown) if shown.interval[0] < shown.interval[1] => {
                let [low, high] = shown.interval.map(|end| format_significant(end, 3));
                let (median, rest) = text.split_once('\n').unwrap_or((&text, ""));
                format!("{median}\n{low} - {high}\n{rest}").trim_end().into()
            }
            _ => text,
        }
    }

    /// Median with its marks.
    pub fn marked(&mut self, shown: Shown) -> String {
        let half = (shown.interval[1] - shown.interval[0]) / 2.0 / shown.median;
        if half.is_finite() {
            self.widest = Some(self.widest.map_or(half, |widest| widest.max(half)));
        }
        let [few, disturbed] = self.marks(shown.confidence, shown.only_disturbed);
        format!("{}{disturbed}{few}", format_significant(shown.median, 3))
    }

    /// `*` for too few rounds, `!` for disturbed samples only; nothing for a sound figure.
    pub fn marks(&mut self, confidence: Option<f64>, only_disturbed: bool) -> [&'static str; 2] {
        let few = confidence.is_some_and(|confidence| confidence < 0.95);
        self.few_rounds |= few;
        self.only_disturbed |= only_disturbed;
        [if few { "*" } else { "" }, if only_disturbed { "!" } else { "" }]
    }

    /// Time of an access to memory, `^` at one whose chase caches answered in part, below it its
    /// interval.
    pub fn access_to_memory(&mut self, case: &CaseView, shown: Option<Shown>) -> String {
        let text = self.with_interval(case, shown);
        let is_short =
            case.llc_multiple.is_some_and(|multiple| multiple < Chase::LEAST_LLC_MULTIPLE);
        if shown.is_none() || !is_short {
            return text;
        }
        self.short_chase = true;
        match text.split_once('\n') {
            Some((median, rest)) => format!("{median}^\n{rest}"),
            None => text + "^",
        }
    }

    /// Says how wide the intervals of the figures since it last did are at most; for tables that
    /// do not show them.
    pub fn widest_interval(&mut self) -> String {
        match self.widest.take() {
            // Rounds of a simulated machine without noise do not differ.
            Some(half) if half > 0.0 => {
                format!(" widest 95 % interval: ±{} %\n", format_significant(half * 100.0, 2))
            }
            _ => String::new(),
        }
    }

    /// The lines below a section's tables.
    pub fn lines(&self) -> String {
        let mut text = String::new();
        if self.few_rounds {
            text += "* fewer than six undisturbed rounds: the interval is not one of 95 %\n";
        }
        if self.only_disturbed {
            text += "! every sample was disturbed; none is left out\n";
        }
        if self.short_chase {
            text += &format!(
                "^ the chase touches less than {least} times what the caches hold: they \
                 answered a part, memory alone takes longer\n",
                least = Chase::LEAST_LLC_MULTIPLE
            );
        }
        for (number, (word, reason)) in (1..).zip(&self.absences) {
            text += &format!("({number}) {word}: {}\n", printable(reason));
        }
        text
    }
}
