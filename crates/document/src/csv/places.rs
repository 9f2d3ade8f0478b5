//! The columns, and those of coordinates: the fields of all experiments' coordinates, by their names in the
//! record. A row has those of its place, and empty cells for the others.

use std::collections::HashMap;

use nearfar_record::Coordinates;

use super::text::Text;
use crate::flat_fields::{flat_fields, text_of};
use crate::frame::{ColumnKind, FrameColumn};

/// All columns in their order, with type and unit. `make docs` writes the list from the types of a row and
/// of coordinates.
const COLUMNS: &str = include_str!("columns.txt");

/// The first column of coordinates.
const FIRST_OF_PLACES: &str = "experiment";

/// All columns of a sample.
pub(crate) fn sample_columns() -> impl Iterator<Item = FrameColumn> {
    COLUMNS.lines().map(|line| {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let kind = words.next().and_then(ColumnKind::of_dtype).unwrap_or(ColumnKind::Text);
        FrameColumn { name, kind, unit: words.next().unwrap_or_default() }
    })
}

/// Those of coordinates.
pub(crate) fn place_columns() -> impl Iterator<Item = FrameColumn> {
    sample_columns().skip_while(|column| column.name != FIRST_OF_PLACES)
}

/// A cell for each of the columns of coordinates.
pub(crate) fn cells(place: Option<&Coordinates>) -> Vec<Text<'static>> {
    let fields = place.map(flat_fields).unwrap_or_default();
    let mut fields: HashMap<String, _> = fields.into_iter().collect();
    place_columns()
        .map(|column| fields.remove(column.name).map(|it| text_of(&it).into()).unwrap_or_default())
        .collect()
}
