//! A record, or two beside each other, as a document that others read. [`Document`] is the one view: what it holds is
//! rounded and put in words there, once, and every format shows the same. The data formats hold
//! what the record holds. Nothing here measures or models.

mod answer;
mod chart_library;
mod charts;
mod csv;
mod document;
mod figure;
mod flat_fields;
mod fleet_formats;
mod format;
mod frame;
mod grid;
mod markdown;
mod metrics;
mod page;
mod page_data;
mod page_view;
mod printable;
mod printable_json;
mod rounding;
mod samples;
mod subject;
mod table;
mod terminal;
mod tex;

pub use answer::{Answer, Emphasis, NARROWEST, Part, Room, Shown};
#[cfg(feature = "schema")]
pub use csv::csv_row_schema;
pub use csv::write_csv;
pub use document::{Document, Section};
pub use figure::{Figure, Unit};
pub use fleet_formats::{
    FLEET_COLUMNS, read_fleet_cells, write_fleet_csv, write_fleet_metrics, write_superbench,
};
pub use format::{Format, write_document};
pub use frame::{CellValue, ColumnKind, Frame, FrameColumn};
pub use markdown::write_markdown;
pub use metrics::write_metrics;
pub use page::{write_comparison_page, write_fleet_page, write_page};
pub use printable::{is_obeyed, printable, write_json};
pub use subject::*;
pub use table::{AbsenceKind, Cell, Column, Table};
pub use terminal::paragraph::with_bare_commands;
pub use tex::write_tex;
