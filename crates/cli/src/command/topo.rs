//! `topo`: what a machine is.

use anyhow::bail;
use nearfar_document::{MachineList, Topology};
use nearfar_flow::builtin_machines;

use super::topology_export;
use crate::args::TopoArguments;
use crate::exit_status::ExitStatus;
use crate::output::AnswerForm;
use crate::{foreign_machine, live_machine, output, record_file};

pub fn run(arguments: &TopoArguments) -> anyhow::Result<ExitStatus> {
    let source = &arguments.source;
    if let Some(file) = &arguments.export_xml
        && source.simulate.as_deref() != Some("list")
    {
        return topology_export::run(arguments, file);
    }
    if let Some(record) = &arguments.record {
        if source.xml.is_some() || source.synthetic.is_some() || source.simulate.is_some() {
            bail!("a record has its own machine: give RECORD, or --xml, --synthetic or --simulate");
        }
        let (_, record) = record_file::read_named_or_newest(Some(record))?;
        let topology = Topology::new(&record.header.machine);
        return output::answer(arguments.form(), &topology, || topology.recorded(&record));
    }
    let machine = if let Some(name) = &source.simulate {
        if name == "list" {
            return list_simulated(arguments.json);
        }
        nearfar_flow::read_machine(name)?.machine
    } else if source.xml.is_some() || source.synthetic.is_some() {
        foreign_machine::read(source)?
    } else {
        live_machine::read()?
    };
    let topology = Topology::new(&machine);
    output::answer(arguments.form(), &topology, || topology.answer())
}

/// `--simulate list`: the simulated machines that are built in.
pub fn list_simulated(as_json: bool) -> anyhow::Result<ExitStatus> {
    let view = MachineList::new(builtin_machines()?);
    output::answer(AnswerForm::short(as_json), &view, || view.answer())
}
