//! Pinned bandwidth of an NVIDIA device each way, by two programs in one: ours (`Transfer`), and a
//! short one beside it that shares nothing with it: another binding of the driver's calls
//! (cudarc), memory that the driver allocates, and a batch of asynchronous copies between two
//! events. The two take turns. Prints both figures, their ratio, the GPU and its link.
//!
//!     cargo run --release -p nearfar-devices --example pinned_bandwidth [DEVICE] [MEBIBYTES]

#![expect(clippy::print_stdout, reason = "a program that prints")]

use std::error::Error;
use std::ffi::c_void;
use std::fs;
use std::ptr;

use cudarc::driver::sys;
use nearfar_devices::{Transfer, find_accelerators};
use nearfar_machine::{Accelerator, Backend, HostMemory, TransferDirection};

/// Turns of each program; the fastest of each is its figure.
const TURNS: usize = 9;

/// Copies of a turn.
const COPIES: u32 = 16;

const PAGE: usize = 4096;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let number: u32 = arguments.next().map_or(Ok(0), |text| text.parse())?;
    let mebibytes: usize = arguments.next().map_or(Ok(256), |text| text.parse())?;
    let bytes = mebibytes << 20;
    let found = find_accelerators();
    for absent in &found.absent {
        println!("{}: {}", absent.backend, absent.reason);
    }
    let is_asked =
        |device: &&Accelerator| device.backend == Backend::Cuda && device.number == number;
    let Some(device) = found.accelerators.iter().find(is_asked) else {
        return Err(
            format!("no CUDA device {number}: this takes an NVIDIA device and its driver").into()
        );
    };
    println!(
        "{} {} at {}, driver {}, link {}",
        device.id,
        device.name,
        device.bus_id.as_deref().unwrap_or("an unknown address"),
        device.driver.as_deref().unwrap_or("unknown"),
        link(device.bus_id.as_deref()),
    );
    let beside = Beside::open(number, bytes)?;
    for direction in [TransferDirection::ToDevice, TransferDirection::ToHost] {
        let (mut ours, mut theirs) = (0.0f64, 0.0f64);
        for _ in 0..TURNS {
            ours = ours.max(transfer_gb_per_s(device, direction, bytes)?);
            beside.make_current()?;
            theirs = theirs.max(beside.gb_per_s(direction)?);
        }
        println!(
            "{direction}: Transfer {ours:.2} GB/s, beside it {theirs:.2} GB/s, ratio {:.4} \
             ({mebibytes} MiB, {COPIES} copies, best of {TURNS})",
            ours / theirs
        );
    }
    Ok(())
}

/// What the kernel says of the link now and at most.
fn link(bus_id: Option<&str>) -> String {
    let Some(bus_id) = bus_id else { return "unknown".into() };
    let read = |name: &str| {
        fs::read_to_string(format!("/sys/bus/pci/devices/{bus_id}/{name}"))
            .map_or_else(|_| "?".into(), |text| text.trim().to_string())
    };
    format!(
        "{} x{} (at most {} x{})",
        read("current_link_speed"),
        read("current_link_width"),
        read("max_link_speed"),
        read("max_link_width")
    )
}

/// Ours: copies one by one, each by the device's clock.
fn transfer_gb_per_s(
    device: &Accelerator,
    direction: TransferDirection,
    bytes: usize,
) -> Result<f64, Box<dyn Error>> {
    let mut room: Vec<f64> = (0..(bytes + PAGE) / 8).map(|index| index as f64 + 0.5).collect();
    let address = room.as_ptr().addr();
    let first = (address.next_multiple_of(PAGE) - address) / 8;
    let host = &mut room[first..first + bytes / 8];
    let mut transfer = Transfer::open(device, direction, HostMemory::Pinned, host)?;
    transfer.copy()?;
    let mut ns = 0;
    for _ in 0..COPIES {
        ns += transfer.copy()?.device_ns.ok_or("the device has no clock")?;
    }
    transfer.check()?;
    Ok(bytes as f64 * f64::from(COPIES) / ns as f64)
}

/// The program beside ours.
struct Beside {
    context: sys::CUcontext,
    stream: sys::CUstream,
    events: [sys::CUevent; 2],
    host: *mut c_void,
    device: sys::CUdeviceptr,
    bytes: usize,
}

impl Beside {
    fn open(number: u32, bytes: usize) -> Result<Self, Box<dyn Error>> {
        // SAFETY: loads the driver and leaves it loaded; without one every call below panics.
        if !unsafe { sys::is_culib_present() } {
            return Err("there is no libcuda".into());
        }
        let mut beside = Self {
            context: ptr::null_mut(),
            stream: ptr::null_mut(),
            events: [ptr::null_mut(); 2],
            host: ptr::null_mut(),
            device: 0,
            bytes,
        };
        let mut device = 0;
        // SAFETY: in this and the calls that follow, each pointer has room for what is written,
        // and each handle is one that a call before it gave. The process ends with them.
        unsafe { sys::cuInit(0) }.result()?;
        // SAFETY: as above.
        unsafe { sys::cuDeviceGet(&raw mut device, i32::try_from(number)?) }.result()?;
        // SAFETY: as above.
        unsafe { sys::cuDevicePrimaryCtxRetain(&raw mut beside.context, device) }.result()?;
        beside.make_current()?;
        // SAFETY: as above.
        unsafe { sys::cuStreamCreate(&raw mut beside.stream, 0) }.result()?;
        for event in &mut beside.events {
            // SAFETY: as above.
            unsafe { sys::cuEventCreate(event, 0) }.result()?;
        }
        // SAFETY: as above.
        unsafe { sys::cuMemHostAlloc(&raw mut beside.host, bytes, 0) }.result()?;
        let words = beside.host.cast::<u64>();
        for index in 0..bytes / 8 {
            let (word, value) = (words.wrapping_add(index), index as u64 ^ 0x3ff5_5555_5555_5555);
            // SAFETY: within the memory that was just allocated.
            unsafe { word.write(value) };
        }
        // SAFETY: as above.
        unsafe { sys::cuMemAlloc_v2(&raw mut beside.device, bytes) }.result()?;
        Ok(beside)
    }

    fn make_current(&self) -> Result<(), Box<dyn Error>> {
        // SAFETY: the context that `open` took.
        Ok(unsafe { sys::cuCtxSetCurrent(self.context) }.result()?)
    }

    fn gb_per_s(&self, direction: TransferDirection) -> Result<f64, Box<dyn Error>> {
        self.copy(direction)?;
        let [began, ended] = self.events;
        // SAFETY: an event and a stream of the context that is current.
        unsafe { sys::cuEventRecord(began, self.stream) }.result()?;
        for _ in 0..COPIES {
            self.copy(direction)?;
        }
        // SAFETY: as above.
        unsafe { sys::cuEventRecord(ended, self.stream) }.result()?;
        // SAFETY: as above.
        unsafe { sys::cuEventSynchronize(ended) }.result()?;
        let mut ms = 0f32;
        // SAFETY: both events are noted; `ms` has room for the time.
        unsafe { sys::cuEventElapsedTime(&raw mut ms, began, ended) }.result()?;
        Ok(self.bytes as f64 * f64::from(COPIES) / (f64::from(ms) * 1e6))
    }

    fn copy(&self, direction: TransferDirection) -> Result<(), Box<dyn Error>> {
        let result = if direction == TransferDirection::ToDevice {
            // SAFETY: both memories have this many bytes and live as long as the process.
            unsafe { sys::cuMemcpyHtoDAsync_v2(self.device, self.host, self.bytes, self.stream) }
        } else {
            // SAFETY: as above.
            unsafe { sys::cuMemcpyDtoHAsync_v2(self.host, self.device, self.bytes, self.stream) }
        };
        Ok(result.result()?)
    }
}
