//! How runs are distributed.

use serde::Serialize;

use super::{Selectors, drawn};
use crate::figure::Behind;

/// Layers of groups of runs.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Spread {
    axis: &'static str,
    selectors: Selectors,
    layers: Vec<Layer>,
}

#[derive(Debug, Clone, Serialize)]
struct Layer {
    choice: Vec<usize>,
    groups: Vec<Group>,
}

/// Runs of one name.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Group {
    pub name: String,
    pub values: Vec<f64>,
    /// Where runs are densest, with words.
    pub modes: Vec<(f64, String)>,
    /// What is said of the modes.
    pub words: String,
    /// The samples behind the runs.
    pub behind: Behind,
}

impl Spread {
    pub fn new(axis: &'static str, selectors: &[&'static str]) -> Self {
        Self { axis, selectors: Selectors::new(selectors), layers: Vec::new() }
    }

    /// Adds a group to the layer of these options.
    pub fn add(&mut self, choice: &[String], mut group: Group) {
        group.values.iter_mut().for_each(|value| *value = drawn(*value));
        let choice = self.selectors.choose(choice);
        match self.layers.iter_mut().find(|layer| layer.choice == choice) {
            Some(layer) => layer.groups.push(group),
            None => self.layers.push(Layer { choice, groups: vec![group] }),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// The samples behind its runs.
    pub fn behind(&self) -> impl Iterator<Item = &Behind> {
        self.layers.iter().flat_map(|layer| &layer.groups).map(|group| &group.behind)
    }
}
