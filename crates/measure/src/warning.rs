//! What the reader of the figures should know, each with a remedy.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::{Machine, MemoryPolicy};
use nearfar_record::{Actor, Case, Chase, Coordinates, Environment, Pages, Record, Stage, Warning};

/// Something that disturbs figures or limits what they can show.
#[derive(Debug, Clone, PartialEq)]
pub enum Caution {
    VirtualMachine(String),
    /// There is one memory node.
    OneNode,
    /// The process may use a part of the CPUs or nodes only.
    PartialSet {
        /// CPUs that may be used, as a list.
        allowed: String,
        /// CPUs that there are, as a list.
        all: String,
    },
    /// The kernel looks through threads' memory, and may migrate pages.
    NumaBalancing,
    /// A governor may lower the clock.
    Governor(String),
    /// Same-page merging may touch pages.
    Ksm,
    /// A CPU quota is in force.
    CpuQuota(f64),
    /// Other processes run.
    Load(f64),
    /// The clock is slow to read or coarse.
    ClockSource(String),
    /// Transparent huge pages are off.
    NoTransparentHugePages,
    /// HWLOC_* variables were ignored.
    HwlocOverrides(Vec<String>),
    /// Working sets are small against the caches.
    SmallWorkingSet {
        /// Smallest working set / caches involved.
        smallest_multiple: f64,
    },
    /// Chases that stand for memory touch few lines against the caches.
    ShortChase {
        /// Smallest lines touched / caches involved.
        smallest_multiple: f64,
    },
    /// The caches' sizes are not known.
    UnknownCaches,
    /// Many samples were disturbed.
    Disturbed {
        samples: usize,
        /// Samples in all.
        of: usize,
        /// By what, with counts.
        mostly: String,
    },
    /// Huge pages were asked for and not got.
    FewHugePages {
        /// Share of the memory that got them.
        fraction: f64,
    },
    /// The budget ended first.
    BudgetEnded,
    /// Cases have fewer rounds than an interval of 95 % needs.
    FewRounds(usize),
}

impl Caution {
    /// The warning as it stands in a record.
    pub fn warning(&self) -> Warning {
        let (code, message, remedy) = self.words();
        let of_samples = matches!(
            self,
            Self::SmallWorkingSet { .. }
                | Self::ShortChase { .. }
                | Self::UnknownCaches
                | Self::Disturbed { .. }
                | Self::FewHugePages { .. }
                | Self::BudgetEnded
                | Self::FewRounds(_)
        );
        Warning { code: code.into(), message, remedy: remedy.into(), of_samples }
    }

    fn words(&self) -> (&'static str, String, &'static str) {
        match self {
            Self::VirtualMachine(name) => (
                "virtual_machine",
                format!(
                    "this is a virtual machine ({name}): its nodes, caches and cores are what the \
                     hypervisor shows, and other guests may share them"
                ),
                "measure on the host, or treat figures as what this guest got at this time",
            ),
            Self::OneNode => (
                "one_node",
                "one memory node is visible: all figures are local, nothing can be said of remote \
                 memory"
                    .into(),
                "if the machine has several nodes, look for node interleaving in the BIOS or for a \
                 virtual machine without vNUMA",
            ),
            Self::PartialSet { allowed, all } => (
                "partial_set",
                format!("this process may use the CPUs {allowed} of {all}"),
                "run outside the cpuset, taskset or batch allocation to measure the whole machine",
            ),
            Self::NumaBalancing => (
                "numa_balancing",
                "automatic NUMA balancing is on: the kernel stops threads to look through their memory, \
                 and migrates pages to them unless mbind could place the pages"
                    .into(),
                "sysctl kernel.numa_balancing=0 while measuring; migrated pages are caught either way",
            ),
            Self::Governor(governors) => (
                "governors",
                format!("the frequency governor is {governors}: the clock may be low at times"),
                "cpupower frequency-set -g performance while measuring",
            ),
            Self::Ksm => (
                "ksm",
                "kernel same-page merging is on".into(),
                "echo 0 >/sys/kernel/mm/ksm/run while measuring",
            ),
            Self::CpuQuota(cpus) => (
                "cpu_quota",
                format!("the control group allows {cpus:.1} CPUs' worth of time"),
                "raise or remove the quota; throttled windows are marked either way",
            ),
            Self::Load(load) => (
                "load_average",
                format!("the load average is {load:.2}: other processes use the CPUs"),
                "measure when the machine is quiet",
            ),
            Self::ClockSource(name) => (
                "clock_source",
                format!("the kernel's clock source is {name}, which is slow to read"),
                "boot with a stable TSC (see the kernel's log for why it was given up)",
            ),
            Self::NoTransparentHugePages => (
                "no_transparent_huge_pages",
                "transparent huge pages are off: figures include the cost of address translation with \
                 small pages"
                    .into(),
                "echo madvise >/sys/kernel/mm/transparent_hugepage/enabled",
            ),
            Self::HwlocOverrides(names) => (
                "hwloc_overrides",
                format!("ignored from the environment: {}", names.join(", ")),
                "unset them; describe another machine by `nearfar topo --xml FILE`",
            ),
            Self::SmallWorkingSet { smallest_multiple } => (
                "small_working_set",
                format!(
                    "working sets reach down to {smallest_multiple:.2} x the last-level caches, so that \
                     caches served a part"
                ),
                "leave out --working-set, or give at least 4 x the caches; read these figures as a check \
                 of placement, not as the memory's speed",
            ),
            Self::ShortChase { smallest_multiple } => (
                "short_chase",
                format!(
                    "the longest chases touch down to {smallest_multiple:.2} x as many lines as the \
                     last-level and memory-side caches hold: caches answered a part, and memory \
                     takes longer than these latencies say"
                ),
                "leave out --working-set, or give at least 8 x the caches (a chase touches one line \
                 in four); sets end at 1 GiB and at a quarter of the memory that can be used",
            ),
            Self::UnknownCaches => (
                "unknown_caches",
                "the size of the last-level caches is not known: working sets were not made from it"
                    .into(),
                "give --working-set at least 4 x the caches",
            ),
            Self::Disturbed { samples, of, mostly } => (
                "disturbed",
                if samples == of {
                    format!("all {of} samples were disturbed ({mostly}), so none is left out")
                } else {
                    format!(
                        "{samples} of {of} samples were disturbed ({mostly}); figures leave them \
                         out, but for cases that have no other"
                    )
                },
                "measure when the machine is quiet; `nearfar doctor` lists what may disturb",
            ),
            Self::FewHugePages { fraction } => (
                "few_huge_pages",
                format!(
                    "huge pages were asked for and {:.0} % of the memory got them",
                    fraction * 100.0
                ),
                "free memory or compact it (echo 1 >/proc/sys/vm/compact_memory), then measure again",
            ),
            Self::BudgetEnded => (
                "budget_ended",
                "the budget ended before every case had all its rounds".into(),
                "go on with --resume and a larger --budget",
            ),
            Self::FewRounds(cases) => (
                "few_rounds",
                format!(
                    "{cases} cases have fewer than six undisturbed rounds: their intervals cover the \
                     median less often than 95 %"
                ),
                "measure again when the machine is quiet, without a budget or with more --samples",
            ),
        }
    }
}

/// What is known before anything is measured.
pub fn before_measuring(
    machine: &Machine,
    environment: &Environment,
    hwloc_overrides: &[String],
) -> Vec<Caution> {
    let mut cautions = Vec::new();
    if let Some(name) = environment.hypervisor.as_deref().filter(|&name| name != "none") {
        cautions.push(Caution::VirtualMachine(name.into()));
    }
    if machine.nodes.iter().filter(|node| node.memory_bytes != Some(0)).count() < 2 {
        cautions.push(Caution::OneNode);
    } else if environment.numa_balancing.is_some_and(|mode| mode != 0) {
        cautions.push(Caution::NumaBalancing);
    }
    let all = machine.cpus();
    if machine.allowed_cpus != all {
        cautions.push(Caution::PartialSet {
            allowed: machine.allowed_cpus.to_string(),
            all: all.to_string(),
        });
    }
    if let Some(governors) = &environment.governors
        && governors.iter().any(|governor| governor != "performance")
    {
        cautions.push(Caution::Governor(governors.join(", ")));
    }
    if environment.ksm == Some(1) {
        cautions.push(Caution::Ksm);
    }
    if let Some(cpus) = environment.cgroup.cpu_limit {
        cautions.push(Caution::CpuQuota(cpus));
    }
    if let Some(load) = environment.load_average.filter(|&load| load > 0.5) {
        cautions.push(Caution::Load(load));
    }
    const QUICK_CLOCKS: [&str; 4] =
        ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"];
    if let Some(name) = &environment.clock_source
        && !QUICK_CLOCKS.contains(&name.as_str())
    {
        cautions.push(Caution::ClockSource(name.clone()));
    }
    if environment.transparent_huge_pages.as_deref() == Some("never") {
        cautions.push(Caution::NoTransparentHugePages);
    }
    if !hwloc_overrides.is_empty() {
        cautions.push(Caution::HwlocOverrides(hwloc_overrides.to_vec()));
    }
    cautions
}

/// More than this share of disturbed samples is a warning.
const MANY_DISTURBED: f64 = 0.2;

/// What the samples themselves show.
pub fn after_measuring(record: &Record, out_of_budget: bool) -> Vec<Warning> {
    let mut cautions = Vec::new();
    let multiples = || {
        let on_memory = record.cases.iter().filter(|case| case.is_on_memory());
        on_memory
            .flat_map(|case| &case.actors)
            .filter_map(Actor::as_stream)
            .map(|stream| stream.llc_multiple)
    };
    if multiples().any(|multiple| multiple.is_none()) {
        cautions.push(Caution::UnknownCaches);
    }
    // Slices are rounded down to whole pages: 3.9 stands for 4.
    if let Some(smallest) = multiples().flatten().min_by(f64::total_cmp).filter(|&m| m < 3.9) {
        cautions.push(Caution::SmallWorkingSet { smallest_multiple: smallest });
    }
    cautions.extend(short_chases(record));
    let of = record.samples.len();
    let samples = record.samples.iter().filter(|sample| sample.is_disturbed()).count();
    if as_fraction(samples, of) > MANY_DISTURBED {
        cautions.push(Caution::Disturbed { samples, of, mostly: most_frequent(record) });
    }
    cautions.extend(few_huge_pages(record));
    if out_of_budget {
        cautions.push(Caution::BudgetEnded);
    }
    let few = cases_with_few_rounds(record);
    if few > 0 && samples < of {
        cautions.push(Caution::FewRounds(few));
    }
    cautions.iter().map(Caution::warning).collect()
}

/// Chases that stand for memory, the longest of each initiator and node, should touch twice as many
/// lines as caches hold.
fn short_chases(record: &Record) -> Option<Caution> {
    let mut longest: BTreeMap<(u32, u32), (u64, Option<f64>)> = BTreeMap::new();
    for case in &record.cases {
        for (place, actor) in case.coordinates.iter().zip(&case.actors) {
            if let (Coordinates::Latency(latency), Actor::Chase(chase)) = (place, actor) {
                let known = longest
                    .entry((latency.initiator, latency.memory_node))
                    .or_insert((0, Some(f64::INFINITY)));
                if chase.working_set_bytes >= known.0 {
                    *known = (chase.working_set_bytes, chase.llc_multiple);
                }
            }
        }
    }
    let multiples = longest.values().filter_map(|&(_, multiple)| multiple);
    let smallest = multiples
        .min_by(f64::total_cmp)
        .filter(|&multiple| multiple < Chase::LEAST_LLC_MULTIPLE)?;
    Some(Caution::ShortChase { smallest_multiple: smallest })
}

fn as_fraction(part: usize, whole: usize) -> f64 {
    let fraction = part as f64 / whole as f64;
    if whole == 0 { 0.0 } else { fraction }
}

fn most_frequent(record: &Record) -> String {
    use nearfar_record::Disturbance::{Clock, Faulted, Moved, Stolen, Switched, Throttled};
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for disturbance in record.samples.iter().flat_map(|sample| &sample.disturbances) {
        let name = match disturbance {
            Switched { .. } => "threads were descheduled",
            Moved { .. } => "threads changed CPU",
            Faulted { .. } => "pages were faulted in",
            Stolen { .. } => "the hypervisor took CPU time",
            Throttled { .. } => "the CPU quota stopped threads",
            Clock { .. } => "the clock was wrong",
        };
        *counts.entry(name).or_default() += 1;
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let words: Vec<String> =
        sorted.iter().map(|(name, count)| format!("{name}: {count}")).collect();
    words.join(", ")
}

fn few_huge_pages(record: &Record) -> Option<Caution> {
    if record.header.inputs.pages == Pages::Small {
        return None;
    }
    let cases: BTreeMap<&str, &Case> =
        record.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let (huge, resident) = record
        .samples
        .iter()
        .filter_map(|sample| Some((cases.get(sample.case.as_str())?, sample)))
        .flat_map(|(case, sample)| case.actors.iter().zip(&sample.actors))
        .filter(|(planned, _)| wants_huge_pages(planned))
        .filter_map(|(_, actor)| actor.page_sizes.huge_bytes.zip(actor.page_sizes.resident_bytes))
        .fold((0_u128, 0_u128), |sum, sizes| {
            (sum.0 + u128::from(sizes.0), sum.1 + u128::from(sizes.1))
        });
    let fraction = huge as f64 / resident as f64;
    (resident > 0 && fraction < 0.5).then_some(Caution::FewHugePages { fraction })
}

/// Pages that are dealt out over nodes are small ones where there are few.
fn wants_huge_pages(actor: &Actor) -> bool {
    match actor {
        Actor::Stream(stream) => {
            let policies = std::iter::once(&stream.binding.memory).chain(&stream.write_memory);
            let dealt = policies.filter_map(MemoryPolicy::nodes).any(|nodes| nodes.len() > 1);
            stream.pages != Pages::Small && !dealt
        }
        Actor::Chase(chase) => chase.pages != Pages::Small,
        Actor::Transfer(transfer) => transfer.peer.is_none() && transfer.pages != Pages::Small,
        Actor::Compute(_) | Actor::Command(_) => false,
    }
}

fn cases_with_few_rounds(record: &Record) -> usize {
    let mut rounds: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for sample in &record.samples {
        let seen = rounds.entry(&sample.case).or_default();
        if !sample.is_disturbed() {
            seen.insert(sample.round);
        }
    }
    let is_result = |case: &&Case| {
        let screens = |place: &Coordinates| {
            place.as_pair().is_some_and(|pair| pair.stage == Stage::Screening)
        };
        // Runs are looked at one by one, without an interval.
        let runs = |place: &Coordinates| matches!(place, Coordinates::Scaling(_));
        !case.coordinates.iter().any(|place| screens(place) || runs(place))
    };
    record
        .cases
        .iter()
        .filter(is_result)
        .filter(|case| rounds.get(case.id.as_str()).is_some_and(|seen| seen.len() < 6))
        .count()
}
