//! Long-form CSV: a row for each window, actor and place in an experiment.
//!
//! `docs/csv-columns.md` names the columns, their types and units; the version stands in the
//! first of them.

mod coordinates;
mod row;
mod text;

use std::collections::HashMap;
use std::io::{self, Write};

use nearfar_record::{
    Actor, Case, Coordinates, DeviceCoordinates, Record, Sample, TransferBeside,
    TransferCoordinates,
};

use row::Row;

/// What a row holds: its columns, in their order.
#[cfg(feature = "schema")]
pub fn csv_row_schema(generator: schemars::SchemaGenerator) -> schemars::Schema {
    generator.into_root_schema_for::<Row<'_>>()
}

/// Writes a record's samples, row by row: nothing is held beside the record.
///
/// # Errors
/// Where the output fails.
pub fn write_csv(record: &Record, out: &mut impl Write) -> io::Result<()> {
    let cases: HashMap<&str, &Case> =
        record.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let mut writer = csv::Writer::from_writer(out);
    if record.samples.iter().all(|sample| sample.actors.is_empty()) {
        // A writer takes the heading from the first row.
        return write_heading(&mut writer);
    }
    for sample in &record.samples {
        let case = cases.get(sample.case.as_str()).copied();
        for position in 0..sample.actors.len() {
            write_actor(record, case, sample, position, &mut writer)?;
        }
    }
    writer.flush()
}

fn write_actor(
    record: &Record,
    case: Option<&Case>,
    sample: &Sample,
    position: usize,
    writer: &mut csv::Writer<impl Write>,
) -> io::Result<()> {
    let planned: Option<&Actor> = case.and_then(|case| case.actors.get(position));
    let places = case.map_or(&[][..], |case| &case.coordinates);
    let mut places = places.iter().filter(|place| concerns(place, position)).peekable();
    if places.peek().is_none() {
        return write_row(&Row::new(&record.header, planned, sample, position), writer);
    }
    for (index, place) in (0..).zip(places) {
        let mut row = Row::new(&record.header, planned, sample, position);
        row.coordinates_index = index;
        row.set_coordinates(place);
        write_row(&row, writer)?;
    }
    Ok(())
}

/// A case of `roofs` has a place for each of its initiators, one with two devices for each of them; all
/// others' places are of all actors.
fn concerns(place: &Coordinates, position: usize) -> bool {
    match place {
        Coordinates::Roofs(roof) => usize::try_from(roof.actor) == Ok(position),
        Coordinates::Devices(DeviceCoordinates::Transfer(
            place @ TransferCoordinates { beside: Some(TransferBeside::Device { .. }), .. },
        )) => usize::try_from(place.actor) == Ok(position),
        _ => true,
    }
}

fn write_row(row: &Row<'_>, writer: &mut csv::Writer<impl Write>) -> io::Result<()> {
    writer.serialize(row).map_err(io::Error::from)
}

/// The heading alone, for a record without samples.
fn write_heading(out: &mut csv::Writer<impl Write>) -> io::Result<()> {
    let mut heading = csv::Writer::from_writer(Vec::new());
    heading.serialize(Row::default())?;
    let bytes = heading.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    out.write_record(reader.headers()?)?;
    out.flush()
}
