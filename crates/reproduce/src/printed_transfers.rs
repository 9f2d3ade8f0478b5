//! Printed bandwidths of copies as a record, so that models read them as they read a measurement.

use nearfar_machine::{
    Accelerator, Backend, Binding, HostMemory, Initiator, Machine, MemoryPolicy, TransferDirection,
};
use nearfar_record::{
    Actor, ActorSample, Case, Coordinates, DeviceCoordinates, DeviceInputs, Experiment, Pages,
    Record, Sample, TrafficMethod, Transfer, TransferCoordinates,
};

use crate::printed_matrix::{Placed, PrintedValue, actor_sample, printed_header, printed_sample};

/// Printed copies: what each device gets from or to each memory node, by a thread of each CPU
/// node.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintedTransfers<'a> {
    /// Where they are printed, as the record's host: `braithwaite2012, table 5.5`.
    pub title: String,
    pub machine: &'a Machine,
    /// Which way.
    pub direction: TransferDirection,
    /// Bytes/s in one unit of the values.
    pub bytes_per_s: f64,
    /// The values, in any order.
    pub values: Vec<PrintedTransfer>,
}

/// A printed bandwidth of copies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrintedTransfer {
    /// The device, by its number among those of the interface.
    pub device: u32,
    /// The node whose CPU lets the device copy.
    pub cpu_node: u32,
    /// The node of the host's pages.
    pub memory_node: u32,
    /// In the unit of [`PrintedTransfers`].
    pub value: f64,
}

/// The largest copies of SHOC, 2^29 bytes.
const COPY_BYTES: u64 = 512 << 20;

impl PrintedTransfers<'_> {
    /// A record with one case and one sample for each value, by CUDA, which the thesis's tables
    /// are of where they name no interface.
    ///
    /// # Errors
    /// When the machine has no such CPU or memory node, or a value is no bandwidth; in words.
    pub fn record(&self) -> Result<Record, String> {
        let mut header = printed_header(&self.title, self.machine, Experiment::Devices);
        let mut numbers: Vec<u32> = self.values.iter().map(|value| value.device).collect();
        numbers.sort_unstable();
        numbers.dedup();
        header.inputs.devices = Some(DeviceInputs {
            accelerators: numbers.into_iter().map(accelerator).collect(),
            absent: Vec::new(),
        });
        let initiators = self.machine.initiators();
        let mut record = Record::new(header);
        for (sequence, value) in (0..).zip(&self.values) {
            let (case, sample) = self.window(&initiators, *value, sequence)?;
            record.cases.push(case);
            record.samples.push(sample);
        }
        Ok(record)
    }

    fn window(
        &self,
        initiators: &[Initiator],
        value: PrintedTransfer,
        sequence: u64,
    ) -> Result<(Case, Sample), String> {
        let PrintedTransfer { device, cpu_node, memory_node, value } = value;
        let asked = PrintedValue {
            title: &self.title,
            machine: self.machine,
            cpu_node,
            memory_node,
            rate: value * self.bytes_per_s,
        };
        let Placed { initiator, cpu: thread_cpu, bytes: moved } = asked.place(initiators)?;
        let transfer = Transfer {
            device: id_of(device),
            peer: None,
            backend: Backend::Cuda,
            direction: self.direction,
            host_memory: Some(HostMemory::Pinned),
            binding: Binding {
                cpus: initiator.cpus.clone(),
                memory: MemoryPolicy::Preferred(memory_node),
            },
            thread_cpu,
            bytes: COPY_BYTES,
            pages: Pages::Small,
        };
        let place = TransferCoordinates {
            device: transfer.device.clone(),
            actor: 0,
            initiator: initiator.index,
            cpu_node: initiator.cpu_node,
            memory_node: Some(memory_node),
            direction: self.direction,
            host_memory: transfer.host_memory,
            peer: None,
            bytes: COPY_BYTES,
            beside: None,
        };
        let seen = copied(&transfer, memory_node, moved);
        let id = format!(
            "devices/{}/initiator{}/node{memory_node}/{}",
            transfer.device, initiator.index, self.direction
        );
        let case = Case {
            id: id.clone(),
            coordinates: vec![Coordinates::Devices(DeviceCoordinates::Transfer(place))],
            actors: vec![Actor::Transfer(transfer)],
        };
        Ok((case, printed_sample(id, sequence, vec![seen])))
    }
}

fn id_of(device: u32) -> String {
    format!("{}{device}", Backend::Cuda)
}

/// A device of which the paper prints a number.
fn accelerator(number: u32) -> Accelerator {
    Accelerator {
        id: id_of(number),
        backend: Backend::Cuda,
        number,
        name: String::new(),
        driver: None,
        bus_id: None,
        memory_bytes: None,
        shares_host_memory: false,
        nodes: std::iter::empty::<u32>().collect(),
    }
}

/// What was copied in a window. How many whole copies it was is not printed.
fn copied(transfer: &Transfer, memory_node: u32, moved: u64) -> ActorSample {
    let (kernel, variant) = (transfer.direction.as_str(), transfer.backend.as_str());
    ActorSample {
        traffic_bytes_min: 0,
        // Pinned pages are read and written by the device alone.
        traffic_bytes_max: moved,
        traffic_method: TrafficMethod::Device,
        ..actor_sample(kernel, variant, &[transfer.thread_cpu], memory_node, moved)
    }
}
