//! What was refused or left out, and which models say nothing.

use nearfar_model::Unavailable;

use std::collections::BTreeMap;

use nearfar_record::{Absence, Absent, Experiment};

use crate::document::{Section, Sources};
use crate::table::{AbsenceKind, Cell, Column, Table};

pub(super) fn section(sources: &Sources<'_>) -> Option<Section> {
    let show = &sources.show;
    let rows: Vec<Vec<Cell>> = [Absence::Refused, Absence::Omitted]
        .iter()
        .flat_map(|of| reasons(*of, &show.absent))
        .collect();
    let mut tables = Vec::new();
    if !rows.is_empty() {
        tables.push(Table {
            caption: "Cases without figures, by reason".into(),
            columns: ["how", "first case", "cases", "reason"].map(Column::words).into(),
            rows,
            notes: Vec::new(),
        });
    }
    if !sources.unavailable.is_empty() {
        let rows = sources.unavailable.iter().map(|Unavailable { model, why }| {
            let remedy = why.remedy.clone().map_or(Cell::Empty, Cell::Text);
            vec![Cell::text(model.as_str()), Cell::text(&why.why), remedy]
        });
        tables.push(Table {
            caption: "Models that say nothing of this record".into(),
            columns: ["model", "why", "what would change it"].map(Column::words).into(),
            rows: rows.collect(),
            notes: Vec::new(),
        });
    }
    (!tables.is_empty()).then(|| Section {
        id: "not-measured",
        title: "Not measured",
        about: "What the machine refused, what was not asked for or does not apply, and why."
            .into(),
        tables,
        findings: Vec::new(),
        model_text: None,
    })
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
