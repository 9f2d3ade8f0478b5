//! `pairs`: every initiator against every memory node, alone (braithwaite2012,
//! algorithm 1): how fast each group of cores reaches each memory.

use nearfar_kernels::{CATALOG, Kernel};
use nearfar_machine::{Binding, Cluster, CpuSet, Initiator, Machine, MemoryPolicy};
use nearfar_record::{
    Absence, Absent, Actor, Case, Coordinates, Inputs, Pinning, Reason, ReasonCode, Record, Stage,
    Stream, Suite, summarize_case,
};

use crate::executor::OfferedVariants;

use super::thread_spread::{l3_domain_count, spread_over_l3_domains};
use super::working_set::{cache_bytes, lay_out_slices, memory_working_set, node_memory_is_known};

/// What the experiment is made from.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// What was asked for.
    pub inputs: &'a Inputs,
    /// Variants of each kernel that the executor offers, the preferred first.
    pub variants: &'a OfferedVariants,
    /// Memory that may be used; `None` when not known.
    pub available_bytes: Option<u64>,
    /// Memory of the machine by /proc/meminfo; `None` when not known.
    pub memory_bytes: Option<u64>,
}

/// How the machine's CPUs are grouped: looked up once for all cases.
struct Groups {
    clusters: Vec<Cluster>,
    l3_domains: Vec<CpuSet>,
    initiators: Vec<Initiator>,
}

impl Groups {
    fn of(setting: Setting<'_>) -> Self {
        Self {
            clusters: setting.machine.clusters(),
            l3_domains: setting.machine.l3_domains(),
            initiators: setting.machine.initiators(setting.inputs.initiator),
        }
    }

    /// Initiators with at least one CPU that the process may use.
    fn usable(&self) -> impl Iterator<Item = &Initiator> {
        self.initiators.iter().filter(|initiator| !initiator.cores.is_empty())
    }

    fn cluster_of(&self, initiator: &Initiator) -> Option<&Cluster> {
        self.clusters.iter().find(|cluster| cluster.index == initiator.cluster)
    }
}

/// A kernel and the variants of it that are measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// Its variants, best or preferred first.
    pub variants: Vec<String>,
}

/// Variants of a kernel that are kept after screening: the best may differ
/// between local and remote memory.
const KEPT_VARIANTS: usize = 2;

/// The kernels that a suite measures when none is asked for. `load` for the read
/// path, the triads because classes are made from the best of them, `copy` and
/// `copy_nt` for the write path with and without reading the line first.
#[must_use]
pub fn suite_kernels(suite: Suite) -> Vec<&'static str> {
    match suite {
        Suite::Quick => vec!["load", "triad", "triad_nt"],
        Suite::Standard => vec!["load", "copy", "copy_nt", "triad", "triad_nt"],
        Suite::Full => CATALOG.iter().map(|kernel| kernel.name).collect(),
    }
}

impl Setting<'_> {
    fn kernels(&self) -> Vec<&'static Kernel> {
        let suite = || suite_kernels(self.inputs.suite).into_iter().map(String::from).collect();
        let names: Vec<String> = self.inputs.kernels.clone().unwrap_or_else(suite);
        CATALOG.iter().filter(|kernel| names.iter().any(|name| name == kernel.name)).collect()
    }

    /// Variants of a kernel that can run: those that the executor offers, or of
    /// these the one that was forced.
    fn offered(&self, kernel: &'static Kernel) -> Vec<String> {
        let offered = self.variants.get(kernel.name).map_or(&[][..], Vec::as_slice);
        let forced = self.inputs.variant.as_ref();
        let wanted = |variant: &&String| forced.is_none_or(|forced| forced == *variant);
        offered.iter().filter(wanted).cloned().collect()
    }

    /// Memory nodes that can be a target.
    fn targets(&self) -> impl Iterator<Item = u32> + '_ {
        self.machine
            .nodes
            .iter()
            .filter(|node| node.memory_bytes != Some(0))
            .map(|node| node.os_index)
            .filter(|&node| self.machine.allowed_nodes.contains(node))
    }
}

/// Cases that find the best variants of each kernel: one thread of the first
/// initiator on its nearest and on its farthest node. Empty unless the suite
/// screens (`standard`) and a kernel has more variants than are kept.
#[must_use]
pub fn screening_cases(setting: Setting<'_>) -> Vec<Case> {
    if setting.inputs.suite != Suite::Standard {
        return Vec::new();
    }
    let groups = Groups::of(setting);
    let Some(initiator) = groups.usable().next() else {
        return Vec::new();
    };
    let mut cases = Vec::new();
    for kernel in setting.kernels() {
        let variants = setting.offered(kernel);
        if variants.len() <= KEPT_VARIANTS {
            continue;
        }
        for node in nearest_and_farthest(setting, &groups, initiator) {
            for variant in &variants {
                let loops = (kernel, variant.as_str());
                let stage = Stage::Screening;
                cases.extend(case(setting, &groups, initiator, node, loops, 1, stage));
            }
        }
    }
    cases
}

fn nearest_and_farthest(setting: Setting<'_>, groups: &Groups, initiator: &Initiator) -> Vec<u32> {
    let Some(cluster) = groups.cluster_of(initiator) else {
        return Vec::new();
    };
    let home = cluster.cpu_node.or_else(|| cluster.memory_nodes.first());
    let near = setting.targets().find(|&node| cluster.memory_nodes.contains(node));
    // Without distances the last node that is not local stands for the farthest.
    let far = setting
        .targets()
        .filter(|&node| !cluster.memory_nodes.contains(node))
        .max_by_key(|&node| home.and_then(|home| setting.machine.distance(home, node)));
    near.into_iter().chain(far).collect()
}

/// The kernels and variants of the matrix. `quick` takes the widest instruction
/// set, `full` all, `standard` the best by the screening cases of `record`.
#[must_use]
pub fn choose_variants(setting: Setting<'_>, record: &Record) -> (Vec<Choice>, Vec<Absent>) {
    let mut choices = Vec::new();
    let mut absent = Vec::new();
    for kernel in setting.kernels() {
        let offered = setting.offered(kernel);
        if offered.is_empty() {
            absent.push(omitted(
                format!("pairs/{}", kernel.name),
                ReasonCode::NoVariant,
                no_variant_text(setting, kernel),
            ));
            continue;
        }
        let variants = match setting.inputs.suite {
            Suite::Quick => offered[..1].to_vec(),
            Suite::Full => offered,
            Suite::Standard => {
                let (kept, dropped) = screen(setting, record, kernel, offered);
                absent.extend(dropped);
                kept
            }
        };
        choices.push(Choice { kernel, variants });
    }
    (choices, absent)
}

fn no_variant_text(setting: Setting<'_>, kernel: &Kernel) -> String {
    match &setting.inputs.variant {
        Some(forced) => format!("{} does not exist in {forced}, or not on this CPU", kernel.name),
        None => format!("{} needs vector instructions that this CPU does not have", kernel.name),
    }
}

/// Orders variants by their mean share of the best rate on the screened pairs.
fn screen(
    setting: Setting<'_>,
    record: &Record,
    kernel: &'static Kernel,
    offered: Vec<String>,
) -> (Vec<String>, Vec<Absent>) {
    if offered.len() <= KEPT_VARIANTS {
        return (offered, Vec::new());
    }
    let mut scored: Vec<(Option<f64>, &String)> = offered
        .iter()
        .map(|variant| (screening_score(setting, record, kernel, variant, &offered), variant))
        .collect();
    // A stable sort: equal scores keep the preferred first, those without one come last.
    scored.sort_by(|a, b| b.0.unwrap_or(-1.0).total_cmp(&a.0.unwrap_or(-1.0)));
    let dropped = scored.split_off(KEPT_VARIANTS);
    let kept: Vec<String> = scored.iter().map(|&(_, variant)| variant.clone()).collect();
    let absent = dropped
        .into_iter()
        .map(|(score, variant)| {
            let found = match score {
                Some(score) => format!(
                    "reached {:.0} % of the best variant's bandwidth where all were tried",
                    score * 100.0
                ),
                None => "gave no figure where all were to be tried".into(),
            };
            let text = format!("{found}; kept: {}", kept.join(", "));
            omitted(format!("pairs/{}/{variant}", kernel.name), ReasonCode::ScreenedOut, text)
        })
        .collect();
    (kept, absent)
}

/// Mean share of the best variant's rate over the screened pairs; `None` where the
/// variant was not measured.
fn screening_score(
    setting: Setting<'_>,
    record: &Record,
    kernel: &Kernel,
    variant: &str,
    offered: &[String],
) -> Option<f64> {
    let rate = |wanted_node: u32, wanted: &str| {
        let case = record.cases.iter().find(|case| {
            case.coordinates.iter().any(|place| {
                let Coordinates::Pairs { memory_node, kernel: name, variant, stage, .. } = place;
                *stage == Stage::Screening
                    && *memory_node == wanted_node
                    && name == kernel.name
                    && variant == wanted
            })
        })?;
        let samples: Vec<_> =
            record.samples.iter().filter(|sample| sample.case == case.id).collect();
        summarize_case(&samples).map(|summary| summary.sum.median)
    };
    let shares: Vec<f64> = setting
        .targets()
        .filter_map(|node| {
            let rates = offered.iter().filter_map(|other| rate(node, other));
            let best = rates.max_by(f64::total_cmp)?;
            Some(rate(node, variant)? / best)
        })
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "at most two pairs are screened")]
    let count = shares.len() as f64;
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / count)
}

/// The matrix: every initiator x target x chosen variant x thread count, and what
/// of it is not applicable.
#[must_use]
pub fn matrix_cases(setting: Setting<'_>, choices: &[Choice]) -> (Vec<Case>, Vec<Absent>) {
    let machine = setting.machine;
    let groups = Groups::of(setting);
    let mut cases = Vec::new();
    let mut absent = Vec::new();
    for initiator in groups.usable() {
        let counts = thread_counts(&groups.l3_domains, initiator, setting.inputs.suite);
        for node in setting.targets() {
            for choice in choices {
                for variant in &choice.variants {
                    let loops = (choice.kernel, variant.as_str());
                    for &threads in &counts {
                        let stage = Stage::Matrix;
                        cases
                            .extend(case(setting, &groups, initiator, node, loops, threads, stage));
                    }
                }
            }
        }
    }
    for initiator in groups.initiators.iter().filter(|initiator| initiator.cores.is_empty()) {
        absent.push(omitted(
            format!("pairs/{}{}", initiator.kind, initiator.index),
            ReasonCode::CpusNotAllowed,
            format!(
                "this process may use the CPUs {} only (cpuset, affinity); give it CPUs of {} {} to \
                 measure it",
                machine.allowed_cpus, initiator.kind, initiator.index
            ),
        ));
    }
    for node in &machine.nodes {
        if node.memory_bytes != Some(0) && !machine.allowed_nodes.contains(node.os_index) {
            absent.push(omitted(
                format!("pairs/node{}", node.os_index),
                ReasonCode::NodeNotAllowed,
                format!(
                    "this process may use the memory nodes {} only (cpuset); give it node {} to \
                     measure it",
                    machine.allowed_nodes, node.os_index
                ),
            ));
        }
    }
    if machine.nodes.iter().filter(|node| node.memory_bytes != Some(0)).count() < 2 {
        absent.push(omitted(
            "pairs/remote".into(),
            ReasonCode::OneNode,
            "the machine has one memory node, so no memory is remote; every figure is local".into(),
        ));
    }
    (cases, absent)
}

/// Thread counts of an initiator, ascending: `quick` one and all; `standard` also
/// one per L3 domain and half; `full` also the powers of two.
#[must_use]
pub fn thread_counts(l3_domains: &[CpuSet], initiator: &Initiator, suite: Suite) -> Vec<u32> {
    let all = initiator.cores.len();
    let mut counts = vec![1, all];
    if suite != Suite::Quick {
        counts.extend([l3_domain_count(l3_domains, initiator).min(all), all.div_ceil(2)]);
    }
    if suite == Suite::Full {
        counts.extend(std::iter::successors(Some(2), |n| Some(n * 2)).take_while(|&n| n < all));
    }
    counts.sort_unstable();
    counts.dedup();
    counts.into_iter().filter_map(|count| u32::try_from(count).ok()).collect()
}

fn case(
    setting: Setting<'_>,
    groups: &Groups,
    initiator: &Initiator,
    memory_node: u32,
    (kernel, variant): (&Kernel, &str),
    threads: u32,
    stage: Stage,
) -> Option<Case> {
    let machine = setting.machine;
    let thread_cpus = spread_over_l3_domains(&groups.l3_domains, initiator, threads)?;
    let caches = cache_bytes(machine, &thread_cpus.iter().copied().collect(), memory_node);
    let of_node = machine
        .node(memory_node)
        .and_then(|node| node.memory_bytes)
        .filter(|_| node_memory_is_known(machine, setting.memory_bytes));
    let available = [setting.available_bytes, of_node].into_iter().flatten().min();
    let wanted = memory_working_set(caches, available, setting.inputs.working_set_bytes);
    let slices = lay_out_slices(wanted, kernel.arrays() as u64, u64::from(threads));
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people and warnings")]
    let llc_multiple = caches.map(|bytes| slices.total_bytes as f64 / bytes as f64);
    let prefix = match stage {
        Stage::Screening => "pairs/screening",
        Stage::Matrix => "pairs",
    };
    Some(Case {
        id: format!(
            "{prefix}/{}{}/node{memory_node}/{}/{variant}/t{threads}",
            initiator.kind, initiator.index, kernel.name
        ),
        coordinates: vec![Coordinates::Pairs {
            initiator: initiator.kind,
            index: initiator.index,
            cluster: initiator.cluster,
            cpu_node: groups.cluster_of(initiator).and_then(|cluster| cluster.cpu_node),
            memory_node,
            kernel: kernel.name.into(),
            variant: variant.into(),
            threads,
            stage,
        }],
        actors: vec![Actor::Stream(Stream {
            kernel: kernel.name.into(),
            variant: variant.into(),
            // PREFERRED and proven, not BIND: a full node then shows as misplaced
            // pages, where BIND would have the process killed.
            binding: Binding {
                cpus: initiator.cpus(),
                memory: MemoryPolicy::Preferred(memory_node),
            },
            threads,
            pinning: Pinning::OnePerCore,
            thread_cpus,
            working_set_bytes: slices.total_bytes,
            llc_multiple,
            pages: setting.inputs.pages,
        })],
    })
}

fn omitted(case: String, code: ReasonCode, text: String) -> Absent {
    Absent {
        case,
        coordinates: Vec::new(),
        absence: Absence::Omitted,
        reason: Reason { code, text },
        round: None,
    }
}
