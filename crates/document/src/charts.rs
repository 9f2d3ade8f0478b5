//! What the page draws: each chart is data, a title and a text alternative. The numbers and words
//! are those of [`Figure`], so that what hovering shows is what tables say.

mod cache_domains;
mod comparison;
mod devices;
mod drawn_devices;
mod exchange;
mod fleet;
mod heat_map;
mod hybrid;
mod latency;
mod lines;
mod links;
mod machine;
mod pairs;
mod roofline;
mod scaling;
mod sharing;
mod spread;

use serde::Serialize;

use crate::figure::Figure;
use crate::rounding::rounded;
use crate::subject::Sources;
use heat_map::HeatMap;
use lines::Lines;

pub(crate) use comparison::charts as comparison;
pub(crate) use fleet::charts as fleet;
pub(crate) use machine::{MachineDrawing, drawing};
pub(crate) use spread::Spread;

/// A chart of a section.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Chart {
    /// Unique in the document.
    pub id: &'static str,
    /// The section that it stands in.
    pub section: &'static str,
    pub title: &'static str,
    /// What it shows, for those who do not see it.
    pub alternative: String,
    #[serde(flatten)]
    pub plot: Plot,
}

/// How a chart is drawn.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Plot {
    HeatMap(HeatMap),
    Lines(Lines),
    Spread(Spread),
}

impl Chart {
    /// `None` where nothing is drawn.
    fn of(
        id: &'static str,
        section: &'static str,
        title: &'static str,
        alternative: impl Into<String>,
        plot: Plot,
    ) -> Option<Self> {
        let is_empty = match &plot {
            Plot::HeatMap(map) => map.is_empty(),
            Plot::Lines(lines) => lines.is_empty(),
            Plot::Spread(spread) => spread.is_empty(),
        };
        (!is_empty).then(|| Self { id, section, title, alternative: alternative.into(), plot })
    }
}

/// What the reader chooses, one list for each choice; a layer of a chart is known by the position
/// of its option in each list.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Selectors(Vec<Selector>);

#[derive(Debug, Clone, Serialize)]
struct Selector {
    name: &'static str,
    options: Vec<String>,
}

impl Selectors {
    pub fn new(names: &[&'static str]) -> Self {
        Self(names.iter().map(|name| Selector { name, options: Vec::new() }).collect())
    }

    /// The positions of these options, which are added where they are new.
    pub fn choose(&mut self, options: &[String]) -> Vec<usize> {
        let choose =
            |(selector, option): (&mut Selector, &String)| position(&mut selector.options, option);
        self.0.iter_mut().zip(options).map(choose).collect()
    }
}

/// Where a name stands among others; it is added where it is new.
fn position(names: &mut Vec<String>, name: &str) -> usize {
    names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.into());
        names.len() - 1
    })
}

/// Six significant digits place a mark more finely than any screen shows it. What is no number
/// stays none: JSON writes it as null.
fn drawn(value: f64) -> f64 {
    rounded(value, 6)
}

/// Value, unit and interval in words, and whether something disturbed it.
fn words(figure: &Figure) -> String {
    let mark = if figure.only_disturbed { ", every sample disturbed" } else { "" };
    format!("{}{mark}", figure.words())
}

/// All charts that the record holds something for, in the order of reading.
pub(crate) fn all(sources: &Sources<'_>) -> Vec<Chart> {
    [
        pairs::charts(sources),
        latency::charts(sources),
        exchange::charts(sources),
        scaling::charts(sources),
        sharing::charts(sources),
        links::charts(sources),
        roofline::charts(sources),
        hybrid::charts(sources),
        devices::charts(sources),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_stands_once_in_its_list() {
        let mut selectors = Selectors::new(&["kernel", "threads"]);
        let choose = |selectors: &mut Selectors, kernel: &str, threads: &str| {
            selectors.choose(&[kernel.to_string(), threads.to_string()])
        };
        assert_eq!(choose(&mut selectors, "load", "1"), [0, 0]);
        assert_eq!(choose(&mut selectors, "load", "8"), [0, 1]);
        assert_eq!(choose(&mut selectors, "copy", "1"), [1, 0]);
        assert_eq!(selectors.0[0].options, ["load", "copy"]);
    }

    #[test]
    fn what_is_no_number_is_null() {
        assert_eq!(serde_json::to_string(&drawn(f64::NAN)).unwrap(), "null");
    }
}
