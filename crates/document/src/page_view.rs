//! Tiles, matrices, sections and tables as the page's templates take them.

use nearfar_record::{Check, Standing};
use serde::Serialize;

use crate::charts::{Chart, MachineDrawing, Plot};
use crate::document::{Section, SectionPlace};
use crate::figure::{Figure, Unit};
use crate::samples::Samples;
use crate::subject::{Health, Tile, TileKind};
use crate::table::{Cell, Reasons, Table, Tone};

#[derive(Debug, Serialize)]
pub(crate) struct PageSection<'a> {
    id: &'a str,
    /// In the navigation and on a tab.
    name: &'a str,
    place: SectionPlace,
    title: &'a str,
    about: &'a str,
    findings: &'a [String],
    drawing: Option<&'a MachineDrawing>,
    charts: Vec<PageChart>,
    tables: Vec<PageTable<'a>>,
    /// Whether they are folded away together, below the charts that show the same.
    folds_tables: bool,
    model_lines: Vec<&'a str>,
}

/// Tables that are listed one by one below charts.
const MOST_TABLES: usize = 4;

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
    tone: Option<Tone>,
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
    pub fn is_on_tab(&self) -> bool {
        self.place == SectionPlace::Tab
    }

    pub fn new(
        section: &'a Section,
        charts: &[Chart],
        samples: &Samples,
        drawing: Option<&'a MachineDrawing>,
    ) -> Self {
        let charts: Vec<&Chart> =
            charts.iter().filter(|chart| chart.section == section.id).collect();
        Self {
            folds_tables: !charts.is_empty() && section.tables.len() > MOST_TABLES,
            id: section.id,
            name: section.name(),
            place: section.place(),
            title: section.title,
            about: &section.about,
            findings: &section.findings,
            drawing: drawing.filter(|_| section.id == "machine"),
            charts: charts
                .into_iter()
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
            tone: table.tone,
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
                sample: sample(figure, samples),
                reason: None,
            },
            Cell::Absent { kind, why } => {
                Self { text, reason: Some(reasons.number(*kind, why)), ..Self::default() }
            }
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct PageTile<'a> {
    kind: TileKind,
    label: &'a str,
    values: Vec<PageValue<'a>>,
    note: String,
}

#[derive(Debug, Default, Serialize)]
struct PageValue<'a> {
    text: String,
    unit: &'static str,
    spread: Option<String>,
    interval: Option<&'a str>,
    of: &'a str,
    sample: Option<usize>,
    is_absent: bool,
}

impl<'a> PageTile<'a> {
    pub fn new(tile: &'a Tile, samples: &Samples) -> Self {
        let mut notes = Vec::new();
        let values = tile.values.iter().map(|value| {
            let (text, of) = (value.value.words(), value.of.as_str());
            match &value.value {
                Cell::Figure(figure) => PageValue {
                    text,
                    of,
                    unit: figure.unit.as_str(),
                    spread: figure.spread(),
                    interval: figure.interval_text.as_deref(),
                    sample: sample(figure, samples),
                    is_absent: false,
                },
                Cell::Absent { why, .. } => {
                    notes.push(why.clone());
                    PageValue { text, of, is_absent: true, ..PageValue::default() }
                }
                Cell::Text(_) | Cell::Empty => PageValue { text, of, ..PageValue::default() },
            }
        });
        let values = values.collect();
        notes.dedup();
        notes.extend(Some(tile.note.clone()).filter(|note| !note.is_empty()));
        Self { kind: tile.kind, label: &tile.label, values, note: notes.join("; ") }
    }
}

/// Which of the page's samples are behind a figure.
fn sample(figure: &Figure, samples: &Samples) -> Option<usize> {
    figure.behind.as_ref().and_then(|behind| samples.number(behind))
}

/// Findings that are shown at once; the rest is folded away.
const MOST_FINDINGS: usize = 4;

#[derive(Debug, Serialize)]
pub(crate) struct PageHealth<'a> {
    standing: Standing,
    answer: &'a str,
    found: &'a [Check],
    more: &'a [Check],
    has_remedy: bool,
}

impl<'a> PageHealth<'a> {
    pub fn new(health: &'a Health) -> Self {
        let (found, more) = health.found.split_at(health.found.len().min(MOST_FINDINGS));
        let has_remedy = health.found.iter().any(|check| check.remedy.is_some());
        Self { standing: health.standing, answer: &health.answer, found, more, has_remedy }
    }
}

/// A table of one unit, coloured from 0 to its largest figure.
#[derive(Debug, Serialize)]
pub(crate) struct PageMatrix<'a> {
    caption: &'a str,
    /// Which colour: that of bandwidths or of times.
    scale: &'static str,
    columns: Vec<&'a str>,
    rows: Vec<MatrixRow>,
    reasons: Vec<(&'static str, &'a str)>,
    notes: &'a [String],
}

#[derive(Debug, Serialize)]
struct MatrixRow {
    name: String,
    cells: Vec<MatrixCell>,
}

#[derive(Debug, Default, Serialize)]
struct MatrixCell {
    text: String,
    /// What hovering shows.
    told: String,
    /// Of the colour, in percent.
    level: Option<u8>,
    is_local: bool,
    sample: Option<usize>,
    reason: Option<usize>,
}

impl<'a> PageMatrix<'a> {
    pub fn new(table: &'a Table, samples: &Samples) -> Self {
        let figures = table.rows.iter().flatten().filter_map(|cell| match cell {
            Cell::Figure(figure) => Some(figure),
            _ => None,
        });
        let is_time = figures.clone().any(|figure| figure.unit == Unit::Ns);
        let most = figures.map(|figure| figure.value).fold(0.0, f64::max);
        let mut reasons = Reasons::default();
        let rows = table.rows.iter().filter_map(|row| {
            let (name, cells) = row.split_first()?;
            let cells = cells.iter().map(|cell| MatrixCell::new(cell, most, samples, &mut reasons));
            Some(MatrixRow { name: name.words(), cells: cells.collect() })
        });
        let rows = rows.collect();
        Self {
            caption: &table.caption,
            scale: if is_time { "time" } else { "rate" },
            columns: table.columns.iter().map(|column| column.name.as_str()).collect(),
            rows,
            reasons: reasons.told(),
            notes: &table.notes,
        }
    }
}

impl MatrixCell {
    fn new<'a>(cell: &'a Cell, most: f64, samples: &Samples, reasons: &mut Reasons<'a>) -> Self {
        let text = cell.words();
        match cell {
            Cell::Text(_) | Cell::Empty => Self { text, ..Self::default() },
            Cell::Figure(figure) => Self {
                text,
                told: figure.words(),
                level: level(figure.value, most),
                is_local: figure.is_local,
                sample: sample(figure, samples),
                reason: None,
            },
            Cell::Absent { kind, why } => {
                Self { text, reason: Some(reasons.number(*kind, why)), ..Self::default() }
            }
        }
    }
}

/// A value's share of the most, in whole percent.
fn level(value: f64, most: f64) -> Option<u8> {
    let percent = (100.0 * value / most).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
    (0.0..=100.0).contains(&percent).then_some(percent as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Colours begin at 0: figures that differ by a four-hundredth look alike.
    #[test]
    fn figures_that_hardly_differ_have_one_colour() {
        let [one, other, far] = [37.9, 38.0, 12.0].map(|value| level(value, 38.0).unwrap());
        assert_eq!((one, other, far), (100, 100, 32));
        assert_eq!(level(1.0, 0.0), None);
        assert_eq!(level(f64::NAN, 1.0), None);
    }
}
