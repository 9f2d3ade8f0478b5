//! Cases on this machine, run by the native executor, whose samples a record would take.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nearfar_machine::{Binding, CpuSet, Machine, MemoryPolicy, NodeSet};
use nearfar_measure::native::NativeExecutor;
use nearfar_measure::{
    Executor, Failure, Interrupt, Window, WindowRequest, now_utc, read_environment, suite_inputs,
};
use nearfar_record::{
    Actor, ActorSample, Affinity, Case, Chase, ChaseWalk, Compute, Coordinates,
    Executor as ExecutorKind, Experiment, Header, History, Inputs, LatencyCoordinates, LatencyLoad,
    Line, MixCoordinates, Pages, Pinning, ReasonCode, Roof, RoofCoordinates, RoofPurpose, Sample,
    ScalingCoordinates, Stream, Suite, TrafficMethod,
};
use nearfar_specimen::stream;

/// Windows of a run.
const WINDOWS: u32 = 2;

/// Length of a window.
const WINDOW: Duration = Duration::from_millis(10);

/// One measurement at a time: others would take its CPUs.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The machine, and an executor on it.
pub struct Workbench {
    pub machine: Machine,
    pub executor: NativeExecutor,
}

impl Workbench {
    pub fn new() -> Self {
        Self::on(nearfar_topology::read_live(Path::new("/")).unwrap())
    }

    /// The machine, said to allow only a node that it has not.
    pub fn where_memory_is_forbidden() -> Self {
        let mut machine = nearfar_topology::read_live(Path::new("/")).unwrap();
        machine.allowed_nodes = NodeSet::single(1000);
        Self::on(machine)
    }

    fn on(machine: Machine) -> Self {
        let stores = TrafficMethod::EvasionPossible;
        let executor = NativeExecutor::new(machine.clone(), stores, None, 7, Interrupt::default());
        Self { machine, executor }
    }

    /// The first CPUs that may be used, at most this many.
    pub fn cpus(&self, count: usize) -> Vec<u32> {
        self.machine.allowed_cpus.iter().take(count).collect()
    }

    /// Memory of the first node that may be used.
    pub fn memory(&self) -> MemoryPolicy {
        MemoryPolicy::Preferred(self.machine.allowed_nodes.first().unwrap())
    }

    /// The first variant of a kernel, mix or arithmetic.
    fn variant(&self, kernel: &str) -> String {
        self.executor.variants().of(kernel)[0].clone()
    }

    /// A stream by one thread on each of these CPUs.
    pub fn stream(&self, kernel: &str, cpus: &[u32], working_set_bytes: u64) -> Stream {
        let cpus = cpus.iter().copied().collect();
        Stream {
            pinning: Pinning::OnePerPu,
            working_set_bytes,
            llc_multiple: None,
            pages: Pages::Small,
            ..stream(kernel, &self.variant(kernel), cpus, self.memory())
        }
    }

    pub fn chase(&self, cpu: u32, working_set_bytes: u64, group_bytes: u64) -> Chase {
        Chase {
            binding: Binding { cpus: CpuSet::single(cpu), memory: self.memory() },
            thread_cpu: cpu,
            working_set_bytes,
            llc_multiple: None,
            group_bytes,
            pages: Pages::Small,
        }
    }

    pub fn compute(&self, kernel: &str, cpus: &[u32]) -> Compute {
        Compute {
            kernel: kernel.into(),
            variant: self.variant(kernel),
            cpus: cpus.iter().copied().collect(),
            thread_cpus: cpus.to_vec(),
        }
    }

    /// Runs a case in short windows. A record takes it and its samples.
    pub fn run(&mut self, case: &Case) -> Result<Vec<Window>, Failure> {
        self.executor.begin_round(&[case]);
        self.run_on(case)
    }

    /// The same in the round that has begun.
    pub fn run_on(&mut self, case: &Case) -> Result<Vec<Window>, Failure> {
        let header = self.header();
        let count = case.rounds(&header.inputs).unwrap().windows;
        let request = WindowRequest { round: 0, first: 0, count, shortest: WINDOW };
        let windows = self.executor.run(case, request)?;
        let mut history = History::new(&header);
        history.take(&header, &Line::Case(case.clone())).unwrap();
        let samples: Vec<Sample> = (0..)
            .zip(&windows)
            .map(|(window, seen)| Sample {
                case: case.id.clone(),
                sequence: u64::from(window),
                round: 0,
                window,
                start_ns: u64::try_from(seen.start.as_nanos()).unwrap(),
                window_ns: u64::try_from(seen.length.as_nanos()).unwrap(),
                actors: as_recorded(case, seen),
                disturbances: seen.disturbances.clone(),
                run: None,
                workload: None,
                cpu_distance: None,
            })
            .collect();
        history.take_samples(&header, &samples).unwrap();
        assert_eq!(windows.len(), count as usize);
        // A thread without a CPU does nothing.
        for window in windows.iter().filter(|window| window.disturbances.is_empty()) {
            let mut threads = window.actors.iter().flat_map(|sample| &sample.threads);
            assert!(threads.all(|thread| thread.useful_bytes + thread.flops > 0), "{window:?}");
        }
        Ok(windows)
    }

    /// Why a case is refused.
    pub fn refusal(&mut self, case: &Case) -> ReasonCode {
        match self.run(case) {
            Err(Failure::Refused(reason)) => reason.code,
            other => panic!("{} is not refused: {other:?}", case.id),
        }
    }

    fn header(&self) -> Header {
        let inputs = Inputs {
            window_ns: u64::try_from(WINDOW.as_nanos()).unwrap(),
            windows_per_round: WINDOWS,
            experiments: Experiment::OF_MACHINE.to_vec(),
            ..suite_inputs(Suite::Standard)
        };
        let machine = self.machine.clone();
        Header {
            environment: read_environment(Path::new("/")),
            ..Header::new("test", now_utc(), ExecutorKind::Native, inputs, machine)
        }
    }
}

/// The actors of a window as the engine records them: caches can have answered what fits in them.
fn as_recorded(case: &Case, seen: &Window) -> Vec<ActorSample> {
    let mut actors = seen.actors.clone();
    for (position, actor) in actors.iter_mut().enumerate() {
        if case.may_be_cached(position) {
            actor.traffic_bytes_min = 0;
            actor.traffic_method = TrafficMethod::Cached;
        }
    }
    actors
}

fn case(id: &str, coordinates: Coordinates, actors: Vec<Actor>) -> Case {
    Case { id: id.into(), coordinates: vec![coordinates], actors }
}

/// A set of actors, on memory.
pub fn set(actors: Vec<Actor>) -> Case {
    case("mixes/0", Coordinates::Mixes(MixCoordinates { index: 0 }), actors)
}

/// The roof of an initiator.
pub fn roof(roof: Roof, actor: Actor) -> Case {
    let coordinates = RoofCoordinates {
        initiator: 0,
        actor: 0,
        roof,
        kernel: actor.kernel().into(),
        variant: actor.variant().into(),
        threads: actor.threads(),
        purpose: RoofPurpose::Roof,
    };
    case("roofs/test", Coordinates::Roofs(coordinates), vec![actor])
}

/// A run of threads on memory that they touch first.
pub fn run_of_scaling(stream: Stream, affinity: Affinity) -> Case {
    let coordinates = ScalingCoordinates {
        affinity,
        threads: stream.threads,
        kernel: stream.kernel.clone(),
        variant: stream.variant.clone(),
    };
    case("scaling/test", Coordinates::Scaling(coordinates), vec![Actor::Stream(stream)])
}

/// A chase, alone or beside a stream.
pub fn latency(chase: Chase, load: Option<Stream>) -> Case {
    let node = chase.binding.memory.nodes().unwrap().first().unwrap();
    let coordinates = LatencyCoordinates {
        initiator: 0,
        cpu_node: Some(node),
        memory_node: node,
        working_set_bytes: chase.working_set_bytes,
        pages: chase.pages,
        walk: ChaseWalk::PageGroups,
        load: load.as_ref().map(|stream| LatencyLoad {
            kernel: stream.kernel.clone(),
            variant: stream.variant.clone(),
            threads: stream.threads,
            pause_cycles: stream.pause_cycles,
            loads: 0,
            stores: 0,
        }),
    };
    let actors = [Some(Actor::Chase(chase)), load.map(Actor::Stream)];
    case("latency/test", Coordinates::Latency(coordinates), actors.into_iter().flatten().collect())
}
