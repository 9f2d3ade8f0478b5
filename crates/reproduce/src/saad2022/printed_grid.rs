//! The printed tables as a record, so that the model reads them as it reads a measurement.

use std::collections::BTreeMap;

use nearfar_machine::{Binding, Cluster, Machine, MemoryPolicy};
use nearfar_measure::suite_inputs;
use nearfar_record::{
    Actor, ActorSample, Case, Coordinates, Environment, Executor, Experiment, Header, Inputs,
    PageNodes, PageSizes, Pages, Pinning, Proof, ProofMethod, Record, SCHEMA, Sample,
    SharingCoordinates, Stream, Suite, ThreadSample, TrafficMethod, Versions,
};

use super::facts::SharingTables;

/// The printed tables of a machine whose cluster 0 is local to node 0 and cluster 1 remote.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintedGrid<'a> {
    /// Where they are printed, as the record's host.
    pub title: String,
    /// The machine that they are of.
    pub machine: &'a Machine,
    /// The tables.
    pub facts: &'a SharingTables,
}

/// The window of a printed value: its useful bytes are then the rate to a byte.
const WINDOW_NS: u64 = 1_000_000_000;

/// The node whose memory all processes use.
const NODE: u32 = 0;

const VARIANT: &str = "printed";

impl PrintedGrid<'_> {
    /// A record with one case and one sample for each lone cell, and for each mixed one that is
    /// given. The processes of a group get equal parts. What the paper does not print is as a
    /// simulated machine has it: no pages, no disturbances.
    ///
    /// # Errors
    /// When the machine has too few cores, or a value is no bandwidth; in words.
    pub fn record(&self, is_given: impl Fn((usize, usize)) -> bool) -> Result<Record, String> {
        let clusters = self.machine.clusters();
        let [near, far, ..] = &clusters[..] else {
            return Err(format!("{}: the machine has fewer than two clusters", self.title));
        };
        let mut record = Record::new(self.header());
        let places = self.facts.places().filter(|&(n, m)| n + m > 0);
        let given = places.filter(|&(n, m)| n == 0 || m == 0 || is_given((n, m)));
        for (sequence, (n, m)) in (0..).zip(given) {
            let (case, sample) = self.window([near, far], [n, m], sequence)?;
            record.cases.push(case);
            record.samples.push(sample);
        }
        Ok(record)
    }

    fn header(&self) -> Header {
        Header {
            schema: SCHEMA.into(),
            versions: Versions { nearfar: env!("CARGO_PKG_VERSION").into(), hwloc: None },
            host: self.title.clone(),
            started: "2022-01-01T00:00:00Z".into(),
            executor: Executor::Simulated,
            simulation: None,
            inputs: Inputs {
                kernels: Some(vec![self.facts.kernel.clone()]),
                pages: Pages::Small,
                window_ns: WINDOW_NS,
                windows_per_round: 1,
                min_rounds: 1,
                max_rounds: 1,
                experiments: vec![Experiment::Sharing],
                ..suite_inputs(Suite::Full)
            },
            fingerprint: self.machine.fingerprint(),
            machine: self.machine.clone(),
            environment: Environment::default(),
        }
    }

    /// n local beside m remote processes.
    fn window(
        &self,
        clusters: [&Cluster; 2],
        [n, m]: [usize; 2],
        sequence: u64,
    ) -> Result<(Case, Sample), String> {
        let kernel = &self.facts.kernel;
        let id = format!("sharing/node{NODE}/cluster0x{n}+cluster1x{m}/{kernel}/{VARIANT}");
        let [local_threads, remote_threads] =
            [n, m].map(|threads| u32::try_from(threads).unwrap_or(u32::MAX));
        let mut case = Case {
            id: id.clone(),
            coordinates: vec![Coordinates::Sharing(SharingCoordinates {
                memory_node: NODE,
                local_cluster: clusters[0].index,
                remote_cluster: clusters[1].index,
                local_threads,
                remote_threads,
                kernel: kernel.clone(),
                variant: VARIANT.into(),
            })],
            actors: Vec::new(),
        };
        let mut sample = Sample {
            case: id,
            sequence,
            round: 0,
            window: 0,
            start_ns: sequence * WINDOW_NS,
            window_ns: WINDOW_NS,
            actors: Vec::new(),
            disturbances: Vec::new(),
            run: None,
        };
        let groups = [
            (clusters[0], local_threads, self.facts.local[n][m]),
            (clusters[1], remote_threads, self.facts.remote[n][m]),
        ];
        for (cluster, threads, value) in groups.into_iter().filter(|(_, threads, _)| *threads > 0) {
            let (stream, moved) = self.group(cluster, threads, value)?;
            case.actors.push(Actor::Stream(stream));
            sample.actors.push(moved);
        }
        Ok((case, sample))
    }

    fn group(
        &self,
        cluster: &Cluster,
        threads: u32,
        value: f64,
    ) -> Result<(Stream, ActorSample), String> {
        let cpus: Vec<u32> = cluster.cpus.iter().take(threads as usize).collect();
        if cpus.len() < threads as usize {
            return Err(format!("{}: the machine has no {threads} cores", self.title));
        }
        let rate = value * self.facts.unit.bytes_per_s();
        let of_each = whole_bytes(rate / f64::from(threads))
            .ok_or_else(|| format!("{}: {value} is no bandwidth", self.title))?;
        let useful_bytes = of_each * u64::from(threads);
        let page_bytes = 4096;
        let pages = PageNodes {
            method: ProofMethod::Simulated,
            page_bytes,
            pages: BTreeMap::from([(NODE, useful_bytes.div_ceil(page_bytes))]),
            unknown: 0,
        };
        let accesses = useful_bytes / 8;
        // The triad makes two operations for two loads and a store.
        let flops = |bytes: u64| bytes / 8 / 3 * 2;
        let thread = |cpu: &u32| ThreadSample {
            cpu_before: Some(*cpu),
            cpu_after: Some(*cpu),
            useful_bytes: of_each,
            flops: flops(of_each),
            passes: 1,
            core_ghz: None,
            involuntary_switches: 0,
            off_cpu_ns: 0,
            minor_faults: 0,
        };
        let kernel = &self.facts.kernel;
        let sample = ActorSample {
            kernel: kernel.clone(),
            variant: VARIANT.into(),
            unroll: 1,
            useful_bytes,
            traffic_bytes_min: useful_bytes,
            // The most that any kernel can cause: each byte is read before it is written.
            traffic_bytes_max: 2 * useful_bytes,
            traffic_method: TrafficMethod::EvasionPossible,
            flops: flops(of_each) * u64::from(threads),
            accesses,
            threads: cpus.iter().map(thread).collect(),
            proof: Some(Proof { before: pages.clone(), after: pages }),
            write_proof: None,
            page_sizes: PageSizes { huge_bytes: None, resident_bytes: None },
            transfer: None,
        };
        let stream = Stream {
            kernel: kernel.clone(),
            variant: VARIANT.into(),
            binding: Binding { cpus: cluster.cpus.clone(), memory: MemoryPolicy::Preferred(NODE) },
            write_memory: None,
            threads,
            pinning: Pinning::OnePerCore,
            thread_cpus: cpus,
            // As if the window were one pass: sizes of arrays are not printed.
            working_set_bytes: useful_bytes,
            llc_multiple: None,
            pages: Pages::Small,
            pause_cycles: 0,
        };
        Ok((stream, sample))
    }
}

/// Bytes of a rate over one second, to the nearest byte.
fn whole_bytes(rate: f64) -> Option<u64> {
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
