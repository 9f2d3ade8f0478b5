//! Classes of records whose rounds are written by hand or drawn.

mod accuracy;
mod notes;
mod random_matrix;
mod rules;

use nearfar_model::{ClassRule, Classes, NoClasses, RecordFigures, classes};
use nearfar_record::Record;

fn classed(record: &Record, rule: &ClassRule) -> Result<Classes, NoClasses> {
    classes(&RecordFigures::new(record), rule)
}

fn by_default(record: &Record) -> Classes {
    classed(record, &ClassRule::default()).unwrap()
}
