//! A row: what one actor did in one window, and where its case stands.

use nearfar_machine::MemoryPolicy;
use nearfar_record::{
    Actor, ActorSample, Aggregate, Disturbance, Exchange, Executor, Header, PageNodes, Pages, Part,
    Pinning, Proof, ProofMethod, Sample, Suite, ThreadSample, TrafficMethod, Work,
};
use serde::Serialize;

use super::text::Text;

/// Name and version of the columns; the number grows when a column goes or changes its meaning.
pub(super) const SCHEMA: &str = "nearfar.samples/2";

/// A row; fields are columns, in this order. Their comments are the rows of `docs/csv-columns.md`,
/// with the unit and with what an empty cell says.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Row<'a> {
    /// Name and version of these columns: `nearfar.samples/2`.
    pub schema: &'static str,
    /// The host that was measured. Empty: an empty name.
    pub host: Text<'a>,
    /// When measuring began, UTC, RFC 3339. Empty: an empty text.
    pub started: Text<'a>,
    pub executor: Option<Executor>,
    pub suite: Option<Suite>,
    /// The case's id in the record. Empty: an empty id.
    pub case: Text<'a>,
    /// Which of the case's places for this actor the row is of, from 0.
    pub coordinates_index: usize,
    /// Number of the sample in the record, from 0.
    pub sequence: u64,
    /// The pass over all cases, with fresh buffers and threads, from 0.
    pub round: u32,
    /// The window within the round, from 0.
    pub window: u32,
    /// When it opened, since that run of the program began. Unit: ns.
    pub start_ns: u64,
    /// Its length, the same for all actors. Unit: ns.
    pub window_ns: u64,
    /// Its position in the case, from 0.
    pub actor: usize,
    /// `stream`, `chase`, `compute`, `transfer`, `workload` or `command`. Empty: its case is not in the
    /// record.
    pub actor_kind: Option<&'static str>,
    /// The kernel, or mix, that ran; the workload with its size; the program's label. Empty: an empty
    /// name.
    pub kernel: Text<'a>,
    /// Its instruction-set variant. Empty: an empty name; a workload or program.
    pub variant: Text<'a>,
    /// Vectors (elements of the portable variant) per turn of its loop. Empty: a workload or program.
    pub unroll: Option<u32>,
    /// Its threads. Empty: a program.
    pub threads: Option<usize>,
    /// Empty: no stream.
    pub pinning: Option<Pinning>,
    /// CPUs that its threads may use, `0-3,8`.
    pub cpus: Option<Text<'a>>,
    /// The CPU of each thread, a space between two. Empty: unbound.
    pub thread_cpus: Option<Text<'a>>,
    /// Policy of its pages: `first-touch`, `preferred:1`, `interleave:0-3`, `weighted:0=3,2=1`; of a
    /// workload also a strategy. Empty: `compute`.
    pub memory: Option<Text<'a>>,
    /// Policy of the array that is written. Empty: it is that of `memory`.
    pub write_memory: Option<Text<'a>>,
    /// Bytes of all its arrays. Unit: bytes. Empty: `compute`; a program.
    pub working_set_bytes: Option<u64>,
    /// Working set (lines that a chase touches) / caches involved. Unit: 1. Empty: their size is
    /// not known.
    pub llc_multiple: Option<f64>,
    /// Empty: `compute`; a workload or program.
    pub pages: Option<Pages>,
    /// Pause of each thread after every 1024 bytes of each array, 0 for none. Unit: cycles. Empty:
    /// no stream.
    pub pause_cycles: Option<u32>,
    /// Bytes of one copy of a device, each way. Unit: bytes. Empty: no transfer.
    pub copy_bytes: Option<u64>,
    /// What the program asked for (STREAM's count), all threads. Unit: bytes. Empty: a workload or program.
    pub useful_bytes: Option<u64>,
    /// The least that can have crossed between the last cache and memory. Unit: bytes. Empty: a workload or program.
    pub traffic_bytes_min: Option<u64>,
    /// The most, reading of lines before they are written included. Unit: bytes. Empty: a workload or program.
    pub traffic_bytes_max: Option<u64>,
    /// How traffic follows from useful bytes. Empty: a workload or program.
    pub traffic_method: Option<TrafficMethod>,
    /// Floating-point operations. Unit: FLOP. Empty: a workload or program.
    pub flops: Option<u64>,
    /// Elements of 8 bytes that were loaded and stored. Empty: a workload or program.
    pub accesses: Option<u64>,
    /// Work that a workload did, in `work_unit`s of its own, or the metric that a program printed; per
    /// second of `window_ns` it is a workload's rate. Empty: neither ran; a program whose time counts.
    pub work: Option<f64>,
    /// What `work` counts. Empty: there is none; nobody named it.
    pub work_unit: Option<Text<'a>>,
    /// Pages that a workload's strategy moved to the node of the thread that computes on them. Empty: no
    /// workload.
    pub moved_pages: Option<u64>,
    /// Useful bytes / window, 1e9 bytes/s. Unit: GB/s. Empty: `compute`; a workload or
    /// program.
    pub sum_gb_per_s: Option<f64>,
    /// Threads x the slowest thread's useful bytes / window. Unit: GB/s. Empty: `compute`; a workload or
    /// program.
    pub paced_gb_per_s: Option<f64>,
    /// Operations / window, 1e9 a second. Unit: GFLOP/s. Empty: none are made, but for `compute`.
    pub sum_gflop_per_s: Option<f64>,
    /// Time of an access: window / accesses. Unit: ns. Empty: no chase; no access.
    pub access_ns: Option<f64>,
    /// Copies of a device that began and ended around the window, both ways counted once. Empty:
    /// no transfer.
    pub copies: Option<u64>,
    /// Time of these by the device's own clock. Unit: ns. Empty: no transfer; it gives none.
    pub device_ns: Option<u64>,
    /// Messages that began and ended around the window, there and back counted once. Empty: no messages.
    pub messages: Option<u64>,
    /// Sends without a copy that the kernel was done with. Empty: none were made.
    pub sends_without_copy: Option<u64>,
    /// Those of them that it copied all the same. Empty: none were made.
    pub copied_sends: Option<u64>,
    /// Clock of its slowest core. Unit: GHz. Empty: nobody looked.
    pub slowest_core_ghz: Option<f64>,
    /// Times that Linux took a CPU away, all threads. Empty: a workload or program.
    pub involuntary_switches: Option<u64>,
    /// Longest time that one thread had no CPU. Unit: ns. Empty: a workload or program.
    pub most_off_cpu_ns: Option<u64>,
    /// Page faults without I/O, all threads. Empty: a workload or program.
    pub minor_faults: Option<u64>,
    /// Whether something disturbed the window: its figures are left out of medians.
    pub disturbed: bool,
    /// What did, of all actors together, ` + ` between two. Empty: nothing did.
    pub disturbances: Text<'a>,
    /// The weakest that said where its pages were. Empty: `compute`; a workload, which has them by array
    /// in the record; a program.
    pub proof_method: Option<ProofMethod>,
    /// Smallest share of its pages on the nodes of the policy, before and after, of both arrays.
    /// Unit: 1. Empty: the policy names no node.
    pub placed_share: Option<f64>,
    /// Most pages that were not present or whose node Linux did not say. Empty: `compute`; a workload or
    /// program.
    pub unknown_pages: Option<u64>,
    /// Bytes that huge pages backed. Unit: bytes. Empty: the system did not say.
    pub huge_bytes: Option<u64>,
    /// Bytes that were present in memory. Unit: bytes. Empty: the system did not say.
    pub resident_bytes: Option<u64>,
    /// `huge_bytes` / `resident_bytes`. Unit: 1. Empty: the system did not say; no bytes.
    pub huge_page_share: Option<f64>,
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
            None => row.with_run(header, planned, sample),
        }
    }

    /// What came of a program or a workload, which ran from start to end.
    fn with_run(self, header: &'a Header, planned: Option<&'a Actor>, sample: &'a Sample) -> Self {
        match (planned, &sample.workload, &sample.run) {
            (Some(Actor::Workload(_)), Some(run), _) => Self {
                work: finite(run.work),
                work_unit: Some(run.unit.as_str().into()),
                moved_pages: Some(run.moved_pages),
                ..self
            },
            (Some(Actor::Command(command)), _, Some(run)) => {
                let metric = header.inputs.commands.as_ref();
                let metric = metric.and_then(|inputs| inputs.metric_of(&command.label));
                let unit = metric.and_then(|metric| metric.unit.as_deref());
                Self { work: run.metric.and_then(finite), work_unit: unit.map(Text::from), ..self }
            }
            _ => self,
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
            Actor::Exchange(exchange) => Self {
                actor_kind: Some("exchange"),
                thread_cpus: thread_cpus(),
                working_set_bytes: Some(Exchange::PAGE_BYTES),
                pages: Some(exchange.pages),
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
            Actor::Messages(messages) => Self {
                actor_kind: Some("messages"),
                thread_cpus: thread_cpus(),
                working_set_bytes: Some(messages.working_set_bytes()),
                pages: Some(messages.pages),
                ..row
            },
            Actor::Command(command) => {
                Self { actor_kind: Some("command"), kernel: command.label.as_str().into(), ..row }
            }
            Actor::Workload(workload) => Self {
                actor_kind: Some("workload"),
                kernel: workload.workload.as_str().into(),
                threads: Some(workload.thread_cpus.len()),
                thread_cpus: thread_cpus(),
                memory: Some(workload.placement.to_string().into()),
                working_set_bytes: Some(workload.working_set_bytes),
                ..row
            },
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
        let access_ns = sample.window_ns as f64 / actor.accesses as f64;
        let without_copy = actor.messages.and_then(|seen| seen.without_copy);
        let is_chase = matches!(self.actor_kind, Some("chase" | "exchange"));
        Self {
            kernel: actor.kernel.as_str().into(),
            variant: actor.variant.as_str().into(),
            unroll: Some(actor.unroll),
            threads: Some(actor.threads.len()),
            useful_bytes: Some(actor.useful_bytes),
            traffic_bytes_min: Some(actor.traffic_bytes_min),
            traffic_bytes_max: Some(actor.traffic_bytes_max),
            traffic_method: Some(actor.traffic_method),
            flops: Some(actor.flops),
            accesses: Some(actor.accesses),
            sum_gb_per_s: rate(Work::UsefulBytes, Aggregate::Sum).filter(|_| !computes),
            paced_gb_per_s: rate(Work::UsefulBytes, Aggregate::Paced).filter(|_| !computes),
            sum_gflop_per_s: rate(Work::Flops, Aggregate::Sum)
                .filter(|_| computes || actor.flops > 0),
            access_ns: finite(access_ns).filter(|_| is_chase),
            copies: actor.transfer.map(|seen| seen.copies),
            device_ns: actor.transfer.and_then(|seen| seen.device_ns),
            messages: actor.messages.map(|seen| seen.messages),
            sends_without_copy: without_copy.map(|seen| seen.sends),
            copied_sends: without_copy.map(|seen| seen.copied),
            slowest_core_ghz: slowest_core(&actor.threads),
            involuntary_switches: Some(sum(|thread| thread.involuntary_switches)),
            most_off_cpu_ns: actor.threads.iter().map(|thread| thread.off_cpu_ns).max(),
            minor_faults: Some(sum(|thread| thread.minor_faults)),
            huge_page_share: totals.huge_page_share(Part::Actor(position)),
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
