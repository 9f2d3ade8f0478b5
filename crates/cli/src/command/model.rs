//! `model`: what a record means.

use std::path::Path;

use clap::ValueEnum;
use nearfar_machine::{Machine, TheoreticalMaximum};
use nearfar_model::classes;
use nearfar_report::{ClassesView, ModelView, printable};

use crate::args::{ClassArguments, ModelArguments, ModelName};
use crate::exit_status::ExitStatus;
use crate::{output, record_file};

pub fn run(arguments: &ModelArguments) -> anyhow::Result<ExitStatus> {
    let (named, model) = record_and_model(arguments);
    let (path, record) = record_file::read_named_or_newest(named)?;
    let classes = classes(&record, &arguments.classes.rule(arguments.per_initiator))?;
    let gamma = gamma(&arguments.classes, &record.header.machine);
    let view = ClassesView::new(&record, &classes, &gamma);
    match (arguments.json, model) {
        (true, Some(ModelName::Classes)) => output::print_json(&view)?,
        (true, None) => output::print_json(&ModelView::new(view))?,
        (false, Some(ModelName::Classes) | None) => {
            let path = path.display().to_string();
            output::print(&format!("{}\nrecord: {}\n", view.text(), printable(&path)))?;
        }
    }
    Ok(ExitStatus::Done)
}

/// `nearfar model classes` asks for a model of the newest record: a single argument
/// that names a model is the model (a record of such a name is `./classes`).
fn record_and_model(arguments: &ModelArguments) -> (Option<&Path>, Option<ModelName>) {
    let record = arguments.record.as_deref();
    if arguments.model.is_some() {
        return (record, arguments.model);
    }
    let named =
        record.and_then(Path::to_str).and_then(|name| ModelName::from_str(name, false).ok());
    if named.is_some() { (None, named) } else { (record, None) }
}

/// The theoretical maximum: as given, else by the memory modules, else why there is none.
pub fn gamma(arguments: &ClassArguments, machine: &Machine) -> Result<TheoreticalMaximum, String> {
    match &arguments.gamma {
        Some(given) => Ok(given.clone()),
        None => TheoreticalMaximum::of_memory(machine),
    }
}
