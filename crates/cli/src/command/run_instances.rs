//! `run --each-node`, `--each-package`: an instance of a program for each, every one under a `nearfar run` of its own,
//! which places it and looks where its pages are.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use anyhow::{Context, bail};
use nearfar_document::{EndedInstance, EndedInstances};
use nearfar_machine::{CpuSet, Machine, NodeSet};
use nearfar_place::{
    InstanceEnd, NotLaunched, await_instances, await_signals, end_instances, launch,
};
use nearfar_sys::AwaitedSignals;

use super::near::NO_USABLE_NODE;
use super::run::{AskedReport, status_number};
use crate::args::RunArguments;
use crate::exit_status::ExitStatus;
use crate::{live_machine, output};

/// After the last instance has ended, what still holds its output may print for so long.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Where an instance is to be.
struct Place {
    index: usize,
    nodes: NodeSet,
    cpus: CpuSet,
}

/// A file without a name, in which a `nearfar run` reports.
struct ReportFile(File);

pub(super) fn run_instances(arguments: &RunArguments) -> anyhow::Result<ExitStatus> {
    let places = places(&live_machine::read()?, arguments)?;
    if let ([only], false) = (places.as_slice(), arguments.quiet) {
        output::say(&format!("nearfar: one instance, on node {}: there is no other", only.nodes));
    }
    if matches!(arguments.report, Some(None)) {
        bail!("of instances --report takes a file: --report=FILE; the table is printed anyway");
    }
    let report = AskedReport::of(arguments)?;
    let outputs = outputs(&places, arguments.output.as_deref())?;
    let awaited = await_signals().context("cannot wait for signals")?;
    let (sender, silent) = channel();
    let mut started: Vec<(Child, ReportFile)> = Vec::new();
    for (place, file) in places.iter().zip(outputs) {
        match start(place, arguments, file, &awaited, &sender) {
            Ok(one) => started.push(one),
            Err(error) => {
                end_instances(started.iter().map(|(child, _)| child));
                return Err(error.context(format!("cannot start instance {}", place.index)));
            }
        }
    }
    drop(sender);
    let (children, mut reports): (Vec<Child>, Vec<ReportFile>) = started.into_iter().unzip();
    let mut has_failed = false;
    let ended = await_instances(children, &awaited, |end| {
        if end.status.success() {
            return false;
        }
        let is_first = !std::mem::replace(&mut has_failed, true);
        let is_over = is_first && !arguments.keep_going;
        if (is_first || arguments.keep_going)
            && !arguments.quiet
            && let Some(place) = places.get(end.index)
        {
            let others =
                if is_over && places.len() > 1 { "; the others are told to end" } else { "" };
            let (index, nodes, status) = (place.index, &place.nodes, status_number(end.status));
            output::say(&format!(
                "nearfar: instance {index} (node {nodes}) ended with status {status}{others}"
            ));
        }
        is_over
    });
    wait_for_silence(&silent);
    let told = places.iter().zip(&mut reports).filter_map(|(place, report)| {
        let end = ended.iter().find(|end| end.index == place.index)?;
        Some(told(place, end, report))
    });
    let told = EndedInstances::new(told.collect());
    if !arguments.quiet {
        output::say_answer(&told.answer(), true);
    }
    if let Some(report) = report {
        report.write(&told);
    }
    let failed = ended.iter().find(|end| !end.status.success());
    Ok(failed.map_or(ExitStatus::Done, |end| ExitStatus::OfProgram(status_number(end.status))))
}

/// The nodes with CPUs that may be used, one by one or by package.
fn places(machine: &Machine, arguments: &RunArguments) -> anyhow::Result<Vec<Place>> {
    let mut groups: BTreeMap<u32, (NodeSet, CpuSet)> = BTreeMap::new();
    for (node, usable) in machine.nodes_with_usable_cpus(arguments.cpus.as_ref()) {
        // A node can have CPUs of several packages.
        let of_packages = machine.packages.iter().filter(|_| arguments.each_package);
        let mut parts: Vec<(u32, CpuSet)> = of_packages
            .map(|package| (package.os_index, usable.intersection(&package.cpus)))
            .filter(|(_, cpus)| !cpus.is_empty())
            .collect();
        if parts.is_empty() {
            if arguments.each_package {
                bail!("node {} is of no package; use --each-node", node.os_index);
            }
            parts.push((node.os_index, usable));
        }
        for (key, part) in parts {
            let (nodes, cpus) = groups.entry(key).or_default();
            nodes.insert(node.os_index);
            cpus.extend(part.iter());
        }
    }
    if groups.is_empty() {
        bail!("{NO_USABLE_NODE}");
    }
    let groups = groups.into_values().enumerate();
    Ok(groups.map(|(index, (nodes, cpus))| Place { index, nodes, cpus }).collect())
}

impl Place {
    /// Text with what stands for this instance filled in.
    fn filled(&self, text: &OsStr) -> OsString {
        // What is not UTF-8 holds none of our words that anybody typed.
        let Some(text) = text.to_str() else { return text.into() };
        text.replace("{node}", &self.nodes.to_string())
            .replace("{cpus}", &self.cpus.to_string())
            .replace("{index}", &self.index.to_string())
            .into()
    }
}

/// The file of each instance, where files are asked for.
fn outputs(places: &[Place], named: Option<&OsStr>) -> anyhow::Result<Vec<Option<File>>> {
    let Some(named) = named else { return Ok(places.iter().map(|_| None).collect()) };
    let paths: Vec<OsString> = places.iter().map(|place| place.filled(named)).collect();
    if paths.first() == paths.get(1) && paths.len() > 1 {
        bail!("--output names one file for all instances; put {{index}} into its name");
    }
    let create = |path: &OsString| {
        let file = File::create(path);
        file.map(Some).with_context(|| format!("cannot write '{}'", Path::new(path).display()))
    };
    paths.iter().map(create).collect()
}

fn start(
    place: &Place,
    arguments: &RunArguments,
    file: Option<File>,
    awaited: &AwaitedSignals,
    sender: &Sender<()>,
) -> anyhow::Result<(Child, ReportFile)> {
    let report = ReportFile::new()?;
    let program = std::env::current_exe().context("cannot find out where nearfar itself is")?;
    let mut command = Command::new(program);
    command.arg("run").arg("--placement").arg(format!("local:{}", place.nodes));
    command.arg("--cpus").arg(place.cpus.to_string()).arg(format!("--report={}", report.path()));
    let options = [
        (arguments.best_effort, "--best-effort"),
        (arguments.follow, "--follow"),
        (arguments.files, "--files"),
        (arguments.quiet, "--quiet"),
    ];
    command.args(options.iter().filter(|(is_asked, _)| *is_asked).map(|(_, option)| option));
    command.arg("--").args(arguments.command.iter().map(|word| place.filled(word)));
    command.env("NEARFAR_NODE", place.nodes.to_string());
    command.env("NEARFAR_CPUS", place.cpus.to_string());
    command.env("NEARFAR_INDEX", place.index.to_string());
    command.stdin(Stdio::null());
    let is_piped = file.is_none();
    match file {
        Some(file) => command.stdout(file.try_clone()?).stderr(file),
        None => command.stdout(Stdio::piped()).stderr(Stdio::piped()),
    };
    let started = launch(&mut command, None, true, Some(awaited));
    let (mut child, _) = started.map_err(|why| match why {
        NotLaunched::Program(error) => anyhow::Error::new(error),
        lost @ NotLaunched::Lost(_) => anyhow::Error::new(lost),
    })?;
    if is_piped {
        relay(place.index, child.stdout.take(), std::io::stdout, sender.clone());
        relay(place.index, child.stderr.take(), std::io::stderr, sender.clone());
    }
    Ok((child, report))
}

/// Hands on lines with the index before each, until nobody holds the other end; then `sender` is dropped.
fn relay<Out: Write>(
    index: usize,
    from: Option<impl Read + Send + 'static>,
    to: impl Fn() -> Out + Send + 'static,
    sender: Sender<()>,
) {
    let Some(mut from) = from else { return };
    std::thread::spawn(move || {
        let _sender = sender;
        let mut lines = PrefixedLines::new(index);
        let mut room = vec![0; BLOCK_BYTES];
        loop {
            let read = match from.read(&mut room) {
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            // One write of whole lines, so that those of several stay whole. A reader that has gone away is no
            // reason to hold the program up.
            let whole = if read == 0 { lines.end() } else { lines.take(&room[..read]) };
            to().write_all(whole).ok();
            if read == 0 {
                return;
            }
        }
    });
}

/// As much as a pipe holds.
const BLOCK_BYTES: usize = 1 << 16;

/// The lines of an instance with its index before each.
struct PrefixedLines {
    prefix: String,
    /// Lines with their prefix, and of the last one what was printed so far.
    text: Vec<u8>,
    /// Bytes of whole lines that were handed on.
    done: usize,
}

impl PrefixedLines {
    fn new(index: usize) -> Self {
        Self { prefix: format!("[{index}] "), text: Vec::new(), done: 0 }
    }

    /// The lines that end within what was printed next.
    fn take(&mut self, printed: &[u8]) -> &[u8] {
        self.text.drain(..std::mem::take(&mut self.done));
        for part in printed.split_inclusive(|&byte| byte == b'\n') {
            if self.text.last().is_none_or(|&last| last == b'\n') {
                self.text.extend(self.prefix.as_bytes());
            }
            self.text.extend(part);
        }
        self.done = self.text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        if self.text.len() - self.done > MAX_LINE_BYTES {
            self.text.push(b'\n');
            self.done = self.text.len();
        }
        &self.text[..self.done]
    }

    /// What is left at the end, as a line.
    fn end(&mut self) -> &[u8] {
        self.text.drain(..std::mem::take(&mut self.done));
        if !self.text.is_empty() {
            self.text.push(b'\n');
        }
        &self.text
    }
}

/// A longer line is broken.
const MAX_LINE_BYTES: usize = 1 << 20;

/// What was printed is handed on to its end; a process that an instance left behind may hold it open.
fn wait_for_silence(silent: &Receiver<()>) {
    // Nothing is sent: it ends when all relays have, or after the time.
    silent.recv_timeout(LAST_WORDS).ok();
}

fn told(place: &Place, end: &InstanceEnd, report: &mut ReportFile) -> EndedInstance {
    EndedInstance {
        index: place.index,
        nodes: place.nodes.clone(),
        cpus: place.cpus.clone(),
        status: status_number(end.status),
        seconds: end.took.as_secs_f64(),
        report: report.read(),
    }
}

impl ReportFile {
    fn new() -> anyhow::Result<Self> {
        Ok(Self(nearfar_sys::unnamed_file().context("cannot keep the reports of instances")?))
    }

    /// As another process opens it.
    fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    /// Null where nothing was written.
    fn read(&mut self) -> serde_json::Value {
        let mut text = String::new();
        let read = self.0.rewind().and_then(|()| self.0.read_to_string(&mut text));
        read.ok().and_then(|_| serde_json::from_str(&text).ok()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_handed_on_whole_with_the_index_before_each() {
        let mut lines = PrefixedLines::new(3);
        assert_eq!(lines.take(b"a\nb"), b"[3] a\n");
        assert_eq!(lines.take(b"c"), b"");
        assert_eq!(lines.take(b"\n\nd"), b"[3] bc\n[3] \n");
        assert_eq!(lines.end(), b"[3] d\n");
        let mut long = PrefixedLines::new(0);
        assert_eq!(long.take(&vec![b'x'; MAX_LINE_BYTES]).len(), MAX_LINE_BYTES + 5);
        assert_eq!(long.take(b"y\nz\n"), b"[0] y\n[0] z\n");
    }
}
