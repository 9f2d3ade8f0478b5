//! Sections and tables as the page's templates take them.

use serde::Serialize;

use crate::charts::{Chart, MachineDrawing, Plot};
use crate::document::Section;
use crate::samples::Samples;
use crate::table::{Cell, Reasons, Table};

#[derive(Debug, Serialize)]
pub(crate) struct PageSection<'a> {
    id: &'a str,
    title: &'a str,
    about: &'a str,
    findings: &'a [String],
    drawing: Option<&'a MachineDrawing>,
    charts: Vec<PageChart>,
    tables: Vec<PageTable<'a>>,
    model_lines: Vec<&'a str>,
}

/// What stands around a chart.
#[derive(Debug, Serialize)]
struct PageChart {
    id: &'static str,
    title: &'static str,
    alternative: String,
    /// Whether arrow keys go from point to point.
    follows_keys: bool,
}

#[derive(Debug, Serialize)]
struct PageTable<'a> {
    caption: &'a str,
    columns: Vec<PageColumn>,
    rows: Vec<Vec<PageCell<'a>>>,
    /// How and why cells have no figure, one for each reason.
    reasons: Vec<(&'static str, &'a str)>,
    notes: &'a [String],
}

#[derive(Debug, Serialize)]
struct PageColumn {
    heading: String,
    is_figure: bool,
}

#[derive(Debug, Default, Serialize)]
struct PageCell<'a> {
    text: String,
    is_figure: bool,
    interval: Option<&'a str>,
    /// Which of the page's samples are behind it.
    sample: Option<usize>,
    /// Counts the table's reasons from 1.
    reason: Option<usize>,
}

impl<'a> PageSection<'a> {
    pub fn new(
        section: &'a Section,
        charts: &[Chart],
        samples: &Samples,
        drawing: Option<&'a MachineDrawing>,
    ) -> Self {
        let charts = charts.iter().filter(|chart| chart.section == section.id);
        Self {
            id: section.id,
            title: section.title,
            about: &section.about,
            findings: &section.findings,
            drawing: drawing.filter(|_| section.id == "machine"),
            charts: charts
                .map(|chart| PageChart {
                    id: chart.id,
                    title: chart.title,
                    alternative: chart.alternative.clone(),
                    follows_keys: !matches!(chart.plot, Plot::Spread(_)),
                })
                .collect(),
            tables: section.tables.iter().map(|table| PageTable::new(table, samples)).collect(),
            model_lines: section
                .model_text
                .as_deref()
                .map_or_else(Vec::new, |it| it.lines().collect()),
        }
    }
}

impl<'a> PageTable<'a> {
    fn new(table: &'a Table, samples: &Samples) -> Self {
        let mut reasons = Reasons::default();
        let columns = table.columns.iter().map(|column| PageColumn {
            heading: column.heading(),
            is_figure: column.unit.is_some(),
        });
        let rows = table
            .rows
            .iter()
            .map(|row| row.iter().map(|cell| PageCell::new(cell, samples, &mut reasons)).collect());
        Self {
            caption: &table.caption,
            columns: columns.collect(),
            rows: rows.collect(),
            reasons: reasons.told(),
            notes: &table.notes,
        }
    }
}

impl<'a> PageCell<'a> {
    fn new(cell: &'a Cell, samples: &Samples, reasons: &mut Reasons<'a>) -> Self {
        let text = cell.words();
        match cell {
            Cell::Text(_) | Cell::Empty => Self { text, ..Self::default() },
            Cell::Figure(figure) => Self {
                text,
                is_figure: true,
                interval: figure.interval_text.as_deref().filter(|text| **text != figure.text),
                sample: figure.behind.as_ref().and_then(|behind| samples.number(behind)),
                reason: None,
            },
            Cell::Absent { kind, why } => {
                Self { text, reason: Some(reasons.number(*kind, why)), ..Self::default() }
            }
        }
    }
}
