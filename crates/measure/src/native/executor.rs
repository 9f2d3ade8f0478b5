//! Runs cases on this machine.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use nearfar_kernels::{Pattern, TimedLoop, Variant, find};
use nearfar_machine::{CpuSet, Machine, MemoryPolicy};
use nearfar_record::{
    Actor, ActorSample, Case, Disturbance, Executor as ExecutorKind, PageNodes, Pages, Pinning,
    Proof, Reason, ReasonCode, Stream as StreamActor, ThreadSample, TrafficMethod,
};
use nearfar_sys::{monotonic, monotonic_ns, steal_time, throttled};

use super::pool::{Pool, PoolRequest, no_thread};
use super::stream::{Source, Stream};
use super::window::{Meeting, Windows};
use super::worker::{Walk, walk};
use crate::executor::{Executor, Failure, Interrupt, Rates, Window, WindowRequest, elements_of};
use crate::traffic::traffic;

/// What two cases must share to share memory.
type PoolKey = (MemoryPolicy, Pages);

/// Runs cases on this machine.
#[derive(Debug)]
pub struct NativeExecutor {
    machine: Machine,
    stores: TrafficMethod,
    pattern: Pattern,
    interrupt: Interrupt,
    made: Duration,
    node_memory_is_known: bool,
    pools: BTreeMap<PoolKey, Pool>,
    /// Bytes that each pool needs in this round.
    needs: BTreeMap<PoolKey, u64>,
}

/// A stream of a case, ready to run.
struct Prepared<'a> {
    actor: &'a StreamActor,
    timed_loop: TimedLoop,
    key: PoolKey,
    /// First element of its arrays in the pool.
    base: usize,
    /// Elements of one thread's slice of one array.
    slice: usize,
    before: PageNodes,
}

impl Prepared<'_> {
    fn threads(&self) -> usize {
        self.actor.threads as usize
    }

    /// Elements of one array, all threads.
    fn array(&self) -> usize {
        self.slice * self.threads()
    }

    /// Sources come first and the destination last, so that a kernel that follows
    /// finds most of its sources untouched.
    fn sources(&self) -> Range<usize> {
        self.base..self.base + self.array() * self.timed_loop.kernel().loads() as usize
    }

    fn destination(&self) -> Range<usize> {
        let start = self.sources().end;
        start..start + self.array() * self.timed_loop.kernel().stores() as usize
    }
}

/// One thread's slices.
struct Job<'a> {
    cpus: CpuSet,
    stream: Stream<'a>,
}

impl NativeExecutor {
    /// An executor for this machine. `memory_bytes` is /proc/meminfo's total, by
    /// which the nodes' own figures are cross-checked; `seed` gives the arrays' data.
    #[must_use]
    pub fn new(
        machine: Machine,
        stores: TrafficMethod,
        memory_bytes: Option<u64>,
        seed: u64,
        interrupt: Interrupt,
    ) -> Self {
        let of_nodes: Option<u64> = machine.nodes.iter().map(|node| node.memory_bytes).sum();
        let node_memory_is_known = machine.nodes.len() > 1
            && of_nodes
                .zip(memory_bytes)
                .is_some_and(|(nodes, machine)| nodes.abs_diff(machine) <= machine / 10);
        Self {
            machine,
            stores,
            pattern: Pattern::new(seed),
            interrupt,
            made: monotonic(),
            node_memory_is_known,
            pools: BTreeMap::new(),
            needs: BTreeMap::new(),
        }
    }

    fn prepare<'a>(&mut self, case: &'a Case) -> Result<Vec<Prepared<'a>>, Reason> {
        let mut used: BTreeMap<PoolKey, usize> = BTreeMap::new();
        let mut prepared = Vec::new();
        for Actor::Stream(actor) in &case.actors {
            let timed_loop = timed_loop(actor)?;
            let key = pool_key(actor);
            self.ensure_pool(&key, actor)?;
            let arrays = timed_loop.kernel().arrays();
            let all =
                usize::try_from(actor.working_set_bytes).unwrap_or(usize::MAX) / size_of::<f64>();
            let base = used.entry(key.clone()).or_default();
            let stream = Prepared {
                actor,
                timed_loop,
                key,
                base: *base,
                slice: all / (arrays * actor.threads as usize).max(1),
                before: PageNodes {
                    method: nearfar_record::ProofMethod::MovePages,
                    page_bytes: 0,
                    pages: BTreeMap::new(),
                    unknown: 0,
                },
            };
            *base += all;
            prepared.push(stream);
        }
        for stream in &prepared {
            let Some(pool) = self.pools.get_mut(&stream.key) else {
                continue;
            };
            pool.restore(&stream.sources(), &stream.actor.binding.cpus, &self.pattern)?;
            pool.overwrite(stream.destination());
        }
        for stream in &mut prepared {
            stream.before = self.prove(&stream.key, used[&stream.key])?;
        }
        Ok(prepared)
    }

    fn ensure_pool(&mut self, key: &PoolKey, actor: &StreamActor) -> Result<(), Reason> {
        let bytes = self.needs.get(key).copied().unwrap_or(0).max(actor.working_set_bytes);
        if self.pools.get(key).is_some_and(|pool| pool.bytes() >= bytes) {
            return Ok(());
        }
        self.pools.remove(key);
        let request = PoolRequest {
            policy: &actor.binding.memory,
            pages: actor.pages,
            bytes,
            cpus: &actor.binding.cpus,
        };
        let pool = Pool::map(request, &self.machine, self.node_memory_is_known, &self.pattern)?;
        self.pools.insert(key.clone(), pool);
        Ok(())
    }

    fn prove(&self, key: &PoolKey, elements: usize) -> Result<PageNodes, Reason> {
        self.pools[key].prove(elements * size_of::<f64>(), &self.machine)
    }

    fn run_threads(
        &mut self,
        streams: &[Prepared<'_>],
        request: WindowRequest,
    ) -> Result<(Windows, Vec<Vec<Walk>>), Failure> {
        let threads = streams.iter().map(|stream| stream.actor.threads).sum();
        let moved: u64 = streams.iter().map(|stream| stream.actor.working_set_bytes).sum();
        let meeting = Meeting::new(threads, request, moved / 2, &self.interrupt);
        let jobs = cut_slices(&mut self.pools, streams, &self.pattern);
        let walks = std::thread::scope(|scope| {
            let mut handles = Vec::new();
            for (actor, mut job) in jobs {
                let meeting = &meeting;
                let run = move || walk(&job.cpus, &mut job.stream, meeting);
                match std::thread::Builder::new().spawn_scoped(scope, run) {
                    Ok(handle) => handles.push((actor, handle)),
                    Err(error) => {
                        meeting.give_up();
                        return Err(Failure::Refused(no_thread(error)));
                    }
                }
            }
            let mut walks: Vec<Vec<Walk>> = streams.iter().map(|_| Vec::new()).collect();
            let mut failure = None;
            for (actor, handle) in handles {
                match handle.join() {
                    Ok(Ok(walk)) => walks[actor].push(walk),
                    // A thread that was only told to end does not hide why.
                    Ok(Err(Failure::Interrupted)) => {
                        failure = failure.or(Some(Failure::Interrupted));
                    }
                    Ok(Err(refused)) => failure = Some(refused),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            failure.map_or(Ok(walks), Err)
        })?;
        let windows = meeting.windows().ok_or(Failure::Interrupted)?;
        Ok((windows, walks))
    }

    fn actor_sample(
        &self,
        stream: &Prepared<'_>,
        walks: &[Walk],
        windows: Windows,
        index: u32,
        after: &PageNodes,
    ) -> ActorSample {
        let kernel = stream.timed_loop.kernel();
        let element = kernel.useful_bytes(1);
        let threads: Vec<ThreadSample> = walks
            .iter()
            .map(|walk| {
                let bytes = walk.log.bytes_between(windows.edge(index), windows.edge(index + 1));
                let (open, close) = (&walk.edges[index as usize], &walk.edges[index as usize + 1]);
                ThreadSample {
                    cpu_before: open.cpu,
                    cpu_after: close.cpu,
                    useful_bytes: bytes / element * element,
                    passes: close.passes,
                    involuntary_switches: close
                        .usage
                        .involuntary_switches
                        .saturating_sub(open.usage.involuntary_switches),
                    off_cpu_ns: (close.time - open.time)
                        .saturating_sub(close.cpu_time - open.cpu_time),
                    minor_faults: close.usage.minor_faults.saturating_sub(open.usage.minor_faults),
                }
            })
            .collect();
        let useful_bytes = threads.iter().map(|thread| thread.useful_bytes).sum();
        let moved = traffic(kernel, useful_bytes, self.stores);
        let elements = elements_of(kernel, useful_bytes);
        ActorSample {
            kernel: kernel.name.into(),
            variant: stream.timed_loop.variant().to_string(),
            unroll: stream.timed_loop.unroll(),
            useful_bytes,
            traffic_bytes_min: moved.min,
            traffic_bytes_max: moved.max,
            traffic_method: moved.method,
            flops: elements * u64::from(kernel.flops()),
            accesses: elements * u64::from(kernel.loads() + kernel.stores()),
            threads,
            proof: Proof { before: stream.before.clone(), after: after.clone() },
            page_sizes: self.pools[&stream.key].page_sizes(),
        }
    }
}

fn pool_key(actor: &StreamActor) -> PoolKey {
    (actor.binding.memory.clone(), actor.pages)
}

fn timed_loop(actor: &StreamActor) -> Result<TimedLoop, Reason> {
    let no_variant = |text: String| Reason { code: ReasonCode::NoVariant, text };
    let kernel = find(&actor.kernel)
        .ok_or_else(|| no_variant(format!("there is no kernel {}", actor.kernel)))?;
    let variant: Variant = actor
        .variant
        .parse()
        .map_err(|_| no_variant(format!("there is no variant {}", actor.variant)))?;
    kernel.in_variant(variant).map_err(|unavailable| no_variant(unavailable.to_string()))
}

/// Cuts the pools into the threads' slices: for each stream its arrays one after
/// the other, each array cut into one slice per thread.
fn cut_slices<'a>(
    pools: &'a mut BTreeMap<PoolKey, Pool>,
    streams: &[Prepared<'_>],
    pattern: &'a Pattern,
) -> Vec<(usize, Job<'a>)> {
    let mut jobs = Vec::new();
    for (key, pool) in pools {
        let mut rest = pool.elements_mut();
        // Streams of one pool lie one after the other in the order of the case.
        for (actor, stream) in streams.iter().enumerate().filter(|(_, stream)| stream.key == *key) {
            let kernel = stream.timed_loop.kernel();
            let mut sources: Vec<Vec<Source<'a>>> =
                (0..stream.threads()).map(|_| Vec::new()).collect();
            for array in 0..kernel.loads() as usize {
                for (thread, taken) in sources.iter_mut().enumerate() {
                    let first = stream.base + array * stream.array() + thread * stream.slice;
                    let elements = &*take(&mut rest, stream.slice);
                    taken.push(Source { elements, first_index: first as u64 });
                }
            }
            for (thread, sources) in sources.into_iter().enumerate() {
                let destination = (kernel.stores() > 0).then(|| take(&mut rest, stream.slice));
                let stream_of_thread =
                    Stream::new(stream.timed_loop, pattern, destination, sources);
                jobs.push((
                    actor,
                    Job { cpus: thread_cpus(stream.actor, thread), stream: stream_of_thread },
                ));
            }
        }
    }
    jobs
}

fn take<'a>(rest: &mut &'a mut [f64], elements: usize) -> &'a mut [f64] {
    let (taken, left) = std::mem::take(rest).split_at_mut(elements);
    *rest = left;
    taken
}

fn thread_cpus(actor: &StreamActor, thread: usize) -> CpuSet {
    match (actor.pinning, actor.thread_cpus.get(thread)) {
        (Pinning::OnePerCore | Pinning::OnePerPu, Some(&cpu)) => CpuSet::single(cpu),
        _ => actor.binding.cpus.clone(),
    }
}

/// CPU time that others took from a case, while it ran.
struct Taken {
    stolen: Option<Duration>,
    throttled: Option<Duration>,
}

impl Taken {
    fn read(cpus: &CpuSet) -> Self {
        let root = Path::new("/");
        Self { stolen: steal_time(root, cpus), throttled: throttled(root) }
    }

    fn since(&self, before: &Self) -> Vec<Disturbance> {
        let grown = |now: Option<Duration>, then: Option<Duration>| {
            let grown = now?.saturating_sub(then?);
            u64::try_from(grown.as_micros()).ok().filter(|&microseconds| microseconds > 0)
        };
        let stolen = grown(self.stolen, before.stolen)
            .map(|microseconds| Disturbance::Stolen { microseconds });
        let throttled = grown(self.throttled, before.throttled)
            .map(|microseconds| Disturbance::Throttled { microseconds });
        stolen.into_iter().chain(throttled).collect()
    }
}

/// A thread without a CPU for more than this fraction of a window disturbs it. What
/// is shorter cannot change the figure by more, and on machines with many cores some
/// thread of every window is interrupted for microseconds.
const OFF_CPU_FRACTION: f64 = 0.005;

fn disturbances_of(actors: &[ActorSample], length: Duration, pinned: bool) -> Vec<Disturbance> {
    let threads = || actors.iter().flat_map(|actor| &actor.threads);
    let off_cpu = Duration::from_nanos(threads().map(|t| t.off_cpu_ns).max().unwrap_or(0));
    let faults: u64 = threads().map(|thread| thread.minor_faults).sum();
    let moved = threads().filter(|thread| pinned && thread.cpu_before != thread.cpu_after).count();
    let mut found = Vec::new();
    if off_cpu > length.mul_f64(OFF_CPU_FRACTION) {
        found.push(Disturbance::Switched {
            times: threads().map(|thread| thread.involuntary_switches).sum(),
            microseconds: u64::try_from(off_cpu.as_micros()).unwrap_or(u64::MAX),
        });
    }
    if moved > 0 {
        found.push(Disturbance::Moved { threads: u32::try_from(moved).unwrap_or(u32::MAX) });
    }
    if faults > 0 {
        found.push(Disturbance::Faulted { times: faults });
    }
    found
}

impl Executor for NativeExecutor {
    fn kind(&self) -> ExecutorKind {
        ExecutorKind::Native
    }

    fn variants(&self) -> Vec<Variant> {
        Variant::available()
    }

    fn look(&mut self) -> Result<Rates, Reason> {
        const BYTES: usize = 128 << 20;
        const ELEMENTS: usize = BYTES / size_of::<f64>();
        let cpus = CpuSet::single(self.machine.allowed_cpus.first().ok_or_else(|| Reason {
            code: ReasonCode::Denied,
            text: "this process may use no CPU".into(),
        })?);
        let request = PoolRequest {
            policy: &MemoryPolicy::FirstTouch,
            pages: Pages::Transparent,
            bytes: BYTES as u64,
            cpus: &cpus,
        };
        let started = monotonic_ns();
        drop(Pool::map(request, &self.machine, false, &self.pattern)?);
        let first_touched = monotonic_ns();
        let mut pool = Pool::map(request, &self.machine, false, &self.pattern)?;
        let touched = monotonic_ns();
        // The slowest of the usual kernels: a copy with ordinary stores.
        let (b, a) = pool.elements_mut().split_at_mut(ELEMENTS / 2);
        let copy =
            find("copy").and_then(|kernel| kernel.in_variant(*kernel.variants().first()?).ok());
        let Some(copy) = copy else {
            return Err(Reason {
                code: ReasonCode::NoVariant,
                text: "there is no copy kernel".into(),
            });
        };
        let sources = vec![Source { elements: b, first_index: 0 }];
        let mut stream = Stream::new(copy, &self.pattern, Some(a), sources);
        while stream.passes() < 6 {
            stream.step()?;
        }
        let ended = monotonic_ns();
        #[expect(clippy::cast_precision_loss, reason = "bytes and ns here are far below 2^53")]
        let rate = |bytes: u64, ns: u64| bytes as f64 / (ns.max(1) as f64 / 1e9);
        Ok(Rates {
            first_touch: rate(BYTES as u64, first_touched - started),
            touch: rate(BYTES as u64, touched - first_touched),
            stream: rate(stream.useful_bytes(), ended - touched),
        })
    }

    fn now(&self) -> Duration {
        monotonic().saturating_sub(self.made)
    }

    fn begin_round(&mut self, cases: &[&Case]) {
        self.pools.clear();
        self.needs.clear();
        for case in cases {
            let mut needs: BTreeMap<PoolKey, u64> = BTreeMap::new();
            for Actor::Stream(actor) in &case.actors {
                *needs.entry(pool_key(actor)).or_default() += actor.working_set_bytes;
            }
            for (key, bytes) in needs {
                let most = self.needs.entry(key).or_default();
                *most = (*most).max(bytes);
            }
        }
    }

    fn run(&mut self, case: &Case, request: WindowRequest) -> Result<Vec<Window>, Failure> {
        if self.interrupt.is_set() {
            return Err(Failure::Interrupted);
        }
        let streams = self.prepare(case).map_err(Failure::Refused)?;
        let cpus: CpuSet =
            streams.iter().flat_map(|stream| stream.actor.binding.cpus.iter()).collect();
        let before = Taken::read(&cpus);
        let (windows, walks) = self.run_threads(&streams, request)?;
        let taken = Taken::read(&cpus).since(&before);
        let mut after = Vec::new();
        for stream in &streams {
            let end = streams
                .iter()
                .filter(|other| other.key == stream.key)
                .map(|other| other.destination().end)
                .max();
            after.push(self.prove(&stream.key, end.unwrap_or(0)).map_err(Failure::Refused)?);
        }
        let pinned = streams.iter().all(|stream| stream.actor.pinning != Pinning::Unbound);
        let made = u64::try_from(self.made.as_nanos()).unwrap_or(u64::MAX);
        Ok((0..windows.count)
            .map(|index| {
                let actors: Vec<ActorSample> = streams
                    .iter()
                    .zip(&walks)
                    .zip(&after)
                    .map(|((stream, walks), after)| {
                        self.actor_sample(stream, walks, windows, index, after)
                    })
                    .collect();
                let length = Duration::from_nanos(windows.length);
                let mut disturbances = disturbances_of(&actors, length, pinned);
                disturbances.extend(taken.iter().cloned());
                Window {
                    start: Duration::from_nanos(windows.edge(index).saturating_sub(made)),
                    length,
                    actors,
                    disturbances,
                }
            })
            .collect())
    }

    fn peak_resident_bytes(&self) -> Option<u64> {
        nearfar_sys::peak_resident_bytes(Path::new("/"))
    }
}
