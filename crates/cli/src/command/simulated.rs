//! `--simulate list`: the simulated machines that are built in.

use nearfar_document::MachineList;
use nearfar_flow::builtin_machines;

use crate::exit_status::ExitStatus;
use crate::output;

pub fn list(json: bool) -> anyhow::Result<ExitStatus> {
    let view = MachineList::new(builtin_machines()?);
    if json {
        output::print_json(&view)?;
    } else {
        output::print(&view.text())?;
    }
    Ok(ExitStatus::Done)
}
