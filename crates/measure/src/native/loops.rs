//! The loops of a case's actors. Each is generated once in the life of an executor.

use std::collections::BTreeMap;
use std::sync::Arc;

use nearfar_kernels::{CATALOG, Flops, Unavailable, Variant, add_in_sequence};
use nearfar_machine::Accelerator;
use nearfar_record::{
    Actor, Case, Chase, Compute, Exchange, Experiment, Messages, Reason, ReasonCode, Stream,
    Transfer,
};

use super::compute::ComputeLoop;
use super::memory_loop::{MemoryLoop, no_variant};
use super::messaging::Peer;
use crate::executor::OfferedVariants;
use crate::kernel_name::{MemoryKernel, flop_names};

/// An actor and what its threads run.
#[derive(Debug, Clone)]
pub(super) enum ActorLoop<'a> {
    Stream {
        actor: &'a Stream,
        memory_loop: MemoryLoop,
    },
    Chase {
        actor: &'a Chase,
        /// Of the order of its nodes.
        seed: u64,
    },
    Exchange(&'a Exchange),
    Compute(ComputeLoop),
    Transfer {
        actor: &'a Transfer,
        devices: Box<TransferDevices>,
    },
    Messages {
        actor: &'a Messages,
        peer: Arc<Peer>,
    },
}

/// The ends of a transfer that are devices.
#[derive(Debug, Clone)]
pub(super) struct TransferDevices {
    pub device: Accelerator,
    pub peer: Option<Accelerator>,
}

/// A kernel and a variant, by their names.
type LoopKey = (String, String);

/// The loops that were asked for, or why there are none.
#[derive(Debug, Default)]
pub(super) struct Loops {
    memory_loops: BTreeMap<LoopKey, Result<MemoryLoop, Reason>>,
    compute_loops: BTreeMap<LoopKey, Result<ComputeLoop, Reason>>,
    devices: Vec<Accelerator>,
    peer: Option<Arc<Peer>>,
}

impl Loops {
    /// With the devices that data can be copied to.
    pub fn with_devices(devices: Vec<Accelerator>) -> Self {
        Self { devices, ..Self::default() }
    }

    /// The same with a machine to send messages to.
    pub fn with_peer(self, peer: Peer) -> Self {
        Self { peer: Some(Arc::new(peer)), ..self }
    }

    /// What the threads of each actor run. `seed` is for the order of a chase's nodes.
    ///
    /// # Errors
    /// Where this CPU has no such loop.
    pub fn of_case<'a>(&mut self, case: &'a Case, seed: u64) -> Result<Vec<ActorLoop<'a>>, Reason> {
        let of_actor = |actor: &'a Actor| match actor {
            Actor::Stream(actor) => {
                check_pause(actor)?;
                Ok(ActorLoop::Stream { actor, memory_loop: self.memory_loop(actor)? })
            }
            Actor::Chase(actor) => Ok(ActorLoop::Chase { actor, seed }),
            Actor::Exchange(actor) => Ok(ActorLoop::Exchange(actor)),
            Actor::Compute(actor) => Ok(ActorLoop::Compute(self.compute_loop(actor)?)),
            Actor::Transfer(actor) => {
                let device = self.device(&actor.device)?;
                let peer = actor.peer.as_ref().map(|peer| self.device(peer)).transpose()?;
                let devices = Box::new(TransferDevices { device, peer });
                Ok(ActorLoop::Transfer { actor, devices })
            }
            Actor::Messages(actor) => {
                let peer = self.peer.clone().ok_or_else(no_peer)?;
                Ok(ActorLoop::Messages { actor, peer })
            }
            Actor::Workload(workload) => {
                Err(no_variant(format!("{} is no loop alone", workload.workload)))
            }
            Actor::Command(command) => Err(no_variant(format!(
                "{} is a program and no loop; `nearfar sensitivity` runs it",
                command.label
            ))),
        };
        case.actors.iter().map(of_actor).collect()
    }

    fn device(&self, id: &str) -> Result<Accelerator, Reason> {
        self.devices.iter().find(|device| device.id == id).cloned().ok_or_else(|| Reason {
            code: ReasonCode::DeviceFailed,
            text: format!("{id} is not among the devices that were found when measuring began"),
        })
    }

    fn memory_loop(&mut self, stream: &Stream) -> Result<MemoryLoop, Reason> {
        let key = (stream.kernel.clone(), stream.variant.clone());
        let generate = || MemoryLoop::of(MemoryKernel::named(&stream.kernel)?, &stream.variant);
        self.memory_loops.entry(key).or_insert_with(generate).clone()
    }

    fn compute_loop(&mut self, compute: &Compute) -> Result<ComputeLoop, Reason> {
        let key = (compute.kernel.clone(), compute.variant.clone());
        let generate = || ComputeLoop::of(&compute.kernel, &compute.variant);
        self.compute_loops.entry(key).or_insert_with(generate).clone()
    }
}

/// What can be run here, in which instruction sets. Arithmetic that has no form in one, as fused
/// multiply-adds in SSE2, is not offered in it. Where the system forbids generated code, loops are
/// offered and refused when they are asked for, with that reason.
pub(super) fn offered_variants() -> OfferedVariants {
    let words = |variants: &[Variant]| variants.iter().map(ToString::to_string).collect();
    let catalog = CATALOG.iter().map(|kernel| (kernel.name.into(), words(&kernel.variants())));
    let mut generated = Variant::available();
    generated.retain(|&variant| variant != Variant::Portable);
    let is_written = |name: &str, variant: Variant| {
        let generated = name.parse::<Flops>().map(|flops| flops.generate(variant));
        !matches!(generated, Err(_) | Ok(Err(Unavailable::NotWritten { .. })))
    };
    let of_arithmetic = |name: String| {
        let mut written = generated.clone();
        written.retain(|&variant| is_written(&name, variant));
        (name, words(&written))
    };
    let arithmetic = flop_names().into_iter().map(of_arithmetic);
    let hand_overs = (Experiment::Exchange.as_str().into(), words(&[Variant::Portable]));
    let messages = (Experiment::Network.as_str().into(), vec![Messages::VARIANT.into()]);
    let named = catalog.chain(arithmetic).chain([hand_overs, messages]).collect();
    OfferedVariants { named, mixes: words(&generated) }
}

fn no_peer() -> Reason {
    Reason {
        code: ReasonCode::PeerFailed,
        text: "the other machine and its token were not named again (--peer, --token-file)".into(),
    }
}

/// Pauses are additions that wait for each other.
fn check_pause(stream: &Stream) -> Result<(), Reason> {
    if stream.pause_cycles == 0 || add_in_sequence(1).is_some() {
        return Ok(());
    }
    Err(no_variant(
        "threads cannot pause between loads: this CPU's architecture has no loop of additions \
         that wait for each other",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_arch = "x86_64")]
    use nearfar_machine::CpuSet;

    use super::super::layout::tests::case;

    fn stream(kernel: &str, variant: &str) -> Stream {
        let stream = super::super::layout::tests::stream(kernel, "preferred:0", 1, 4096);
        Stream { variant: variant.into(), ..stream }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_loop_is_generated_once() {
        let mut loops = Loops::default();
        let compute = Compute {
            kernel: "mul_add_dp".into(),
            variant: "sse2".into(),
            cpus: CpuSet::single(0),
            thread_cpus: vec![0],
        };
        let twice = case(vec![
            Actor::Stream(stream("2l1s", "sse2")),
            Actor::Compute(compute.clone()),
            Actor::Stream(stream("2l1s", "sse2")),
            Actor::Compute(compute),
        ]);
        for _ in 0..3 {
            assert_eq!(loops.of_case(&twice, 1).unwrap().len(), 4);
            assert_eq!((loops.memory_loops.len(), loops.compute_loops.len()), (1, 1));
        }
    }

    #[test]
    fn what_there_is_no_loop_for_is_refused_again_and_again() {
        let mut loops = Loops::default();
        for (kernel, variant) in [("2l1s", "portable"), ("triad", "mmx"), ("quad", "sse2")] {
            for _ in 0..2 {
                let case = case(vec![Actor::Stream(stream(kernel, variant))]);
                let reason = loops.of_case(&case, 1).unwrap_err();
                assert_eq!(reason.code, nearfar_record::ReasonCode::NoVariant, "{}", reason.text);
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn all_that_is_offered_can_be_generated() {
        let offered = offered_variants();
        assert!(!offered.of("fma_dp").contains(&"sse2".into()), "{offered:?}");
        assert!(offered.of("add_sp").contains(&"sse2".into()), "{offered:?}");
        for name in flop_names() {
            for variant in offered.of(&name) {
                ComputeLoop::of(&name, variant).unwrap();
            }
        }
        for variant in &offered.mixes {
            MemoryLoop::of(MemoryKernel::named("2l1nt_4fma").unwrap(), variant).unwrap();
        }
    }
}
