//! From what a machine reaches to what its parts carry.
//!
//! A file says what lone cases move: x1 with one thread and xn with all n threads of a
//! cluster. By the law (see [`crate::System`]) with shared parts of capacity C_r,
//!
//! ```text
//! x1^-p = d1^-p       + B^-p + sum C_r^-p
//! xn^-p = (n d1)^-p   + B^-p + sum C_r^-p
//! ```
//!
//! so that d1^-p = (x1^-p - xn^-p) / (1 - n^-p), and B^-p is what is left: the lone
//! cases give back exactly what the file says. Everything is divided by x1 first;
//! x1^-p itself can be out of range.

use std::collections::BTreeSet;

use nearfar_machine::{Cluster, Machine, MemoryNode};

use crate::bounds::{self, BadKey, FRACTION, GB_PER_S};
use crate::capacities::{Capacities, Part, SharedLink};
use crate::machine_file::{ByVariant, LinkEntry, MachineFile};
use crate::pair_selection::{Pair, all_pairs, check_pairs, names_of};

const GIGA: f64 = 1e9;
/// Where the file says none; ours. At full demand a part then carries 89 % of its capacity.
const SATURATION: f64 = 6.0;
/// Where the file says none: half way between equal threads and equal slowdowns; ours.
const FAIRNESS: f64 = 0.5;
/// All threads must be faster than one by this fraction: nearer, a thread's demand
/// would follow from rounding.
const SMALLEST_GAIN: f64 = 1e-3;
/// So small a part of xn^-p is rounding: the path limits nothing.
const ROUNDING: f64 = 1e-12;
/// With the limits on nodes these bound time and memory that a hostile file can take:
/// links are looked through for every pair, and every variant has its own copy.
const MOST_LINKS: usize = 256;
const MOST_CROSSINGS: usize = 1 << 18;

/// What the file says of a pair, GB/s by variant.
#[derive(Debug, Clone, Default)]
struct Figures {
    one_thread: Option<Vec<f64>>,
    all_threads: Option<Vec<f64>>,
}

/// The capacities of each variant.
pub(crate) fn calibrate(
    file: &MachineFile,
    machine: &Machine,
    variants: &[String],
) -> Result<Vec<Capacities>, BadKey> {
    let clusters = machine.clusters();
    let pairs = all_pairs(file, machine, &clusters);
    let figures = pair_figures(file, &pairs, variants)?;
    let columns = machine.nodes.len();
    let shared = Capacities {
        nodes: machine.nodes.iter().map(|node| node.os_index).collect(),
        one_thread: vec![vec![0.0; columns]; clusters.len()],
        path: vec![vec![None; columns]; clusters.len()],
        controller: controllers(file, machine)?,
        issue: issue_limits(file, &clusters)?,
        links: links(file, &pairs)?,
        saturation: bounds::number(
            "saturation",
            file.saturation.unwrap_or(SATURATION),
            &(1.0..=25.0),
        )?,
        fairness: bounds::number("fairness", file.fairness.unwrap_or(FAIRNESS), &FRACTION)?,
    };
    let threads: Vec<f64> =
        clusters.iter().map(|cluster| f64::from(core_count(machine, cluster))).collect();
    let mut capacities = vec![shared; variants.len()];
    for (pair, figures) in pairs.iter().zip(&figures) {
        let Some(one_thread) = &figures.one_thread else {
            let why = format!("gives no one_thread for the pair {pair}; every pair needs one");
            return Err(BadKey::new("bandwidth", why));
        };
        let mut lone = Lone {
            one_thread: 0.0,
            all_threads: None,
            threads: threads[pair.row],
            limits: capacities[0].shared_parts_between(pair.row, pair.column),
            saturation: capacities[0].saturation,
        };
        for (position, variant) in variants.iter().enumerate() {
            lone.one_thread = one_thread[position] * GIGA;
            lone.all_threads = figures.all_threads.as_ref().map(|all| all[position] * GIGA);
            let (demand, path) = lone.demand_and_path(&capacities[0].links).map_err(|why| {
                BadKey::new("bandwidth", format!("for the pair {pair}, variant {variant}: {why}"))
            })?;
            capacities[position].one_thread[pair.row][pair.column] = demand;
            capacities[position].path[pair.row][pair.column] = path;
        }
    }
    Ok(capacities)
}

/// What a pair is said to reach alone, and what else lies in its way; bytes/s.
struct Lone {
    one_thread: f64,
    all_threads: Option<f64>,
    /// Threads of `all_threads`.
    threads: f64,
    limits: Vec<(Part, f64)>,
    saturation: f64,
}

impl Lone {
    /// Demand of one thread, and capacity of the path.
    fn demand_and_path(&self, links: &[SharedLink]) -> Result<(f64, Option<f64>), String> {
        let p = self.saturation;
        // Terms of the law, each multiplied by x1^p.
        let shared: f64 =
            self.limits.iter().map(|(_, capacity)| (self.one_thread / capacity).powf(p)).sum();
        let Some(all_threads) = self.all_threads.filter(|_| self.threads > 1.0) else {
            self.refuse_other_figure_of_one_core()?;
            let demand = 1.0 - shared;
            if demand <= ROUNDING {
                return Err(self.too_narrow("one thread", self.one_thread, shared, links));
            }
            return Ok((self.one_thread * demand.powf(-1.0 / p), None));
        };
        self.check_gain(all_threads)?;
        let of_all = (self.one_thread / all_threads).powf(p);
        let spread = self.threads.powf(-p);
        let demand = (1.0 - of_all) / (1.0 - spread);
        let limits = ((of_all - spread) / (1.0 - spread)).max(0.0);
        let path = limits - shared;
        if path < -ROUNDING * of_all {
            let who = format!("all {} threads", self.threads);
            return Err(self.too_narrow(&who, all_threads, shared, links));
        }
        let capacity = |term: f64| self.one_thread * term.powf(-1.0 / p);
        let path = (path > ROUNDING * of_all).then(|| capacity(path));
        Ok((capacity(demand), path))
    }

    fn refuse_other_figure_of_one_core(&self) -> Result<(), String> {
        match self.all_threads {
            Some(all) if (all / self.one_thread - 1.0).abs() > SMALLEST_GAIN => Err(format!(
                "all_threads is {} and one_thread {} GB/s, but the cluster has one core",
                all / GIGA,
                self.one_thread / GIGA
            )),
            _ => Ok(()),
        }
    }

    fn check_gain(&self, all_threads: f64) -> Result<(), String> {
        let (one, all) = (self.one_thread / GIGA, all_threads / GIGA);
        if all_threads < self.one_thread * (1.0 + SMALLEST_GAIN) {
            return Err(format!(
                "all_threads is {all} GB/s and one_thread {one}; all threads must reach at least \
                 0.1 % more than one"
            ));
        }
        if all_threads > self.one_thread * self.threads * (1.0 + ROUNDING) {
            return Err(format!(
                "all_threads is {all} GB/s, more than {} threads of {one} GB/s each",
                self.threads
            ));
        }
        Ok(())
    }

    /// Names the narrowest part and what the parts together let through.
    fn too_narrow(&self, who: &str, said: f64, shared: f64, links: &[SharedLink]) -> String {
        let p = self.saturation;
        let narrowest = self.limits.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let part = narrowest.map_or_else(String::new, |&(part, capacity)| {
            let name = match part {
                Part::Controller { .. } => "controller".into(),
                Part::Issue { .. } => "issue limit".into(),
                Part::Link { index } => format!("link {:?}", links[index].name),
                Part::Path { .. } => "path".into(),
            };
            format!("the {name} of {} GB/s", capacity / GIGA)
        });
        let of_threads = (1.0 - shared).max(0.0) * self.threads.powf(-p);
        let most = self.one_thread * (of_threads + shared).powf(-1.0 / p);
        format!(
            "{who} cannot reach {} GB/s: {part} and what else is shared on the way saturate \
             smoothly and let at most {:.3} GB/s through; widen them or lower the figure",
            said / GIGA,
            most / GIGA,
        )
    }
}

fn core_count(machine: &Machine, cluster: &Cluster) -> u32 {
    let own = machine.cores.iter().filter(|core| core.cpus.intersects(&cluster.cpus)).count();
    u32::try_from(own).unwrap_or(u32::MAX)
}

/// What the file's bandwidth entries say of each pair, the later prevailing.
fn pair_figures(
    file: &MachineFile,
    pairs: &[Pair],
    variants: &[String],
) -> Result<Vec<Figures>, BadKey> {
    let mut figures = vec![Figures::default(); pairs.len()];
    bounds::entries("bandwidth", &file.bandwidth)?;
    let known = names_of(pairs);
    for (index, entry) in file.bandwidth.iter().enumerate() {
        let key = format!("bandwidth[{index}]");
        let by_variant = |key: &str, figure: Option<&ByVariant>| {
            figure.map(|figure| of_variants(key, figure, variants)).transpose()
        };
        let one_thread = by_variant(&format!("{key}.one_thread"), entry.one_thread.as_ref())?;
        let all_threads = by_variant(&format!("{key}.all_threads"), entry.all_threads.as_ref())?;
        check_pairs(&format!("{key}.pairs"), entry.pairs.as_ref(), &known)?;
        let mut selected = 0_usize;
        for (pair, figures) in pairs.iter().zip(&mut figures) {
            if !entry.selects(pair) {
                continue;
            }
            selected += 1;
            if one_thread.is_some() {
                figures.one_thread.clone_from(&one_thread);
            }
            if all_threads.is_some() {
                figures.all_threads.clone_from(&all_threads);
            }
        }
        if selected == 0 {
            return Err(BadKey::new(key, "selects no pair of this machine"));
        }
    }
    Ok(figures)
}

fn of_variants(key: &str, figure: &ByVariant, variants: &[String]) -> Result<Vec<f64>, BadKey> {
    match figure {
        ByVariant::All(value) => Ok(vec![bounds::number(key, *value, &GB_PER_S)?; variants.len()]),
        ByVariant::Each(values) => {
            if let Some(strange) = values.keys().find(|name| !variants.contains(name)) {
                let why =
                    format!("names the variant {strange:?}; there are {}", variants.join(", "));
                return Err(BadKey::new(key, why));
            }
            let of_variant = |variant: &String| match values.get(variant) {
                Some(&value) => bounds::number(&format!("{key}.{variant}"), value, &GB_PER_S),
                None => Err(BadKey::new(key, format!("has no figure for the variant {variant}"))),
            };
            variants.iter().map(of_variant).collect()
        }
    }
}

fn controllers(file: &MachineFile, machine: &Machine) -> Result<Vec<Option<f64>>, BadKey> {
    let mut capacities = vec![None; machine.nodes.len()];
    bounds::entries("controller", &file.controller)?;
    for (index, entry) in file.controller.iter().enumerate() {
        let key = format!("controller[{index}]");
        let capacity = bounds::number(&format!("{key}.gb_per_s"), entry.gb_per_s, &GB_PER_S)?;
        let strange = |nodes: &BTreeSet<u32>| {
            nodes.iter().find(|&&node| machine.node(node).is_none()).copied()
        };
        if let Some(node) = entry.nodes.as_ref().and_then(strange) {
            let why = format!("names memory node {node}, which does not exist");
            return Err(BadKey::new(format!("{key}.nodes"), why));
        }
        let selects = |node: &MemoryNode| {
            entry.nodes.as_ref().is_none_or(|nodes| nodes.contains(&node.os_index))
                && entry.kind.is_none_or(|kind| kind == node.kind)
        };
        let mut selected = 0_usize;
        for (node, of_node) in machine.nodes.iter().zip(&mut capacities) {
            if selects(node) {
                *of_node = Some(capacity * GIGA);
                selected += 1;
            }
        }
        if selected == 0 {
            return Err(BadKey::new(key, "selects no memory node of this machine"));
        }
    }
    Ok(capacities)
}

fn issue_limits(file: &MachineFile, clusters: &[Cluster]) -> Result<Vec<Option<f64>>, BadKey> {
    let mut limits = vec![None; clusters.len()];
    bounds::entries("issue", &file.issue)?;
    for (index, entry) in file.issue.iter().enumerate() {
        let key = format!("issue[{index}]");
        let limit = bounds::number(&format!("{key}.gb_per_s"), entry.gb_per_s, &GB_PER_S)?;
        let known = |node: &u32| clusters.iter().any(|cluster| cluster.cpu_node == Some(*node));
        let strange = |nodes: &BTreeSet<u32>| nodes.iter().find(|node| !known(node)).copied();
        if let Some(node) = entry.cpu_nodes.as_ref().and_then(strange) {
            let why = format!("names node {node}, which has no cores");
            return Err(BadKey::new(format!("{key}.cpu_nodes"), why));
        }
        for (cluster, of_cluster) in clusters.iter().zip(&mut limits) {
            let own =
                |nodes: &BTreeSet<u32>| cluster.cpu_node.is_some_and(|node| nodes.contains(&node));
            if entry.cpu_nodes.as_ref().is_none_or(own) {
                *of_cluster = Some(limit * GIGA);
            }
        }
    }
    Ok(limits)
}

/// The links, of those with one name the last.
fn links(file: &MachineFile, pairs: &[Pair]) -> Result<Vec<SharedLink>, BadKey> {
    bounds::entries("link", &file.link)?;
    let known = names_of(pairs);
    // In the order in which names appear first.
    let mut last_of_name: Vec<&LinkEntry> = Vec::new();
    for (index, entry) in file.link.iter().enumerate() {
        let key = format!("link[{index}]");
        bounds::name(&format!("{key}.name"), &entry.name)?;
        bounds::number(&format!("{key}.gb_per_s"), entry.gb_per_s, &GB_PER_S)?;
        check_pairs(&format!("{key}.crosses"), entry.crosses.as_ref(), &known)?;
        if !entry.has_selector() {
            let why = "says not what crosses it; give crosses, or from_.. and to_..";
            return Err(BadKey::new(key, why));
        }
        if !pairs.iter().any(|pair| entry.selects(pair)) {
            return Err(BadKey::new(key, "is crossed by no pair of this machine"));
        }
        match last_of_name.iter_mut().find(|known| known.name == entry.name) {
            Some(known) => *known = entry,
            None => last_of_name.push(entry),
        }
    }
    if last_of_name.len() > MOST_LINKS {
        let why = format!("has {} names; at most {MOST_LINKS}", last_of_name.len());
        return Err(BadKey::new("link", why));
    }
    let mut links = Vec::new();
    let mut crossings = 0;
    for entry in last_of_name {
        let crossing = || pairs.iter().filter(|pair| entry.selects(pair));
        crossings += crossing().count();
        if crossings > MOST_CROSSINGS {
            let why = format!("is crossed by too many pairs in all; at most {MOST_CROSSINGS}");
            return Err(BadKey::new("link", why));
        }
        links.push(SharedLink {
            name: entry.name.clone(),
            capacity: entry.gb_per_s * GIGA,
            crosses: crossing().map(|pair| (pair.cluster, pair.memory_node)).collect(),
        });
    }
    Ok(links)
}
