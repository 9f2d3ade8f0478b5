//! Long-form CSV: a row for each window, actor and place in an experiment; the run of a workload or
//! program is one.
//!
//! `docs/csv-columns.md` names the columns, their types and units; the version stands in the
//! first of them.

mod places;
mod row;
mod text;

use std::collections::HashMap;
use std::io::{self, Write};

use nearfar_record::{
    Actor, Case, Coordinates, DeviceCoordinates, Record, TransferBeside, TransferCoordinates,
};

pub(crate) use places::{cells, place_columns, sample_columns};
pub(crate) use row::Row;
pub(crate) use text::Text;

/// What a row holds before the columns of its place, in their order.
#[cfg(feature = "schema")]
pub fn csv_row_schema(generator: schemars::SchemaGenerator) -> schemars::Schema {
    generator.into_root_schema_for::<Row<'_>>()
}

/// Writes a record's samples, row by row: nothing is held beside the record.
///
/// # Errors
/// Where the output fails.
pub fn write_csv(record: &Record, out: &mut impl Write) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(out);
    writer.write_record(sample_columns().map(|column| column.name)).map_err(output_error)?;
    each_row(record, |row, cells| writer.serialize((row, cells)).map_err(output_error))?;
    writer.flush()
}

/// What failed of the output: a full disk is told as such.
pub(crate) fn output_error(error: csv::Error) -> io::Error {
    let said = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        _ => io::Error::other(said),
    }
}

/// Hands out a record's samples, row by row, each with the cells of its place.
pub(crate) fn each_row<E>(
    record: &Record,
    mut take: impl FnMut(&Row<'_>, &[Text<'static>]) -> Result<(), E>,
) -> Result<(), E> {
    let cases = record.cases.iter();
    let cases: HashMap<&str, PlacedCase<'_>> =
        cases.map(|case| (case.id.as_str(), PlacedCase::new(case))).collect();
    let nowhere = places::cells(None);
    for sample in &record.samples {
        let case = cases.get(sample.case.as_str());
        let has_run = sample.run.is_some() || sample.workload.is_some();
        for position in 0..sample.actors.len() + usize::from(has_run) {
            let planned: Option<&Actor> = case.and_then(|it| it.case.actors.get(position));
            let mut row = Row::new(&record.header, planned, sample, position);
            let places = case.map_or(&[][..], |it| &it.places);
            let mut places =
                places.iter().filter(|(place, _)| concerns(place, position)).peekable();
            if places.peek().is_none() {
                take(&row, &nowhere)?;
            }
            for (index, (_, cells)) in (0..).zip(places) {
                row.coordinates_index = index;
                take(&row, cells)?;
            }
        }
    }
    Ok(())
}

/// A case with the cells of each of its places.
struct PlacedCase<'a> {
    case: &'a Case,
    places: Vec<(&'a Coordinates, Vec<Text<'static>>)>,
}

impl<'a> PlacedCase<'a> {
    fn new(case: &'a Case) -> Self {
        let places = case.coordinates.iter().map(|place| (place, places::cells(Some(place))));
        Self { case, places: places.collect() }
    }
}

/// A case of `roofs` has a place for each of its initiators, one with two devices for each of them; all
/// others' places are of all actors.
pub(crate) fn concerns(place: &Coordinates, position: usize) -> bool {
    match place {
        Coordinates::Roofs(roof) => usize::try_from(roof.actor) == Ok(position),
        Coordinates::Devices(DeviceCoordinates::Transfer(
            place @ TransferCoordinates { beside: Some(TransferBeside::Device { .. }), .. },
        )) => usize::try_from(place.actor) == Ok(position),
        _ => true,
    }
}
