//! `doctor`: what would disturb a measurement here, or which part of a machine falls
//! short by its record.

use std::path::Path;

use nearfar_document::{DoctorChecks, RecordDoctor};
use nearfar_machine::TheoreticalMaximum;
use nearfar_measure::{check_accelerators, check_machine, check_threads, read_environment};
use nearfar_topology::overrides;

use crate::args::DoctorArguments;
use crate::exit_status::ExitStatus;
use crate::live_accelerators::live_accelerators;
use crate::{live_machine, output, record_file};

pub fn run(arguments: &DoctorArguments) -> anyhow::Result<ExitStatus> {
    match &arguments.record {
        Some(record) => look_over_record(record, arguments),
        None => look_over_machine(arguments),
    }
}

fn look_over_machine(arguments: &DoctorArguments) -> anyhow::Result<ExitStatus> {
    let root = Path::new("/");
    let machine = live_machine::read()?;
    let environment = read_environment(root);
    let probes = nearfar_sys::probe_calls(&machine.allowed_nodes);
    let mut checks = check_machine(&machine, &environment, &overrides(), &probes);
    checks.push(check_threads(&machine));
    let devices = live_accelerators(&machine);
    checks.extend(check_accelerators(
        &machine,
        &devices.inputs.accelerators,
        &devices.inputs.absent,
        &devices.broken,
    ));
    let view = DoctorChecks { schema: "nearfar.doctor/1", checks };
    output::answer(arguments.form(), &view, || view.answer())?;
    Ok(status(view.has_failed()))
}

fn look_over_record(path: &Path, arguments: &DoctorArguments) -> anyhow::Result<ExitStatus> {
    let (_, record) = record_file::read_named_or_newest(Some(path))?;
    let machine = &record.header.machine;
    let gamma = TheoreticalMaximum::given_or_of_memory(arguments.gamma.clone(), machine);
    let view = RecordDoctor::new(&record, gamma);
    output::answer(arguments.form(), &view, || view.answer())?;
    Ok(status(view.has_failed()))
}

fn status(failed: bool) -> ExitStatus {
    if failed { ExitStatus::CheckFailed } else { ExitStatus::Done }
}
