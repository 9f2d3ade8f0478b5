//! A printed matrix as a record, so that models read it as they read a measurement.

use std::collections::BTreeMap;

use nearfar_machine::{Binding, GroupBy, Initiator, Machine, MemoryPolicy};
use nearfar_measure::suite_inputs;
use nearfar_record::{
    Actor, ActorSample, Case, Coordinates, Executor, Experiment, Header, Inputs, PageNodes,
    PageSizes, Pages, PairCoordinates, Pinning, Proof, ProofMethod, Record, Sample, Stage, Stream,
    Suite, ThreadSample, TrafficMethod,
};

/// A printed matrix: what each CPU node gets from each memory node, by one thread.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintedMatrix<'a> {
    /// Where it is printed, as the record's host: `braithwaite2012, table 5.3`.
    pub title: String,
    pub machine: &'a Machine,
    /// What was run.
    pub kernel: &'a str,
    /// Bytes/s in one unit of the values.
    pub bytes_per_s: f64,
    /// The values, in any order.
    pub values: Vec<PrintedPair<'a>>,
}

/// A value of a printed matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrintedPair<'a> {
    /// The build of the kernel: pairs are judged by the best.
    pub variant: &'a str,
    /// The node whose CPU accesses.
    pub cpu_node: u32,
    /// The node that is accessed.
    pub memory_node: u32,
    /// In the matrix's unit.
    pub value: f64,
}

/// The window of a printed value: its useful bytes are then the rate to a byte.
const WINDOW_NS: u64 = 1_000_000_000;

impl PrintedMatrix<'_> {
    /// A record with one case and one sample for each value. What the paper does not
    /// print is as a simulated machine has it: no pages, no disturbances.
    ///
    /// # Errors
    /// When the machine has no such CPU or memory node, or a value is no bandwidth; in words.
    pub fn record(&self) -> Result<Record, String> {
        let initiators = self.machine.initiators();
        let mut record = Record::new(self.header());
        for (sequence, pair) in (0..).zip(&self.values) {
            let (case, sample) = self.window(&initiators, pair, sequence)?;
            record.cases.push(case);
            record.samples.push(sample);
        }
        Ok(record)
    }

    fn header(&self) -> Header {
        let mut header = printed_header(&self.title, self.machine, Experiment::Pairs);
        header.inputs.kernels = Some(vec![self.kernel.into()]);
        header
    }

    fn window(
        &self,
        initiators: &[Initiator],
        pair: &PrintedPair<'_>,
        sequence: u64,
    ) -> Result<(Case, Sample), String> {
        let PrintedPair { variant, cpu_node, memory_node, value } = *pair;
        let asked = PrintedValue {
            title: &self.title,
            machine: self.machine,
            cpu_node,
            memory_node,
            rate: value * self.bytes_per_s,
        };
        let Placed { initiator, cpu, bytes } = asked.place(initiators)?;
        let id = format!(
            "pairs/initiator{}/node{memory_node}/{}/{variant}/t1",
            initiator.index, self.kernel
        );
        let (stream, seen) =
            printed_stream((self.kernel, variant), initiator, vec![cpu], memory_node, bytes);
        let case = Case {
            id: id.clone(),
            coordinates: vec![Coordinates::Pairs(PairCoordinates {
                group_by: GroupBy::Memory,
                index: initiator.index,
                initiator: initiator.index,
                cpu_node: initiator.cpu_node,
                memory_node,
                kernel: self.kernel.into(),
                variant: variant.into(),
                threads: 1,
                stage: Stage::Matrix,
            })],
            actors: vec![stream],
        };
        Ok((case, printed_sample(id, sequence, vec![seen])))
    }
}

/// A printed bandwidth and where it stands.
pub(crate) struct PrintedValue<'a> {
    /// Where it is printed.
    pub title: &'a str,
    pub machine: &'a Machine,
    /// The node whose CPU accesses, or lets a device copy.
    pub cpu_node: u32,
    pub memory_node: u32,
    /// Bytes/s.
    pub rate: f64,
}

/// Its place in the machine.
pub(crate) struct Placed<'c> {
    pub initiator: &'c Initiator,
    /// The first CPU of the initiator.
    pub cpu: u32,
    /// Bytes of a window, to the nearest byte.
    pub bytes: u64,
}

impl PrintedValue<'_> {
    /// Finds it among the machine's initiators.
    ///
    /// # Errors
    /// When the machine has no such CPU or memory node, or it is no bandwidth; in words.
    pub fn place<'c>(&self, initiators: &'c [Initiator]) -> Result<Placed<'c>, String> {
        let Self { title, cpu_node, memory_node, .. } = self;
        let initiator = initiators
            .iter()
            .find(|initiator| initiator.cpu_node == Some(*cpu_node))
            .ok_or_else(|| format!("{title}: there is no CPU node {cpu_node}"))?;
        let cpu = initiator
            .cpus
            .first()
            .ok_or_else(|| format!("{title}: CPU node {cpu_node} has no CPU"))?;
        if self.machine.node(*memory_node).is_none() {
            return Err(format!("{title}: there is no memory node {memory_node}"));
        }
        let bytes = whole_bytes(self.rate)
            .ok_or_else(|| format!("{title}: {} bytes/s is no bandwidth", self.rate))?;
        Ok(Placed { initiator, cpu, bytes })
    }
}

/// The only window of a case.
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
pub(crate) fn actor_sample(
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
    }
}

/// The header of a record of printed values of one experiment.
pub(crate) fn printed_header(title: &str, machine: &Machine, experiment: Experiment) -> Header {
    let inputs = Inputs {
        pages: Pages::Small,
        window_ns: WINDOW_NS,
        windows_per_round: 1,
        min_rounds: 1,
        max_rounds: 1,
        experiments: vec![experiment],
        ..suite_inputs(Suite::Full)
    };
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
