//! A named program at every placement: one that ran beside loads, or a workload by the traffic that its
//! loops declare.

use std::path::Path;

use nearfar_advise::declared_program;
use nearfar_model::{ProgramAnswer, ProgramQuestion, RecordFigures, predict_program};
use nearfar_record::Record;

use crate::record_file;

/// The time of a program that is named by its profile's file, or of a workload (`@cg.A`).
pub(super) fn predicted_program(
    named: &str,
    record: &Record,
    asked: &ProgramQuestion,
) -> anyhow::Result<ProgramAnswer> {
    let profile = match named.strip_prefix('@') {
        Some(workload) => {
            declared_program(workload, record, asked.copies).map_err(anyhow::Error::msg)?
        }
        None => record_file::read_program_profile(Path::new(named))?,
    };
    predict_program(&RecordFigures::new(record), &profile, asked).map_err(anyhow::Error::msg)
}
