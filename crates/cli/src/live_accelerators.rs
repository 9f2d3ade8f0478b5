//! The devices of this machine that data can be copied to.
//!
//! Drivers are looked for in processes of their own, one for each interface: some end the process
//! that asks them instead of saying no (PoCL where it can start no thread), and some never answer.

use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use nearfar_devices::{NoDevices, find_accelerators_of};
use nearfar_machine::{AbsentBackend, Accelerator, Backend, Machine, NodeSet};
use nearfar_record::DeviceInputs;
use serde::{Deserialize, Serialize};

use crate::exit_status::ExitStatus as Status;
use crate::output;

/// Far above what a driver takes to start (some seconds with many devices).
const MOST_SECONDS: u64 = 60;
/// What a pipe holds.
const MOST_BYTES: u64 = 64 << 10;
/// Between two looks whether a driver has answered.
const LOOK: Duration = Duration::from_millis(2);

/// What was found of the devices of this machine.
pub struct LiveAccelerators {
    /// Those that CUDA, HIP and OpenCL show, with the memory nodes next to them, and the interfaces that
    /// show none.
    pub inputs: DeviceInputs,
    /// Of these interfaces, the ones whose driver is there and fails.
    pub broken: Vec<Backend>,
}

/// What an interface shows: its devices, or why there are none.
type Shown = Result<Vec<Accelerator>, Silence>;

/// Why an interface shows no device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Silence {
    reason: String,
    is_broken: bool,
}

/// Looks for devices by all interfaces.
pub fn live_accelerators(machine: &Machine) -> LiveAccelerators {
    let mut live = LiveAccelerators { inputs: DeviceInputs::default(), broken: Vec::new() };
    for backend in Backend::ALL {
        match ask(backend) {
            Ok(found) => live.inputs.accelerators.extend(found.into_iter().map(|accelerator| {
                let nodes = nodes_of(machine, &accelerator);
                Accelerator { nodes, ..accelerator }
            })),
            Err(Silence { reason, is_broken }) => {
                live.inputs.absent.push(AbsentBackend { backend, reason });
                live.broken.extend(is_broken.then_some(backend));
            }
        }
    }
    live
}

/// What the process of its own does: looks, prints the devices or why there are none, ends.
pub fn serve(backend: &str) -> anyhow::Result<Status> {
    let backend = Backend::ALL.into_iter().find(|known| known.as_str() == backend);
    let backend = backend.context("no such interface to devices")?;
    let shown: Shown = find_accelerators_of(backend)
        .map_err(|NoDevices { reason, is_broken }| Silence { reason, is_broken });
    output::print(&output::json_line(&shown)?)?;
    Ok(Status::Done)
}

fn ask(backend: Backend) -> Shown {
    let answered = start(backend).and_then(|child| wait(child, Duration::from_secs(MOST_SECONDS)));
    match answered {
        Ok(answer) => interpret(answer),
        Err(error) => Err(Silence {
            reason: format!("the process that looks for devices cannot be started: {error}"),
            is_broken: false,
        }),
    }
}

fn start(backend: Backend) -> io::Result<Child> {
    Command::new(std::env::current_exe()?)
        .args(["read-devices", backend.as_str()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// What a process said, and how it ended: `None` for one that had to be stopped.
struct Answer {
    status: Option<ExitStatus>,
    found: Vec<u8>,
    complaint: Vec<u8>,
}

fn wait(mut child: Child, most: Duration) -> io::Result<Answer> {
    let deadline = Instant::now() + most;
    let mut status = child.try_wait()?;
    while status.is_none() && Instant::now() < deadline {
        thread::sleep(LOOK);
        status = child.try_wait()?;
    }
    if status.is_none() {
        child.kill()?;
        child.wait()?;
    }
    // What is said fits into a pipe: hundreds of devices do.
    let (found, complaint) = (read_some(child.stdout.take()), read_some(child.stderr.take()));
    Ok(Answer { status, found, complaint })
}

fn read_some(stream: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        // What came before an error counts.
        stream.take(MOST_BYTES).read_to_end(&mut bytes).ok();
    }
    bytes
}

fn interpret(answer: Answer) -> Shown {
    let broken = |reason| Err(Silence { reason, is_broken: true });
    let Some(status) = answer.status else {
        return broken(format!("its driver did not answer within {MOST_SECONDS} s"));
    };
    let complaint = String::from_utf8_lossy(&answer.complaint);
    let last = complaint.lines().map(str::trim).rfind(|line| !line.is_empty());
    let last = last.map(|line| format!(": {line}")).unwrap_or_default();
    if let Some(signal) = status.signal() {
        return broken(format!("its driver crashed (signal {signal}){last}"));
    }
    // Drivers print, too.
    let said = answer.found.trim_ascii_end().rsplit(|&byte| byte == b'\n').next();
    serde_json::from_slice(said.unwrap_or_default())
        .unwrap_or_else(|_| broken(format!("looking for its devices gave no answer{last}")))
}

/// The nodes of the PCIe device at the same address. Of a device whose memory is the host's, all
/// that have memory and may be used.
fn nodes_of(machine: &Machine, accelerator: &Accelerator) -> NodeSet {
    if accelerator.shares_host_memory {
        let with_memory = machine.nodes.iter().filter(|node| node.has_memory());
        return with_memory
            .map(|node| node.os_index)
            .filter(|&node| machine.allowed_nodes.contains(node))
            .collect();
    }
    let at = |bus_id| machine.devices.iter().find(|device| device.bus_id == bus_id);
    let device = accelerator.bus_id.as_deref().and_then(at);
    device.map(|device| device.nodes.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use nearfar_machine::{CpuSet, Device, DeviceKind, Link};

    use super::*;

    fn accelerator(bus_id: Option<&str>, shares_host_memory: bool) -> Accelerator {
        Accelerator {
            id: "opencl0".into(),
            backend: Backend::Opencl,
            number: 0,
            name: "a device".into(),
            driver: None,
            bus_id: bus_id.map(Into::into),
            memory_bytes: None,
            shares_host_memory,
            nodes: NodeSet::new(),
        }
    }

    #[test]
    fn a_device_is_next_to_the_nodes_of_its_address() {
        let mut machine = nearfar_topology::parse_synthetic("pack:4 [numa] core:1 pu:1").unwrap();
        machine.devices = [("0000:3b:00.0", 1), ("0000:3b:00.1", 2)]
            .map(|(bus_id, node)| Device {
                bus_id: bus_id.into(),
                kind: DeviceKind::Accelerator,
                class: None,
                vendor_device: None,
                name: None,
                os_names: Vec::new(),
                nodes: NodeSet::single(node),
                cpus: CpuSet::new(),
                link: Link::default(),
            })
            .into();
        for (bus_id, nodes) in [
            (Some("0000:3b:00.0"), "1"),
            (Some("0000:3b:00.1"), "2"),
            (Some("0001:3b:00.0"), ""),
            (None, ""),
        ] {
            let nodes_found = nodes_of(&machine, &accelerator(bus_id, false));
            assert_eq!(nodes_found.to_string(), nodes, "{bus_id:?}");
        }
        // One has no memory, another may not be used.
        machine.nodes[0].memory_bytes = Some(0);
        machine.allowed_nodes = [0, 1, 2].into_iter().collect();
        for bus_id in [None, Some("0000:3b:00.0")] {
            assert_eq!(nodes_of(&machine, &accelerator(bus_id, true)).to_string(), "1-2");
        }
    }

    fn answer_of(script: &str, most: Duration) -> Shown {
        let child = Command::new("sh")
            .args(["-c", script])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        interpret(wait(child, most).unwrap())
    }

    #[test]
    fn what_a_driver_does_to_its_process_is_told() {
        let minute = Duration::from_secs(60);
        let found = vec![accelerator(None, true)];
        let printed = serde_json::to_string(&Shown::Ok(found.clone())).unwrap();
        let beside_driver = format!("echo 'driver: hello'; echo '{printed}'");
        assert_eq!(answer_of(&beside_driver, minute), Ok(found));
        let none = Silence { reason: "no driver".into(), is_broken: false };
        let printed = serde_json::to_string(&Shown::Err(none.clone())).unwrap();
        assert_eq!(answer_of(&format!("echo '{printed}'"), minute), Err(none));
        let broken = |reason: &str| Shown::Err(Silence { reason: reason.into(), is_broken: true });
        let crashed = answer_of("echo 'no thread' >&2; echo >&2; kill -6 $$", minute);
        assert_eq!(crashed, broken("its driver crashed (signal 6): no thread"));
        let half = answer_of(r#"echo '{"Ok":['"#, minute);
        assert_eq!(half, broken("looking for its devices gave no answer"));
        let silent = answer_of("exec sleep 1000", Duration::from_millis(1));
        assert_eq!(silent, broken(&format!("its driver did not answer within {MOST_SECONDS} s")));
    }
}
