//! Runs cases on this machine.

use std::collections::BTreeMap;
use std::time::Duration;

use nearfar_kernels::{CATALOG, Pattern, TimedLoop, UnknownVariant, Variant};
use nearfar_machine::{CpuSet, Machine, MemoryPolicy};
use nearfar_record::{
    Actor, ActorSample, Case, Executor as ExecutorKind, PageNodes, Proof, Reason, ReasonCode,
    Stream as StreamActor, ThreadSample, TrafficMethod,
};
use nearfar_sys::monotonic;
use nearfar_units::nanoseconds;

use super::disturbance::{Taken, disturbances_of};
use super::instruments::Instruments;
use super::layout::{
    PoolKey, Prepared, cut_slices, pool_elements, pool_key, pool_needs, slice_elements, thread_cpus,
};
use super::look::look_from;
use super::pool::{Pool, PoolRequest, no_thread};
use super::window::{Meeting, Windows};
use super::worker::{Walk, walk};
use crate::executor::{
    Executor, Failure, Interrupt, OfferedVariants, RanLoop, Rates, Window, WindowRequest, kernel_of,
};
use crate::experiment::node_memory_is_known;

/// Runs cases on this machine.
#[derive(Debug)]
pub struct NativeExecutor {
    machine: Machine,
    stores: TrafficMethod,
    pattern: Pattern,
    interrupt: Interrupt,
    made: Duration,
    pub(super) instruments: Instruments,
    node_memory_is_known: bool,
    pools: BTreeMap<PoolKey, Pool>,
    /// Bytes that each pool needs in this round.
    needs: BTreeMap<PoolKey, u64>,
}

/// When pages are proven, by the windows of their case.
#[derive(Debug, Clone, Copy)]
enum Moment {
    Before,
    After,
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
        let node_memory_is_known = node_memory_is_known(&machine, memory_bytes);
        Self {
            machine,
            stores,
            pattern: Pattern::new(seed),
            interrupt,
            made: monotonic(),
            instruments: Instruments::default(),
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
            self.ensure_pool(&key, case, actor)?;
            let base = used.entry(key.clone()).or_default();
            let (slice, stride) = slice_elements(actor, timed_loop.kernel());
            prepared.push(Prepared { actor, timed_loop, key, base: *base, slice, stride });
            *base += pool_elements(actor);
        }
        for stream in &prepared {
            let Some(pool) = self.pools.get_mut(&stream.key) else { continue };
            let cpus = &stream.actor.binding.cpus;
            if let Err(reason) = pool.restore(&stream.sources(), cpus, &self.pattern) {
                // What is in the pool is not known any more.
                self.pools.remove(&stream.key);
                return Err(reason);
            }
            pool.overwrite(stream.destination());
        }
        Ok(prepared)
    }

    /// Has a pool ready that is large enough for the case: one for all cases of the
    /// round if there is room, else one for this case, at the cost of other pools.
    fn ensure_pool(
        &mut self,
        key: &PoolKey,
        case: &Case,
        actor: &StreamActor,
    ) -> Result<(), Reason> {
        let MemoryPolicy::Preferred(_) = actor.binding.memory else {
            return Err(Reason {
                code: ReasonCode::Unproven,
                text: format!(
                    "pages of mem={} cannot be judged; only preferred:NODE can",
                    actor.binding.memory
                ),
            });
        };
        let of_case = pool_needs(case);
        let least = of_case.get(key).copied().unwrap_or(0);
        if self.pools.get(key).is_some_and(|pool| pool.bytes() >= least) {
            return Ok(());
        }
        self.pools.remove(key);
        let most = self.needs.get(key).copied().unwrap_or(0).max(least);
        let request = |bytes| PoolRequest {
            policy: &actor.binding.memory,
            pages: actor.pages,
            bytes,
            cpus: &actor.binding.cpus,
        };
        let map = |bytes| {
            Pool::map(request(bytes), &self.machine, self.node_memory_is_known, &self.pattern)
        };
        let pool = match map(most) {
            Err(Reason { code: ReasonCode::NoRoom, .. }) => {
                self.pools.retain(|key, _| of_case.contains_key(key));
                map(least)?
            }
            other => other?,
        };
        self.pools.insert(key.clone(), pool);
        Ok(())
    }

    /// Where the pages of each stream's pool are, by the elements that the case uses.
    /// Pools with pages elsewhere are given up, so that later cases get others.
    fn prove(
        &mut self,
        streams: &[Prepared<'_>],
        moment: Moment,
    ) -> Result<Vec<PageNodes>, Reason> {
        let found: Result<Vec<PageNodes>, Reason> = streams
            .iter()
            .map(|stream| {
                let end = streams
                    .iter()
                    .filter(|other| other.key == stream.key)
                    .map(|other| other.sources().end)
                    .max();
                self.pools[&stream.key].prove(end.unwrap_or(0) * size_of::<f64>(), &self.machine)
            })
            .collect();
        found.map_err(|reason| {
            if reason.code == ReasonCode::Misplaced {
                streams.iter().for_each(|stream| drop(self.pools.remove(&stream.key)));
            }
            let when = match moment {
                Moment::Before => "before",
                Moment::After => "after",
            };
            Reason { text: format!("{when} the case: {}", reason.text), ..reason }
        })
    }

    fn run_threads(
        &mut self,
        streams: &[Prepared<'_>],
        request: WindowRequest,
    ) -> Result<(Windows, Vec<Vec<Walk>>), Failure> {
        let threads = streams.iter().map(|stream| stream.actor.threads).sum();
        let moved: u64 = streams.iter().map(|stream| stream.actor.working_set_bytes).sum();
        let meeting = Meeting::new(threads, request, moved / 2, &self.interrupt, self.instruments);
        let jobs = cut_slices(&mut self.pools, streams, &self.pattern);
        let walks = std::thread::scope(|scope| {
            let mut handles = Vec::new();
            for (actor, mut job) in jobs {
                let meeting = &meeting;
                job.stream.run_by(self.instruments.run_loop);
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
        proof: Proof,
    ) -> ActorSample {
        let kernel = stream.timed_loop.kernel();
        let element = kernel.useful_bytes(1);
        let threads: Vec<ThreadSample> = walks
            .iter()
            .map(|walk| {
                let bytes = walk.log.bytes_between(windows.edge(index), windows.edge(index + 1));
                let span = walk.span(index);
                let (open, close) = (&span.open, &span.close);
                ThreadSample {
                    cpu_before: open.cpu,
                    cpu_after: close.cpu,
                    useful_bytes: bytes / element * element,
                    passes: close.passes,
                    involuntary_switches: close
                        .usage
                        .involuntary_switches
                        .saturating_sub(open.usage.involuntary_switches),
                    off_cpu_ns: span.off_cpu(),
                    minor_faults: close.usage.minor_faults.saturating_sub(open.usage.minor_faults),
                }
            })
            .collect();
        let variant = stream.timed_loop.variant().to_string();
        let ran = RanLoop {
            kernel,
            variant: &variant,
            unroll: stream.timed_loop.unroll(),
            stores: self.stores,
        };
        ran.sample(threads, proof, self.pools[&stream.key].page_sizes())
    }
}

fn timed_loop(actor: &StreamActor) -> Result<TimedLoop, Reason> {
    let kernel = kernel_of(actor)?;
    let variant: Variant = actor.variant.parse().map_err(|unknown: UnknownVariant| Reason {
        code: ReasonCode::NoVariant,
        text: unknown.to_string(),
    })?;
    kernel.in_variant(variant).map_err(|unavailable| Reason {
        code: ReasonCode::NoVariant,
        text: unavailable.to_string(),
    })
}

impl Executor for NativeExecutor {
    fn kind(&self) -> ExecutorKind {
        ExecutorKind::Native
    }

    fn variants(&self) -> OfferedVariants {
        CATALOG
            .iter()
            .map(|kernel| {
                (kernel.name, kernel.variants().iter().map(ToString::to_string).collect())
            })
            .collect()
    }

    fn look(&mut self) -> Result<Rates, Reason> {
        let cpu = self.machine.allowed_cpus.first().ok_or_else(|| Reason {
            code: ReasonCode::Denied,
            text: "this process may use no CPU".into(),
        })?;
        // A thread of its own: the program's first thread stays unpinned.
        std::thread::scope(|scope| {
            let look = || look_from(cpu, &self.machine, &self.pattern);
            let thread =
                std::thread::Builder::new().spawn_scoped(scope, look).map_err(no_thread)?;
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn now(&self) -> Duration {
        monotonic().saturating_sub(self.made)
    }

    fn begin_round(&mut self, cases: &[&Case]) {
        self.pools.clear();
        self.needs.clear();
        for case in cases {
            for (key, bytes) in pool_needs(case) {
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
        let before = self.prove(&streams, Moment::Before).map_err(Failure::Refused)?;
        let cpus: CpuSet = streams
            .iter()
            .flat_map(|stream| {
                (0..stream.threads()).map(|thread| thread_cpus(stream.actor, thread))
            })
            .flat_map(|cpus| cpus.iter().collect::<Vec<_>>())
            .collect();
        let others = Taken::read(&cpus);
        let (windows, walks) = self.run_threads(&streams, request)?;
        let taken = Taken::read(&cpus).since(&others);
        let after = self.prove(&streams, Moment::After).map_err(Failure::Refused)?;
        let proofs: Vec<Proof> =
            before.into_iter().zip(after).map(|(before, after)| Proof { before, after }).collect();
        let made = nanoseconds(self.made);
        Ok((0..windows.count)
            .map(|index| {
                let actors: Vec<ActorSample> = streams
                    .iter()
                    .zip(&walks)
                    .zip(&proofs)
                    .map(|((stream, walks), proof)| {
                        self.actor_sample(stream, walks, windows, index, proof.clone())
                    })
                    .collect();
                let length = Duration::from_nanos(windows.length);
                let lags = walks.iter().flatten().map(|walk| walk.span(index).clock_lag());
                let clock_lag = lags.max().unwrap_or(0);
                let mut disturbances = disturbances_of(case, &actors, windows.length, clock_lag);
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
        nearfar_sys::peak_resident_bytes(std::path::Path::new("/"))
    }
}
