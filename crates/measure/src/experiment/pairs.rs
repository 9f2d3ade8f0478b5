//! `pairs`: every group of CPUs against every memory node, alone (braithwaite2012,
//! algorithm 1): how fast each group of cores reaches each memory.

use nearfar_kernels::CATALOG;
use nearfar_machine::{CpuGroup, CpuSet, MemoryNode, MemoryPolicy, NodeSet};
use nearfar_record::{
    Absent, Actor, Case, Coordinates, Experiment, PairCoordinates, ReasonCode, Record, Stage,
    Suite, pages_in_turn, summarize_case,
};

use super::Planned;
use super::omitted::{made, omitted, unusable_parts};
use super::pair_thinning::{Cell, Thinning};
use super::setting::{Groups, Loop, Setting};
use super::stream::StreamPlan;
use super::thread_spread::{cores_in_turn, l3_domain_count};

/// A kernel and the variants of it that are measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    pub kernel: &'static str,
    /// Its variants, best or preferred first; one that walks in order before those that do not.
    pub variants: Vec<String>,
}

/// Variants of a kernel that are kept after screening: the best may differ between local and remote
/// memory, or take pages in turn. One walks in order, as programs do and models want it.
const KEPT_VARIANTS: usize = 2;

/// The kernels that a suite measures when none is asked for. `load` for the read
/// path, the triads because classes are made from the best of them, `copy` and
/// `copy_nt` for the write path with and without reading the line first.
pub fn suite_kernels(suite: Suite) -> Vec<&'static str> {
    match suite {
        Suite::Quick => vec!["load", "triad", "triad_nt"],
        Suite::Standard => vec!["load", "copy", "copy_nt", "triad", "triad_nt"],
        Suite::Full => CATALOG.iter().map(|kernel| kernel.name).collect(),
    }
}

/// The kernels of the matrix.
fn kernels(setting: Setting<'_>) -> Vec<&'static str> {
    setting.kernels(&suite_kernels(setting.inputs.suite))
}

/// The matrix with the variants that the samples of the screening cases speak for.
pub fn plan_matrix(setting: Setting<'_>, record: &Record) -> Planned {
    let (choices, mut absent) = choose_variants(setting, record);
    let (cases, not_applicable) = matrix_cases(setting, &choices);
    absent.extend(not_applicable);
    Planned { cases, absent }
}

/// Cases that find the best variants of each kernel: one thread of the first
/// group of CPUs on its nearest and on its farthest node. Empty unless the suite
/// screens (`standard`) and a kernel has more variants than are kept.
pub fn screening_cases(setting: Setting<'_>) -> Planned {
    let mut planned = Planned::default();
    if setting.inputs.suite != Suite::Standard {
        return planned;
    }
    let groups = Groups::of(setting, setting.inputs.group_by);
    let Some(cpu_group) = groups.usable.first() else {
        return planned;
    };
    for kernel in kernels(setting) {
        let variants = setting.offered(kernel);
        if variants.len() <= KEPT_VARIANTS {
            continue;
        }
        for node in nearest_and_farthest(setting, &groups, cpu_group) {
            for variant in &variants {
                let of = Loop { kernel: kernel.into(), variant: variant.clone() };
                let stage = Stage::Screening;
                planned.extend([case(setting, &groups, cpu_group, node, &of, 1, stage)]);
            }
        }
    }
    planned
}

fn nearest_and_farthest(setting: Setting<'_>, groups: &Groups, cpu_group: &CpuGroup) -> Vec<u32> {
    let Some(initiator) = groups.initiator_of(cpu_group) else {
        return Vec::new();
    };
    let home = initiator.cpu_node.or_else(|| initiator.memory_nodes.first());
    let near = setting.targets().find(|&node| initiator.memory_nodes.contains(node));
    // Without distances the last node that is not local stands for the farthest.
    let far = setting
        .targets()
        .filter(|&node| !initiator.memory_nodes.contains(node))
        .max_by_key(|&node| home.and_then(|home| setting.machine.distance(home, node)));
    near.into_iter().chain(far).collect()
}

/// The kernels and variants of the matrix. `quick` takes the widest instruction
/// set, `full` all, `standard` the best by the screening cases of `record`.
pub fn choose_variants(setting: Setting<'_>, record: &Record) -> (Vec<Choice>, Vec<Absent>) {
    let mut choices = Vec::new();
    let mut absent = Vec::new();
    for kernel in kernels(setting) {
        let offered = setting.offered(kernel);
        if offered.is_empty() {
            absent.push(setting.no_variant(format!("pairs/{kernel}"), kernel));
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

/// Orders variants by their mean share of the best rate on the screened pairs.
fn screen(
    setting: Setting<'_>,
    record: &Record,
    kernel: &str,
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
    if let Some(in_order) = scored.iter().position(|(_, variant)| pages_in_turn(variant) == 1) {
        scored[..=in_order].rotate_right(1);
    }
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
            omitted(format!("pairs/{kernel}/{variant}"), ReasonCode::ScreenedOut, text)
        })
        .collect();
    (kept, absent)
}

/// Mean share of the best variant's rate over the screened pairs; `None` where the
/// variant was not measured.
fn screening_score(
    setting: Setting<'_>,
    record: &Record,
    kernel: &str,
    variant: &str,
    offered: &[String],
) -> Option<f64> {
    let rate = |wanted_node: u32, wanted: &str| {
        let case = record.cases.iter().find(|case| {
            case.coordinates.iter().filter_map(Coordinates::as_pair).any(|pair| {
                pair.stage == Stage::Screening
                    && pair.memory_node == wanted_node
                    && pair.kernel == kernel
                    && pair.variant == wanted
            })
        })?;
        let samples = record.samples.iter().filter(|sample| sample.case == case.id);
        summarize_case(samples).map(|summary| summary.sum.median)
    };
    let shares: Vec<f64> = setting
        .targets()
        .filter_map(|node| {
            let rates = offered.iter().filter_map(|other| rate(node, other));
            let best = rates.max_by(f64::total_cmp)?;
            Some(rate(node, variant)? / best)
        })
        .collect();
    let count = shares.len() as f64;
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / count)
}

/// The matrix: every group of CPUs x target x chosen variant x thread count that the suite measures,
/// and what of it is not applicable or left out of too many.
fn matrix_cases(setting: Setting<'_>, choices: &[Choice]) -> (Vec<Case>, Vec<Absent>) {
    let groups = Groups::of(setting, setting.inputs.group_by);
    let rows: Vec<Row<'_>> =
        groups.usable.iter().map(|cpu_group| Row::of(setting, &groups, cpu_group)).collect();
    let cells = || rows.iter().flat_map(|row| row.cells(setting, choices));
    let measurable = || cells().filter(|(_, place)| place.fits).map(|(cell, _)| cell);
    // Who names kernels or a variant wants them all.
    let is_own_choice = setting.asked_kernels().is_none() && setting.inputs.variant.is_none();
    let thinning = match setting.inputs.suite {
        Suite::Standard if is_own_choice => Thinning::for_cells(measurable()),
        _ => Thinning::Nothing,
    };
    let mut planned = Planned::default();
    planned.extend(cells().filter(|&(cell, place)| !place.fits || thinning.keeps(cell)).map(
        |(cell, Place { cpu_group, node, variant, .. })| {
            let of = Loop { kernel: cell.kernel.into(), variant: variant.into() };
            case(setting, &groups, cpu_group, node, &of, cell.threads, Stage::Matrix)
        },
    ));
    let Planned { cases, mut absent } = planned;
    absent.extend(thinning.absent(measurable().count(), cases.len()));
    absent.extend(unusable_parts(setting, Experiment::Pairs));
    let has_memory = |node: &&MemoryNode| node.has_memory();
    if setting.machine.nodes.iter().filter(has_memory).count() < 2 {
        absent.push(omitted(
            "pairs/remote",
            ReasonCode::OneNode,
            "the machine has one memory node, so no memory is remote; every figure is local",
        ));
    }
    (cases, absent)
}

/// The cells of a group of CPUs.
struct Row<'a> {
    cpu_group: &'a CpuGroup,
    /// Its near nodes.
    local: Option<&'a NodeSet>,
    /// Thread counts, and whether it has the cores for them.
    counts: Vec<(u32, bool)>,
}

/// Where a cell is.
#[derive(Clone, Copy)]
struct Place<'a> {
    cpu_group: &'a CpuGroup,
    node: u32,
    variant: &'a str,
    fits: bool,
}

impl<'a> Row<'a> {
    fn of(setting: Setting<'_>, groups: &'a Groups, cpu_group: &'a CpuGroup) -> Self {
        let cores = cores_in_turn(&groups.l3_domains, cpu_group).len();
        let counts = thread_counts(&groups.l3_domains, cpu_group, setting.inputs.suite);
        Self {
            cpu_group,
            local: groups.initiator_of(cpu_group).map(|initiator| &initiator.memory_nodes),
            counts: counts.into_iter().map(|count| (count, count as usize <= cores)).collect(),
        }
    }

    /// In the order of their cases; none is made before it is known which are measured.
    fn cells(
        &'a self,
        setting: Setting<'a>,
        choices: &'a [Choice],
    ) -> impl Iterator<Item = (Cell<'a>, Place<'a>)> {
        let all_threads = self.counts.last().map_or(1, |&(count, _)| count);
        let of_variant = move |node, kernel, (variant_rank, variant): (usize, &'a String)| {
            self.counts.iter().map(move |&(threads, fits)| {
                let is_local = self.local.is_some_and(|nodes| nodes.contains(node));
                let cell = Cell { is_local, kernel, variant_rank, threads, all_threads };
                (cell, Place { cpu_group: self.cpu_group, node, variant, fits })
            })
        };
        setting.targets().flat_map(move |node| {
            choices.iter().flat_map(move |choice| {
                let variants = choice.variants.iter().enumerate();
                variants.flat_map(move |variant| of_variant(node, choice.kernel, variant))
            })
        })
    }
}

/// Thread counts of a group of CPUs, ascending: `quick` one and all; `standard` also
/// one per L3 domain and half; `full` also the powers of two.
pub fn thread_counts(l3_domains: &[CpuSet], cpu_group: &CpuGroup, suite: Suite) -> Vec<u32> {
    let all = cpu_group.cores.len();
    let mut counts = vec![1, all];
    if suite != Suite::Quick {
        counts.extend([l3_domain_count(l3_domains, cpu_group).min(all), all.div_ceil(2)]);
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
    cpu_group: &CpuGroup,
    memory_node: u32,
    of: &Loop,
    threads: u32,
    stage: Stage,
) -> Result<Case, Absent> {
    let prefix = match stage {
        Stage::Screening => "pairs/screening",
        Stage::Matrix => "pairs",
    };
    let CpuGroup { kind, index, .. } = *cpu_group;
    let Loop { kernel, variant } = of;
    let group = kind.group();
    let id = format!("{prefix}/{group}{index}/node{memory_node}/{kernel}/{variant}/t{threads}");
    let coordinates = PairCoordinates {
        group_by: kind,
        index,
        initiator: cpu_group.initiator,
        cpu_node: groups.initiator_of(cpu_group).and_then(|initiator| initiator.cpu_node),
        memory_node,
        kernel: kernel.clone(),
        variant: variant.clone(),
        threads,
        stage,
    };
    // PREFERRED and proven, not BIND: a full node then shows as misplaced
    // pages, where BIND would have the process killed.
    let memory = MemoryPolicy::Preferred(memory_node);
    let plan = StreamPlan::spread(&groups.l3_domains, (cpu_group, threads), of, memory, 1);
    let stream = plan.and_then(|plan| plan.on_memory(setting));
    let actors = stream.map(|stream| vec![Actor::Stream(stream)]);
    made(id, vec![Coordinates::Pairs(coordinates)], actors)
}
