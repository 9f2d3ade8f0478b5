//! `roofs`: what each level of the memory gives an initiator and what its cores compute at most
//! (denoyelle2019, sections 3 and 4), and points below these roofs that they must predict.

mod memory;
mod validation;

use nearfar_kernels::{FlopOperation, Flops, Precision};
use nearfar_machine::MemoryPolicy;
use nearfar_record::{
    Absent, Actor, Case, Compute, Coordinates, Experiment, Reason, ReasonCode, Roof,
    RoofCoordinates, RoofPurpose, Stream, Suite,
};
use nearfar_units::Bytes;

use super::Planned;
use super::cache_window::{CacheWindow, cache_levels, cache_window};
use super::omitted::{made, omitted, omitted_for, unusable_parts};
use super::setting::{Loop, Setting};
use super::whole_initiator::{WholeInitiator, of_each_kind};
use super::working_set::WorkingSet;
use crate::kernel_name::MemoryKernel;

/// Loads come first: they alone are measured where time is short.
const KERNELS: [&str; 4] = ["load", "store", "store_nt", "2l1s"];

impl Loop {
    /// Why it has no roofs of caches.
    fn no_cache(&self) -> Absent {
        let text = format!(
            "the stores of {} go around the caches: no working set of it stays in one",
            self.kernel
        );
        omitted(format!("roofs/caches/{}", self.kernel), ReasonCode::NoWindow, text)
    }

    /// Whether its stores go around the caches: in a cache it makes no sense.
    fn is_non_temporal(&self) -> bool {
        MemoryKernel::named(&self.kernel)
            .is_ok_and(|kernel| kernel.stores() > 0 && !kernel.write_allocates())
    }
}

/// What is measured together: initiators that use some part of the memory at the same time.
#[derive(Debug)]
struct Site<'a> {
    /// For ids: `initiator0/l2`, `contended/node0x4`.
    label: String,
    users: Vec<User<'a>>,
}

/// One of the initiators of a site.
#[derive(Debug)]
struct User<'a> {
    initiator: &'a WholeInitiator,
    roof: Roof,
    memory: MemoryPolicy,
    /// The set of a thread, where a cache is to answer.
    window: Option<CacheWindow>,
}

impl<'a> Site<'a> {
    fn on_memory(label: String, users: Vec<(&'a WholeInitiator, Roof, MemoryPolicy)>) -> Self {
        let user = |(initiator, roof, memory)| User { initiator, roof, memory, window: None };
        Self { label, users: users.into_iter().map(user).collect() }
    }

    /// The case in which all its users run a loop.
    fn case(&self, setting: Setting<'_>, of: &Loop, purpose: RoofPurpose) -> Result<Case, Absent> {
        let id = format!("roofs/{}/{}/{}", self.label, of.kernel, of.variant);
        let sharers = self.users.len() as u64;
        let stream = |user: &User<'_>| user.stream(setting, of, sharers).map(Actor::Stream);
        let place =
            |(user, actor): (&User<'_>, u32)| user.initiator.roof(user.roof, actor, of, purpose);
        let coordinates = self.users.iter().zip(0..).map(place).collect();
        made(id, coordinates, self.users.iter().map(stream).collect())
    }
}

impl WholeInitiator {
    fn roof(&self, roof: Roof, actor: u32, of: &Loop, purpose: RoofPurpose) -> Coordinates {
        Coordinates::Roofs(RoofCoordinates {
            initiator: self.index(),
            actor,
            roof,
            kernel: of.kernel.clone(),
            variant: of.variant.clone(),
            threads: self.threads(),
            purpose,
        })
    }
}

impl User<'_> {
    fn stream(&self, setting: Setting<'_>, of: &Loop, sharers: u64) -> Result<Stream, Reason> {
        let plan = self.initiator.stream(of, self.memory.clone(), sharers);
        let Some(window) = self.window else { return plan.on_memory(setting) };
        let threads = u64::from(self.initiator.threads());
        let wanted = WorkingSet {
            wanted: window.middle().saturating_mul(threads),
            most: window.most.saturating_mul(threads),
        };
        let nodes: Vec<u32> = self.memory.nodes().iter().flat_map(|set| set.iter()).collect();
        let caches = setting.places.cache_bytes(self.initiator.cpus.iter(), &nodes);
        let stream = plan.with_working_set(setting, wanted, caches)?;
        let of_thread = stream.working_set_bytes / threads.max(1);
        if (window.least..=window.most).contains(&of_thread) {
            return Ok(stream);
        }
        let text = format!(
            "arrays of whole pages take {} a thread; the cache answers alone from {} to {}",
            Bytes(of_thread),
            Bytes(window.least),
            Bytes(window.most)
        );
        Err(Reason { code: ReasonCode::NoWindow, text })
    }
}

/// All roofs and the points below them.
///
/// `full` has every initiator, kernel and number of initiators that contend; the other suites have
/// loads everywhere (of remote nodes that are alike on the nearest), the other kernels for caches,
/// local memory and all initiators on their own nodes, and of initiators that are alike the caches,
/// arithmetic and validation of the first.
pub(super) fn plan(setting: Setting<'_>) -> Planned {
    let initiators = WholeInitiator::all(setting);
    let mut planned =
        Planned { cases: Vec::new(), absent: unusable_parts(setting, Experiment::Roofs) };
    if initiators.is_empty() || setting.targets().next().is_none() {
        return planned;
    }
    let what = "their caches, arithmetic and validation are";
    let (within, alike) = of_each_kind(setting, &initiators, Experiment::Roofs, what);
    planned.absent.extend(alike);
    let kernels = setting.kernel_names(&KERNELS);
    let loops = setting.loops(Experiment::Roofs, kernels, &mut planned.absent);
    let caches = cache_sites(setting, &within, &mut planned.absent);
    let memory = memory::MemorySites::of(setting, &initiators, &mut planned.absent);
    let (around, through): (Vec<&Loop>, Vec<&Loop>) =
        loops.iter().partition(|of| of.is_non_temporal());
    for site in &caches {
        planned.extend(through.iter().map(|of| site.case(setting, of, RoofPurpose::Roof)));
    }
    if !caches.is_empty() {
        planned.absent.extend(around.into_iter().map(Loop::no_cache));
    }
    planned.absent.extend(memory.only_in_full(setting, &loops));
    for (site, of) in memory.with_loops(setting, &loops) {
        planned.extend([site.case(setting, of, RoofPurpose::Roof)]);
    }
    planned.extend(compute_cases(setting, &within));
    planned.extend(validation::cases(setting, &within, &caches, &memory));
    planned
}

/// Roofs of the caches, each thread on its own set: the cache levels of these initiators, all cores of one at once. The sets are in its nearest
/// memory. What was forced for memory is not for them.
fn cache_sites<'a>(
    setting: Setting<'_>,
    initiators: &[&'a WholeInitiator],
    absent: &mut Vec<Absent>,
) -> Vec<Site<'a>> {
    let mut sites = Vec::new();
    for &initiator in initiators {
        let Some(node) = initiator.targets(setting).first().copied() else {
            continue;
        };
        let levels = cache_levels(setting.machine, &initiator.thread_cpus);
        if levels.is_empty() {
            let text = "no cache of its CPUs is known";
            let name = format!("roofs/initiator{}/caches", initiator.index());
            absent.push(omitted(name, ReasonCode::UnknownCache, text));
        }
        for level in levels {
            let label = format!("initiator{}/l{level}", initiator.index());
            match cache_window(setting.machine, &initiator.thread_cpus, level) {
                Ok(window) => sites.push(Site {
                    label,
                    users: vec![User {
                        initiator,
                        roof: Roof::Cache { level },
                        memory: MemoryPolicy::Preferred(node),
                        window: Some(window),
                    }],
                }),
                Err(reason) => {
                    absent.push(omitted_for(format!("roofs/{label}"), reason));
                }
            }
        }
    }
    sites
}

/// Roofs of arithmetic, all cores of an initiator on registers: every operation in both precisions; `full` in every variant, other suites in the widest.
fn compute_cases(
    setting: Setting<'_>,
    initiators: &[&WholeInitiator],
) -> Vec<Result<Case, Absent>> {
    let mut cases = Vec::new();
    for operation in FlopOperation::ALL {
        for precision in Precision::ALL {
            let kernel = Flops { operation, precision }.to_string();
            let variants = flop_variants(setting, operation, precision);
            if variants.is_empty() && operation != FlopOperation::MulAdd {
                let name = format!("roofs/compute/{kernel}");
                cases.push(Err(setting.no_variant(name, &kernel)));
            }
            for variant in variants {
                let of = Loop { kernel: kernel.clone(), variant };
                cases.extend(initiators.iter().map(|initiator| Ok(compute_case(initiator, &of))));
            }
        }
    }
    cases
}

/// Multiplications beside additions are the most only where no multiply-add is fused.
fn flop_variants(
    setting: Setting<'_>,
    operation: FlopOperation,
    precision: Precision,
) -> Vec<String> {
    let offered = |operation| setting.offered(&Flops { operation, precision }.to_string());
    let mut variants = offered(operation);
    let is_full = setting.inputs.suite == Suite::Full;
    if operation == FlopOperation::MulAdd {
        let fused = offered(FlopOperation::Fma);
        variants.retain(|variant| fused.is_empty() || is_full && !fused.contains(variant));
    }
    if !is_full {
        variants.truncate(1);
    }
    variants
}

fn compute_case(initiator: &WholeInitiator, of: &Loop) -> Case {
    Case {
        id: format!("roofs/initiator{}/compute/{}/{}", initiator.index(), of.kernel, of.variant),
        coordinates: vec![initiator.roof(Roof::Compute, 0, of, RoofPurpose::Roof)],
        actors: vec![Actor::Compute(Compute {
            kernel: of.kernel.clone(),
            variant: of.variant.clone(),
            cpus: initiator.cpus.clone(),
            thread_cpus: initiator.thread_cpus.clone(),
        })],
    }
}
