//! Reads a topology from a stranger in a process of its own: hwloc is a C
//! library, and a hostile file may crash it, fill the memory or run for ever.

use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::{Context, bail};
use nearfar_machine::Machine;

use crate::args::MachineSource;
use crate::exit_status::ExitStatus as Status;
use crate::hwloc;
use crate::output;

/// Far above what any zoo file takes (2 s for the largest would be a bug).
const CPU_SECONDS: u64 = 20;
const ADDRESS_SPACE_BYTES: u64 = 2 << 30;
/// A machine of 65,536 CPUs is below this.
const MOST_OUTPUT_BYTES: u64 = 256 << 20;

/// The machine that a file or text describes.
pub fn read(source: &MachineSource) -> anyhow::Result<Machine> {
    let mut child = reader()?;
    let name = match (&source.xml, &source.synthetic) {
        (Some(path), _) => {
            child.arg("--xml").arg(path);
            path.display().to_string()
        }
        (None, Some(text)) => {
            child.arg("--synthetic").arg(text);
            format!("'{text}'")
        }
        (None, None) => bail!("neither a file nor a text was given"),
    };
    read_from(&name, child.stdin(Stdio::null()).spawn(), "")
}

/// The machine that a text describes which hwloc would write.
pub fn read_text(xml: &str) -> anyhow::Result<Machine> {
    let mut child = reader()?;
    child.args(["--xml", "/dev/stdin"]);
    read_from("the text", child.stdin(Stdio::piped()).spawn(), xml)
}

fn reader() -> anyhow::Result<Command> {
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let mut child = Command::new(program);
    child.arg("read-topology").stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(child)
}

/// What the process says that reads `name`, after this was written to its standard input.
fn read_from(name: &str, child: io::Result<Child>, input: &str) -> anyhow::Result<Machine> {
    let mut child = child.context("cannot start the process that reads foreign topologies")?;
    let errors = child.stderr.take();
    let reader = std::thread::spawn(move || read_some(errors, 64 << 10));
    if let Some(mut stdin) = child.stdin.take() {
        // One that ends before it has read all says why.
        stdin.write_all(input.as_bytes()).ok();
    }
    let found = read_some(child.stdout.take(), MOST_OUTPUT_BYTES)?;
    let status = child.wait().context("the process that reads foreign topologies is gone")?;
    let complaint = reader.join().unwrap_or_else(|_| Ok(Vec::new()))?;
    interpret(name, status, &found, &complaint)
}

/// What became of the process that read `name`.
fn interpret(
    name: &str,
    status: ExitStatus,
    found: &[u8],
    complaint: &[u8],
) -> anyhow::Result<Machine> {
    if let Some(signal) = status.signal() {
        bail!(
            "hwloc crashed, met a contradiction or ran too long while it read {name} (signal \
             {signal}): the file is damaged or hostile; write it again with lstopo"
        );
    }
    if !status.success() {
        // hwloc may print a banner of its own before the reason.
        let complaint = String::from_utf8_lossy(complaint);
        let reason = complaint.rsplit("nearfar: ").next().unwrap_or_default().trim();
        bail!("{reason}");
    }
    serde_json::from_slice(found).with_context(|| format!("reading {name} gave no machine"))
}

fn read_some(stream: Option<impl Read>, most: u64) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        stream.take(most).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// What the process of its own does: reads, prints the machine, ends.
pub fn serve(source: &MachineSource) -> anyhow::Result<Status> {
    nearfar_sys::limit_self(CPU_SECONDS, ADDRESS_SPACE_BYTES)?;
    let machine = match (&source.xml, &source.synthetic) {
        (Some(path), _) => hwloc::ask_in_child(|| nearfar_topology::read_xml(path))?,
        (None, Some(text)) => hwloc::ask_in_child(|| nearfar_topology::parse_synthetic(text))?,
        (None, None) => bail!("neither a file nor a text was given"),
    };
    output::print(&output::json_line(&machine)?)?;
    Ok(Status::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_the_reader_is_told() {
        for (status, found, complaint, told) in [
            (11, "", "", "it read f.xml (signal 11)"),
            (2 << 8, "", "* hwloc banner\nnearfar: f.xml is not XML\n", "f.xml is not XML"),
            (0, "{\"source\":", "", "reading f.xml gave no machine"),
        ] {
            let status = ExitStatus::from_raw(status);
            let read = interpret("f.xml", status, found.as_bytes(), complaint.as_bytes());
            let error = read.unwrap_err().to_string();
            assert!(error.contains(told) && !error.contains("banner"), "{error}");
        }
    }
}
