//! `advise`: where a program's threads and pages belong.

use anyhow::anyhow;
use nearfar_advise::{AdviceError, advise};
use nearfar_model::RecordFigures;
use nearfar_report::AdviseView;

use crate::args::AdviseArguments;
use crate::exit_status::ExitStatus;
use crate::{output, record_file};

pub fn run(arguments: &AdviseArguments) -> anyhow::Result<ExitStatus> {
    let (_, record) = record_file::read_named_or_newest(arguments.record.as_deref())?;
    let demand = arguments.demand.demand(arguments.clusters.clone());
    let advice = advise(&RecordFigures::new(&record), &demand).map_err(|error| match &error {
        AdviceError::NoModel(inapplicable) => {
            let command = inapplicable.remedy.as_ref();
            let remedy = command.map_or_else(String::new, |command| format!("; try `{command}`"));
            anyhow!("{error}{remedy}")
        }
        AdviceError::Demand(_) => anyhow!(error),
    })?;
    let view = AdviseView::new(&record, &demand, &advice, arguments.top);
    if arguments.json {
        output::print_json(&view)?;
    } else {
        output::print(&view.text())?;
    }
    Ok(ExitStatus::Done)
}
