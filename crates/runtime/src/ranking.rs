//! What a record says of every place and node, made ready for questions.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_model::{ClassRule, Flow, Inapplicable, NoClasses, RecordFigures, classes, pairs};
use nearfar_record::{Coordinates, Experiment, Record};

use crate::answer::UnknownPair;
use crate::place::{Place, places};
use crate::question::RankError;
use crate::shared_parts::SharedParts;

/// Answers where tasks should run and where data should lie. It is read only, and any number of
/// threads may ask at the same time.
#[derive(Debug, Clone)]
pub struct Ranking {
    places: Vec<Place>,
    /// Ascending.
    nodes: Vec<u32>,
    /// Place by place, node by node.
    cells: Vec<Cell>,
    reasons: Vec<String>,
    noise: Option<f64>,
    least_difference: Option<f64>,
    pub(crate) shared: Option<SharedParts>,
}

/// A place and a node.
#[derive(Debug, Clone, Copy)]
enum Cell {
    /// What one thread alone moves, bytes/s, finite and above 0.
    Rate(f64),
    /// Position of the reason why that is not known.
    Unknown(usize),
}

/// Places times nodes. More are no machine, and would take the memory of one.
const MOST_CELLS: usize = 1 << 20;

/// Of a pair that has a lone figure and that the flow model was not fitted to.
const NOT_FITTED: &str = "the flow model has no figure of this pair, so that nothing is known of it \
                          beside other threads";

impl Ranking {
    /// A ranking of tasks that run alone, from the median bandwidth of one thread of each pair, by
    /// the best of the rule's kernels and variants.
    ///
    /// # Errors
    /// Where the record holds no such figure, or names more places and nodes than any machine has.
    pub fn new(figures: &RecordFigures<'_>, rule: &ClassRule) -> Result<Self, Inapplicable> {
        let record = figures.record();
        let found = classes(figures, rule).map_err(|why| inapplicable(record, &why))?;
        let places = places(record, &pairs(figures));
        let classed = || found.sets.iter().flat_map(|set| &set.classes).flat_map(|it| &it.pairs);
        let nodes: BTreeSet<u32> = record
            .header
            .machine
            .nodes
            .iter()
            .map(|node| node.os_index)
            .chain(classed().map(|pair| pair.memory_node))
            .chain(found.left_out.iter().map(|pair| pair.memory_node))
            .collect();
        if places.len().saturating_mul(nodes.len()) > MOST_CELLS {
            return Err(Inapplicable::here(format!(
                "the record names {} places and {} nodes; more than {MOST_CELLS} pairs cannot be ranked",
                places.len(),
                nodes.len()
            )));
        }
        let mut rates: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for pair in classed() {
            let rate = pair.median.value.0 / f64::from(pair.threads);
            if rate.is_finite() && rate > 0.0 {
                rates.insert((pair.cpu_group, pair.memory_node), rate);
            }
        }
        let whys = Whys::of(record, rule);
        let mut reasons: Vec<String> = Vec::new();
        let mut positions: BTreeMap<String, usize> = BTreeMap::new();
        let mut cells = Vec::with_capacity(places.len() * nodes.len());
        for place in &places {
            for &node in &nodes {
                cells.push(match rates.get(&(place.cpu_group, node)) {
                    Some(&rate) => Cell::Rate(rate),
                    None => {
                        let why = whys.why(place.cpu_group, node);
                        let position = positions.entry(why).or_insert_with_key(|why| {
                            reasons.push(why.clone());
                            reasons.len() - 1
                        });
                        Cell::Unknown(*position)
                    }
                });
            }
        }
        let nodes = nodes.into_iter().collect();
        let noise = found.noise;
        Ok(Self { places, nodes, cells, reasons, noise, least_difference: None, shared: None })
    }

    /// The same that also answers beside threads that run, by a flow model of the same record.
    ///
    /// # Errors
    /// Where the model's numbers are none that can be calculated with.
    pub fn with_flow(mut self, flow: &Flow) -> Result<Self, Inapplicable> {
        self.least_difference = Some(flow.least_difference());
        self.shared = Some(SharedParts::of(flow, &self.places, &self.nodes)?);
        Ok(self)
    }

    /// Where tasks can run.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// The memory nodes of the record, ascending.
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// The pooled relative standard deviation of a pair's rounds: places whose ratio to the best is
    /// within it are equally good. `None` where the record has one round of each.
    pub fn noise(&self) -> Option<f64> {
        self.noise
    }

    /// Beside threads that run, places whose ratio to the best is nearer to 1 than this are equally good
    /// ([`Flow::least_difference`]); `None` without a flow model.
    pub fn least_difference(&self) -> Option<f64> {
        self.least_difference
    }

    /// Looks whether there are such a place and node.
    ///
    /// # Errors
    /// [`RankError::NoPlace`] or [`RankError::NoNode`].
    pub fn check_pair(&self, pair: UnknownPair) -> Result<(), RankError> {
        let UnknownPair { place, node } = pair;
        if place >= self.places.len() {
            return Err(RankError::NoPlace { place, places: self.places.len() });
        }
        self.column(node).map(|_| ()).ok_or(RankError::NoNode { node })
    }

    /// What one thread alone moves between a place and a node, bytes/s; `None` where that is not
    /// known, or there is no such place or node.
    pub fn lone_rate(&self, place: usize, node: u32) -> Option<f64> {
        self.rate(place, self.column(node)?)
    }

    /// Why nothing is known of a pair that an answer calls unknown; `None` where something is, or
    /// there is no such place or node.
    pub fn why_unknown(&self, pair: UnknownPair) -> Option<&str> {
        let column = self.column(pair.node)?;
        match self.cell(pair.place, column)? {
            Cell::Unknown(position) => self.reasons.get(position).map(String::as_str),
            Cell::Rate(_) => {
                let shared = self.shared.as_ref()?;
                shared.pair(pair.place, column).is_none().then_some(NOT_FITTED)
            }
        }
    }

    pub(crate) fn column(&self, node: u32) -> Option<usize> {
        self.nodes.binary_search(&node).ok()
    }

    pub(crate) fn column_of(&self, node: u32) -> Result<usize, RankError> {
        self.column(node).ok_or(RankError::NoNode { node })
    }

    pub(crate) fn check_place(&self, place: usize) -> Result<(), RankError> {
        let places = self.places.len();
        if place < places { Ok(()) } else { Err(RankError::NoPlace { place, places }) }
    }

    /// What one thread alone moves, bytes/s.
    pub(crate) fn rate(&self, place: usize, column: usize) -> Option<f64> {
        match self.cell(place, column)? {
            Cell::Rate(rate) => Some(rate),
            Cell::Unknown(_) => None,
        }
    }

    fn cell(&self, place: usize, column: usize) -> Option<Cell> {
        self.cells.get(place.checked_mul(self.nodes.len())?.checked_add(column)?).copied()
    }
}

fn inapplicable(record: &Record, why: &NoClasses) -> Inapplicable {
    match why {
        NoClasses::NoPairs(_) => Inapplicable::without(record, Experiment::Pairs),
        NoClasses::NotMeasured(lacking) => lacking.clone(),
        NoClasses::Span(_) | NoClasses::AboveGamma { .. } => Inapplicable::here(why.to_string()),
    }
}

/// Why pairs have no figure.
struct Whys<'a> {
    by_pair: BTreeMap<(u32, u32), &'a str>,
    otherwise: String,
}

impl<'a> Whys<'a> {
    fn of(record: &'a Record, rule: &ClassRule) -> Self {
        let mut by_pair = BTreeMap::new();
        for absent in &record.absent {
            let places = absent.coordinates.iter().filter_map(Coordinates::as_pair);
            for place in places.filter(|place| rule.kernels.contains(&place.kernel)) {
                let key = (place.index, place.memory_node);
                by_pair.entry(key).or_insert(absent.reason.text.as_str());
            }
        }
        let (kernels, threads) = (rule.kernels.join(" or "), rule.threads);
        Self {
            by_pair,
            otherwise: format!(
                "the record has no figure of {kernels} by {threads} on this pair that is above 0"
            ),
        }
    }

    fn why(&self, cpu_group: u32, node: u32) -> String {
        self.by_pair.get(&(cpu_group, node)).map_or_else(|| self.otherwise.clone(), |&it| it.into())
    }
}
