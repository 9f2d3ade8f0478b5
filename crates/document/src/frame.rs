//! Frames: what a record holds as columns with types, for libraries of tables. Their cells are handed out one after
//! the other, so that whoever takes them lays them out once.

mod cells;
mod figure_row;

use nearfar_model::RecordFigures;
use nearfar_record::{Absence, Record};
use serde::Serialize;

use crate::csv::{self, Text};
pub(crate) use cells::put_row;
use figure_row::each_figure;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    Text,
    /// From 0 to 2^64 - 1.
    Integer,
    Number,
    /// True or false.
    Flag,
}

impl ColumnKind {
    /// By pandas' name of the type.
    pub(crate) fn of_dtype(dtype: &str) -> Option<Self> {
        match dtype {
            "string" => Some(Self::Text),
            "UInt64" => Some(Self::Integer),
            "Float64" => Some(Self::Number),
            "boolean" => Some(Self::Flag),
            _ => None,
        }
    }
}

/// A column by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameColumn {
    pub name: &'static str,
    pub kind: ColumnKind,
    /// Empty where it has none.
    pub unit: &'static str,
}

/// What a cell holds that is not empty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CellValue<'a> {
    Text(&'a str),
    Integer(u64),
    Number(f64),
    Flag(bool),
}

/// The frames of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// A row for each window, actor and place, as in the CSV (`docs/csv-columns.md`).
    Samples,
    /// A row for each case with samples, actor and place: medians over rounds with their intervals.
    Figures,
    /// A row for what was not measured, and for each place of it, with the reason.
    Absent,
}

impl Frame {
    /// Its columns in their order.
    pub fn columns(self) -> Vec<FrameColumn> {
        match self {
            Self::Samples => csv::sample_columns().collect(),
            Self::Figures => figure_row::COLUMNS.into_iter().chain(csv::place_columns()).collect(),
            Self::Absent => ABSENT_COLUMNS.into_iter().chain(csv::place_columns()).collect(),
        }
    }

    /// Hands out the cells of a record, row by row and column by column; `None` is an empty one.
    ///
    /// # Errors
    /// Where a row holds what no column can.
    pub fn read(
        self,
        record: &Record,
        take: &mut impl FnMut(Option<CellValue<'_>>),
    ) -> Result<(), serde::de::value::Error> {
        let kinds: Vec<ColumnKind> = csv::place_columns().map(|column| column.kind).collect();
        match self {
            Self::Samples => csv::each_row(record, |row, cells| put_row(row, cells, &kinds, take)),
            Self::Figures => each_figure(&RecordFigures::new(record), |row, cells| {
                put_row(row, cells, &kinds, take)
            }),
            Self::Absent => each_absent(record, |row, cells| put_row(row, cells, &kinds, take)),
        }
    }
}

/// What was not measured.
#[derive(Debug, Default, Serialize)]
struct AbsentRow<'a> {
    case: Text<'a>,
    coordinates_index: usize,
    absence: Option<Absence>,
    reason_code: Text<'a>,
    reason: Text<'a>,
    round: Option<u32>,
}

const ABSENT_COLUMNS: [FrameColumn; 6] = [
    column("case", ColumnKind::Text, ""),
    column("coordinates_index", ColumnKind::Integer, ""),
    column("absence", ColumnKind::Text, ""),
    column("reason_code", ColumnKind::Text, ""),
    column("reason", ColumnKind::Text, ""),
    column("round", ColumnKind::Integer, ""),
];

pub(crate) const fn column(
    name: &'static str,
    kind: ColumnKind,
    unit: &'static str,
) -> FrameColumn {
    FrameColumn { name, kind, unit }
}

fn each_absent<E>(
    record: &Record,
    mut take: impl FnMut(&AbsentRow<'_>, &[Text<'static>]) -> Result<(), E>,
) -> Result<(), E> {
    for absent in &record.absent {
        let mut row = AbsentRow {
            case: absent.case.as_str().into(),
            coordinates_index: 0,
            absence: Some(absent.absence),
            reason_code: absent.reason.code.as_str().into(),
            reason: absent.reason.text.as_str().into(),
            round: absent.round,
        };
        if absent.coordinates.is_empty() {
            take(&row, &csv::cells(None))?;
        }
        for (index, place) in absent.coordinates.iter().enumerate() {
            row.coordinates_index = index;
            take(&row, &csv::cells(Some(place)))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use nearfar_flow::read_machine;
    use nearfar_measure::{simulated::simulate, suite_inputs};
    use nearfar_record::Suite;

    use super::figure_row::FigureRow;
    use super::*;
    use crate::csv::Row;

    fn names(row: &impl Serialize) -> Vec<String> {
        let mut text = Vec::new();
        let mut writer = ::csv::Writer::from_writer(&mut text);
        writer.serialize(row).unwrap();
        drop(writer);
        let mut reader = ::csv::Reader::from_reader(&text[..]);
        reader.headers().unwrap().iter().map(String::from).collect()
    }

    #[test]
    fn columns_are_the_fields_of_their_rows() {
        for (frame, fields) in [
            (Frame::Samples, names(&Row::default())),
            (Frame::Figures, names(&FigureRow::default())),
            (Frame::Absent, names(&AbsentRow::default())),
        ] {
            let columns = frame.columns();
            let own: Vec<&str> = columns.iter().take(fields.len()).map(|it| it.name).collect();
            assert_eq!(own, fields);
            let places: Vec<FrameColumn> = csv::place_columns().collect();
            assert_eq!(columns[fields.len()..], places);
            assert!(places.len() > 40 && places[0].name == "experiment");
        }
    }

    #[test]
    fn every_cell_is_of_its_columns_kind() {
        let machine = read_machine("amd-2p").unwrap();
        let record = simulate(&machine, suite_inputs(Suite::Standard), true).unwrap();
        for frame in [Frame::Samples, Frame::Figures, Frame::Absent] {
            let columns = frame.columns();
            let (mut cells, mut filled) = (0, 0);
            let mut take = |cell: Option<CellValue<'_>>| {
                let column = &columns[cells % columns.len()];
                let kind = cell.map(|cell| match cell {
                    CellValue::Text(_) => ColumnKind::Text,
                    CellValue::Integer(_) => ColumnKind::Integer,
                    CellValue::Number(_) => ColumnKind::Number,
                    CellValue::Flag(_) => ColumnKind::Flag,
                });
                assert!(kind.is_none_or(|kind| kind == column.kind), "{column:?}: {cell:?}");
                cells += 1;
                filled += usize::from(kind.is_some());
            };
            frame.read(&record, &mut take).unwrap();
            assert!(cells % columns.len() == 0 && filled > 0, "{frame:?}: {cells}");
        }
    }
}
