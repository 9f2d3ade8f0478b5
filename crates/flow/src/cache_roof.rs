//! What threads reach whose data lies in a cache.
//!
//! ```text
//! x(k)^-p = (k d)^-p + B^-p
//! ```
//!
//! x(k) is the rate of k cores that share a cache, d what one asks for and B what the cache
//! carries: the law of [`crate::System`] for one part, with d and B such that one core and
//! all of them reach what the file says. Source: ours.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use nearfar_machine::{CpuSet, Initiator, Machine};

use crate::bounds::{self, BadKey, GB_PER_S, GIGA, MOST_ENTRIES};
use crate::calibration::{Lone, Way};
use crate::machine_file::{MachineFile, RoofEntry};

/// The level that stands for a cache beside a node's memory, in front of it.
pub const MEMORY_SIDE_LEVEL: u8 = 4;
pub(crate) const LEVELS: RangeInclusive<u8> = 1..=MEMORY_SIDE_LEVEL;

/// What caches of a level carry.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheRoof {
    /// The level; [`MEMORY_SIDE_LEVEL`] is a cache beside the memory.
    pub level: u8,
    /// The kernel that it is for; `None` for those that have no roof of their own.
    pub kernel: Option<String>,
    /// Cores that share one of these caches, at most.
    pub cores: u32,
    /// In the order of the machine's variants; `None` where it has no such loop.
    pub rates: Vec<Option<CacheRate>>,
}

/// What threads get of one cache, useful bytes/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CacheRate {
    /// What one core asks for.
    pub demand: f64,
    /// What the cache carries; `None` where it limits nothing.
    pub capacity: Option<f64>,
}

impl CacheRoof {
    /// Useful bytes/s of one of `threads` threads that share the cache. Threads beyond its
    /// cores share what the cores reach.
    pub(crate) fn of_one(&self, variant: usize, threads: u32, saturation: f64) -> Option<f64> {
        let rate = self.rates.get(variant).copied().flatten()?;
        let threads = threads.max(1);
        let demand = f64::from(threads.min(self.cores)) * rate.demand;
        let slowed = rate.capacity.map_or(1.0, |capacity| {
            (1.0 + (demand / capacity).powf(saturation)).powf(-1.0 / saturation)
        });
        Some(demand * slowed / f64::from(threads))
    }
}

/// The groups of CPUs that share a cache of a level, with its size where known.
pub(crate) fn domains(machine: &Machine, level: u8) -> Vec<(CpuSet, Option<u64>)> {
    if level == MEMORY_SIDE_LEVEL {
        let of_initiator = |initiator: Initiator| {
            let own =
                machine.nodes.iter().filter(|it| initiator.memory_nodes.contains(it.os_index));
            let sizes = own.filter_map(|node| node.memory_side_cache_bytes);
            let bytes = sizes.fold(0, u64::saturating_add);
            (bytes > 0).then_some((initiator.cpus, Some(bytes)))
        };
        return machine.initiators().into_iter().filter_map(of_initiator).collect();
    }
    let own = machine.caches.iter().filter(|it| it.level == u32::from(level));
    own.map(|cache| (cache.cpus.clone(), cache.bytes)).collect()
}

/// The innermost of these levels that holds a working set which threads on these CPUs share
/// equally.
pub(crate) fn innermost_level(
    machine: &Machine,
    levels: impl Iterator<Item = u8>,
    thread_cpus: &[u32],
    working_set_bytes: u64,
) -> Option<u8> {
    let holds = |level: &u8| {
        let mut threads_of: BTreeMap<usize, usize> = BTreeMap::new();
        let domains = domains(machine, *level);
        let mut domain_of: BTreeMap<u32, usize> = BTreeMap::new();
        for (index, (cpus, _)) in domains.iter().enumerate() {
            domain_of.extend(cpus.iter().map(|cpu| (cpu, index)));
        }
        for cpu in thread_cpus {
            let Some(&domain) = domain_of.get(cpu) else { return false };
            *threads_of.entry(domain).or_default() += 1;
        }
        // A cache with k of n threads has k / n of the set to hold.
        let fits = |(&domain, &threads): (&usize, &usize)| {
            let share = u128::from(working_set_bytes) * threads as u128;
            domains[domain]
                .1
                .is_some_and(|bytes| share <= u128::from(bytes) * thread_cpus.len() as u128)
        };
        !threads_of.is_empty() && threads_of.iter().all(fits)
    };
    levels.into_iter().find(holds)
}

/// The roofs of a file; of several for one level and kernel the last is used.
pub(crate) fn roofs(
    file: &MachineFile,
    machine: &Machine,
    variants: &[String],
    saturation: f64,
) -> Result<Vec<CacheRoof>, BadKey> {
    let mut roofs = Vec::new();
    let mut cores_of: BTreeMap<u8, Option<u32>> = BTreeMap::new();
    for (key, entry) in bounds::entries("roof", &file.roof)? {
        bounds::number(&format!("{key}.level"), entry.level.into(), &(1..=4))?;
        let cores = cores_of.entry(entry.level).or_insert_with(|| most_cores(machine, entry.level));
        let Some(cores) = *cores else {
            let why = format!("is {}, of which the machine has no cache", entry.level);
            return Err(BadKey::new(format!("{key}.level"), why));
        };
        let rates = rates(&key, entry, cores, variants, saturation)?;
        let roof = |kernel| CacheRoof { level: entry.level, kernel, cores, rates: rates.clone() };
        match &entry.kernels {
            None => roofs.push(roof(None)),
            Some(kernels) => {
                for kernel in kernels {
                    bounds::name(&format!("{key}.kernels"), kernel)?;
                    roofs.push(roof(Some(kernel.clone())));
                }
            }
        }
    }
    bounds::at_most("roof, with each of its kernels,", roofs.len(), MOST_ENTRIES)?;
    Ok(roofs)
}

/// Cores that share one cache of a level, at most; `None` where there is none.
fn most_cores(machine: &Machine, level: u8) -> Option<u32> {
    let core_of: BTreeMap<u32, usize> = machine
        .cores
        .iter()
        .enumerate()
        .flat_map(|(index, core)| core.cpus.iter().map(move |cpu| (cpu, index)))
        .collect();
    let cores = |(cpus, _): (CpuSet, Option<u64>)| {
        let cores: BTreeSet<usize> =
            cpus.iter().filter_map(|cpu| core_of.get(&cpu).copied()).collect();
        u32::try_from(cores.len()).unwrap_or(u32::MAX)
    };
    domains(machine, level).into_iter().map(cores).max()
}

fn rates(
    key: &str,
    entry: &RoofEntry,
    cores: u32,
    variants: &[String],
    saturation: f64,
) -> Result<Vec<Option<CacheRate>>, BadKey> {
    let one_core = entry.one_core.of_variants(&format!("{key}.one_core"), variants, &GB_PER_S)?;
    let all_key = format!("{key}.all_cores");
    let all_cores = match &entry.all_cores {
        None => vec![None; variants.len()],
        Some(_) if cores == 1 => {
            let why =
                format!("is given, but each core has a cache of level {} of its own", entry.level);
            return Err(BadKey::new(all_key, why));
        }
        Some(figure) => figure.of_variants(&all_key, variants, &GB_PER_S)?,
    };
    let way = Way { limits: &[], links: &[], saturation };
    let rate = |((one, all), variant): ((&Option<f64>, &Option<f64>), &String)| {
        let Some(one) = one else { return Ok(None) };
        let all_threads = all.map(|all| all * GIGA);
        let lone = Lone { one_thread: one * GIGA, all_threads, threads: f64::from(cores) };
        let (demand, capacity) = lone
            .demand_and_path(&way)
            .map_err(|why| BadKey::new(&all_key, format!("for the variant {variant}: {why}")))?;
        Ok(Some(CacheRate { demand, capacity }))
    };
    one_core.iter().zip(&all_cores).zip(variants).map(rate).collect()
}
