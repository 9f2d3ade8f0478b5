//! Series of points over two axes.

use serde::Serialize;

use super::{Selectors, drawn, words};
use crate::figure::{Behind, Figure};
use crate::table::Tone;

/// Layers of series.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Lines {
    x: Axis,
    y: Axis,
    selectors: Selectors,
    layers: Vec<Layer>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Axis {
    title: &'static str,
    scale: Scale,
    ticks: Ticks,
}

/// Where an axis is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ticks {
    /// Where numbers are round.
    Round,
    /// At whole numbers: what is counted has no halves.
    Counts,
    /// At sizes of memory.
    Bytes,
}

impl Axis {
    pub fn new(title: &'static str, scale: Scale) -> Self {
        Self { title, scale, ticks: Ticks::Round }
    }

    pub fn marked_at(self, ticks: Ticks) -> Self {
        Self { ticks, ..self }
    }
}

/// What an axis runs over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scale {
    /// From 0 on.
    FromZero,
    /// Equal ratios at equal distances.
    Log,
    /// As far as its values go.
    Near,
}

#[derive(Debug, Clone, Serialize)]
struct Layer {
    choice: Vec<usize>,
    series: Vec<Series>,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Style {
    /// A line through its points.
    Line,
    /// A line through corners that are not measured points.
    Edge,
    /// A line with a band from the least to the most.
    Band,
    /// Points alone.
    Points,
    /// Points that matter most.
    Stars,
}

/// Points of one name; series of one name are switched together.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Series {
    name: String,
    style: Style,
    /// Whether it is drawn before anything is chosen.
    shown: bool,
    x: Vec<f64>,
    y: Vec<f64>,
    /// Ends of the intervals, empty where no point has one.
    low: Vec<Option<f64>>,
    high: Vec<Option<f64>>,
    /// What hovering shows at each point, in lines.
    words: Vec<Vec<String>>,
    /// The samples behind the points, empty where none has any.
    behind: Vec<Option<Behind>>,
    /// Which colour and which mark, by number; series that belong together have the same.
    look: Option<[usize; 2]>,
    /// Of what is worse or better, whose colours and marks are always the same.
    tone: Option<Tone>,
}

impl Lines {
    pub fn new(x: Axis, y: Axis, selectors: &[&'static str]) -> Self {
        Self { x, y, selectors: Selectors::new(selectors), layers: Vec::new() }
    }

    /// Adds a series to the layer of these options.
    pub fn add(&mut self, choice: &[String], series: Series) {
        if series.x.is_empty() {
            return;
        }
        let choice = self.selectors.choose(choice);
        match self.layers.iter_mut().find(|layer| layer.choice == choice) {
            Some(layer) => layer.series.push(series),
            None => self.layers.push(Layer { choice, series: vec![series] }),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// The samples behind its points.
    pub fn behind(&self) -> impl Iterator<Item = &Behind> {
        let series = self.layers.iter().flat_map(|layer| &layer.series);
        series.flat_map(|series| series.behind.iter().flatten())
    }
}

impl Series {
    pub fn new(name: impl Into<String>, style: Style) -> Self {
        Self {
            name: name.into(),
            style,
            shown: true,
            x: Vec::new(),
            y: Vec::new(),
            low: Vec::new(),
            high: Vec::new(),
            words: Vec::new(),
            behind: Vec::new(),
            look: None,
            tone: None,
        }
    }

    /// With the colour and the mark of these numbers, and not those of its place.
    pub fn looking(mut self, look: [usize; 2]) -> Self {
        self.look = Some(look);
        self
    }

    /// With the colour and the mark of what is worse or better.
    pub fn toned(mut self, tone: Tone) -> Self {
        self.tone = Some(tone);
        self
    }

    /// Not drawn until the reader asks for it.
    pub fn hidden_first(&mut self, is_hidden: bool) {
        self.shown = !is_hidden;
    }

    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Adds a point: where it lies and what is said of it besides its own words.
    pub fn point(&mut self, x: f64, figure: &Figure, about: &str) {
        self.x.push(drawn(x));
        self.y.push(drawn(figure.value));
        let end = |end: usize| figure.interval.map(|interval| drawn(interval[end]));
        self.low.push(end(0));
        self.high.push(end(1));
        let about = about.lines().map(String::from);
        self.words.push(about.chain([words(figure)]).collect());
        self.behind.push(figure.behind.clone());
    }
}
