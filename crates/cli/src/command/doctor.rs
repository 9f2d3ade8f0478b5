//! `doctor`: what would disturb a measurement here.

use std::path::Path;

use nearfar_measure::{check_machine, read_environment};
use nearfar_report::DoctorView;

use crate::args::DoctorArguments;
use crate::exit_status::ExitStatus;
use crate::output;

pub fn run(arguments: &DoctorArguments, hwloc_overrides: &[String]) -> anyhow::Result<ExitStatus> {
    let root = Path::new("/");
    let machine = nearfar_topology::read_live(root)?;
    let environment = read_environment(root);
    let probes = nearfar_sys::probe_calls(&machine.allowed_nodes);
    let checks = check_machine(&machine, &environment, hwloc_overrides, &probes);
    let view = DoctorView { schema: "nearfar.doctor/1", checks };
    if arguments.json {
        output::print_json(&view)?;
    } else {
        output::print(&view.text())?;
    }
    Ok(if view.has_failed() { ExitStatus::CheckFailed } else { ExitStatus::Done })
}
