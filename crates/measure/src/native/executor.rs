//! Runs cases on this machine.

use std::time::Duration;

use nearfar_kernels::Pattern;
use nearfar_machine::{Accelerator, CpuSet, Machine};
use nearfar_record::{
    ActorSample, Case, Disturbance, Executor as ExecutorKind, PageNodes, Proof, Reason, ReasonCode,
    TrafficMethod,
};
use nearfar_sys::monotonic;
use nearfar_units::nanoseconds;

use super::cpu_distance::with_distance;
use super::instruments::Instruments;
use super::layout::{Layout, lay_out};
use super::look::look_from;
use super::loops::{ActorLoop, Loops, offered_variants};
use super::messaging::Peer;
use super::pool::no_thread;
use super::pools::Pools;
use super::proof::{Placed, Proven};
use super::seen::{Taken, actor_sample, disturbances_of};
use super::window::{Meeting, Needs, Windows};
use super::worker::{Walk, walk};
use super::workload::run_workload;
use crate::executor::{
    Executor, Failure, Interrupt, OfferedVariants, Placement, Rates, Window, WindowRequest,
};
use crate::experiment::node_memory_is_known;

/// Runs cases on this machine.
#[derive(Debug)]
pub struct NativeExecutor {
    machine: Machine,
    stores: TrafficMethod,
    seed: u64,
    pattern: Pattern,
    interrupt: Interrupt,
    made: Duration,
    pub(super) instruments: Instruments,
    loops: Loops,
    pools: Pools,
}

/// What the threads of a case did, where their pages were before, and what CPU time others took
/// from then on.
struct Ran {
    windows: Windows,
    /// By actor, then thread.
    walks: Vec<Vec<Walk>>,
    before: Vec<Proven>,
    taken: Vec<Disturbance>,
}

impl NativeExecutor {
    /// An executor for this machine. `memory_bytes` is /proc/meminfo's total, by
    /// which the nodes' own figures are cross-checked; `seed` gives the arrays' data and the
    /// order of chases.
    pub fn new(
        machine: Machine,
        stores: TrafficMethod,
        memory_bytes: Option<u64>,
        seed: u64,
        interrupt: Interrupt,
    ) -> Self {
        let pools = Pools::new(node_memory_is_known(&machine, memory_bytes));
        Self {
            machine,
            stores,
            seed,
            pattern: Pattern::new(seed),
            interrupt,
            made: monotonic(),
            instruments: Instruments::default(),
            loops: Loops::default(),
            pools,
        }
    }

    /// The same with devices that data can be copied to.
    pub fn with_devices(self, devices: Vec<Accelerator>) -> Self {
        Self { loops: Loops::with_devices(devices), ..self }
    }

    /// The same with a machine to send messages to.
    pub fn with_peer(self, peer: Peer) -> Self {
        Self { loops: self.loops.with_peer(peer), ..self }
    }

    /// Runs a case whose memory is ready, and proves its pages before and after.
    fn measure(
        &mut self,
        case: &Case,
        layouts: &[Layout],
        loops: &[ActorLoop<'_>],
        (request, beside): (WindowRequest, Option<Beside<'_>>),
    ) -> Result<Vec<Window>, Failure> {
        let placed = self.pools.placed(layouts);
        let ran = self.run_threads((case, layouts, loops), &placed, (request, beside))?;
        let after = prove(&placed, "after", &self.machine)?;
        let placements: Vec<Placement> = ran
            .before
            .into_iter()
            .zip(after)
            .map(|(before, after)| placement(before, after))
            .collect();
        let made = nanoseconds(self.made);
        let windows = ran.windows;
        Ok((0..windows.count)
            .map(|index| {
                let actors = loops.iter().zip(&ran.walks).zip(&placements);
                let actors: Vec<ActorSample> = actors
                    .map(|((actor_loop, walks), placement)| {
                        actor_sample(actor_loop, walks, placement, self.stores, (windows, index))
                    })
                    .collect();
                let lags = ran.walks.iter().flatten().map(|walk| walk.clock_lag(windows, index));
                let clock_lag = lags.max().unwrap_or(0);
                let [open, close] = windows.span(index);
                let length = close.saturating_sub(open);
                let mut disturbances = disturbances_of(case, &actors, length, clock_lag);
                disturbances.extend(ran.taken.iter().cloned());
                Window {
                    start: Duration::from_nanos(open.saturating_sub(made)),
                    length: Duration::from_nanos(length),
                    actors,
                    disturbances,
                    run: None,
                    workload: None,
                    cpu_distance: None,
                }
            })
            .collect())
    }

    /// Runs the threads of a case. Their pages are proven before; where they are to touch their
    /// memory first, when they have done so: they warm up meanwhile, and no window opens before.
    fn run_threads(
        &mut self,
        (case, layouts, loops): (&Case, &[Layout], &[ActorLoop<'_>]),
        placed: &[Placed],
        (request, mut beside): (WindowRequest, Option<Beside<'_>>),
    ) -> Result<Ran, Failure> {
        let meeting = Meeting::new(Needs::of(case), request, &self.interrupt, self.instruments);
        let meeting = &if beside.is_some() { meeting.until_closed() } else { meeting };
        let (machine, pattern) = (&self.machine, &self.pattern);
        let cpus: CpuSet = layouts
            .iter()
            .flat_map(|layout| &layout.cpus)
            .flat_map(|cpus| cpus.iter().collect::<Vec<_>>())
            .collect();
        let jobs = self.pools.cut_slices(layouts);
        let prove_before = || {
            let before = prove(placed, "before", machine)?;
            Ok((before, Taken::read(&cpus)))
        };
        // Pages that no thread is to touch first are there already.
        let fills = jobs.iter().any(|job| job.fills);
        let present = if fills { None } else { Some(prove_before()?) };
        if !fills {
            meeting.proven();
        }
        let (before, walks, taken) = std::thread::scope(|scope| {
            let mut handles = Vec::new();
            for job in jobs {
                let actor = job.actor;
                let actor_loop = loops[actor].clone();
                let run = move || walk(job, actor_loop, pattern, meeting);
                match std::thread::Builder::new().spawn_scoped(scope, run) {
                    Ok(handle) => handles.push((actor, handle)),
                    Err(error) => {
                        meeting.give_up();
                        return Err(Failure::Refused(no_thread(error)));
                    }
                }
            }
            let before = match present {
                Some(before) => Ok(before),
                None if meeting.wait_for_touch() => prove_before(),
                None => Err(Failure::Interrupted),
            };
            match &before {
                Ok(_) if fills => meeting.proven(),
                Ok(_) => {}
                Err(_) => meeting.give_up(),
            }
            let mut failure = before.as_ref().err().cloned();
            if let Some(beside) = beside.as_mut().filter(|_| before.is_ok())
                && meeting.wait_for_last()
            {
                let opened = meeting.now();
                match beside() {
                    Ok(took) => meeting.close([opened, opened + nanoseconds(took)]),
                    Err(why) => {
                        failure = Some(why);
                        meeting.give_up();
                    }
                }
            }
            let mut walks: Vec<Vec<Walk>> = layouts.iter().map(|_| Vec::new()).collect();
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
            let after = Taken::read(&cpus);
            let ran = before.map(|(before, others)| (before, walks, after.since(&others)));
            failure.map_or(ran, Err)
        })?;
        let windows = meeting.windows().ok_or(Failure::Interrupted)?;
        Ok(Ran { windows, walks, before, taken })
    }
}

/// What runs beside the threads of a case, and how long it took.
type Beside<'b> = &'b mut dyn FnMut() -> Result<Duration, Failure>;

/// Where the pages of each actor are, `when` being before or after the case.
fn prove(placed: &[Placed], when: &str, machine: &Machine) -> Result<Vec<Proven>, Reason> {
    let in_time =
        |reason: Reason| Reason { text: format!("{when} the case: {}", reason.text), ..reason };
    placed.iter().map(|placed| placed.prove(machine).map_err(in_time)).collect()
}

fn placement(before: Proven, after: Proven) -> Placement {
    let both = |before: Option<PageNodes>, after: Option<PageNodes>| {
        before.zip(after).map(|(before, after)| Proof { before, after })
    };
    Placement {
        proof: both(before.pages, after.pages),
        write_proof: both(before.written, after.written),
        page_sizes: before.page_sizes,
    }
}

impl Executor for NativeExecutor {
    fn kind(&self) -> ExecutorKind {
        ExecutorKind::Native
    }

    fn variants(&self) -> OfferedVariants {
        offered_variants()
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
        self.pools.begin_round(cases);
    }

    fn run(&mut self, case: &Case, request: WindowRequest) -> Result<Vec<Window>, Failure> {
        self.answer(case, request, None)
    }

    fn peak_resident_bytes(&self) -> Option<u64> {
        nearfar_sys::peak_resident_bytes(std::path::Path::new("/"))
    }
}

impl NativeExecutor {
    /// Runs a case of streams over a window by themselves, then over one in which something else is
    /// done that says how long it took.
    ///
    /// # Errors
    /// When the machine refuses, the program is asked to end, or what is done fails.
    pub fn run_beside(
        &mut self,
        case: &Case,
        (round, shortest): (u32, Duration),
        mut beside: impl FnMut() -> Result<Duration, Failure>,
    ) -> Result<[Window; 2], Failure> {
        let request = WindowRequest { round, first: 0, count: 2, shortest };
        let windows = self.answer(case, request, Some(&mut beside))?;
        windows.try_into().map_err(|_| {
            let text = "the windows are not the two that were asked for; please report this";
            Failure::Refused(Reason { code: ReasonCode::Contradiction, text: text.into() })
        })
    }

    fn answer(
        &mut self,
        case: &Case,
        request: WindowRequest,
        beside: Option<Beside<'_>>,
    ) -> Result<Vec<Window>, Failure> {
        if self.interrupt.is_set() {
            return Err(Failure::Interrupted);
        }
        if let Some(workload) = case.workload() {
            let window = |_| run_workload(workload, &self.machine, self.now());
            let windows = (0..request.count).map(window).collect::<Result<_, Reason>>();
            return windows.map_err(Failure::Refused);
        }
        // Another order of a chase's nodes in every round: none stands for all.
        let seed = self.seed.wrapping_add(u64::from(request.round));
        let loops = self.loops.of_case(case, seed)?;
        let layouts = lay_out(case);
        let ready = self.pools.make_ready(&layouts, &self.machine, &self.pattern);
        let measured = ready.map_err(Failure::Refused).and_then(|()| {
            let (windows, cpu_distance) =
                with_distance(case, || self.measure(case, &layouts, &loops, (request, beside)));
            let with_it = |window| Window { cpu_distance, ..window };
            Ok(windows?.into_iter().map(with_it).collect())
        });
        self.pools.end_case();
        if let Err(Failure::Refused(reason)) = &measured
            && matches!(reason.code, ReasonCode::Misplaced | ReasonCode::WrongData)
        {
            // Later cases get other memory.
            self.pools.give_up(&layouts);
        }
        measured
    }
}
