//! `topo`: what a machine is.

use anyhow::bail;
use nearfar_document::{FigureOrigin, FigureSource, MachineList, MachineTitle, Topology};
use nearfar_flow::{SimulatedMachine, builtin_names, read_machine};

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
    let topology = if let Some(name) = &source.simulate {
        if name == "list" {
            return list_simulated(arguments.json);
        }
        let simulated = read_machine(name)?;
        Topology::simulated(&simulated.machine, title(&simulated))
    } else if source.xml.is_some() || source.synthetic.is_some() {
        Topology::new(&foreign_machine::read(source)?)
    } else {
        Topology::new(&live_machine::read()?)
    };
    output::answer(arguments.form(), &topology, || topology.answer())
}

/// `--simulate list`: the simulated machines that are built in.
pub fn list_simulated(as_json: bool) -> anyhow::Result<ExitStatus> {
    let titles = builtin_names().into_iter().map(|name| Ok(title(&read_machine(name)?)));
    let view = MachineList::new(titles.collect::<anyhow::Result<_>>()?);
    output::answer(AnswerForm::short(as_json), &view, || view.answer())
}

fn title(simulated: &SimulatedMachine) -> MachineTitle {
    let SimulatedMachine { name, title, paper, origin, .. } = simulated;
    let sources = origin.sources.iter().cloned();
    let sources = sources.map(|it| FigureSource { title: it.title, url: it.url, of: it.of });
    MachineTitle {
        name: name.clone(),
        title: title.clone(),
        origin: if !origin.sources.is_empty() {
            FigureOrigin::Published
        } else if paper.is_some() {
            FigureOrigin::Paper
        } else {
            FigureOrigin::Ours
        },
        sources: sources.collect(),
        assumed: origin.assumed.clone(),
        left_out: origin.left_out.clone(),
    }
}
