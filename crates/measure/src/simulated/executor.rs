//! Runs cases on a simulated machine: what it answers, chance, and the virtual clock.

use std::time::Duration;

use nearfar_flow::SimulatedMachine;
use nearfar_kernels::{CATALOG, find};
use nearfar_record::{
    Actor, Case, Executor as ExecutorKind, Experiment, Pinning, Reason, Stream, Workload,
};

use super::answers::Answers;
use super::error::{SimulateError, not_simulated};
use super::luck::{Luck, Place};
use crate::executor::{
    Executor, Failure, Interrupt, OfferedVariants, Rates, Window, WindowRequest,
};
use crate::kernel_name::flop_names;

/// Answers cases for a machine that need not exist.
#[derive(Debug)]
pub struct SimulatedExecutor {
    answers: Answers,
    luck: Luck,
    clock: Duration,
    interrupt: Interrupt,
    /// The number of the case run after which a signal seems to have come.
    interrupt_after: Option<u64>,
    runs: u64,
}

impl SimulatedExecutor {
    /// A machine that answers by its capacities, with its noise drawn from `seed` or
    /// without any. In which of its modes a run of unpinned threads is is drawn in either case.
    ///
    /// # Errors
    /// [`SimulateError::UnknownKernel`] where its file speaks of a kernel that the catalog does
    /// not have: a misspelt one would change nothing, and no one would know.
    pub fn new(
        simulated: SimulatedMachine,
        noise: bool,
        seed: u64,
        interrupt: Interrupt,
    ) -> Result<Self, SimulateError> {
        check_kernels(&simulated)?;
        let luck = if noise { Luck::new } else { Luck::without_noise };
        Ok(Self {
            luck: luck(simulated.noise.clone(), seed),
            answers: Answers::of(simulated),
            clock: Duration::ZERO,
            interrupt,
            interrupt_after: None,
            runs: 0,
        })
    }

    /// Makes a signal seem to come after this many runs of cases.
    pub fn interrupt_after(&mut self, runs: u64) {
        self.interrupt_after = Some(runs);
    }

    fn simulated(&self) -> &SimulatedMachine {
        &self.answers.simulated
    }

    /// A window in which threads do what chance leaves of their rates.
    fn window(
        &self,
        case: &Case,
        place: Place<'_>,
        length: Duration,
        rates: &[Vec<f64>],
    ) -> Result<Window, Reason> {
        let disturbance = self.luck.disturbance(place, length);
        let left = disturbance.as_ref().map_or(1.0, |&(_, left)| left);
        let factor = self.luck.of_window(place) * left;
        let of_actor = |(number, (actor, rates)): (u64, (&Actor, &Vec<f64>))| -> Vec<f64> {
            let of_run = match actor {
                Actor::Stream(Stream { pinning: Pinning::Unbound, threads, .. }) => {
                    self.luck.of_unbound(place, number, *threads)
                }
                _ => 1.0,
            };
            rates.iter().map(|rate| rate * factor * of_run * length.as_secs_f64()).collect()
        };
        let work: Vec<Vec<f64>> = (0..).zip(case.actors.iter().zip(rates)).map(of_actor).collect();
        let actors = self.answers.samples(case, &work)?;
        let disturbances = disturbance.map(|(disturbance, _)| disturbance).into_iter().collect();
        Ok(Window {
            start: self.clock,
            length,
            actors,
            disturbances,
            run: None,
            workload: None,
            cpu_distance: None,
        })
    }

    /// A run of a workload, of which chance leaves a part.
    fn workload_window(
        &self,
        case: &Case,
        workload: &Workload,
        round: u32,
        window: u32,
    ) -> Result<Window, Reason> {
        let place = Place { case: &case.id, round, window };
        let run = self.answers.workload_run(workload, self.luck.of_window(place))?;
        Ok(Window {
            start: self.clock,
            length: Duration::from_nanos(run.timed_ns),
            actors: Vec::new(),
            disturbances: Vec::new(),
            run: None,
            workload: Some(run),
            cpu_distance: None,
        })
    }
}

fn check_kernels(simulated: &SimulatedMachine) -> Result<(), SimulateError> {
    match simulated.kernels.keys().find(|name| find(name).is_none()) {
        None => Ok(()),
        Some(strange) => Err(SimulateError::UnknownKernel {
            machine: simulated.name.clone(),
            kernel: strange.clone(),
            known: CATALOG.iter().map(|kernel| kernel.name).collect::<Vec<_>>().join(", "),
        }),
    }
}

/// The variants of each kernel, mix and arithmetic that a simulated machine answers.
fn offered(simulated: &SimulatedMachine) -> OfferedVariants {
    let kernels =
        CATALOG.iter().map(|kernel| (kernel.name.to_string(), simulated.variants(kernel.name)));
    let arithmetic = flop_names().into_iter().map(|name| {
        let answers = |variant: &&String| simulated.flop_rate(&name, variant).is_some();
        let variants = simulated.variants.iter().filter(answers).cloned().collect();
        (name, variants)
    });
    let hand_overs = (!simulated.exchange.ns.is_empty())
        .then(|| (Experiment::Exchange.as_str().to_string(), simulated.variants.clone()));
    let named: Vec<(String, Vec<String>)> = kernels.chain(arithmetic).chain(hand_overs).collect();
    // Mixes with ordinary and with non-temporal stores.
    let (ordinary, non_temporal) = (simulated.variants("1l1s"), simulated.variants("1l1nt"));
    OfferedVariants {
        named: named.into_iter().filter(|(_, variants)| !variants.is_empty()).collect(),
        mixes: ordinary.into_iter().filter(|variant| non_temporal.contains(variant)).collect(),
    }
}

impl Executor for SimulatedExecutor {
    fn kind(&self) -> ExecutorKind {
        ExecutorKind::Simulated
    }

    fn variants(&self) -> OfferedVariants {
        offered(self.simulated())
    }

    fn look(&mut self) -> Result<Rates, Reason> {
        let rate = self.simulated().look_rate().map_err(not_simulated)?;
        Ok(Rates { first_touch: rate, touch: rate, stream: rate })
    }

    fn now(&self) -> Duration {
        self.clock
    }

    fn begin_round(&mut self, _cases: &[&Case]) {}

    fn run(&mut self, case: &Case, request: WindowRequest) -> Result<Vec<Window>, Failure> {
        if self.interrupt.is_set() {
            return Err(Failure::Interrupted);
        }
        self.runs += 1;
        if let Some(workload) = case.workload() {
            let run = |window| self.workload_window(case, workload, request.round, window);
            let windows: Vec<u32> = (request.first..request.first + request.count).collect();
            let windows = windows.into_iter().map(run).collect::<Result<Vec<Window>, Reason>>()?;
            self.clock += windows.iter().map(|window| window.length).sum::<Duration>();
            return Ok(windows);
        }
        self.answers.check_room(case)?;
        let rates = self.answers.rates(case)?;
        let mut windows = Vec::new();
        for window in request.first..request.first + request.count {
            let place = Place { case: &case.id, round: request.round, window };
            let length = request.shortest;
            windows.push(self.window(case, place, length, &rates)?);
            self.clock += length;
            if self.simulated().real_time > 0.0 {
                std::thread::sleep(length.mul_f64(self.simulated().real_time));
            }
        }
        if self.interrupt_after == Some(self.runs) {
            self.interrupt.cell().store(2, std::sync::atomic::Ordering::Relaxed);
        }
        Ok(windows)
    }

    fn peak_resident_bytes(&self) -> Option<u64> {
        None
    }
}
