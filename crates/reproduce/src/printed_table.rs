//! Printed tables as records, so that models read them as they read a measurement.

use std::collections::BTreeMap;

use nearfar_machine::{
    Accelerator, Backend, Binding, GroupBy, HostMemory, Initiator, Machine, MemoryPolicy,
    TransferDirection,
};
use nearfar_record::{
    Actor, ActorSample, Case, Coordinates, DeviceCoordinates, DeviceInputs, Executor, Experiment,
    Header, Inputs, PageNodes, PageSizes, Pages, PairCoordinates, Pinning, Proof, ProofMethod,
    Record, Sample, Stage, Stream, Suite, ThreadSample, TrafficMethod, Transfer,
    TransferCoordinates,
};

use crate::simulated_record::rounds;

/// A printed table: what each CPU node gets from each memory node, by one thread.
#[derive(Debug, Clone)]
pub struct PrintedTable<'a> {
    /// Where it is printed, as the record's host: `braithwaite2012, table 5.3`.
    pub title: String,
    pub machine: &'a Machine,
    pub of: PrintedOf<'a>,
    /// Bytes/s in one unit of the values.
    pub bytes_per_s: f64,
    pub values: Vec<PrintedValue<'a>>,
}

/// What a table is of.
#[derive(Debug, Clone, Copy)]
pub enum PrintedOf<'a> {
    /// Runs of this kernel.
    Kernel(&'a str),
    /// Copies of devices, by CUDA, which the thesis's tables are of where they name no interface.
    Copies(TransferDirection),
}

/// A value of a printed table.
#[derive(Debug, Clone, Copy)]
pub struct PrintedValue<'a> {
    /// The build of the kernel, or the device: pairs are judged by the best.
    pub row: &'a str,
    /// The node whose CPU accesses, or lets a device copy.
    pub cpu_node: u32,
    pub memory_node: u32,
    pub value: f64,
}

/// The window of a printed value: its useful bytes are then the rate to a byte.
const WINDOW_NS: u64 = 1_000_000_000;

/// The largest copies of SHOC, 2^29 bytes.
const COPY_BYTES: u64 = 512 << 20;

impl PrintedTable<'_> {
    /// A record with one case and one sample for each value. What the paper does not
    /// print is as a simulated machine has it: no pages, no disturbances.
    ///
    /// # Errors
    /// When the machine has no such CPU or memory node, or a value is no bandwidth; in words.
    pub fn record(&self) -> Result<Record, String> {
        let mut devices: Vec<&str> = Vec::new();
        for value in &self.values {
            if !devices.contains(&value.row) {
                devices.push(value.row);
            }
        }
        let experiment = match self.of {
            PrintedOf::Kernel(_) => Experiment::Pairs,
            PrintedOf::Copies(_) => Experiment::Devices,
        };
        let mut header = printed_header(&self.title, self.machine, experiment);
        match self.of {
            PrintedOf::Kernel(kernel) => header.inputs.kernels = Some(vec![kernel.into()]),
            PrintedOf::Copies(_) => {
                let accelerators = (0..).zip(&devices).map(|(number, _)| accelerator(number));
                let (accelerators, absent) = (accelerators.collect(), Vec::new());
                header.inputs.devices = Some(DeviceInputs { accelerators, absent });
            }
        }
        let initiators = self.machine.initiators();
        let mut record = Record::new(header);
        for (sequence, value) in (0..).zip(&self.values) {
            let (initiator, cpu) = self.place(&initiators, value)?;
            let bytes = whole_bytes(value.value * self.bytes_per_s)
                .ok_or_else(|| format!("{}: {} is no bandwidth", self.title, value.value))?;
            let (case, seen) = match self.of {
                PrintedOf::Kernel(kernel) => lone_run(kernel, value, initiator, cpu, bytes),
                PrintedOf::Copies(direction) => {
                    let number = devices.iter().position(|&row| row == value.row);
                    let device = format!("{}{}", Backend::Cuda, number.unwrap_or_default());
                    lone_copy(device, direction, value.memory_node, initiator, cpu, bytes)
                }
            };
            record.samples.push(printed_sample(case.id.clone(), sequence, vec![seen]));
            record.cases.push(case);
        }
        Ok(record)
    }

    /// The initiator of a value, and its first CPU.
    fn place<'i>(
        &self,
        initiators: &'i [Initiator],
        value: &PrintedValue<'_>,
    ) -> Result<(&'i Initiator, u32), String> {
        let (title, PrintedValue { cpu_node, memory_node, .. }) = (&self.title, value);
        let own = initiators.iter().find(|initiator| initiator.cpu_node == Some(*cpu_node));
        let own = own.and_then(|initiator| Some((initiator, initiator.cpus.first()?)));
        if self.machine.node(*memory_node).is_none() {
            return Err(format!("{title}: there is no memory node {memory_node}"));
        }
        own.ok_or_else(|| format!("{title}: there is no CPU node {cpu_node} with CPUs"))
    }
}

/// A thread of a kernel that moved so much in its window.
fn lone_run(
    kernel: &str,
    &PrintedValue { row: variant, memory_node, .. }: &PrintedValue<'_>,
    initiator: &Initiator,
    cpu: u32,
    bytes: u64,
) -> (Case, ActorSample) {
    let (stream, seen) =
        printed_stream((kernel, variant), initiator, vec![cpu], memory_node, bytes);
    let index = initiator.index;
    let case = Case {
        id: format!("pairs/initiator{index}/node{memory_node}/{kernel}/{variant}/t1"),
        coordinates: vec![Coordinates::Pairs(PairCoordinates {
            group_by: GroupBy::Memory,
            index,
            initiator: index,
            cpu_node: initiator.cpu_node,
            memory_node,
            kernel: kernel.into(),
            variant: variant.into(),
            threads: 1,
            stage: Stage::Matrix,
        })],
        actors: vec![stream],
    };
    (case, seen)
}

/// Copies of pinned memory that moved so much in their window. How many whole ones it was is not
/// printed.
fn lone_copy(
    device: String,
    direction: TransferDirection,
    memory_node: u32,
    initiator: &Initiator,
    thread_cpu: u32,
    bytes: u64,
) -> (Case, ActorSample) {
    let (backend, host_memory) = (Backend::Cuda, Some(HostMemory::Pinned));
    let place = TransferCoordinates {
        device: device.clone(),
        actor: 0,
        initiator: initiator.index,
        cpu_node: initiator.cpu_node,
        memory_node: Some(memory_node),
        direction,
        host_memory,
        peer: None,
        bytes: COPY_BYTES,
        beside: None,
    };
    let id = format!("devices/{device}/initiator{}/node{memory_node}/{direction}", initiator.index);
    let memory = MemoryPolicy::Preferred(memory_node);
    let transfer = Transfer {
        device,
        peer: None,
        backend,
        direction,
        host_memory,
        binding: Binding { cpus: initiator.cpus.clone(), memory },
        thread_cpu,
        bytes: COPY_BYTES,
        pages: Pages::Small,
    };
    let (kernel, variant) = (direction.as_str(), backend.as_str());
    let seen = ActorSample {
        traffic_bytes_min: 0,
        // Pinned pages are read and written by the device alone.
        traffic_bytes_max: bytes,
        traffic_method: TrafficMethod::Device,
        ..actor_sample(kernel, variant, &[thread_cpu], memory_node, bytes)
    };
    let case = Case {
        id,
        coordinates: vec![Coordinates::Devices(DeviceCoordinates::Transfer(place))],
        actors: vec![Actor::Transfer(transfer)],
    };
    (case, seen)
}

fn accelerator(number: u32) -> Accelerator {
    Accelerator {
        id: format!("{}{number}", Backend::Cuda),
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

pub(crate) fn printed_sample(case: String, sequence: u64, actors: Vec<ActorSample>) -> Sample {
    Sample {
        case,
        sequence,
        round: 0,
        window: 0,
        start_ns: sequence * WINDOW_NS,
        window_ns: WINDOW_NS,
        actors,
        disturbances: Vec::new(),
        run: None,
        workload: None,
        cpu_distance: None,
    }
}

/// Threads of an initiator on these CPUs with data on a memory node, and what they did in a window, each
/// as much as the others.
pub(crate) fn printed_stream(
    (kernel, variant): (&str, &str),
    initiator: &Initiator,
    cpus: Vec<u32>,
    memory_node: u32,
    bytes_of_each: u64,
) -> (Actor, ActorSample) {
    let mut seen = actor_sample(kernel, variant, &cpus, memory_node, bytes_of_each);
    // The triad makes two operations for two loads and a store.
    let flops_of_each = if kernel == "triad" { bytes_of_each / 8 / 3 * 2 } else { 0 };
    for thread in &mut seen.threads {
        thread.flops = flops_of_each;
        seen.flops += flops_of_each;
    }
    let stream = Stream {
        kernel: kernel.into(),
        variant: variant.into(),
        binding: Binding {
            cpus: initiator.cpus.clone(),
            memory: MemoryPolicy::Preferred(memory_node),
        },
        write_memory: None,
        threads: u32::try_from(cpus.len()).unwrap_or(u32::MAX),
        pinning: Pinning::OnePerCore,
        thread_cpus: cpus,
        // As if the window were one pass: sizes of arrays are not printed.
        working_set_bytes: seen.useful_bytes,
        llc_multiple: None,
        pages: Pages::Small,
        pause_cycles: 0,
    };
    (Actor::Stream(stream), seen)
}

/// What threads on these CPUs did in a window, with data on a memory node, without FLOPs. What
/// the paper does not print is as a simulated machine has it.
fn actor_sample(
    kernel: &str,
    variant: &str,
    cpus: &[u32],
    memory_node: u32,
    bytes_of_each: u64,
) -> ActorSample {
    let useful_bytes = bytes_of_each * cpus.len() as u64;
    let page_bytes = 4096;
    let pages = PageNodes {
        method: ProofMethod::Simulated,
        page_bytes,
        pages: BTreeMap::from([(memory_node, useful_bytes.div_ceil(page_bytes))]),
        unknown: 0,
    };
    ActorSample {
        kernel: kernel.into(),
        variant: variant.into(),
        unroll: 1,
        useful_bytes,
        traffic_bytes_min: useful_bytes,
        // The most that any kernel can cause: each byte is read before it is written.
        traffic_bytes_max: 2 * useful_bytes,
        traffic_method: TrafficMethod::EvasionPossible,
        flops: 0,
        accesses: useful_bytes / 8,
        threads: cpus.iter().map(|&cpu| ThreadSample::quiet(Some(cpu), bytes_of_each, 0)).collect(),
        proof: Some(Proof { before: pages.clone(), after: pages }),
        write_proof: None,
        page_sizes: PageSizes::default(),
        transfer: None,
        messages: None,
    }
}

pub(crate) fn printed_header(title: &str, machine: &Machine, experiment: Experiment) -> Header {
    let once = rounds(vec![experiment], 1, Suite::Full);
    let inputs = Inputs { pages: Pages::Small, window_ns: WINDOW_NS, ..once };
    Header::new(title, "2012-01-01T00:00:00Z", Executor::Simulated, inputs, machine.clone())
}

/// Bytes of a rate over one second, to the nearest byte.
pub(crate) fn whole_bytes(rate: f64) -> Option<u64> {
    /// More than any memory gives, and far below what a float holds exactly.
    const MOST: f64 = 1e15;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to lie between 1 and 1e15"
    )]
    let bytes = (1.0..=MOST).contains(&rate).then(|| rate.round() as u64);
    bytes
}
