//! OpenMetrics text: the figures of a record that are watched over time.
//!
//! `docs/metrics.md` names the families, their units and labels; the version stands in
//! `nearfar_record_info`. All are gauges, so that collectors of the older text format 0.0.4 read
//! the same file.

mod devices;
mod exposition;
mod family;
mod figures;
mod labels;
mod origin;

use std::io::{self, Write};

use nearfar_model::RecordFigures;
use nearfar_record::Record;

use exposition::Exposition;
pub(crate) use labels::Labels;

/// Writes a record's figures; one without any gives what is known of the record alone.
///
/// # Errors
/// Where the output fails.
pub fn write_metrics(record: &Record, out: &mut impl Write) -> io::Result<()> {
    let figures = RecordFigures::new(record);
    let mut exposition = Exposition::new(&record.header);
    origin::add(&figures, &mut exposition);
    figures::add(&figures, &mut exposition);
    devices::add(&figures, &mut exposition);
    exposition.write(out)
}
