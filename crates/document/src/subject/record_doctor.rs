//! Which part of a machine falls short of its twins or of its kind elsewhere, by a record of it: what is wrong,
//! what was compared, what could not be.

use nearfar_machine::{NodeSet, TheoreticalMaximum};
use nearfar_model::{
    FEWEST_ROUNDS, FLOOR, MemoryLimit, Normality, NotCompared, NotHeld, RecordFigures, Twins,
    Unmeasured, command_on, measuring_command, memory_limit, normality, twins, unmeasured,
};
use nearfar_record::{Check, Experiment, Record, Standing, Suite};
use nearfar_units::BytesPerSecond;
use serde::Serialize;

use super::doctor::check_answer;
use super::memory_modules::module_check;
use super::origin::{Origin, seal_check};
use super::record_doctor_normal::normal_checks;
use super::who::Who;

use super::record_doctor_words::{
    level_remedy, level_words, remedy, shortfall_words, unmeasured_remedy, unmeasured_words,
    unsteady_remedy, unsteady_words,
};
use crate::answer::{Answer, Part, Shown};

/// Which part of a machine falls short of its twins (docs/models/twins.md); `doctor RECORD --json`
/// prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordDoctor {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: Origin,
    #[serde(flatten)]
    pub twins: Twins,
    /// Cells without a figure, by memory node and reason.
    pub unmeasured: Vec<Unmeasured>,
    /// Figures beside those of published servers.
    pub normal: Normality,
    /// The findings and what else was looked at, in words.
    pub checks: Vec<Check>,
}

impl RecordDoctor {
    /// Looks a record over. `gamma` is what a memory node can carry at most, or why it
    /// is not known.
    pub fn new(record: &Record, gamma: Result<TheoreticalMaximum, String>) -> Self {
        Self::of(&RecordFigures::new(record), gamma)
    }

    pub(crate) fn of(
        figures: &RecordFigures<'_>,
        gamma: Result<TheoreticalMaximum, String>,
    ) -> Self {
        let record = figures.record();
        let (twins, unmeasured) = (twins(figures), unmeasured(figures));
        let normal = normality(figures, &gamma);
        let (schema, measured) = ("nearfar.record-doctor/3", Origin::new(record));
        let mut checks = checks(figures, &twins, &unmeasured, &measured.who);
        checks.extend(normal_checks(&normal, &gamma));
        checks.extend(module_check(&record.header.machine));
        if !normal.not_held.iter().any(|it| matches!(it, NotHeld::Maximum { .. })) {
            checks.push(limit_check(figures, gamma));
        }
        // Failures stand first, each kind in its order.
        checks.sort_by_key(|check| check.standing != Standing::Failed);
        Self { schema, measured, twins, unmeasured, normal, checks }
    }

    /// Whether the record was changed, a part falls short or is unsteady, or a figure is
    /// above its maximum.
    pub fn has_failed(&self) -> bool {
        self.checks.iter().any(|check| check.standing == Standing::Failed)
    }

    /// For people.
    pub fn answer(&self) -> Answer {
        let is_even = self.twins.findings.is_empty() && self.twins.unsteady.is_empty();
        let legend = (!is_even).then(|| Part::words("", LEGEND));
        self.measured
            .answer()
            .and_answer(check_answer(&self.checks))
            .and_gap()
            .and_all(Shown::Always, legend)
    }
}

/// What the words of the findings mean.
const LEGEND: &str = "cell: one group of CPUs, memory node, kernel and number of threads; twins: cells \
                      that should be equal; in brackets: 95 % interval";

/// What twins, cells without figures and seals say.
fn checks(
    figures: &RecordFigures<'_>,
    twins: &Twins,
    unmeasured: &[Unmeasured],
    who: &Who,
) -> Vec<Check> {
    let record = figures.record();
    let kind = record.header.inputs.group_by;
    let check = |check: &str, standing, finding, remedy: String| Check {
        check: check.into(),
        standing,
        finding,
        remedy: Some(remedy),
    };
    let low = twins.findings.iter().map(|finding| {
        let words = shortfall_words(finding, kind, who);
        check("twins", Standing::Failed, words, remedy(finding))
    });
    let unsteady = twins.unsteady.iter().map(|part| {
        check("unsteady", Standing::Failed, unsteady_words(part, kind, who), unsteady_remedy())
    });
    let levels = twins.hidden_levels.iter().map(|level| {
        check("hidden_level", Standing::Warning, level_words(level, who), level_remedy(level))
    });
    let missing = unmeasured.iter().map(|missing| {
        let words = unmeasured_words(missing);
        check("unmeasured", Standing::Warning, words, unmeasured_remedy(record, missing))
    });
    let edited = seal_check(&record.sealing);
    let (first, last) = match edited.standing {
        Standing::Failed => (Some(edited), None),
        _ => (None, Some(edited)),
    };
    let found = low.chain(unsteady).chain(levels).chain(missing);
    let mut checks: Vec<Check> = first.into_iter().chain(found).collect();
    checks.extend(comparison_check(record, twins));
    checks.extend(last);
    checks
}

/// Losses below this should be seen on a machine that is quiet and built evenly.
const COARSE: f64 = 0.1;

/// What was compared where nothing was found, or why nothing could be.
fn comparison_check(record: &Record, twins: &Twins) -> Option<Check> {
    let check =
        |standing, finding, remedy| Check { check: "twins".into(), standing, finding, remedy };
    if twins.compared == 0 {
        let (why, remedy) = nothing_to_compare(record, twins);
        let finding = format!("nothing to compare with: {why}");
        return Some(check(Standing::Unknown, finding, Some(remedy)));
    }
    if !twins.findings.is_empty() || !twins.unsteady.is_empty() {
        return None;
    }
    let resolution = twins.resolution.unwrap_or(FLOOR);
    let alone: NodeSet = twins.nodes_not_compared.iter().copied().collect();
    let mut finding = format!(
        "{} cells in {} groups of twins were compared; no part of the machine falls short of its \
         twins (any {} or its cores that lost more than {:.1} % would show)",
        twins.compared,
        twins.groups,
        if alone.is_empty() { "memory node" } else { "other memory node" },
        resolution * 100.0
    );
    if !alone.is_empty() {
        finding += &match alone.len() {
            1 => format!("; node {alone} has no twin, and what it lost would not show"),
            _ => format!("; nodes {alone} have no twin, and what they lost would not show"),
        };
    }
    let more = "measure with more --samples on a quiet machine";
    let mut remedy = None;
    if twins.alone > 0 {
        finding += &format!("; {} single cells do, as noise can make them", twins.alone);
        remedy = Some(more.to_string());
    }
    if resolution > COARSE {
        remedy = Some(format!("to see smaller losses {more}; machines built unevenly hide them"));
    }
    Some(check(Standing::Fine, finding, remedy))
}

fn nothing_to_compare(record: &Record, twins: &Twins) -> (String, String) {
    let command = measuring_command(record, &[Experiment::Pairs], Suite::Standard);
    let measure = format!("measure with `{command}`");
    let Some((most, cells)) = twins.not_compared.iter().max_by_key(|(_, cells)| **cells) else {
        return ("the record holds no cells of pairs".into(), measure);
    };
    match most {
        NotCompared::FewRounds => (
            format!("{cells} cells have fewer than {FEWEST_ROUNDS} undisturbed rounds"),
            format!("{measure} and more --samples, on a quiet machine"),
        ),
        NotCompared::NoFigure => (
            format!("{cells} cells have no figure: they were refused or moved no bytes"),
            format!("see why with `{}`", command_on(record, "show", "--full")),
        ),
        NotCompared::NoTwin if record.header.machine.nodes.len() < 2 => (
            "the machine has one memory node, and no cell has a twin".into(),
            "compare with a record of a machine of the same kind".into(),
        ),
        NotCompared::NoTwin => (
            "no two cells are at the same distance from memory of the same kind".into(),
            "compare with a record of a machine of the same kind".into(),
        ),
    }
}

/// Nothing may exceed what the memory can carry.
fn limit_check(figures: &RecordFigures<'_>, gamma: Result<TheoreticalMaximum, String>) -> Check {
    let limit = gamma.and_then(|maximum| memory_limit(figures, maximum));
    let check = |standing, finding, remedy| Check {
        check: "theoretical_maximum".into(),
        standing,
        finding,
        remedy,
    };
    match limit {
        Err(why) => check(
            Standing::Unknown,
            format!("figures are not compared with the memory's theoretical maximum: {why}"),
            None,
        ),
        Ok(limit) if limit.above.is_empty() => check(
            Standing::Fine,
            format!(
                "no figure is above what a memory node can carry ({}, {}); the highest of {} cells \
                 is at {:.0} % of it",
                limit.maximum.name,
                BytesPerSecond(limit.maximum.bytes_per_s),
                limit.cells,
                limit.highest_share * 100.0
            ),
            None,
        ),
        Ok(limit) => check(Standing::Failed, above_words(&limit), Some(above_remedy(&limit))),
    }
}

fn above_words(limit: &MemoryLimit) -> String {
    let highest = limit.above.first().map_or_else(String::new, |cell| {
        format!(": {} moves {} at least", cell.case, BytesPerSecond(cell.traffic_bytes_per_s))
    });
    format!(
        "{} of {} cells are above what a memory node can carry ({}, {}){highest}",
        limit.above.len(),
        limit.cells,
        limit.maximum.name,
        BytesPerSecond(limit.maximum.bytes_per_s)
    )
}

fn above_remedy(limit: &MemoryLimit) -> String {
    /// Working sets below this multiple of the caches may be served by them.
    const ENOUGH: f64 = 4.0;
    let cached =
        limit.above.iter().all(|cell| cell.llc_multiple.is_none_or(|multiple| multiple < ENOUGH));
    if cached {
        "the working sets are below 4 x the caches, or the caches are not known: measure with a \
         larger --working-set"
            .into()
    } else {
        "the maximum is too low, or pages were not where they should be: check --gamma and the \
         memory modules (`nearfar topo`), and the proofs (`nearfar show`)"
            .into()
    }
}
