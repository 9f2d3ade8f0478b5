//! What the figures were measured under, what to know of them, and what was not measured.

use std::collections::BTreeMap;

use nearfar_model::{Unavailable, environment_settings};
use nearfar_record::{Absence, Absent, Executor, Experiment, Header};
use nearfar_units::format_significant;

use super::sources::Sources;
use crate::document::Section;
use crate::table::{AbsenceKind, Cell, Column, Table};

/// What the figures were measured under.
pub(crate) fn section(sources: &Sources<'_>) -> Section {
    let show = &sources.show;
    let header = &sources.record.header;
    let unknown = || {
        Cell::not_measured(match show.measured.executor {
            Executor::Native => "the system does not say",
            Executor::Simulated => "the machine is simulated",
        })
    };
    let known = |text: Option<&String>| text.map_or_else(unknown, Cell::text);
    let share = |share: Option<f64>| {
        share.map_or_else(unknown, |share| {
            Cell::text(format!("{} %", format_significant(share * 100.0, 3)))
        })
    };
    let mut rows = vec![
        ("host", Cell::text(&show.measured.host)),
        ("begun", Cell::text(&show.measured.started)),
        ("CPU", known(show.cpu.as_ref())),
        ("Linux", known(show.kernel_release.as_ref())),
        ("nearfar", Cell::text(&header.versions.nearfar)),
        ("hwloc", known(header.versions.hwloc.as_ref())),
        ("samples", Cell::text(show.samples)),
        ("of these disturbed", Cell::text(show.disturbed)),
    ];
    if show.measured.executor == Executor::Native {
        let proven: Vec<String> =
            show.proven_by.iter().map(|(method, count)| format!("{count} by {method}")).collect();
        rows.push(("samples whose pages are proven", Cell::text(proven.join(", "))));
        rows.push(("least share of pages where asked", share(show.least_placed)));
        rows.push(("memory in huge pages", share(show.huge_page_share)));
    }
    let warnings = show.warnings.iter();
    let warnings = warnings.map(|it| vec![Cell::text(&it.message), Cell::text(&it.remedy)]);
    let rows = rows.into_iter().map(|(name, value)| vec![Cell::text(name), value]);
    let what = |second: &'static str| ["what", second].map(Column::words);
    let tables = [
        Some(Table::new("Origin of the figures", what("value"), rows)),
        Some(settings(header)),
        Table::new("What to know about these figures", what("remedy"), warnings).unless_empty(),
    ];
    let about = "What the figures were measured under.";
    Section::new("environment", "Environment", about, tables.into_iter().flatten().collect())
}

/// Machine, system and inputs as the record tells of them: what `compare` compares.
fn settings(header: &Header) -> Table {
    let (known, unknown): (Vec<_>, Vec<_>) =
        environment_settings(header).into_iter().partition(|(_, value)| value.is_some());
    let words = |name: &str| name.replace('_', " ");
    let names: Vec<String> = unknown.iter().map(|(name, _)| words(name)).collect();
    let row = |(name, value): (&str, Option<String>)| {
        vec![Cell::text(words(name)), Cell::text(value.unwrap_or_default())]
    };
    Table::new(
        "Machine, system and inputs",
        ["what", "value"].map(Column::words),
        known.into_iter().map(row),
    )
    .with_notes(
        (!names.is_empty()).then(|| format!("Not known, or not set: {}.", names.join(", "))),
    )
}

/// What was refused or left out, and which models say nothing.
pub(crate) fn not_measured(sources: &Sources<'_>) -> Option<Section> {
    let kinds = [Absence::Refused, Absence::Omitted].into_iter();
    let rows = kinds.flat_map(|of| reasons(of, &sources.show.absent));
    let names = ["how", "first case", "cases", "reason"];
    let cases = Table::new("Cases without figures, by reason", names.map(Column::words), rows);
    let rows = sources.unavailable.iter().map(|Unavailable { model, why }| {
        let remedy = why.remedy.clone().map_or(Cell::Empty, Cell::Text);
        vec![Cell::text(model.as_str()), Cell::text(&why.why), remedy]
    });
    let names = ["model", "why", "what would change it"];
    let models =
        Table::new("Models that say nothing of this record", names.map(Column::words), rows);
    Section::new(
        "not-measured",
        "Not measured",
        "What the machine refused, what was not asked for or does not apply, and why.",
        [cases, models].into_iter().filter_map(Table::unless_empty).collect(),
    )
    .unless_empty()
}

/// One row for each reason within an experiment.
fn reasons(absence: Absence, absences: &[Absent]) -> Vec<Vec<Cell>> {
    let mut groups: BTreeMap<(Option<&str>, &str), (&str, usize)> = BTreeMap::new();
    for absent in absences.iter().filter(|absent| absent.absence == absence) {
        let experiment = absent.experiment().map(Experiment::as_str);
        let group = groups.entry((experiment, &absent.reason.text));
        group.or_insert((&absent.case, 0)).1 += 1;
    }
    let row = |((_, reason), (case, count)): ((Option<&str>, &str), (&str, usize))| {
        let kind = AbsenceKind::from(absence).as_str();
        vec![Cell::text(kind), Cell::text(case), Cell::Text(count.to_string()), Cell::text(reason)]
    };
    groups.into_iter().map(row).collect()
}
