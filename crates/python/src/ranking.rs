//! Where to run a task, and where to put data: `nearfar-runtime` for Python. Answers are looked at lazily, so that a
//! question costs what the ranking costs.

use nearfar_model::{ClassRule, RecordFigures, flow};
use nearfar_record::Record;
use nearfar_runtime::{
    NodeAnswer, PlaceAnswer, RankedNode, RankedPlace, Ranking, Running, Touched, UnknownPair, User,
};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::types::{PyIterator, PyList};

use crate::failure::failed;
use crate::record::no_model;

/// Answers where tasks should run and where data should lie.
#[pyclass(frozen, name = "Ranking", module = "nearfar")]
pub struct PyRanking {
    ranking: Ranking,
}

impl PyRanking {
    /// # Errors
    /// Where the record does not hold what a ranking needs.
    pub fn new(record: &Record, beside: bool) -> Result<Self, String> {
        let figures = RecordFigures::new(record);
        let ranking = Ranking::new(&figures, &ClassRule::default()).map_err(no_model("classes"))?;
        if !beside {
            return Ok(Self { ranking });
        }
        let flow = flow(&figures).map_err(no_model("flow"))?;
        Ok(Self { ranking: ranking.with_flow(&flow).map_err(no_model("flow"))? })
    }
}

#[pymethods]
impl PyRanking {
    /// Where to run a task that touches these bytes of these nodes, while threads run: place, threads, node.
    #[pyo3(signature = (data, running=Vec::new()), text_signature = "($self, data, running=())")]
    fn rank(
        &self,
        data: &Bound<'_, PyDict>,
        running: Vec<(usize, f64, u32)>,
    ) -> PyResult<RankedPlaces> {
        let mut touched = Vec::with_capacity(data.len());
        for (node, bytes) in data.iter() {
            touched.push(Touched { bytes: bytes.extract()?, node: node.extract()? });
        }
        let PlaceAnswer { ranked, absent, .. } =
            self.ranking.rank(&touched, &threads(running)).map_err(failed)?;
        Ok(RankedPlaces { ranked, absent })
    }

    /// Where to put data that these will touch: place, threads, bytes.
    #[pyo3(signature = (users, running=Vec::new()), text_signature = "($self, users, running=())")]
    fn rank_nodes(
        &self,
        users: Vec<(usize, f64, u64)>,
        running: Vec<(usize, f64, u32)>,
    ) -> PyResult<RankedNodes> {
        let users: Vec<User> = users
            .into_iter()
            .map(|(place, threads, bytes)| User { place, threads, bytes })
            .collect();
        let NodeAnswer { ranked, absent, .. } =
            self.ranking.rank_nodes(&users, &threads(running)).map_err(failed)?;
        Ok(RankedNodes { ranked, absent })
    }

    /// Where tasks can run; answers name them by their positions here.
    #[getter]
    fn places(&self) -> Vec<PlaceOfRanking> {
        let places = self.ranking.places().iter();
        let places = places.map(|place| PlaceOfRanking {
            kind: place.kind.as_str().into(),
            cpu_group: place.cpu_group,
            initiator: place.initiator,
            cpu_node: place.cpu_node,
            cpus: place.cpus.to_string(),
        });
        places.collect()
    }

    /// The memory nodes, by the system's numbers, ascending.
    #[getter]
    fn nodes(&self) -> Vec<u32> {
        self.ranking.nodes().to_vec()
    }

    /// Places whose ratio to the best is within it are equally good; None with one round of each.
    #[getter]
    fn noise(&self) -> Option<f64> {
        self.ranking.noise()
    }

    /// What one thread alone moves, bytes/s; None where that is not known.
    fn lone_rate(&self, place: usize, node: u32) -> PyResult<Option<f64>> {
        self.ranking.check_pair(UnknownPair { place, node }).map_err(failed)?;
        Ok(self.ranking.lone_rate(place, node))
    }

    /// Why nothing is known of a place and a node; None where something is.
    fn why_unknown(&self, place: usize, node: u32) -> PyResult<Option<String>> {
        let pair = UnknownPair { place, node };
        self.ranking.check_pair(pair).map_err(failed)?;
        Ok(self.ranking.why_unknown(pair).map(String::from))
    }
}

fn threads(running: Vec<(usize, f64, u32)>) -> Vec<Running> {
    let running = running.into_iter();
    running.map(|(place, threads, node)| Running { place, threads, node }).collect()
}

/// Where a task can run.
#[pyclass(frozen, get_all, name = "Place", module = "nearfar")]
pub struct PlaceOfRanking {
    kind: String,
    cpu_group: u32,
    initiator: u32,
    cpu_node: Option<u32>,
    cpus: String,
}

#[pymethods]
impl PlaceOfRanking {
    fn __repr__(&self) -> String {
        format!("Place({} {}, cpus={})", self.kind, self.cpu_group, self.cpus)
    }
}

/// A place with what a task's data takes from there.
#[derive(PartialEq)]
#[pyclass(frozen, get_all, eq, name = "RankedPlace", module = "nearfar")]
pub struct PyRankedPlace {
    place: usize,
    seconds: f64,
    ratio: f64,
}

impl PyRankedPlace {
    fn of(&RankedPlace { place, seconds, ratio }: &RankedPlace) -> Self {
        Self { place, seconds, ratio }
    }
}

#[pymethods]
impl PyRankedPlace {
    fn __repr__(&self) -> String {
        let Self { place, seconds, ratio } = self;
        format!("RankedPlace(place={place}, seconds={seconds:?}, ratio={ratio:?})")
    }
}

/// A node with what data takes there.
#[derive(PartialEq)]
#[pyclass(frozen, get_all, eq, name = "RankedNode", module = "nearfar")]
pub struct PyRankedNode {
    node: u32,
    seconds: f64,
    ratio: f64,
}

impl PyRankedNode {
    fn of(&RankedNode { node, seconds, ratio }: &RankedNode) -> Self {
        Self { node, seconds, ratio }
    }
}

#[pymethods]
impl PyRankedNode {
    fn __repr__(&self) -> String {
        let Self { node, seconds, ratio } = self;
        format!("RankedNode(node={node}, seconds={seconds:?}, ratio={ratio:?})")
    }
}

/// Places, the best first.
#[pyclass(frozen, sequence, module = "nearfar")]
pub struct RankedPlaces {
    ranked: Vec<RankedPlace>,
    absent: Vec<UnknownPair>,
}

#[pymethods]
impl RankedPlaces {
    fn __len__(&self) -> usize {
        self.ranked.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<PyRankedPlace> {
        nth(&self.ranked, index).map(PyRankedPlace::of)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.ranked.iter().map(PyRankedPlace::of))?.try_iter()
    }

    /// Places that are not ranked, each with a node of which nothing is known from there.
    #[getter]
    fn absent(&self) -> Vec<(usize, u32)> {
        self.absent.iter().map(|pair| (pair.place, pair.node)).collect()
    }
}

/// Nodes, the best first.
#[pyclass(frozen, sequence, module = "nearfar")]
pub struct RankedNodes {
    ranked: Vec<RankedNode>,
    absent: Vec<UnknownPair>,
}

#[pymethods]
impl RankedNodes {
    fn __len__(&self) -> usize {
        self.ranked.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<PyRankedNode> {
        nth(&self.ranked, index).map(PyRankedNode::of)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.ranked.iter().map(PyRankedNode::of))?.try_iter()
    }

    /// Places of users and nodes that are not ranked for them.
    #[getter]
    fn absent(&self) -> Vec<(usize, u32)> {
        self.absent.iter().map(|pair| (pair.place, pair.node)).collect()
    }
}

/// An element as Python counts: from the end where the index is negative.
fn nth<T>(of: &[T], index: isize) -> PyResult<&T> {
    let at = if index < 0 { of.len().checked_add_signed(index) } else { index.try_into().ok() };
    at.and_then(|at| of.get(at)).ok_or_else(|| PyIndexError::new_err("no such rank"))
}
