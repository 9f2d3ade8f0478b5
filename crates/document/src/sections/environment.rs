//! What the figures were measured under, and what to know of them.

use nearfar_model::environment_settings;
use nearfar_record::{Executor, Header};
use nearfar_units::format_significant;

use crate::document::{Section, Sources};
use crate::table::{Cell, Column, Table};

pub(super) fn section(sources: &Sources<'_>) -> Option<Section> {
    let show = &sources.show;
    let header = &sources.record.header;
    let unknown = || Cell::not_measured("the system does not say");
    let known = |text: Option<&String>| text.map_or_else(unknown, |text| Cell::text(text.clone()));
    let share = |share: Option<f64>| {
        share.map_or_else(unknown, |share| {
            Cell::text(format!("{} %", format_significant(share * 100.0, 3)))
        })
    };
    let mut rows = vec![
        ("host", Cell::text(show.measured.host.clone())),
        ("begun", Cell::text(show.measured.started.clone())),
        ("CPU", known(show.cpu.as_ref())),
        ("Linux", known(show.kernel_release.as_ref())),
        ("nearfar", Cell::text(header.versions.nearfar.clone())),
        ("hwloc", known(header.versions.hwloc.as_ref())),
        ("samples", Cell::text(show.samples.to_string())),
        ("of these disturbed", Cell::text(show.disturbed.to_string())),
    ];
    if show.measured.executor == Executor::Native {
        let proven: Vec<String> =
            show.proven_by.iter().map(|(method, count)| format!("{count} by {method}")).collect();
        rows.push(("samples whose pages are proven", Cell::text(proven.join(", "))));
        rows.push(("least share of pages where asked", share(show.least_placed)));
        rows.push(("memory in huge pages", share(show.huge_page_share)));
    }
    let warnings: Vec<Vec<Cell>> = show
        .warnings
        .iter()
        .map(|warning| vec![Cell::text(&warning.message), Cell::text(&warning.remedy)])
        .collect();
    let mut tables = vec![Table {
        caption: "Origin of the figures".into(),
        columns: ["what", "value"].map(Column::words).into(),
        rows: rows.into_iter().map(|(name, value)| vec![Cell::text(name), value]).collect(),
        notes: Vec::new(),
    }];
    tables.push(settings(header));
    if !warnings.is_empty() {
        tables.push(Table {
            caption: "What to know about these figures".into(),
            columns: ["what", "remedy"].map(Column::words).into(),
            rows: warnings,
            notes: Vec::new(),
        });
    }
    Some(Section {
        id: "environment",
        title: "Environment",
        about: "What the figures were measured under.".into(),
        tables,
        findings: Vec::new(),
        model_text: None,
    })
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
    Table {
        caption: "Machine, system and inputs".into(),
        columns: ["what", "value"].map(Column::words).into(),
        rows: known.into_iter().map(row).collect(),
        notes: (!names.is_empty())
            .then(|| format!("Not known, or not set: {}.", names.join(", ")))
            .into_iter()
            .collect(),
    }
}
