//! What is fitted: which parameters a machine has, where they start, how far they are believed
//! before anything is measured, and the capacities that they make.
//!
//! | parameter | start | prior, sd of ln |
//! | --- | --- | --- |
//! | d1, one thread of c on m | its own case | 0.5 |
//! | B, path from c to m | 1.04 x the most that c alone moved on m | 0.3 |
//! | K, controller of m | the larger of 1.1 x the best B, 1.03 x the most together on m | 0.3 |
//! | I, issue of c | the larger of 1.2 x the best B, 1.03 x the most of c | 0.4 |
//! | link of packages | the larger of 1.2 x the best B, 1.03 x the most across | 0.3 |
//! | an initiator to a package | the larger of 1.2 x the best B, 1.03 x the most across | 0.3 |
//! | channels of a package | the larger of the sum of K, 1.03 x the most of them | 0.3 |
//! | p, from 1 to 25 | 5 | 0.4 |
//! | gamma, from 0 to 2 | 0.5 | 0.5, itself |
//! | a kernel's bytes / the first's, saturated | median of equal cases of all threads | 0.3 |
//! | a kernel's demand of a thread / the first's, beyond that | median of one thread | 0.2 |
//!
//! Of ln p and gamma the logit of where they are between their ends is fitted, with priors that are
//! as wide there: nothing is cut off, so that derivatives and intervals hold up to the ends.

use std::collections::BTreeSet;

use nearfar_flow::{Capacities, Part, ScaledLoad, SharedLink};
use nearfar_stats::median;

use super::case::{FlowCase, FlowLayout, FlowLink, FlowStream, MachinePart};

/// A number that is fitted. Initiators are rows, columns memory nodes in the layout's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlowParameter {
    /// Demand of one thread, bytes/s.
    OneThread { initiator: usize, column: usize },
    /// Capacity of a part, bytes/s.
    Capacity(Part),
    /// Useful bytes of a kernel against the first's where parts are full.
    KernelBytes { kernel: usize },
    /// Demand of a kernel's thread against the first's, in bytes of the first.
    KernelDemand { kernel: usize },
    /// The saturation exponent p.
    Saturation,
    /// The fairness exponent gamma.
    Fairness,
}

impl FlowParameter {
    /// What the parameter is within before anything is measured: the standard deviation of what is
    /// fitted of it, a logarithm, of p and the fairness a logit.
    pub fn prior_deviation(self) -> f64 {
        match self {
            Self::OneThread { .. } => 0.5,
            Self::Fairness => 0.5 / slope_of_fairness(START_FAIRNESS),
            Self::Saturation => 0.4 / slope_of_saturation(START_SATURATION),
            Self::Capacity(Part::Issue { .. }) => 0.4,
            Self::Capacity(_) | Self::KernelBytes { .. } => 0.3,
            Self::KernelDemand { .. } => 0.2,
        }
    }

    pub fn value(self, fitted: f64) -> f64 {
        match self {
            Self::Fairness => MOST_FAIRNESS * logistic(fitted),
            Self::Saturation => (MOST_SATURATION.ln() * logistic(fitted)).exp(),
            _ => fitted.exp(),
        }
    }
}

const START_SATURATION: f64 = 5.0;
const START_FAIRNESS: f64 = 0.5;
/// It is from 1 to this. Above it a part that is offered its capacity carries 97 %, which nothing tells from a hard
/// limit.
const MOST_SATURATION: f64 = 25.0;
/// Whom a full part favours beyond demand itself.
const MOST_FAIRNESS: f64 = 2.0;

/// d ln p by what is fitted of it.
pub(crate) fn slope_of_saturation(saturation: f64) -> f64 {
    let share = saturation.ln() / MOST_SATURATION.ln();
    MOST_SATURATION.ln() * share * (1.0 - share)
}

/// d gamma by what is fitted of it.
pub(crate) fn slope_of_fairness(fairness: f64) -> f64 {
    fairness * (1.0 - fairness / MOST_FAIRNESS)
}

fn logistic(value: f64) -> f64 {
    1.0 / (1.0 + (-value).exp())
}

fn logit(share: f64) -> f64 {
    (share / (1.0 - share)).ln()
}

/// The parameters of a machine and where they start.
#[derive(Debug)]
pub(crate) struct Parameters<'a> {
    layout: &'a FlowLayout,
    pub all: Vec<FlowParameter>,
    /// What is fitted of each, at the start.
    pub start: Vec<f64>,
    /// Pairs that no case is about, and which have made-up figures: initiator and column.
    unknown: Vec<(usize, usize)>,
}

impl<'a> Parameters<'a> {
    /// `None` where no stream of the first kernel ran alone.
    pub fn new(layout: &'a FlowLayout, cases: &[FlowCase]) -> Option<Self> {
        let known = Known { layout, cases };
        let mut parameters =
            Self { layout, all: Vec::new(), start: Vec::new(), unknown: Vec::new() };
        let mut best = vec![vec![None; layout.nodes.len()]; layout.initiators];
        for (initiator, row) in best.iter_mut().enumerate() {
            for (column, best) in row.iter_mut().enumerate() {
                let Some((of_one, most)) = known.pair(initiator, column) else {
                    parameters.unknown.push((initiator, column));
                    continue;
                };
                *best = Some(most);
                parameters.add(FlowParameter::OneThread { initiator, column }, of_one.ln());
                let path = FlowParameter::Capacity(Part::Path { initiator, column });
                parameters.add(path, (1.04 * most).ln());
            }
        }
        if parameters.all.is_empty() {
            return None;
        }
        parameters.add_shared(&known, &best);
        for kernel in 1..layout.kernels.len() {
            let (bytes, demand) = known.kernel(kernel);
            parameters.add(FlowParameter::KernelBytes { kernel }, bytes.ln());
            parameters.add(FlowParameter::KernelDemand { kernel }, (demand / bytes).ln());
        }
        let of_saturation = logit(START_SATURATION.ln() / MOST_SATURATION.ln());
        parameters.add(FlowParameter::Saturation, of_saturation);
        parameters.add(FlowParameter::Fairness, logit(START_FAIRNESS / MOST_FAIRNESS));
        Some(parameters)
    }

    fn add(&mut self, parameter: FlowParameter, start: f64) {
        self.all.push(parameter);
        self.start.push(start);
    }

    /// Controllers that several initiators reach, issue limits of initiators that reach several
    /// nodes, links: where there is one path, its capacity is that of all of them.
    fn add_shared(&mut self, known: &Known<'_>, best: &[Vec<Option<f64>>]) {
        let mut carried = Vec::new();
        for (column, &node) in self.layout.nodes.iter().enumerate() {
            let of_node: Vec<f64> = best.iter().filter_map(|row| row[column]).collect();
            let together = known.most(|_, to| to == node);
            let start = (1.1 * largest(&of_node)).max(1.03 * together);
            carried.push(start);
            if of_node.len() > 1 {
                self.add(FlowParameter::Capacity(Part::Controller { column }), start.ln());
            }
        }
        for (initiator, row) in best.iter().enumerate() {
            let of_initiator: Vec<f64> = row.iter().copied().flatten().collect();
            if of_initiator.len() > 1 {
                let spread = known.most(|from, _| from as usize == initiator);
                let issue = FlowParameter::Capacity(Part::Issue { initiator });
                self.add(issue, (1.2 * largest(&of_initiator)).max(1.03 * spread).ln());
            }
        }
        for (index, link) in self.layout.links.iter().enumerate() {
            let path = |&(initiator, node): &(u32, u32)| {
                let column = self.layout.nodes.iter().position(|&known| known == node)?;
                best.get(initiator as usize)?[column]
            };
            let of_link: Vec<f64> = link.crosses.iter().filter_map(path).collect();
            if of_link.len() > 1 {
                let across = known.most(|from, to| link.crosses.contains(&(from, to)));
                let start = match link.part {
                    // Most nodes have channels of their own, so that together they carry what each does.
                    MachinePart::Channels { .. } => self.sum_of_nodes(link, &carried),
                    _ => 1.2 * largest(&of_link),
                };
                let start = start.max(1.03 * across);
                self.add(FlowParameter::Capacity(Part::Link { index }), start.ln());
            }
        }
    }

    /// The sum over a link's nodes.
    fn sum_of_nodes(&self, link: &FlowLink, by_column: &[f64]) -> f64 {
        let nodes = self.layout.nodes.iter().zip(by_column);
        let own = nodes.filter(|(node, _)| link.crosses.iter().any(|(_, to)| to == *node));
        own.map(|(_, value)| value).sum()
    }

    /// The capacities of a machine with these parameters. Pairs that no case is about have the
    /// figures of the first known one, which is the first parameter; nothing may be said of them.
    pub fn capacities(&self, at: &[f64]) -> Capacities {
        let (initiators, columns) = (self.layout.initiators, self.layout.nodes.len());
        let link = |(index, link): (usize, &FlowLink)| SharedLink {
            name: format!("link{index}"),
            // A link that is no parameter limits nothing.
            capacity: 1e18,
            crosses: link.crosses.clone(),
        };
        let mut capacities = Capacities {
            nodes: self.layout.nodes.clone(),
            one_thread: vec![
                vec![at.first().map_or(1.0, |first| first.exp()); columns];
                initiators
            ],
            path: vec![vec![None; columns]; initiators],
            curves: Vec::new(),
            controller: vec![None; columns],
            interference: vec![0.0; columns],
            issue: vec![None; initiators],
            links: self.layout.links.iter().enumerate().map(link).collect(),
            pressure: Vec::new(),
            saturation: START_SATURATION,
            fairness: START_FAIRNESS,
        };
        for (&parameter, &fitted) in self.all.iter().zip(at) {
            if let Some(number) = number_of(&mut capacities, parameter) {
                *number = parameter.value(fitted);
            }
        }
        capacities
    }

    /// Of each kernel its bytes where parts are full, and its threads' demand, against the
    /// first's.
    pub fn kernels(&self, at: &[f64]) -> Vec<(f64, f64)> {
        let mut kernels = vec![(1.0, 1.0); self.layout.kernels.len()];
        for (&parameter, &fitted) in self.all.iter().zip(at) {
            match parameter {
                FlowParameter::KernelBytes { kernel } => kernels[kernel].0 = fitted.exp(),
                FlowParameter::KernelDemand { kernel } => kernels[kernel].1 = fitted.exp(),
                _ => {}
            }
        }
        kernels
    }

    /// Whether every pair of a case has been measured.
    pub fn knows(&self, case: &FlowCase) -> bool {
        let is_known = |stream: &FlowStream| {
            let column = |node: u32| self.layout.nodes.iter().position(|&known| known == node);
            let place =
                |&(node, _): &(u32, f64)| Some((stream.load.initiator as usize, column(node)?));
            let mut places = stream.load.shares.iter().map(place);
            (stream.load.initiator as usize) < self.layout.initiators
                && stream.kernel < self.layout.kernels.len()
                && places.all(|place| place.is_some_and(|place| !self.unknown.contains(&place)))
        };
        case.streams.iter().all(is_known)
    }
}

/// The number that a parameter stands for; `None` where it is of a kernel.
pub(crate) fn number_of(capacities: &mut Capacities, parameter: FlowParameter) -> Option<&mut f64> {
    let number = match parameter {
        FlowParameter::OneThread { initiator, column } => {
            &mut capacities.one_thread[initiator][column]
        }
        FlowParameter::Capacity(Part::Path { initiator, column }) => {
            capacities.path[initiator][column].get_or_insert(0.0)
        }
        FlowParameter::Capacity(Part::Controller { column }) => {
            capacities.controller[column].get_or_insert(0.0)
        }
        FlowParameter::Capacity(Part::Issue { initiator }) => {
            capacities.issue[initiator].get_or_insert(0.0)
        }
        FlowParameter::Capacity(Part::Link { index }) => &mut capacities.links[index].capacity,
        FlowParameter::Saturation => &mut capacities.saturation,
        FlowParameter::Fairness => &mut capacities.fairness,
        FlowParameter::KernelBytes { .. } | FlowParameter::KernelDemand { .. } => return None,
    };
    Some(number)
}

/// The streams of a case as the capacities see them.
pub(crate) fn scaled_loads(case: &FlowCase, kernels: &[(f64, f64)]) -> Vec<ScaledLoad> {
    let scaled = |stream: &FlowStream| ScaledLoad {
        load: stream.load.clone(),
        demand_scale: kernels[stream.kernel].1,
    };
    case.streams.iter().map(scaled).collect()
}

/// What cases say of where parameters are.
struct Known<'a> {
    layout: &'a FlowLayout,
    cases: &'a [FlowCase],
}

impl Known<'_> {
    /// Cases of the first kernel alone.
    fn of_first_kernel(&self) -> impl Iterator<Item = &FlowCase> {
        let is_first = |case: &&FlowCase| case.streams.iter().all(|stream| stream.kernel == 0);
        self.cases.iter().filter(is_first)
    }

    /// One thread's rate of a pair, and the most that the initiator alone moved on the node.
    fn pair(&self, initiator: usize, column: usize) -> Option<(f64, f64)> {
        let node = self.layout.nodes[column];
        let of_pair = self.of_first_kernel().filter_map(|case| {
            let (from, to, threads) = case.as_pair()?;
            (from as usize == initiator && to == node)
                .then(|| (threads, case.streams.first().map_or(0.0, |stream| stream.rate)))
        });
        let all: Vec<(u32, f64)> = of_pair.collect();
        let fewest = all.iter().map(|&(threads, _)| threads).min()?;
        let of_fewest: Vec<f64> =
            all.iter().filter(|(threads, _)| *threads == fewest).map(|&(_, rate)| rate).collect();
        let of_one = median(&of_fewest)? / f64::from(fewest);
        let most = all.iter().map(|&(_, rate)| rate).fold(0.0, f64::max);
        Some((of_one, most))
    }

    /// The most that streams moved together over what is counted, bytes/s of the first kernel.
    fn most(&self, is_counted: impl Fn(u32, u32) -> bool) -> f64 {
        self.of_first_kernel().map(|case| case.moved(&is_counted)).fold(0.0, f64::max)
    }

    /// A kernel's bytes against the first's in the same cases: with several threads, with one.
    /// 1 where nothing tells.
    fn kernel(&self, kernel: usize) -> (f64, f64) {
        let alone = |wanted: usize| {
            self.cases.iter().filter_map(move |case| {
                let place = case.as_pair()?;
                let stream = case.streams.first()?;
                (stream.kernel == wanted).then_some((place, stream.rate))
            })
        };
        let first: Vec<((u32, u32, u32), f64)> = alone(0).collect();
        let ratios: Vec<(bool, f64)> = alone(kernel)
            .filter_map(|(place, rate)| {
                let (_, of_first) = first.iter().find(|(known, _)| *known == place)?;
                Some((place.2 == 1, rate / of_first))
            })
            .collect();
        let of = |one: bool| {
            let own = ratios.iter().filter(|(is_one, _)| *is_one == one);
            median(&own.map(|&(_, ratio)| ratio).collect::<Vec<f64>>())
        };
        let (several, one) = (of(false), of(true));
        (several.or(one).unwrap_or(1.0), one.or(several).unwrap_or(1.0))
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// The parts that cases are about, to count them.
pub(crate) fn pairs_of(cases: &[FlowCase]) -> BTreeSet<(u32, u32)> {
    let streams = cases.iter().flat_map(|case| &case.streams);
    let pairs = streams.flat_map(|stream| {
        stream.load.shares.iter().map(move |&(node, _)| (stream.load.initiator, node))
    });
    pairs.collect()
}
