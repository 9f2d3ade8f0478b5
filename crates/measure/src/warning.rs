//! What the reader of the figures should know, each with a remedy.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::{CpuSet, Machine, MemoryPolicy};
use nearfar_record::{
    Actor, Case, Chase, Coordinates, Environment, Pages, Record, SizeScreen, Stage, Warning,
};

fn warning(code: &str, message: impl Into<String>, remedy: &str) -> Warning {
    Warning { code: code.into(), message: message.into(), remedy: remedy.into(), of_samples: false }
}

/// What is known before anything is measured.
pub fn before_measuring(
    machine: &Machine,
    environment: &Environment,
    hwloc_overrides: &[String],
) -> Vec<Warning> {
    const QUICK_CLOCKS: [&str; 4] =
        ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"];
    let mut warnings = Vec::new();
    let mut warn = |code, message: String, remedy| warnings.push(warning(code, message, remedy));
    if let Some(name) = environment.known_hypervisor() {
        warn(
            "virtual_machine",
            format!(
                "this is a virtual machine ({name}): its nodes, caches and cores are what the \
                 hypervisor shows, and other guests may share them"
            ),
            "measure on the host, or treat figures as what this guest got at this time",
        );
    }
    if machine.nodes.iter().filter(|node| node.has_memory()).count() < 2 {
        warn(
            "one_node",
            "one memory node is visible: all figures are local, nothing can be said of remote \
             memory"
                .into(),
            "if the machine has several nodes, look for node interleaving in the BIOS or for a \
             virtual machine without vNUMA",
        );
    } else if environment.numa_balancing.is_some_and(|mode| mode != 0) {
        warn(
            "numa_balancing",
            "automatic NUMA balancing is on: the kernel stops threads to look through their memory, \
             and migrates pages to them unless mbind could place the pages"
                .into(),
            "sysctl kernel.numa_balancing=0 while measuring; migrated pages are caught either way",
        );
    }
    let all = machine.cpus();
    let without_memory = machine.initiators().into_iter().filter(|own| own.memory_nodes.is_empty());
    let without_memory: CpuSet =
        without_memory.flat_map(|own| own.cpus.iter().collect::<Vec<_>>()).collect();
    if !without_memory.is_empty() && machine.nodes.len() > 1 {
        warn(
            "no_local_memory",
            format!(
                "{} of {} CPUs have no local memory: {without_memory}",
                without_memory.len(),
                all.len()
            ),
            "fill the memory slots next to these CPUs, or choose fewer memory nodes in the BIOS (NPS1, \
             SNC off)",
        );
    }
    let across = machine.nodes_across_packages();
    if !across.is_empty() {
        warn(
            "nodes_across_packages",
            format!(
                "packages and memory nodes contradict each other: nodes {across} have CPUs of several \
                 packages, and these have CPUs of several nodes"
            ),
            "in a virtual machine give each node the CPUs of one package (libvirt: <cpu><topology/> and \
             the cpus of each <numa><cell/>)",
        );
    }
    if machine.allowed_cpus != all {
        let allowed = &machine.allowed_cpus;
        warn(
            "partial_set",
            format!("this process may use the CPUs {allowed} of {all}"),
            "run outside the cpuset, taskset or batch allocation to measure the whole machine",
        );
    }
    if let Some(governors) = &environment.governors
        && governors.iter().any(|governor| governor != "performance")
    {
        let governors = governors.join(", ");
        warn(
            "governors",
            format!("the frequency governor is {governors}: the clock may be low at times"),
            "cpupower frequency-set -g performance while measuring",
        );
    }
    if environment.ksm == Some(1) {
        warn(
            "ksm",
            "kernel same-page merging is on".into(),
            "echo 0 >/sys/kernel/mm/ksm/run while measuring",
        );
    }
    if let Some(cpus) = environment.cgroup.cpu_limit {
        warn(
            "cpu_quota",
            format!("the control group allows {cpus:.1} CPUs' worth of time"),
            "raise or remove the quota; throttled windows are marked either way",
        );
    }
    if let Some(load) = environment.load_average.filter(|&load| load > 0.5) {
        warn(
            "load_average",
            format!("the load average is {load:.2}: other processes use the CPUs"),
            "measure when the machine is quiet",
        );
    }
    if let Some(name) = &environment.clock_source
        && !QUICK_CLOCKS.contains(&name.as_str())
    {
        warn(
            "clock_source",
            format!("the kernel's clock source is {name}, which is slow to read"),
            "boot with a stable TSC (see the kernel's log for why it was given up)",
        );
    }
    if environment.transparent_huge_pages.as_deref() == Some("never") {
        warn(
            "no_transparent_huge_pages",
            "transparent huge pages are off: figures include the cost of address translation with \
             small pages"
                .into(),
            "echo madvise >/sys/kernel/mm/transparent_hugepage/enabled",
        );
    }
    if !hwloc_overrides.is_empty() {
        warn(
            "hwloc_overrides",
            format!("ignored from the environment: {}", hwloc_overrides.join(", ")),
            "unset them; describe another machine by `nearfar topo --xml FILE`",
        );
    }
    warnings
}

/// More than this share of disturbed samples is a warning.
const MANY_DISTURBED: f64 = 0.2;

/// What the samples themselves show.
pub fn after_measuring(record: &Record, out_of_budget: bool) -> Vec<Warning> {
    let mut warnings = small_working_sets(record);
    warnings.extend(short_chases(record));
    let of = record.samples.len();
    let samples = record.disturbed_samples();
    if as_fraction(samples, of) > MANY_DISTURBED {
        let mostly = most_frequent(record);
        let message = if samples == of {
            format!("all {of} samples were disturbed ({mostly}), so none is left out")
        } else {
            format!(
                "{samples} of {of} samples were disturbed ({mostly}); figures leave them out, but \
                 for cases that have no other"
            )
        };
        let remedy = "measure when the machine is quiet; `nearfar doctor` lists what may disturb";
        warnings.push(warning(Warning::DISTURBED, message, remedy));
    }
    warnings.extend(few_huge_pages(record));
    if out_of_budget {
        warnings.push(warning(
            "budget_ended",
            "the budget ended before every case had all its rounds",
            "go on with --resume and a larger --budget",
        ));
    }
    let few = cases_with_few_rounds(record);
    if few > 0 && samples < of {
        warnings.push(warning(
            "few_rounds",
            format!(
                "cases with fewer than six undisturbed rounds: {few}; their intervals cover the \
                 median less often than 95 %"
            ),
            "measure again when the machine is quiet, without a budget or with more --samples",
        ));
    }
    warnings.into_iter().map(|warning| Warning { of_samples: true, ..warning }).collect()
}

/// Working sets of memory that are small against the caches, or made without knowing these.
fn small_working_sets(record: &Record) -> Vec<Warning> {
    let on_memory = record.cases.iter().filter(|case| case.is_on_memory());
    let streams = on_memory.flat_map(|case| &case.actors).filter_map(Actor::as_stream);
    let multiples: Vec<Option<f64>> = streams.map(|stream| stream.llc_multiple).collect();
    let mut warnings = Vec::new();
    if multiples.contains(&None) {
        warnings.push(warning(
            "unknown_caches",
            "the size of the last-level caches is not known: working sets were not made from it",
            "give --working-set at least 4 x the caches",
        ));
    }
    let screen = record.all_inputs().find_map(|inputs| inputs.size_screen.as_ref());
    let planned = record.all_inputs().find_map(|inputs| inputs.cache_multiple);
    // Slices are rounded down to whole pages: 3.9 stands for 4.
    let wanted = f64::from(planned.unwrap_or(4));
    let smallest = multiples.into_iter().flatten().min_by(f64::total_cmp);
    warnings.extend(smallest.filter(|&multiple| multiple < 0.975 * wanted).map(|multiple| {
        warning(
            Warning::MAY_CONTAIN_CACHE,
            format!(
                "bandwidth may contain cache: working sets reach down to {multiple:.2} times the \
                 last-level caches, of {wanted} wanted{}",
                screen.map_or_else(String::new, |screen| seen_below(screen, multiple, wanted))
            ),
            "leave out --working-set, or free memory for at least 16 times the caches; read these values \
             as a check of placement, not as the memory's speed",
        )
    }));
    warnings.extend(screen.filter(|screen| !screen.is_settled).map(|screen| {
        let last = screen.ratios.iter().map(|ratio| ratio.multiple).max();
        let farthest = last.and_then(|multiple| screen.farthest(multiple));
        let found = farthest.map_or_else(String::new, |ratio| {
            format!(
                ": at {} times the caches {} by {} threads differs by {:+.1}% ({:+.1}% to {:+.1}%) from \
                 {} times",
                ratio.multiple,
                ratio.kernel,
                ratio.threads,
                100.0 * (ratio.ratio - 1.0),
                100.0 * (ratio.low - 1.0),
                100.0 * (ratio.high - 1.0),
                2 * ratio.multiple
            )
        });
        let why = screen.cut_short.as_ref().map_or_else(String::new, |why| format!("; {why}"));
        warning(
            Warning::MAY_CONTAIN_CACHE,
            format!(
                "bandwidth may contain cache: no working set was shown to be as fast as twice its size \
                 within 2%{found}{why}"
            ),
            "measure when the machine is quiet, or fix the size with --cache-multiple 32",
        )
    }));
    warnings
}

/// How much faster sets of about this multiple were than those that were wanted.
fn seen_below(screen: &SizeScreen, multiple: f64, wanted: f64) -> String {
    let mut faster: BTreeMap<(&str, u32), f64> = BTreeMap::new();
    for ratio in &screen.ratios {
        if (multiple.min(wanted)..wanted).contains(&f64::from(ratio.multiple)) {
            *faster.entry((&ratio.kernel, ratio.threads)).or_insert(1.0) *= ratio.ratio;
        }
    }
    let most = faster.into_iter().max_by(|(_, one), (_, other)| one.total_cmp(other));
    most.map_or_else(String::new, |((kernel, threads), ratio)| {
        format!("; there {kernel} by {threads} threads was {:+.1}% faster", 100.0 * (ratio - 1.0))
    })
}

/// Chases that stand for memory, the longest of each initiator and node, should touch twice as many
/// lines as caches hold.
fn short_chases(record: &Record) -> Option<Warning> {
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
    let known = longest.values().filter_map(|&(bytes, multiple)| Some((bytes, multiple?)));
    let (bytes, smallest) = known.min_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let gib = bytes as f64 / f64::from(1 << 30);
    let enough = (gib * Chase::LEAST_LLC_MULTIPLE / smallest).ceil();
    (smallest < Chase::LEAST_LLC_MULTIPLE).then(|| {
        warning(
            "short_chase",
            format!(
                "the longest chase touches only {smallest:.2} x as many lines as the last-level \
                 and memory-side caches hold: caches answered a part, and memory takes longer than \
                 these latencies say"
            ),
            &format!(
                "--working-set {enough:.0}GiB, where there is so much memory: a chase touches one line in four, and \
                 by themselves sets end at 2 GiB and at a quarter of the node's free memory"
            ),
        )
    })
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

fn few_huge_pages(record: &Record) -> Option<Warning> {
    if record.inputs().pages == Pages::Small {
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
    (resident > 0 && fraction < 0.5).then(|| {
        let percent = fraction * 100.0;
        warning(
            "few_huge_pages",
            format!("huge pages were asked for and {percent:.0} % of the memory got them"),
            "free memory or compact it (echo 1 >/proc/sys/vm/compact_memory), then measure again",
        )
    })
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
        Actor::Exchange(exchange) => exchange.pages != Pages::Small,
        Actor::Messages(messages) => messages.pages != Pages::Small,
        Actor::Transfer(transfer) => transfer.peer.is_none() && transfer.pages != Pages::Small,
        Actor::Compute(_) | Actor::Command(_) | Actor::Workload(_) => false,
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
