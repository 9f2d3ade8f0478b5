//! A row: what one actor did in one window, and where its case stands.

use nearfar_machine::{HostMemory, InitiatorKind, MemoryKind, MemoryPolicy, TransferDirection};
use nearfar_record::{
    Actor, ActorSample, Affinity, Aggregate, ChaseWalk, Disturbance, Executor, Experiment, Header,
    PageNodes, Pages, Part, Pinning, Proof, ProofMethod, RoofPurpose, Sample, Stage, Suite,
    ThreadSample, TrafficMethod, TransferKind, Way, Work,
};
use serde::Serialize;

use super::text::Text;

/// Name and version of the columns; the number grows when a column goes or changes its meaning.
pub(super) const SCHEMA: &str = "nearfar.samples/1";

/// A row; fields are columns, in this order. `docs/csv-columns.md` says what they mean.
#[derive(Debug, Default, Serialize)]
pub(super) struct Row<'a> {
    pub schema: &'static str,
    pub host: Text<'a>,
    pub started: Text<'a>,
    pub executor: Option<Executor>,
    pub suite: Option<Suite>,
    pub case: Text<'a>,
    pub experiment: Option<Experiment>,
    pub coordinates_index: usize,
    pub stage: Option<Stage>,
    pub initiator: Option<InitiatorKind>,
    pub initiator_index: Option<u32>,
    pub cluster: Option<u32>,
    pub cpu_node: Option<u32>,
    pub memory_node: Option<u32>,
    pub affinity: Option<Affinity>,
    pub group: Option<&'static str>,
    pub local_cluster: Option<u32>,
    pub remote_cluster: Option<u32>,
    pub local_threads: Option<u32>,
    pub remote_threads: Option<u32>,
    pub from_package: Option<u32>,
    pub to_package: Option<u32>,
    pub way: Option<Way>,
    pub limit: Option<&'static str>,
    pub cache_level: Option<u8>,
    pub clusters: Option<u32>,
    pub memory_kind: Option<MemoryKind>,
    pub purpose: Option<RoofPurpose>,
    pub fast_node: Option<u32>,
    pub slow_node: Option<u32>,
    pub point: Option<&'static str>,
    pub transfer: Option<TransferKind>,
    pub transfer_beside: Option<TransferKind>,
    pub loads: Option<u32>,
    pub stores: Option<u32>,
    pub load_fast_share: Option<f64>,
    pub store_fast_share: Option<f64>,
    pub mix: Option<u32>,
    pub walk: Option<ChaseWalk>,
    pub load_kernel: Option<Text<'a>>,
    pub load_threads: Option<u32>,
    pub load_pause_cycles: Option<u32>,
    pub device: Option<Text<'a>>,
    pub peer_device: Option<Text<'a>>,
    pub direction: Option<TransferDirection>,
    pub host_memory: Option<HostMemory>,
    pub beside: Option<Text<'a>>,
    pub sequence: u64,
    pub round: u32,
    pub window: u32,
    pub start_ns: u64,
    pub window_ns: u64,
    pub actor: usize,
    pub actor_kind: Option<&'static str>,
    pub kernel: Text<'a>,
    pub variant: Text<'a>,
    pub unroll: u32,
    pub threads: usize,
    pub pinning: Option<Pinning>,
    pub cpus: Option<Text<'a>>,
    pub thread_cpus: Option<Text<'a>>,
    pub memory: Option<Text<'a>>,
    pub write_memory: Option<Text<'a>>,
    pub working_set_bytes: Option<u64>,
    pub llc_multiple: Option<f64>,
    pub pages: Option<Pages>,
    pub pause_cycles: Option<u32>,
    pub copy_bytes: Option<u64>,
    pub useful_bytes: u64,
    pub traffic_bytes_min: u64,
    pub traffic_bytes_max: u64,
    pub traffic_method: Option<TrafficMethod>,
    pub flops: u64,
    pub accesses: u64,
    pub sum_gb_per_s: Option<f64>,
    pub paced_gb_per_s: Option<f64>,
    pub sum_gflop_per_s: Option<f64>,
    pub access_ns: Option<f64>,
    pub copies: Option<u64>,
    pub device_ns: Option<u64>,
    pub slowest_core_ghz: Option<f64>,
    pub involuntary_switches: u64,
    pub most_off_cpu_ns: Option<u64>,
    pub minor_faults: u64,
    pub disturbed: bool,
    pub disturbances: Text<'a>,
    pub proof_method: Option<ProofMethod>,
    pub placed_share: Option<f64>,
    pub unknown_pages: Option<u64>,
    pub huge_bytes: Option<u64>,
    pub resident_bytes: Option<u64>,
}

impl<'a> Row<'a> {
    /// The row of an actor, without the coordinates of its case.
    pub fn new(
        header: &'a Header,
        planned: Option<&'a Actor>,
        sample: &'a Sample,
        position: usize,
    ) -> Self {
        let row = Self {
            schema: SCHEMA,
            host: header.host.as_str().into(),
            started: header.started.as_str().into(),
            executor: Some(header.executor),
            suite: Some(header.inputs.suite),
            case: sample.case.as_str().into(),
            sequence: sample.sequence,
            round: sample.round,
            window: sample.window,
            start_ns: sample.start_ns,
            window_ns: sample.window_ns,
            actor: position,
            disturbed: sample.is_disturbed(),
            disturbances: in_words(&sample.disturbances).into(),
            ..Self::default()
        };
        let row = row.with_plan(planned);
        match sample.actors.get(position) {
            Some(actor) => row.with_counts(sample, position, actor).with_pages(planned, actor),
            None => row,
        }
    }

    fn with_plan(self, planned: Option<&'a Actor>) -> Self {
        let Some(planned) = planned else { return self };
        let row = Self {
            cpus: Some(planned.cpus().to_string().into()),
            memory: planned.memory().map(|policy| policy.to_string().into()),
            llc_multiple: planned.llc_multiple().and_then(finite),
            ..self
        };
        let thread_cpus = || {
            let cpus: Vec<String> = planned.thread_cpus().iter().map(u32::to_string).collect();
            Some(cpus.join(" ").into())
        };
        match planned {
            Actor::Stream(stream) => Self {
                actor_kind: Some("stream"),
                pinning: Some(stream.pinning),
                thread_cpus: planned.is_pinned().then(thread_cpus).flatten(),
                write_memory: stream.write_memory.as_ref().map(|policy| policy.to_string().into()),
                working_set_bytes: Some(stream.working_set_bytes),
                pages: Some(stream.pages),
                pause_cycles: Some(stream.pause_cycles),
                ..row
            },
            Actor::Chase(chase) => Self {
                actor_kind: Some("chase"),
                thread_cpus: thread_cpus(),
                working_set_bytes: Some(chase.working_set_bytes),
                pages: Some(chase.pages),
                ..row
            },
            Actor::Compute(_) => {
                Self { actor_kind: Some("compute"), thread_cpus: thread_cpus(), ..row }
            }
            Actor::Transfer(transfer) => Self {
                actor_kind: Some("transfer"),
                thread_cpus: thread_cpus(),
                working_set_bytes: Some(transfer.memory_bytes()),
                copy_bytes: Some(transfer.bytes),
                pages: Some(transfer.pages),
                ..row
            },
            Actor::Command(_) => Self { actor_kind: Some("command"), ..row },
        }
    }

    fn with_counts(self, sample: &Sample, position: usize, actor: &'a ActorSample) -> Self {
        let totals = sample.totals();
        let rate =
            |work, aggregate| finite(totals.rate(Part::Actor(position), work, aggregate) / 1e9);
        let sum = |count: fn(&ThreadSample) -> u64| {
            actor.threads.iter().map(count).fold(0, u64::saturating_add)
        };
        let computes = self.actor_kind == Some("compute");
        #[expect(clippy::cast_precision_loss, reason = "ns and accesses of a window")]
        let access_ns = sample.window_ns as f64 / actor.accesses as f64;
        let is_chase = self.actor_kind == Some("chase");
        Self {
            kernel: actor.kernel.as_str().into(),
            variant: actor.variant.as_str().into(),
            unroll: actor.unroll,
            threads: actor.threads.len(),
            useful_bytes: actor.useful_bytes,
            traffic_bytes_min: actor.traffic_bytes_min,
            traffic_bytes_max: actor.traffic_bytes_max,
            traffic_method: Some(actor.traffic_method),
            flops: actor.flops,
            accesses: actor.accesses,
            sum_gb_per_s: rate(Work::UsefulBytes, Aggregate::Sum).filter(|_| !computes),
            paced_gb_per_s: rate(Work::UsefulBytes, Aggregate::Paced).filter(|_| !computes),
            sum_gflop_per_s: rate(Work::Flops, Aggregate::Sum)
                .filter(|_| computes || actor.flops > 0),
            access_ns: finite(access_ns).filter(|_| is_chase),
            copies: actor.transfer.map(|seen| seen.copies),
            device_ns: actor.transfer.and_then(|seen| seen.device_ns),
            slowest_core_ghz: slowest_core(&actor.threads),
            involuntary_switches: sum(|thread| thread.involuntary_switches),
            most_off_cpu_ns: actor.threads.iter().map(|thread| thread.off_cpu_ns).max(),
            minor_faults: sum(|thread| thread.minor_faults),
            ..self
        }
    }

    /// Where its pages were, and how large.
    fn with_pages(self, planned: Option<&Actor>, actor: &ActorSample) -> Self {
        let written = planned.and_then(Actor::as_stream);
        let written = written.and_then(|stream| stream.write_memory.as_ref());
        let arrays = [
            (planned.and_then(Actor::memory), actor.proof.as_ref()),
            (written, actor.write_proof.as_ref()),
        ];
        let looks = || arrays.iter().filter_map(|(policy, proof)| Some((*policy, (*proof)?)));
        let looks = || looks().flat_map(|(policy, proof)| both(proof).map(|look| (policy, look)));
        let placed = looks().filter_map(|(policy, look)| placed_share(policy?, look));
        Self {
            proof_method: looks().map(|(_, look)| look.method).max(),
            placed_share: placed.min_by(f64::total_cmp),
            unknown_pages: looks().map(|(_, look)| look.unknown).max(),
            huge_bytes: actor.page_sizes.huge_bytes,
            resident_bytes: actor.page_sizes.resident_bytes,
            ..self
        }
    }
}

fn both(proof: &Proof) -> [&PageNodes; 2] {
    [&proof.before, &proof.after]
}

/// Share of the pages on the nodes that the policy names; `None` where it names none.
fn placed_share(policy: &MemoryPolicy, pages: &PageNodes) -> Option<f64> {
    Some(policy.nodes()?.iter().map(|node| pages.fraction_on(node)).sum())
}

fn slowest_core(threads: &[ThreadSample]) -> Option<f64> {
    threads.iter().filter_map(|thread| thread.core_ghz).min_by(f64::total_cmp).and_then(finite)
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// What disturbed a window: words and their counts, ` + ` between two.
fn in_words(disturbances: &[Disturbance]) -> String {
    let words = disturbances.iter().map(|disturbance| match disturbance {
        Disturbance::Switched { times, microseconds } => {
            format!("switched {times} times for at most {microseconds} us")
        }
        Disturbance::Moved { threads } => format!("moved {threads} threads"),
        Disturbance::Faulted { times } => format!("faulted {times} times"),
        Disturbance::Stolen { microseconds } => format!("stolen {microseconds} us"),
        Disturbance::Throttled { microseconds } => format!("throttled {microseconds} us"),
        Disturbance::Clock { microseconds } => format!("clock {microseconds} us"),
    });
    words.collect::<Vec<String>>().join(" + ")
}
