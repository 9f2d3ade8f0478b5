//! What all formats show of a record, or of two that are compared: sections of tables.

use serde::Serialize;

use crate::subject::{Health, Tile, capitalised};
use crate::table::Table;

/// What was measured and what it means, in words, tables and figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Document {
    /// Of what it is, for instance host and time.
    #[serde(skip)]
    pub title: String,
    /// Whether figures of it were computed and not measured; a caution says so.
    #[serde(skip)]
    pub is_simulated: bool,
    /// The version of the program that made the document.
    pub program: &'static str,
    /// What must be known before any figure; empty where there is nothing.
    pub cautions: Vec<String>,
    /// What the models say first: three to six sentences, fewer where less was measured.
    pub summary: Vec<String>,
    /// The figures of first importance.
    pub tiles: Vec<Tile>,
    /// What is wrong and what to do; null of what is not a machine's record.
    pub health: Option<Health>,
    /// The matrices that answer first: best bandwidth and idle latency.
    pub matrices: Vec<Table>,
    /// What was measured and what it means.
    pub sections: Vec<Section>,
    /// The classes once more in their paper's form, for formats that are printed.
    #[serde(skip)]
    pub paper_tables: Vec<Table>,
}

impl Document {
    /// Its tiles and what is wrong, a line each, for formats that set no tiles.
    pub(crate) fn first_words(&self) -> Vec<String> {
        let tiles = self.tiles.iter().map(|tile| format!("{}: {}", tile.label, tile.words()));
        let health = self.health.iter().flat_map(|health| {
            let found = health.found.iter().map(|check| match &check.remedy {
                Some(remedy) => format!("{} -> {remedy}", capitalised(&check.finding)),
                None => capitalised(&check.finding),
            });
            std::iter::once(format!("Health: {}", health.answer)).chain(found)
        });
        tiles.chain(health).collect()
    }
}

/// What makes documents.
pub(crate) const PROGRAM: &str = concat!("nearfar ", env!("CARGO_PKG_VERSION"));

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Section {
    /// Its short name, unique in the document.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What it shows and in which units.
    pub about: String,
    pub tables: Vec<Table>,
    /// What follows from it, in sentences.
    pub findings: Vec<String>,
    /// The model behind it as `nearfar model` prints it, in lines of equal width per character; or
    /// null.
    pub model_text: Option<String>,
}

/// Where a section stands on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SectionPlace {
    /// Before what was measured: the machine.
    Before,
    /// What was measured and what it means, one beside the other.
    Tab,
    /// What the figures rest on.
    After,
}

impl Section {
    /// In a word or two, for a navigation.
    pub(crate) fn name(&self) -> &'static str {
        match self.id {
            "machine" => "Machine",
            "pairs" => "Bandwidth",
            "latency" => "Latency",
            "scaling" => "Threads",
            "sharing" => "Sharing",
            "links" => "Links",
            "roofline" => "Roofline",
            "hybrid" => "Two memories",
            "mixes" => "Streams at once",
            "devices" => "Devices",
            "workloads" => "Programs",
            "strategy" => "Strategies",
            "predict-program" => "A program",
            "environment" => "Environment",
            "not-measured" => "Not measured",
            _ => self.title,
        }
    }

    pub(crate) fn place(&self) -> SectionPlace {
        match self.id {
            "machine" => SectionPlace::Before,
            "pairs" | "latency" | "scaling" | "sharing" | "links" | "roofline" | "hybrid"
            | "mixes" | "devices" | "workloads" | "strategy" | "predict-program" => {
                SectionPlace::Tab
            }
            _ => SectionPlace::After,
        }
    }

    /// Tables alone.
    pub(crate) fn new(
        id: &'static str,
        title: &'static str,
        about: impl Into<String>,
        tables: Vec<Table>,
    ) -> Self {
        let about = about.into();
        Self { id, title, about, tables, findings: Vec::new(), model_text: None }
    }

    pub(crate) fn with_findings(self, findings: Vec<String>) -> Self {
        Self { findings, ..self }
    }

    /// `None` where it has no tables.
    pub(crate) fn unless_empty(self) -> Option<Self> {
        (!self.tables.is_empty()).then_some(self)
    }
}
