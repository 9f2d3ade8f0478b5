//! `roofs`: what each level of the memory gives an initiator and what its cores compute at most
//! (denoyelle2019, sections 3 and 4), and points below these roofs that they must foretell.

mod cached;
mod compute;
mod memory;
mod validation;

use nearfar_machine::MemoryPolicy;
use nearfar_record::{
    Absent, Actor, Case, Coordinates, Experiment, ReasonCode, Roof, RoofCoordinates, RoofPurpose,
    Stream,
};
use nearfar_units::Bytes;

use super::Planned;
use super::cache_window::CacheWindow;
use super::omitted::{no_variant, omitted};
use super::setting::Setting;
use super::unusable::unusable_parts;
use super::whole_initiator::{WholeInitiator, of_each_kind};
use super::working_set::WorkingSet;
use crate::kernel_name::MemoryKernel;

/// Loads come first: they alone are measured where time is short.
const KERNELS: [&str; 4] = ["load", "store", "store_nt", "2l1s"];

/// A kernel or mix in the variant that is measured.
#[derive(Debug, Clone)]
struct Loop {
    kernel: String,
    variant: String,
}

impl Loop {
    /// The loop of that name; why there is none where no variant of it can run.
    fn preferred(setting: Setting<'_>, kernel: &str) -> Result<Self, Absent> {
        match setting.preferred(kernel) {
            Some(variant) => Ok(Self { kernel: kernel.into(), variant }),
            None => {
                let forced = setting.inputs.variant.as_deref();
                Err(no_variant(format!("roofs/{kernel}"), kernel, forced))
            }
        }
    }

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
        let mut case = Case { id, coordinates: Vec::new(), actors: Vec::new() };
        for (user, actor) in self.users.iter().zip(0..) {
            match user.stream(setting, of, sharers) {
                Ok(stream) => case.actors.push(Actor::Stream(stream)),
                Err((code, text)) => return Err(omitted(case.id, code, text)),
            }
            case.coordinates.push(user.initiator.roof(user.roof, actor, of, purpose));
        }
        Ok(case)
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
    fn stream(
        &self,
        setting: Setting<'_>,
        of: &Loop,
        sharers: u64,
    ) -> Result<Stream, (ReasonCode, String)> {
        let plan = self.initiator.stream(&of.kernel, &of.variant, self.memory.clone(), sharers);
        let reason = |reason: nearfar_record::Reason| (reason.code, reason.text);
        let Some(window) = self.window else {
            return plan.on_memory(setting).map_err(reason);
        };
        let threads = u64::from(self.initiator.threads());
        let wanted = WorkingSet {
            wanted: window.middle().saturating_mul(threads),
            most: window.most.saturating_mul(threads),
        };
        let nodes: Vec<u32> = self.memory.nodes().iter().flat_map(|set| set.iter()).collect();
        let caches = setting.places.cache_bytes(self.initiator.cpus.iter(), &nodes);
        let stream = plan.with_working_set(setting, wanted, caches).map_err(reason)?;
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
        Err((ReasonCode::NoWindow, text))
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
    let mut loops = Vec::new();
    for kernel in setting.kernel_names(&KERNELS) {
        match Loop::preferred(setting, &kernel) {
            Ok(of) => loops.push(of),
            Err(absent) => planned.absent.push(absent),
        }
    }
    let caches = cached::sites(setting, &within, &mut planned.absent);
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
    planned.extend(compute::cases(setting, &within));
    planned.extend(validation::cases(setting, &within, &caches, &memory));
    planned
}
