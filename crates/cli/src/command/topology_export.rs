//! `topo --export-xml`: a topology for programs that use hwloc, with what was measured.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use nearfar_document::{ExportedTopology, Origin, TopologyExport, is_obeyed};
use nearfar_machine::{AttributeValue, FirmwareFigure, Machine, MemoryAttribute};
use nearfar_model::{RecordFigures, memory_attributes};
use nearfar_record::{Executor, Record};
use nearfar_sys::WritableFile;
use nearfar_topology::{Caution, WithAttributes, write_memory_attributes};

use crate::args::TopoArguments;
use crate::exit_status::ExitStatus;
use crate::{foreign_machine, hwloc, live_machine, output, record_file};

/// How messages call the XML before it is written.
const EXPORTED: &str = "the exported topology";

pub fn run(arguments: &TopoArguments, file: &Path) -> anyhow::Result<ExitStatus> {
    let cannot_write = || format!("cannot write the topology {}", file.display());
    let out = match file == Path::new("-") {
        true => None,
        false => Some(WritableFile::find(file).with_context(cannot_write)?),
    };
    if arguments.record.is_none() && arguments.source.simulate.is_some() {
        bail!("the figures are those of a record: name one of that simulated machine");
    }
    let (path, record) = record_file::read_named_or_newest(arguments.record.as_deref())?;
    record_file::refuse_replacing(&path, file, "--export-xml")?;
    let measured = memory_attributes(&RecordFigures::new(&record)).map_err(|without| {
        let remedy = without.remedy.map(|command| format!("; measure by `{command}`"));
        anyhow!("{}: {}{}", path.display(), without.why, remedy.unwrap_or_default())
    })?;
    let (topology, text) = topology_of(arguments, &path, &record)?;
    let values: Vec<AttributeValue> =
        measured.measured.iter().flat_map(|attribute| attribute.values.clone()).collect();
    let origin = Origin::new(&record);
    let simulated = origin.simulated().map(|words| (Caution::Simulated, words.into()));
    let seals = origin.broken_seals().map(|words| (Caution::Seals, words.into()));
    let cautions: Vec<(Caution, String)> = simulated.into_iter().chain(seals).collect();
    let WithAttributes { text, replaced } =
        write_memory_attributes(&text, EXPORTED, &values, &cautions)?;
    // hwloc's own reader takes no references to characters, and hwloc writes ASCII alone.
    let is_unsafe = |&c: &char| is_obeyed(c) && !matches!(c, '\t' | '\n' | '\r');
    if let Some(found) = text.chars().find(is_unsafe) {
        bail!(
            "{EXPORTED} was not written: a name in it holds the character U+{:04X}, which terminals \
             obey; take it out of {}",
            u32::from(found),
            arguments.source.xml.as_ref().unwrap_or(&path).display()
        );
    }
    check(&text, &record, &values)?;
    let Some(out) = out else {
        // Standard output is the topology's.
        if !cautions.is_empty() {
            output::say_answer(&origin.caution(), false);
        }
        output::print_by(|out| out.write_all(text.as_bytes()))?;
        return Ok(ExitStatus::Done);
    };
    out.write(text.as_bytes()).with_context(cannot_write)?;
    let is_simulated = record.header.executor == Executor::Simulated;
    let (file, record) = (file.display().to_string(), path.display().to_string());
    let view = TopologyExport {
        schema: "nearfar.topology-export/1",
        file,
        record,
        measured: origin,
        topology,
        is_simulated,
        found: measured,
        replaced,
    };
    output::answer(arguments.form(), &view, || view.answer())
}

/// The XML of the record's machine, and where it comes from.
fn topology_of(
    arguments: &TopoArguments,
    path: &Path,
    record: &Record,
) -> anyhow::Result<(ExportedTopology, String)> {
    let header = &record.header;
    let is_measured = |machine: &Machine| machine.fingerprint() == header.machine.fingerprint();
    let source = &arguments.source;
    if let Some(xml) = &source.xml {
        if !is_measured(&foreign_machine::read(source)?) {
            bail!(
                "{} describes another machine than {}: packages, nodes, cores or caches differ; \
                 give the record of that machine, or leave --xml out",
                xml.display(),
                path.display()
            );
        }
        return Ok((ExportedTopology::File, nearfar_topology::read_xml_text(xml)?));
    }
    if let Some(name) = &source.simulate
        && !is_measured(&nearfar_flow::read_machine(name)?.machine)
    {
        bail!(
            "the simulated machine {name} is not the one of {}; measure it by \
             `nearfar characterize --simulate {name} --out FILE`, and name that record",
            path.display()
        );
    }
    if header.executor == Executor::Native {
        if is_measured(&live_machine::read()?) {
            return Ok((ExportedTopology::Live, hwloc::ask(nearfar_topology::live_xml)?));
        }
        if arguments.record.is_none() {
            bail!(
                "this machine is no longer the one of its newest record {}: packages, nodes, cores \
                 or caches differ; measure it again by `nearfar characterize`, or name a record to \
                 export its machine",
                path.display()
            );
        }
    }
    let text = nearfar_topology::machine_xml(&header.machine)
        .map_err(|why| anyhow!("{} cannot be exported: {why}", path.display()))?;
    Ok((ExportedTopology::Description, text))
}

/// Has hwloc read what is to be written, in a process of its own, and compares: the machine is the
/// record's, and every value is there.
fn check(text: &str, record: &Record, values: &[AttributeValue]) -> anyhow::Result<()> {
    let read = foreign_machine::read_text(text)
        .with_context(|| format!("{EXPORTED} was not written, as hwloc does not read it"))?;
    if read.fingerprint() != record.header.machine.fingerprint() {
        bail!(
            "{EXPORTED} was not written: hwloc makes another machine of it than the record's; \
             export the machine with `lstopo --of xml FILE` there, and give that by --xml"
        );
    }
    let lacks = values.iter().find(|value| !holds(&read.firmware_figures, value));
    if let Some(value) = lacks {
        bail!(
            "{EXPORTED} was not written: hwloc does not give back the {} of CPUs {} on node {}",
            value.attribute.as_str(),
            value.initiator,
            value.node
        );
    }
    Ok(())
}

/// Whether a value is among those that hwloc read. The reader takes a mean only where neither
/// direction is given, so that of a mean beside one of those it is known that the pair is there.
fn holds(figures: &[FirmwareFigure], value: &AttributeValue) -> bool {
    let is_of_pair = |figure: &&FirmwareFigure| {
        figure.node == value.node && figure.initiator.as_ref() == Some(&value.initiator)
    };
    let Some(figure) = figures.iter().find(is_of_pair) else { return false };
    let amount = match value.attribute {
        MemoryAttribute::Bandwidth => return true,
        MemoryAttribute::ReadBandwidth => figure.read_bytes_per_s,
        MemoryAttribute::WriteBandwidth => figure.write_bytes_per_s,
        MemoryAttribute::Latency | MemoryAttribute::ReadLatency => figure.read_latency_ns,
    };
    amount.and_then(|amount| value.attribute.value(amount)) == Some(value.value)
}
