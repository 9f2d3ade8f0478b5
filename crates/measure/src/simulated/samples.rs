//! What a window of a simulated machine holds.

use nearfar_record::{
    Actor, ActorSample, Case, Exchange, PageSizes, Reason, Stream, ThreadSample, TrafficMethod,
};

use super::answers::Answers;
use super::error::{no_network, no_program};
use crate::executor::{
    Placement, RanLoop, chase_sample, compute_sample, exchange_sample, transfer_sample,
};
use crate::kernel_name::MemoryKernel;

impl Answers {
    /// The samples of all actors. `work` is what each thread does in the window, as
    /// [`Answers::rates`] counts it.
    pub fn samples(&self, case: &Case, work: &[Vec<f64>]) -> Result<Vec<ActorSample>, Reason> {
        // As on real machines the clock is looked at where the core and not memory decides.
        let core_ghz = self.simulated.core_ghz.filter(|_| case.depends_on_clock());
        let of_actor = |(actor, work): (&Actor, &Vec<f64>)| {
            let cpus = self.thread_cpus(actor);
            let threads = cpus.iter().map(|&cpu| idle_thread(cpu, core_ghz)).zip(work);
            Ok(match actor {
                Actor::Stream(stream) => stream_sample(stream, threads, self.placement(actor)?)?,
                Actor::Chase(_) => {
                    let mut thread = idle_thread(cpus[0], core_ghz);
                    thread.useful_bytes = whole(work[0], u64::from(Self::ACCESS_BYTES));
                    chase_sample(thread, self.placement(actor)?)
                }
                Actor::Exchange(exchange) => {
                    let of_thread = |(thread, &bytes): (ThreadSample, &f64)| {
                        let useful_bytes = whole(bytes, Exchange::HAND_OVER_BYTES);
                        let passes = useful_bytes / Exchange::HAND_OVER_BYTES;
                        ThreadSample { useful_bytes, passes, ..thread }
                    };
                    let threads = threads.map(of_thread).collect();
                    exchange_sample(exchange.by, threads, self.placement(actor)?)
                }
                Actor::Compute(compute) => {
                    let of_thread = |(thread, &flops): (ThreadSample, &f64)| ThreadSample {
                        flops: whole(flops, 1),
                        ..thread
                    };
                    let threads = threads.map(of_thread).collect();
                    compute_sample(&compute.kernel, &compute.variant, UNROLL, threads)
                }
                Actor::Transfer(transfer) => {
                    let mut thread = idle_thread(cpus[0], core_ghz);
                    thread.useful_bytes = whole(work[0], size_of::<f64>() as u64);
                    let copies = thread.useful_bytes / transfer.memory_bytes().max(1);
                    thread.passes = copies;
                    // What a device's clock would say is not simulated.
                    transfer_sample(transfer, thread, (copies, None), self.placement(actor)?)
                }
                Actor::Messages(_) => return Err(no_network()),
                Actor::Command(command) => return Err(no_program(&command.label)),
                Actor::Workload(workload) => return Err(no_program(&workload.workload)),
            })
        };
        case.actors.iter().zip(work).map(of_actor).collect()
    }

    fn placement(&self, actor: &Actor) -> Result<Placement, Reason> {
        let (proof, write_proof) = self.proofs(actor)?;
        let page_sizes = PageSizes { huge_bytes: None, resident_bytes: None };
        Ok(Placement { proof, write_proof, page_sizes })
    }
}

/// A simulated loop has no vectors.
const UNROLL: u32 = 1;

/// A thread that has done nothing yet.
fn idle_thread(cpu: u32, core_ghz: Option<f64>) -> ThreadSample {
    ThreadSample { core_ghz, ..ThreadSample::quiet(Some(cpu), 0, 0) }
}

fn stream_sample<'a>(
    stream: &Stream,
    threads: impl Iterator<Item = (ThreadSample, &'a f64)>,
    placement: Placement,
) -> Result<ActorSample, Reason> {
    let kernel = MemoryKernel::named(&stream.kernel)?;
    let ran = RanLoop {
        name: &stream.kernel,
        kernel,
        variant: &stream.variant,
        unroll: UNROLL,
        stores: TrafficMethod::EvasionPossible,
    };
    let of_thread = |(thread, &bytes): (ThreadSample, &f64)| {
        let useful_bytes = whole(bytes, kernel.step_bytes());
        ThreadSample { useful_bytes, flops: ran.flops(useful_bytes), ..thread }
    };
    Ok(ran.sample(threads.map(of_thread).collect(), placement))
}

/// Work in whole steps.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "counts of a window are positive and far below 2^53"
)]
fn whole(work: f64, step: u64) -> u64 {
    (work / step as f64).round() as u64 * step
}
