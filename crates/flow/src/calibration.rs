//! From what a machine reaches to what its parts carry.
//!
//! A file says what lone cases move: x1 with one thread and xn with all n threads of an
//! initiator. By the law (see [`crate::System`]) with shared parts of capacity C_r,
//!
//! ```text
//! x1^-p = d1^-p       + B^-p + sum C_r^-p
//! xn^-p = (n d1)^-p   + B^-p + sum C_r^-p
//! ```
//!
//! so that d1^-p = (x1^-p - xn^-p) / (1 - n^-p), and B^-p is what is left: the lone
//! cases give back exactly what the file says. Everything is divided by x1 first;
//! x1^-p itself can be out of range.
//!
//! A measured curve says more: of n threads xn for several n. The path is then made so wide
//! that it and the demand have the same part in the largest of them, xm,
//!
//! ```text
//! B^-p  = (xm^-p - sum C_r^-p) / 2
//! dn^-p = xn^-p - B^-p - sum C_r^-p
//! ```
//!
//! which is 2^(1/p) xm where nothing is shared: as wide as it can be without letting more
//! through to loads that are on several nodes at once.

use nearfar_machine::{Initiator, Machine};

use crate::bounds::{self, BadKey, FRACTION, GIGA};
use crate::capacities::{Capacities, ControllerPressure, DemandCurve, Part, SharedLink};
use crate::machine_file::MachineFile;
use crate::pair_figures::{Figures, entry_figures, every_count, matrix_figures, pair_figures};
use crate::pair_selection::{Pair, Pairs};
use crate::shared_parts::{Controllers, controllers, issue_limits, links, pressed_nodes};

/// Where the file says none; ours. At full demand a part then carries 89 % of its capacity.
const SATURATION: f64 = 6.0;
/// Where the file says none: half way between equal threads and equal slowdowns; ours.
const FAIRNESS: f64 = 0.5;
/// All threads must be faster than one by this fraction: nearer, a thread's demand
/// would follow from rounding.
const SMALLEST_GAIN: f64 = 1e-3;
/// So small a part of xn^-p is rounding: the path limits nothing.
const ROUNDING: f64 = 1e-12;

/// The capacities of each variant.
pub(crate) fn calibrate(
    file: &MachineFile,
    machine: &Machine,
    pairs: &Pairs,
    variants: &[String],
) -> Result<Vec<Capacities>, BadKey> {
    let initiators = machine.initiators();
    let said = entry_figures(file, variants)?;
    let matrix = matrix_figures(file, pairs, variants.len())?;
    let figures = pair_figures(file, &said, &matrix, pairs, variants.len())?;
    let columns = machine.nodes.len();
    let Controllers { capacity, interference } = controllers(file, machine)?;
    let shared = Capacities {
        nodes: machine.nodes.iter().map(|node| node.os_index).collect(),
        one_thread: vec![vec![0.0; columns]; initiators.len()],
        path: vec![vec![None; columns]; initiators.len()],
        curves: Vec::new(),
        controller: capacity,
        interference,
        issue: issue_limits(file, &initiators)?,
        links: links(file, pairs)?,
        pressure: Vec::new(),
        saturation: bounds::number(
            "saturation",
            file.saturation.unwrap_or(SATURATION),
            &(1.0..=25.0),
        )?,
        fairness: bounds::number("fairness", file.fairness.unwrap_or(FAIRNESS), &FRACTION)?,
    };
    let threads: Vec<f64> =
        initiators.iter().map(|initiator| f64::from(core_count(machine, initiator))).collect();
    let mut capacities = vec![shared; variants.len()];
    for (pair, figures) in pairs.all.iter().zip(&figures) {
        let limits: Vec<(Part, f64)> =
            capacities[0].shared_parts_between(pair.row, pair.column).collect();
        for (position, variant) in variants.iter().enumerate() {
            let way = Way {
                limits: &limits,
                links: &capacities[0].links,
                saturation: capacities[0].saturation,
            };
            let reached = Reached::of(figures, position, threads[pair.row], pair)?;
            let (demand, path) = reached.demand_and_path(&way).map_err(|why| {
                BadKey::new("bandwidth", format!("for the pair {pair}, variant {variant}: {why}"))
            })?;
            let own = &mut capacities[position];
            own.path[pair.row][pair.column] = path;
            own.one_thread[pair.row][pair.column] =
                demand.first().map_or(0.0, |&(_, of_one)| of_one);
            if figures.curve.is_some() {
                let (initiator, node) = (pair.initiator, pair.memory_node);
                own.curves.push(DemandCurve { initiator, node, demand });
            }
        }
    }
    for (column, a, b) in pressed_nodes(file, machine, &capacities[0].controller)? {
        let of_node = pairs.all.iter().zip(&figures).filter(|(pair, _)| pair.column == column);
        let of_node: Vec<_> =
            of_node.map(|(pair, figures)| (pair, figures, threads[pair.row])).collect();
        for (position, own) in capacities.iter_mut().enumerate() {
            own.pressure.push(pressure(&of_node, position, (a, b))?);
        }
    }
    Ok(capacities)
}

/// The pressure law at a node, of which these are the pairs, their figures and cores.
fn pressure(
    of_node: &[(&Pair, &Figures<'_>, f64)],
    variant: usize,
    (a, b): (f64, f64),
) -> Result<ControllerPressure, BadKey> {
    let node = of_node.first().map_or(0, |(pair, ..)| pair.memory_node);
    let side = |local: bool| of_node.iter().filter(move |(pair, ..)| pair.is_local() == local);
    let best = |local: bool| {
        let bests = side(local).map(|(_, figures, cores)| figures.best(variant, *cores));
        bests.reduce(f64::max).map(|best| best * GIGA).ok_or_else(|| {
            let which = if local { "local" } else { "remote" };
            let why = format!("selects node {node}, to which no initiator is {which}");
            BadKey::new("pressure", why)
        })
    };
    let ones = side(true).map(|(_, figures, _)| figures.one(variant));
    Ok(ControllerPressure {
        node,
        local: side(true).map(|(pair, ..)| pair.initiator).collect(),
        a,
        b,
        local_one: ones.fold(0.0, f64::max) * GIGA,
        local_best: best(true)?,
        remote_best: best(false)?,
    })
}

/// What else lies in the way of a pair; bytes/s.
pub(crate) struct Way<'a> {
    pub limits: &'a [(Part, f64)],
    /// Whose names limits go by.
    pub links: &'a [SharedLink],
    pub saturation: f64,
}

impl Way<'_> {
    /// The terms of the shared parts in the law, each multiplied by x^p.
    fn shared(&self, x: f64) -> f64 {
        self.limits.iter().map(|(_, capacity)| (x / capacity).powf(self.saturation)).sum()
    }

    /// Names the narrowest part and what the parts together let through.
    fn too_narrow(&self, who: &str, said: f64, most: f64) -> String {
        let narrowest = self.limits.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let part = narrowest.map_or_else(String::new, |&(part, capacity)| {
            let name = match part {
                Part::Controller { .. } => "controller".into(),
                Part::Issue { .. } => "issue limit".into(),
                Part::Link { index } => format!("link {:?}", self.links[index].name),
                Part::Path { .. } => "path".into(),
            };
            format!("the {name} of {} GB/s", capacity / GIGA)
        });
        format!(
            "{who} cannot reach {} GB/s: {part} and what else is shared on the way saturate \
             smoothly and let at most {:.3} GB/s through; widen them or lower the figure",
            said / GIGA,
            most / GIGA,
        )
    }
}

/// What threads of a pair are to demand by their number, and the capacity of the path.
type DemandAndPath = (Vec<(u32, f64)>, Option<f64>);

/// What a pair is said to reach.
enum Reached {
    Ends(Lone),
    Curve(Vec<(u32, f64)>),
}

impl Reached {
    fn of(
        figures: &Figures<'_>,
        variant: usize,
        threads: f64,
        pair: &Pair,
    ) -> Result<Self, BadKey> {
        if let Some(curve) = figures.curve {
            let points = every_count(curve, variant).into_iter();
            return Ok(Self::Curve(points.map(|(threads, rate)| (threads, rate * GIGA)).collect()));
        }
        let Some(one_thread) = figures.one_thread else {
            let why = format!(
                "gives neither one_thread nor threads for the pair {pair}; every pair needs one"
            );
            return Err(BadKey::new("bandwidth", why));
        };
        Ok(Self::Ends(Lone {
            one_thread: one_thread[variant] * GIGA,
            all_threads: figures.all_threads.map(|all| all[variant] * GIGA),
            threads,
        }))
    }

    fn demand_and_path(&self, way: &Way<'_>) -> Result<DemandAndPath, String> {
        match self {
            Self::Ends(lone) => {
                lone.demand_and_path(way).map(|(demand, path)| (vec![(1, demand)], path))
            }
            Self::Curve(points) => demand_curve(points, way),
        }
    }
}

/// The demand of every point of a curve, and the capacity of the path.
fn demand_curve(points: &[(u32, f64)], way: &Way<'_>) -> Result<DemandAndPath, String> {
    let p = way.saturation;
    let most = points.iter().map(|&(_, rate)| rate).fold(0.0, f64::max);
    // Terms of the law, each multiplied by the largest^p.
    let shared = way.shared(most);
    if shared >= 1.0 - ROUNDING {
        let through = most * shared.powf(-1.0 / p);
        return Err(way.too_narrow("the most of its threads", most, through));
    }
    let path = (1.0 - shared) / 2.0;
    let capacity = |term: f64| most * term.powf(-1.0 / p);
    let demand =
        |&(threads, rate): &(u32, f64)| (threads, capacity((most / rate).powf(p) - shared - path));
    Ok((points.iter().map(demand).collect(), Some(capacity(path))))
}

/// What the ends of a pair's curve are said to be; bytes/s.
pub(crate) struct Lone {
    pub one_thread: f64,
    pub all_threads: Option<f64>,
    /// Threads of `all_threads`.
    pub threads: f64,
}

impl Lone {
    /// Demand of one thread, and capacity of the path.
    pub fn demand_and_path(&self, way: &Way<'_>) -> Result<(f64, Option<f64>), String> {
        let p = way.saturation;
        // Terms of the law, each multiplied by x1^p.
        let shared = way.shared(self.one_thread);
        let through = || {
            let of_threads = (1.0 - shared).max(0.0) * self.threads.powf(-p);
            self.one_thread * (of_threads + shared).powf(-1.0 / p)
        };
        let Some(all_threads) = self.all_threads.filter(|_| self.threads > 1.0) else {
            self.refuse_other_figure_of_one_core()?;
            let demand = 1.0 - shared;
            if demand <= ROUNDING {
                return Err(way.too_narrow("one thread", self.one_thread, through()));
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
            return Err(way.too_narrow(&who, all_threads, through()));
        }
        let capacity = |term: f64| self.one_thread * term.powf(-1.0 / p);
        let path = (path > ROUNDING * of_all).then(|| capacity(path));
        Ok((capacity(demand), path))
    }

    fn refuse_other_figure_of_one_core(&self) -> Result<(), String> {
        match self.all_threads {
            Some(all) if (all / self.one_thread - 1.0).abs() > SMALLEST_GAIN => Err(format!(
                "all cores together reach {} and one {} GB/s, but there is one core",
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
                "all together reach {all} GB/s and one {one}; all must reach at least 0.1 % more \
                 than one"
            ));
        }
        if all_threads > self.one_thread * self.threads * (1.0 + ROUNDING) {
            return Err(format!(
                "all together reach {all} GB/s, more than {} threads of {one} GB/s each",
                self.threads
            ));
        }
        Ok(())
    }
}

fn core_count(machine: &Machine, initiator: &Initiator) -> u32 {
    let own = machine.cores.iter().filter(|core| core.cpus.intersects(&initiator.cpus)).count();
    u32::try_from(own).unwrap_or(u32::MAX)
}
