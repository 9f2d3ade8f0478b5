//! Looks over the devices that data can be copied to (`nearfar doctor`).

use nearfar_machine::{AbsentBackend, Accelerator, Backend, Device, DeviceKind, Machine};
use nearfar_record::{Check, Standing};
use nearfar_units::Bytes;

use crate::checks::check;

/// A check of each device, and of each interface that shows none. The driver of an interface that is
/// broken is there and fails.
pub fn check_accelerators(
    machine: &Machine,
    accelerators: &[Accelerator],
    absent: &[AbsentBackend],
    broken: &[Backend],
) -> Vec<Check> {
    let of_devices = accelerators.iter().map(|accelerator| device_check(machine, accelerator));
    // What one interface shows needs no other.
    let is_shown = |device: &&Device| {
        accelerators.iter().any(|shown| shown.bus_id.as_ref() == Some(&device.bus_id))
    };
    let unshown: Vec<&Device> = machine.devices.iter().filter(|it| !is_shown(it)).collect();
    let of_absent = absent
        .iter()
        .map(|absent| absence_check(&unshown, absent, broken.contains(&absent.backend)));
    of_devices.chain(of_absent).collect()
}

fn device_check(machine: &Machine, accelerator: &Accelerator) -> Check {
    let nameless = if accelerator.name.is_empty() { "without a name" } else { &accelerator.name };
    let mut parts = vec![format!("{}: {nameless}", accelerator.id)];
    let unplaced = match &accelerator.bus_id {
        Some(bus_id) => {
            parts.push(format!("at {bus_id}"));
            accelerator.nodes.is_empty().then(|| {
                let is_shown = machine.devices.iter().any(|device| device.bus_id == *bus_id);
                if is_shown {
                    "the machine does not say next to which memory node it is"
                } else {
                    "the machine's PCIe devices do not show it, so its memory node is not known"
                }
            })
        }
        None if accelerator.shares_host_memory => {
            parts.push("shares the host's memory".into());
            None
        }
        None => Some("its interface does not say where it is, so its memory node is not known"),
    };
    if !accelerator.nodes.is_empty() {
        let several = if accelerator.nodes.len() == 1 { "" } else { "s" };
        parts.push(format!("next to node{several} {}", accelerator.nodes));
    }
    parts.extend(accelerator.memory_bytes.map(|bytes| format!("memory {}", Bytes(bytes))));
    let driver = accelerator.driver.as_deref().unwrap_or("not known");
    parts.push(format!("driver {driver}"));
    let finding = parts.join(", ");
    let name = accelerator.backend.as_str();
    match unplaced {
        None => check(name, Standing::Fine, finding),
        Some(why) => check(name, Standing::Unknown, format!("{finding}; {why}")),
    }
}

/// Most machines have no device, and nothing needs to be done then. One that has a device that
/// the interface's driver is made for has no driver; a driver that fails may have devices.
fn absence_check(unshown: &[&Device], absent: &AbsentBackend, is_broken: bool) -> Check {
    let without: Vec<&str> = unshown
        .iter()
        .filter(|device| is_made_for(absent.backend, device))
        .map(|device| device.bus_id.as_str())
        .collect();
    let (interface, mend, install) = match absent.backend {
        Backend::Cuda => (
            "CUDA",
            "see whether `nvidia-smi` answers: a driver that was updated needs its kernel module \
             loaded anew (restart the machine), and a container the host's driver",
            "install NVIDIA's driver; in a container, have it show its devices",
        ),
        Backend::Hip => (
            "HIP",
            "see whether `rocminfo` answers: it tells a driver that is not loaded from a user who may \
             not open /dev/kfd (groups render and video)",
            "install ROCm's HIP runtime and have the user in the groups render and video; in a \
             container, have it show /dev/kfd and /dev/dri",
        ),
        Backend::Opencl => (
            "OpenCL",
            "see whether `clinfo` answers: the files in /etc/OpenCL/vendors name the drivers; mend \
             or remove the one that fails",
            "install a driver of theirs for OpenCL; in a container, have it show its devices",
        ),
    };
    let remedy = match (is_broken, without.is_empty()) {
        (true, _) => Some(mend.to_string()),
        (false, true) => None,
        (false, false) => Some(format!("to measure copies to {}: {install}", without.join(", "))),
    };
    let standing = if remedy.is_some() { Standing::Warning } else { Standing::Fine };
    let finding = format!("{interface} shows no device: {}", absent.reason);
    Check { remedy, ..check(absent.backend.as_str(), standing, finding) }
}

/// Whether a PCIe device is one of those that an interface is made for. OpenCL is made for none: what
/// it shows of others is said once, by theirs.
fn is_made_for(backend: Backend, device: &Device) -> bool {
    let vendor = match backend {
        Backend::Cuda => "10de:",
        Backend::Hip => "1002:",
        Backend::Opencl => return false,
    };
    let is_theirs = device.vendor_device.as_ref().is_some_and(|id| id.starts_with(vendor));
    device.kind == DeviceKind::Accelerator && is_theirs
}

#[cfg(test)]
mod tests {
    use nearfar_machine::{CpuSet, Link, NodeSet};

    use super::*;

    fn machine(devices: &[(&str, &str)]) -> Machine {
        let mut machine = nearfar_topology::parse_synthetic("pack:2 [numa] core:2 pu:1").unwrap();
        machine.devices = devices
            .iter()
            .map(|(bus_id, vendor_device)| Device {
                bus_id: (*bus_id).into(),
                kind: DeviceKind::Accelerator,
                class: None,
                vendor_device: Some((*vendor_device).into()),
                name: None,
                os_names: Vec::new(),
                nodes: NodeSet::new(),
                cpus: CpuSet::new(),
                link: Link::default(),
            })
            .collect();
        machine
    }

    fn accelerator(bus_id: Option<&str>, nodes: &[u32], shares_host_memory: bool) -> Accelerator {
        Accelerator {
            id: "cuda0".into(),
            backend: Backend::Cuda,
            number: 0,
            name: "NVIDIA H100".into(),
            driver: Some("NVIDIA 570.86.15, CUDA 12.8".into()),
            bus_id: bus_id.map(Into::into),
            memory_bytes: Some(80 << 30),
            shares_host_memory,
            nodes: nodes.iter().copied().collect(),
        }
    }

    fn standing_of(machine: &Machine, accelerator: Accelerator) -> (Standing, String) {
        let checks = check_accelerators(machine, &[accelerator], &[], &[]);
        let [check] = &checks[..] else { panic!("{checks:?}") };
        assert_eq!(check.check, "cuda");
        (check.standing, check.finding.clone())
    }

    #[test]
    fn a_device_is_told_with_its_place_and_driver() {
        let machine = machine(&[("0000:3b:00.0", "10de:2330")]);
        let (standing, finding) =
            standing_of(&machine, accelerator(Some("0000:3b:00.0"), &[1], false));
        assert_eq!(standing, Standing::Fine);
        assert_eq!(
            finding,
            "cuda0: NVIDIA H100, at 0000:3b:00.0, next to node 1, memory 80 GiB, driver NVIDIA \
             570.86.15, CUDA 12.8"
        );
        let (standing, finding) = standing_of(&machine, accelerator(None, &[0, 1], true));
        assert_eq!(standing, Standing::Fine);
        assert!(finding.contains("shares the host's memory, next to nodes 0-1"), "{finding}");
    }

    #[test]
    fn a_device_without_a_place_is_unknown_with_the_reason() {
        let machine = machine(&[("0000:3b:00.0", "10de:2330")]);
        for (bus_id, reason) in [
            (Some("0000:3b:00.0"), "the machine does not say next to which"),
            (Some("0000:af:00.0"), "PCIe devices do not show it"),
            (None, "its interface does not say where it is"),
        ] {
            let (standing, finding) = standing_of(&machine, accelerator(bus_id, &[], false));
            assert_eq!(standing, Standing::Unknown, "{finding}");
            assert!(finding.contains(reason), "{finding}");
        }
    }

    #[test]
    fn an_interface_without_a_device_is_fine_unless_the_machine_has_one_for_it() {
        let absent = Backend::ALL.map(|backend| AbsentBackend { backend, reason: "why".into() });
        for (devices, cuda, hip) in [
            (&[][..], Standing::Fine, Standing::Fine),
            (&[("0000:3b:00.0", "10de:2330")], Standing::Warning, Standing::Fine),
            (&[("0000:c3:00.0", "1002:740f")], Standing::Fine, Standing::Warning),
            (&[("0000:01:00.0", "1a03:2000")], Standing::Fine, Standing::Fine),
        ] {
            let checks = check_accelerators(&machine(devices), &[], &absent, &[]);
            let standings: Vec<Standing> = checks.iter().map(|check| check.standing).collect();
            assert_eq!(standings, [cuda, hip, Standing::Fine], "{devices:?}");
            for check in checks {
                assert!(check.finding.ends_with(" shows no device: why"), "{check:?}");
                let names_it = check.remedy.is_some_and(|remedy| remedy.contains(devices[0].0));
                assert_eq!(names_it, check.standing == Standing::Warning);
            }
        }
    }

    #[test]
    fn a_device_that_another_interface_shows_needs_none_of_its_own() {
        let machine = machine(&[("0000:c3:00.0", "1002:740f")]);
        let absent = [AbsentBackend { backend: Backend::Hip, reason: "why".into() }];
        for (shown, expected) in
            [("0000:c3:00.0", Standing::Fine), ("0000:3b:00.0", Standing::Warning)]
        {
            let shown = accelerator(Some(shown), &[1], false);
            let checks = check_accelerators(&machine, &[shown], &absent, &[]);
            assert_eq!(checks[1].standing, expected, "{checks:?}");
        }
    }

    /// Whether or not the machine shows a device that it is made for.
    #[test]
    fn a_driver_that_is_there_and_fails_is_a_warning_with_a_remedy() {
        let absent = Backend::ALL.map(|backend| AbsentBackend { backend, reason: "why".into() });
        for devices in [&[][..], &[("0000:3b:00.0", "10de:2330")]] {
            let checks = check_accelerators(&machine(devices), &[], &absent, &[Backend::Cuda]);
            let [cuda, hip, opencl] = &checks[..] else { panic!("{checks:?}") };
            assert_eq!((cuda.standing, opencl.standing), (Standing::Warning, Standing::Fine));
            assert_eq!(hip.standing, Standing::Fine);
            assert!(cuda.finding.ends_with("why"), "{cuda:?}");
            assert!(cuda.remedy.as_ref().is_some_and(|it| it.contains("nvidia-smi")), "{cuda:?}");
        }
        let checks = check_accelerators(&machine(&[]), &[], &absent, &Backend::ALL);
        for (check, remedy) in checks.iter().zip(["nvidia-smi", "rocminfo", "/etc/OpenCL/vendors"])
        {
            assert!(check.remedy.as_ref().is_some_and(|it| it.contains(remedy)), "{check:?}");
        }
    }
}
