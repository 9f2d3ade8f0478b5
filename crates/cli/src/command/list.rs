//! `list`: the records of a folder.

use std::path::Path;

use anyhow::Context;
use nearfar_document::RecordList;
use nearfar_record::{list_records, state_folder};

use crate::args::ListArguments;
use crate::exit_status::ExitStatus;
use crate::output;

pub fn run(arguments: &ListArguments) -> anyhow::Result<ExitStatus> {
    let view = match &arguments.folder {
        Some(folder) => {
            let (records, others) = list_records(folder)
                .with_context(|| format!("cannot read the folder {}", folder.display()))?;
            RecordList::new(folder, records, others)
        }
        None => of_state_folder()?,
    };
    output::answer(arguments.form(), &view, || view.answer())
}

/// The records that nobody gave a name, those of programs among them.
fn of_state_folder() -> anyhow::Result<RecordList> {
    let folder = state_folder()
        .context("neither XDG_STATE_HOME nor HOME is set; say which folder: nearfar list FOLDER")?;
    // What is not there holds no records.
    let of = |folder: &Path| list_records(folder).unwrap_or_default();
    let (mut records, others) = of(&folder);
    let (of_programs, not_read) = of(&folder.join("programs"));
    records.extend(of_programs);
    records.sort_by(|a, b| b.started.cmp(&a.started));
    Ok(RecordList::new(&folder, records, others + not_read))
}
