//! Copies by the OpenCL of PoCL, which shows the CPUs as devices, and what is said where a driver
//! is missing or broken. Each case runs in a process of its own, which this program starts by
//! its own path.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use nearfar_devices::{Kind, Transfer, find_accelerators, find_accelerators_of};
use nearfar_machine::{Accelerator, Backend, HostMemory, TransferDirection};

const CASE: &str = "NEARFAR_DEVICES_TEST_CASE";

/// What the drivers' libraries are called.
const BROKEN: [&str; 7] = [
    "libOpenCL.so.1",
    "libOpenCL.so",
    "libcuda.so.1",
    "libcuda.so",
    "libamdhip64.so.7",
    "libamdhip64.so.6",
    "libamdhip64.so.5",
];

/// PoCL's name for its platform.
const POCL: &str = "Portable Computing Language";

/// Elements of 8 bytes: 1 KiB to 64 MiB, odd ones, and what is no whole piece.
const ELEMENTS: [usize; 6] = [128, 131, 8 << 10, (128 << 10) + 3, 1 << 20, 8 << 20];

#[expect(clippy::print_stdout, reason = "says that there were checks")]
fn main() -> ExitCode {
    match env::var(CASE).as_deref() {
        Err(_) => {
            let scratch = tempfile::tempdir().unwrap();
            let (broken, empty) = (scratch.path().join("broken"), scratch.path().join("empty"));
            fs::create_dir(&broken).unwrap();
            fs::create_dir(&empty).unwrap();
            for library in BROKEN {
                fs::write(broken.join(library), "no library").unwrap();
            }
            run("one_device", scratch.path(), &[]);
            // Which of the two names a version of PoCL knows depends on it.
            run("two_devices", scratch.path(), &[("POCL_DEVICES", "pthread pthread")]);
            run("broken", scratch.path(), &[("LD_LIBRARY_PATH", broken.to_str().unwrap())]);
            run("no_platform", scratch.path(), &[("OCL_ICD_VENDORS", empty.to_str().unwrap())]);
            run("hip", scratch.path(), &[]);
            println!("devices: 5 cases passed");
        }
        Ok("one_device") => copies_with_the_host_arrive(&pocl_devices()[0]),
        Ok("two_devices") => copies_between_devices_arrive(&pocl_devices()),
        Ok("broken") => broken_libraries_are_told_of(),
        Ok("hip") => the_runtime_of_hip_answers(),
        Ok("no_platform") => a_loader_without_drivers_is_told_of(),
        Ok(other) => panic!("no case {other}"),
    }
    ExitCode::SUCCESS
}

fn run(case: &str, scratch: &Path, environment: &[(&str, &str)]) {
    let output = Command::new(env::current_exe().unwrap())
        .env(CASE, case)
        .env("POCL_CACHE_DIR", scratch)
        .env_remove("LD_PRELOAD")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{case}: {}: {text}", output.status);
}

fn pocl_devices() -> Vec<Accelerator> {
    let found = find_accelerators();
    let told: Vec<&str> = found.absent.iter().map(|absent| absent.reason.as_str()).collect();
    let is_pocl = |device: &&Accelerator| {
        device.driver.as_ref().is_some_and(|driver| driver.starts_with(POCL))
    };
    let devices: Vec<Accelerator> = found.accelerators.iter().filter(is_pocl).cloned().collect();
    assert!(
        !devices.is_empty(),
        "no PoCL, which these tests need: scripts/install-packages devices ({told:?})"
    );
    for device in &devices {
        assert_eq!(device.backend, Backend::Opencl);
        assert_eq!(device.id, format!("opencl{}", device.number));
        assert!(device.shares_host_memory, "PoCL's devices are CPUs");
        assert!(device.bus_id.is_none() && device.nodes.is_empty());
        assert!(device.memory_bytes.is_some_and(|bytes| bytes > 1 << 20));
        assert!(!device.name.is_empty());
    }
    devices
}

/// Elements from a page's begin, filled with numbers that differ.
struct Pages {
    room: Vec<f64>,
    first: usize,
    elements: usize,
}

impl Pages {
    fn new(elements: usize) -> Self {
        const PAGE: usize = 4096;
        let room: Vec<f64> = (0..elements + PAGE / 8).map(|index| index as f64 + 0.5).collect();
        let first = room.as_ptr().addr().next_multiple_of(PAGE) - room.as_ptr().addr();
        Self { room, first: first / 8, elements }
    }

    fn slice(&mut self) -> &mut [f64] {
        &mut self.room[self.first..self.first + self.elements]
    }
}

fn copies_with_the_host_arrive(device: &Accelerator) {
    for elements in ELEMENTS {
        for direction in TransferDirection::WITH_HOST {
            for memory in HostMemory::ALL {
                let what = format!("{direction}, {memory}, {elements} elements");
                let mut pages = Pages::new(elements);
                let mut transfer = Transfer::open(device, direction, memory, pages.slice())
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
                transfer.check().unwrap_or_else(|error| panic!("{what}: nothing yet: {error}"));
                for round in 0..3 {
                    let copied = transfer.copy().unwrap_or_else(|error| panic!("{what}: {error}"));
                    assert!(copied.device_ns.is_some_and(|ns| ns > 0), "{what}");
                    transfer.check().unwrap_or_else(|error| panic!("{what}, {round}: {error}"));
                }
            }
        }
    }
    nothing_to_copy_is_refused(device);
    a_device_that_is_not_there_is_refused(device);
}

fn nothing_to_copy_is_refused(device: &Accelerator) {
    for (direction, elements) in [
        (TransferDirection::ToDevice, 0),
        (TransferDirection::BothWays, 1),
        (TransferDirection::ToPeer, 128),
    ] {
        let mut pages = Pages::new(elements);
        let refused = Transfer::open(device, direction, HostMemory::Pageable, pages.slice());
        assert_eq!(refused.err().unwrap().what, Kind::Failed, "{direction}");
    }
    // The last is whole words, but to the device itself.
    for bytes in [0, 9, 8] {
        let refused = Transfer::open_peer(device, device, bytes);
        assert_eq!(refused.err().unwrap().what, Kind::Failed, "{bytes} bytes");
    }
}

fn a_device_that_is_not_there_is_refused(device: &Accelerator) {
    for number in [1000, u32::MAX] {
        let gone = Accelerator { number, id: format!("opencl{number}"), ..device.clone() };
        let mut pages = Pages::new(128);
        let refused =
            Transfer::open(&gone, TransferDirection::ToDevice, HostMemory::Pageable, pages.slice());
        let error = refused.err().unwrap();
        assert_eq!(error.what, Kind::Lost, "{error}");
        assert!(error.text.contains(&gone.id), "{error}");
    }
}

fn copies_between_devices_arrive(devices: &[Accelerator]) {
    let [one, other] = devices else { panic!("{} devices instead of two", devices.len()) };
    for bytes in ELEMENTS.map(|elements| elements as u64 * 8) {
        for (from, to) in [(one, other), (other, one)] {
            let what = format!("{} to {}, {bytes} bytes", from.id, to.id);
            let mut transfer = Transfer::open_peer(from, to, bytes)
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            for round in 0..3 {
                let copied = transfer.copy().unwrap_or_else(|error| panic!("{what}: {error}"));
                assert_eq!(copied.device_ns, None, "two devices have no common clock");
                transfer.check().unwrap_or_else(|error| panic!("{what}, {round}: {error}"));
            }
        }
    }
    // Two at a time, each device with one of its own.
    let (mut first, mut second) = (Pages::new(1 << 16), Pages::new(1 << 16));
    let open = |device, pages| {
        Transfer::open(device, TransferDirection::ToDevice, HostMemory::Pinned, pages).unwrap()
    };
    let (mut first, mut second) = (open(one, first.slice()), open(other, second.slice()));
    first.copy().unwrap();
    second.copy().unwrap();
    first.check().unwrap();
    second.check().unwrap();
}

fn broken_libraries_are_told_of() {
    let found = find_accelerators();
    assert_eq!(found.accelerators, []);
    assert_eq!(found.broken, Backend::ALL, "a library that is there and cannot be loaded");
    for (backend, library) in [
        (Backend::Cuda, "libcuda.so.1"),
        (Backend::Hip, "libamdhip64.so"),
        (Backend::Opencl, "libOpenCL.so.1"),
    ] {
        let absent = found.absent.iter().find(|absent| absent.backend == backend).unwrap();
        assert!(absent.reason.contains(library), "{}", absent.reason);
        assert!(absent.reason.contains("cannot be loaded"), "{}", absent.reason);
    }
}

/// AMD's own, with all functions that are asked of it; most machines have no device of its.
fn the_runtime_of_hip_answers() {
    match find_accelerators_of(Backend::Hip) {
        Err(why) => {
            assert!(
                why.reason.starts_with("AMD's HIP runtime shows no device (hipError"),
                "needs libamdhip64-dev: scripts/install-packages devices ({})",
                why.reason
            );
            assert!(!why.is_broken);
        }
        Ok(devices) => assert!(devices.iter().all(|it| it.id.starts_with("hip"))),
    }
}

fn a_loader_without_drivers_is_told_of() {
    let found = find_accelerators();
    assert!(!found.broken.contains(&Backend::Opencl), "nothing is broken: {:?}", found.absent);
    let absent = found.absent.iter().find(|absent| absent.backend == Backend::Opencl).unwrap();
    assert!(absent.reason.contains("CL_PLATFORM_NOT_FOUND_KHR"), "{}", absent.reason);
    assert!(absent.reason.contains("/etc/OpenCL/vendors"), "{}", absent.reason);
}
