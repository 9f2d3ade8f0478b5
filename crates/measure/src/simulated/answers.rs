//! What a simulated machine answers: the work of each thread of a case in a second, without
//! chance.

use std::collections::{BTreeMap, HashMap};

use nearfar_flow::SimulatedMachine;
use nearfar_machine::Initiator;
use nearfar_record::{Actor, Case, Compute, Reason};

use super::error::{no_network, no_program, not_simulated};
use crate::experiment::scatter_order;

/// A simulated machine and what is looked up in it again and again.
#[derive(Debug)]
pub(super) struct Answers {
    pub simulated: SimulatedMachine,
    pub full_nodes: Vec<u32>,
    pub initiators: Vec<Initiator>,
    /// The initiator of each CPU, by its place among the initiators.
    initiator_of: HashMap<u32, usize>,
    /// All CPUs, as far from each other as can be.
    scattered: Vec<u32>,
}

/// Threads of one initiator among those of an actor.
#[derive(Debug)]
pub(super) struct InitiatorThreads<'a> {
    pub initiator: &'a Initiator,
    /// Their positions among the actor's threads.
    pub positions: Vec<usize>,
}

impl InitiatorThreads<'_> {
    pub fn count(&self) -> u32 {
        u32::try_from(self.positions.len()).unwrap_or(u32::MAX)
    }
}

impl Answers {
    pub fn of(simulated: SimulatedMachine) -> Self {
        let initiators = simulated.machine.initiators();
        let places = initiators.iter().enumerate();
        Self {
            full_nodes: simulated.full_nodes(),
            initiator_of: places
                .flat_map(|(place, initiator)| initiator.cpus.iter().map(move |cpu| (cpu, place)))
                .collect(),
            initiators,
            scattered: scatter_order(&simulated.machine),
            simulated,
        }
    }

    /// What each thread does in a second, in the order of actors and threads: useful bytes of a
    /// stream, 8 bytes an access of a chase and a hand-over, operations of arithmetic.
    pub fn rates(&self, case: &Case) -> Result<Vec<Vec<f64>>, Reason> {
        let streams = self.stream_rates(case)?;
        let of_actor = |(position, actor): (usize, &Actor)| match actor {
            Actor::Stream(_) => Ok(streams.of_threads.get(&position).cloned().unwrap_or_default()),
            Actor::Chase(chase) => {
                let seconds = self.access_ns(chase, &streams)? * 1e-9;
                Ok(vec![f64::from(Self::ACCESS_BYTES) / seconds])
            }
            Actor::Exchange(exchange) => {
                // In turn: each makes every second hand-over.
                let seconds = 2.0 * self.hand_over_ns(exchange)? * 1e-9;
                Ok(vec![f64::from(Self::ACCESS_BYTES) / seconds; exchange.thread_cpus.len()])
            }
            Actor::Compute(compute) => {
                Ok(vec![self.compute_rate(compute)?; compute.thread_cpus.len()])
            }
            Actor::Messages(_) => Err(no_network()),
            Actor::Transfer(_) => Ok(vec![streams.of_transfers[&position]]),
            Actor::Command(command) => Err(no_program(&command.label)),
            Actor::Workload(workload) => Err(no_program(&workload.workload)),
        };
        case.actors.iter().enumerate().map(of_actor).collect()
    }

    /// Bytes that a chase asks for by an access.
    pub const ACCESS_BYTES: u32 = 8;

    /// Operations a second of one thread. Two threads on one core count as two cores.
    fn compute_rate(&self, compute: &Compute) -> Result<f64, Reason> {
        let Compute { kernel, variant, .. } = compute;
        self.simulated
            .flop_rate(kernel, variant)
            .ok_or_else(|| self.unsaid(&format!("under [flops] nothing of {kernel} in {variant}")))
    }

    /// What the machine's file does not say.
    pub fn unsaid(&self, what: &str) -> Reason {
        not_simulated(format!("the file of {} says {what}", self.simulated.name))
    }

    /// The CPU of each thread. Threads that are not pinned are taken to be scattered over the
    /// CPUs that they may use: what else may become of them is a factor on their rate.
    pub fn thread_cpus(&self, actor: &Actor) -> Vec<u32> {
        if actor.is_pinned() {
            return actor.thread_cpus().to_vec();
        }
        let own = self.scattered.iter().copied().filter(|&cpu| actor.cpus().contains(cpu));
        own.cycle().take(actor.threads() as usize).collect()
    }

    pub fn initiator_of(&self, cpu: u32) -> Result<&Initiator, Reason> {
        let found = self.initiator_of.get(&cpu).and_then(|&place| self.initiators.get(place));
        found.ok_or_else(|| not_simulated(format!("CPU {cpu} belongs to no initiator")))
    }

    /// Threads on these CPUs by their initiator.
    pub fn by_initiator(&self, cpus: &[u32]) -> Result<Vec<InitiatorThreads<'_>>, Reason> {
        let mut groups: BTreeMap<u32, InitiatorThreads<'_>> = BTreeMap::new();
        for (position, &cpu) in cpus.iter().enumerate() {
            let initiator = self.initiator_of(cpu)?;
            let new = || InitiatorThreads { initiator, positions: Vec::new() };
            groups.entry(initiator.index).or_insert_with(new).positions.push(position);
        }
        Ok(groups.into_values().collect())
    }
}
