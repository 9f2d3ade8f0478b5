//! Tables of a document.

use nearfar_model::{PlannedCase, Verdict};
use nearfar_record::{Absence, Absent};
use serde::Serialize;

use crate::figure::{Counted, Figure, Unit};

/// A table. Every row has a cell for each column.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Table {
    /// What it shows.
    pub caption: String,
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Cell>>,
    /// What to know of it.
    pub notes: Vec<String>,
    /// What all its rows have in common, where that is good or bad.
    #[serde(skip)]
    pub tone: Option<Tone>,
    /// Lines of a law by the names of its rows, for formats that draw it: it bends between the rows.
    #[serde(skip)]
    pub laws: Vec<(String, Vec<[f64; 2]>)>,
}

/// Whether something is for the worse or the better: formats that have colours colour it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    Worse,
    Better,
    Unclear,
    Same,
}

impl From<Verdict> for Tone {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Worse => Self::Worse,
            Verdict::Better => Self::Better,
            Verdict::Unclear => Self::Unclear,
            Verdict::Same => Self::Same,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// What all its figures count, or null.
    pub unit: Option<Unit>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cell {
    /// Words, or a count.
    Text(String),
    /// A number with unit and interval.
    Figure(Figure),
    Absent {
        /// In what way.
        kind: AbsenceKind,
        /// The reason.
        why: String,
    },
    /// Nothing belongs here.
    Empty,
}

/// How a figure is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AbsenceKind {
    /// The machine refused it.
    Refused,
    /// It was not asked for, or does not apply.
    Omitted,
    /// The record does not say.
    NotMeasured,
    /// It does not follow from what was measured.
    Unknown,
}

impl From<Absence> for AbsenceKind {
    fn from(absence: Absence) -> Self {
        match absence {
            Absence::Refused => Self::Refused,
            Absence::Omitted => Self::Omitted,
        }
    }
}

impl AbsenceKind {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Omitted => "omitted",
            Self::NotMeasured => "not measured",
            Self::Unknown => "not known",
        }
    }
}

/// Why cells of a table are absent: a reason that holds for many is told once, by its number.
#[derive(Debug, Default)]
pub(crate) struct Reasons<'a>(Vec<(AbsenceKind, &'a str)>);

impl<'a> Reasons<'a> {
    /// What stands in the cell.
    pub fn mark(&mut self, kind: AbsenceKind, why: &'a str) -> String {
        format!("{} ({})", kind.as_str(), self.number(kind, why))
    }

    /// Its number, from 1.
    pub fn number(&mut self, kind: AbsenceKind, why: &'a str) -> usize {
        let known = self.0.iter().position(|known| *known == (kind, why));
        let position = known.unwrap_or_else(|| {
            self.0.push((kind, why));
            self.0.len() - 1
        });
        position + 1
    }

    /// How and why, in the order of the numbers.
    pub fn told(self) -> Vec<(&'static str, &'a str)> {
        self.0.into_iter().map(|(kind, why)| (kind.as_str(), why)).collect()
    }

    /// What stands below the table.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let numbered = self.0.iter().enumerate();
        numbered.map(|(number, (kind, why))| format!("({}) {}: {why}", number + 1, kind.as_str()))
    }
}

impl Table {
    /// Without notes.
    pub(crate) fn new(
        caption: impl Into<String>,
        columns: impl IntoIterator<Item = Column>,
        rows: impl IntoIterator<Item = Vec<Cell>>,
    ) -> Self {
        let (columns, rows) = (columns.into_iter().collect(), rows.into_iter().collect());
        Self {
            caption: caption.into(),
            columns,
            rows,
            notes: Vec::new(),
            tone: None,
            laws: Vec::new(),
        }
    }

    pub(crate) fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }

    pub(crate) fn toned(self, tone: Tone) -> Self {
        Self { tone: Some(tone), ..self }
    }

    /// Without the column of this name.
    pub(crate) fn without_column(mut self, name: &str) -> Self {
        if let Some(place) = self.columns.iter().position(|column| column.name == name) {
            self.columns.remove(place);
            for row in &mut self.rows {
                row.remove(place);
            }
        }
        self
    }

    /// `None` where it has no rows.
    pub(crate) fn unless_empty(self) -> Option<Self> {
        (!self.rows.is_empty()).then_some(self)
    }
}

/// What a column holds: words, or figures of a unit.
pub(crate) const WORDS: Option<Unit> = None;
pub(crate) const GB: Option<Unit> = Some(Unit::GbPerS);
pub(crate) const GFLOP: Option<Unit> = Some(Unit::GflopPerS);
pub(crate) const NS: Option<Unit> = Some(Unit::Ns);
pub(crate) const SECONDS: Option<Unit> = Some(Unit::S);
pub(crate) const PER_S: Option<Unit> = Some(Unit::PerS);
pub(crate) const ONE: Option<Unit> = Some(Unit::One);

impl Column {
    pub(crate) fn words(name: impl Into<String>) -> Self {
        Self { name: name.into(), unit: None }
    }

    /// All of a table: their headings, and what they hold.
    pub(crate) fn all<const COUNT: usize>(
        names: [&str; COUNT],
        units: [Option<Unit>; COUNT],
    ) -> impl Iterator<Item = Self> {
        let names = names.map(String::from).into_iter();
        names.zip(units).map(|(name, unit)| Self { name, unit })
    }

    /// Of figures.
    pub(crate) fn of(name: impl Into<String>, unit: Unit) -> Self {
        Self { name: name.into(), unit: Some(unit) }
    }

    /// Its heading with the unit.
    pub fn heading(&self) -> String {
        match self.unit.map(Unit::as_str) {
            Some(unit) if !unit.is_empty() => format!("{}, {unit}", self.name),
            _ => self.name.clone(),
        }
    }
}

impl Cell {
    pub(crate) fn text(words: impl ToString) -> Self {
        Self::Text(words.to_string())
    }

    /// A figure; nothing where there is none.
    pub(crate) fn figure(figure: impl Into<Option<Figure>>) -> Self {
        figure.into().map_or(Self::Empty, Self::Figure)
    }

    /// A figure of samples of a case, or why there is none.
    pub(crate) fn of(case: &PlannedCase, figure: Option<Figure>, counted: Counted) -> Self {
        Self::of_some(case, figure.map(|figure| figure.of_samples(&case.id, counted)))
    }

    /// A figure of a case that shows no samples, or why there is none.
    pub(crate) fn of_some(case: &PlannedCase, figure: Option<Figure>) -> Self {
        figure.map_or_else(|| Self::absent(&case.absent), Self::Figure)
    }

    /// Why there is no figure: a refusal before what was left out.
    pub(crate) fn absent(absences: &[Absent]) -> Self {
        let first = |kind| absences.iter().find(|absent| absent.absence == kind);
        match first(Absence::Refused).or_else(|| first(Absence::Omitted)) {
            Some(Absent { absence, reason, .. }) => {
                Self::Absent { kind: (*absence).into(), why: reason.text.clone() }
            }
            None => Self::not_measured("the record has no such case"),
        }
    }

    /// What does not follow from the record.
    pub(crate) fn unknown(why: impl Into<String>) -> Self {
        Self::Absent { kind: AbsenceKind::Unknown, why: why.into() }
    }

    /// What the record does not hold.
    pub(crate) fn not_measured(why: impl Into<String>) -> Self {
        Self::Absent { kind: AbsenceKind::NotMeasured, why: why.into() }
    }

    /// What it says in words.
    pub fn words(&self) -> String {
        match self {
            Self::Text(words) => words.clone(),
            Self::Figure(figure) => {
                let local = if figure.is_local { "*" } else { "" };
                format!("{}{local}{}", figure.text, figure.mark())
            }
            Self::Absent { kind, .. } => kind.as_str().into(),
            Self::Empty => String::new(),
        }
    }
}
