//! The one view that all formats show: of a record, or of two that are compared.

use std::panic::resume_unwind;
use std::thread::scope;

use crate::subject::{MeasuredView, ShowView, Topology};
use nearfar_model::{
    FittedModel, ModelChoices, ModelKind, ProfiledPoint, RecordFigures, Unavailable,
};
use nearfar_record::{Executor, Profile, Record};
use serde::Serialize;

use crate::sections;
use crate::summary::summary;
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

/// A record as a document; `report RECORD -o FILE.json` writes it. All forms of the document show
/// the same figures, rounded once.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReportView {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    /// What it says.
    #[serde(flatten)]
    pub document: Document,
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

/// A record with what views and models say of it: what sections are made from.
#[derive(Debug)]
pub(crate) struct Sources<'a> {
    pub record: &'a Record,
    pub figures: RecordFigures<'a>,
    pub topo: Topology,
    pub show: ShowView,
    pub models: Vec<FittedModel>,
    pub unavailable: Vec<Unavailable>,
    /// A program that was watched, and its point below the roofs of memory.
    pub program: Option<(&'a Profile, ProfiledPoint)>,
}

impl Document {
    pub fn new(record: &Record) -> Self {
        Self::with_choices(record, &ModelChoices::default())
    }

    /// The document of a record with these choices about its models.
    pub fn with_choices(record: &Record, choices: &ModelChoices) -> Self {
        Self::of(&Sources::new(record, choices))
    }

    pub(crate) fn of(sources: &Sources<'_>) -> Self {
        let header = &sources.record.header;
        Self {
            title: format!("{}, {}", header.host, header.started),
            is_simulated: header.executor == Executor::Simulated,
            program: PROGRAM,
            cautions: cautions(sources),
            summary: summary(sources),
            sections: sections::all(sources),
            paper_tables: sections::paper_tables(sources),
        }
    }
}

impl ReportView {
    /// The document of a record with these choices about its models.
    pub fn new(record: &Record, choices: &ModelChoices) -> Self {
        Self {
            schema: "nearfar.report/1",
            measured: MeasuredView::new(record),
            document: Document::with_choices(record, choices),
        }
    }
}

impl<'a> Sources<'a> {
    /// Views and all models.
    pub fn new(record: &'a Record, choices: &ModelChoices) -> Self {
        Self::with_models(record, choices, &ModelKind::ALL)
    }

    /// Views and these models, side by side, each in a thread of its own: what reading a record leaves
    /// behind in the memory of the one that read it makes everything there slow.
    pub fn with_models(record: &'a Record, choices: &ModelChoices, kinds: &[ModelKind]) -> Self {
        let figures = RecordFigures::new(record);
        let (show, (models, unavailable)) = scope(|scope| {
            let show = scope.spawn(|| ShowView::of(&figures));
            // A model that a choice does not fit is not there: choices of a record fit it.
            let fits = ModelKind::fit_all(kinds, &figures, choices).unwrap_or_default();
            (show.join().unwrap_or_else(|panic| resume_unwind(panic)), fits)
        });
        let topo = Topology::new(&record.header.machine);
        Self { record, figures, topo, show, models, unavailable, program: None }
    }
}

/// The result of each model, where the record has it.
macro_rules! results {
    ($($name:ident: $Model:ident),* $(,)?) => {
        impl Sources<'_> {
            $(pub fn $name(&self) -> Option<&nearfar_model::$Model> {
                self.models.iter().find_map(|model| match model {
                    FittedModel::$Model(model) => Some(&**model),
                    _ => None,
                })
            })*
        }
    };
}

results!(
    classes: Classes,
    latency: Latency,
    sharing: Sharing,
    roofline: Roofline,
    hybrid: Hybrid,
    distribution: Distribution,
    strategy: Strategy,
    devices: Devices,
);

fn cautions(sources: &Sources<'_>) -> Vec<String> {
    let mut cautions = Vec::new();
    if sources.show.measured.executor == Executor::Simulated {
        cautions.push("SIMULATED: these figures were worked out, not measured.".into());
    }
    cautions.extend(
        sources.show.measured.sealing.finding().map(|finding| format!("WARNING: {finding}.")),
    );
    if sources.show.unfinished {
        cautions.push(
            "Measuring did not end in order: what is missing was not measured. `nearfar \
             characterize --resume` goes on."
                .into(),
        );
    }
    cautions
}
