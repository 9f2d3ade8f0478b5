//! The columns of coordinates: the fields of all experiments' coordinates, by their names in the
//! record. A row has those of its place, and empty cells for the others.

use std::collections::HashMap;

use nearfar_record::Coordinates;

use super::text::Text;
use crate::flat_fields::{flat_fields, text_of};

/// The columns in their order. `make docs` writes the list from the types of coordinates.
const COLUMNS: &str = include_str!("places.txt");

pub(super) fn columns() -> impl Iterator<Item = &'static str> {
    COLUMNS.lines()
}

/// A cell for each of the columns.
pub(super) fn cells(place: Option<&Coordinates>) -> Vec<Text<'static>> {
    let fields = place.map(flat_fields).unwrap_or_default();
    let mut fields: HashMap<String, _> = fields.into_iter().collect();
    columns()
        .map(|name| fields.remove(name).map(|it| text_of(&it).into()).unwrap_or_default())
        .collect()
}
