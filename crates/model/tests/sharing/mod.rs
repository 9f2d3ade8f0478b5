//! The sharing model on records whose rounds are written by hand.

mod paper;
mod paper_table;
mod recovery;
mod refusals;
mod splits;

use nearfar_model::{RecordFigures, SharedGrid, sharing};
use nearfar_record::Record;

/// The only grid of a record.
fn grid(record: &Record) -> SharedGrid {
    let model = sharing(&RecordFigures::new(record)).unwrap();
    assert_eq!((model.grids.len(), model.unfitted.len()), (1, 0));
    model.grids.into_iter().next().unwrap()
}
