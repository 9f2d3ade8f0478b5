//! What all formats show of a record, or of two that are compared: sections of tables.

use serde::Serialize;

use crate::table::Table;

/// What was measured and what it means, in words, tables and figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Document {
    /// Of what it is, for instance host and time.
    #[serde(skip)]
    pub title: String,
    /// Whether figures of it were worked out and not measured; a caution says so.
    #[serde(skip)]
    pub is_simulated: bool,
    /// The version of the program that made the document.
    pub program: &'static str,
    /// What must be known before any figure; empty where there is nothing.
    pub cautions: Vec<String>,
    /// What the models say first: three to six sentences, fewer where less was measured.
    pub summary: Vec<String>,
    /// What was measured and what it means.
    pub sections: Vec<Section>,
    /// The classes once more in their paper's form, for formats that are printed.
    #[serde(skip)]
    pub paper_tables: Vec<Table>,
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

impl Section {
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
