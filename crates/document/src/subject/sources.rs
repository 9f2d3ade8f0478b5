//! A record with what models say of it.

use nearfar_model::{
    FittedModel, ModelChoices, ModelKind, ProfiledPoint, ProgramAnswer, RecordFigures, Unavailable,
    beside, profiled_point,
};
use nearfar_record::{Profile, Record};

use super::machine::Topology;
use super::show::ShownRecord;

/// What a report is to hold beside what was measured.
#[derive(Debug, Default)]
pub struct ReportChoices {
    pub models: ModelChoices,
    /// A program that was watched: its point stands among the roofs of a page, if it has one
    /// ([`profiled_point`]).
    pub profile: Option<Profile>,
    /// A program's predicted time at every placement.
    pub program: Option<ProgramAnswer>,
}

/// What sections are made from.
#[derive(Debug)]
pub(crate) struct Sources<'a> {
    pub record: &'a Record,
    pub figures: RecordFigures<'a>,
    pub topo: Topology,
    pub show: ShownRecord,
    pub models: Vec<FittedModel>,
    pub unavailable: Vec<Unavailable>,
    /// A program that was watched, and its point below the roofs of memory.
    pub profiled: Option<(&'a Profile, ProfiledPoint)>,
    /// A program's predicted time.
    pub program: Option<&'a ProgramAnswer>,
}

impl<'a> Sources<'a> {
    /// Of all models.
    pub fn new(record: &'a Record, choices: &ModelChoices) -> Self {
        Self::with_models(record, choices, &ModelKind::ALL)
    }

    /// Of a report.
    pub fn of_report(record: &'a Record, choices: &'a ReportChoices) -> Self {
        let profiled = choices.profile.as_ref();
        let profiled = profiled.and_then(|profile| Some((profile, profiled_point(profile).ok()?)));
        let program = choices.program.as_ref();
        Self { profiled, program, ..Self::new(record, &choices.models) }
    }

    /// Of these models; figures and models side by side, each in a thread of its own: what reading a record leaves
    /// behind in the memory of the one that read it makes everything there slow.
    pub fn with_models(record: &'a Record, choices: &ModelChoices, kinds: &[ModelKind]) -> Self {
        let figures = RecordFigures::new(record);
        let (show, (models, unavailable)) = beside(
            || ShownRecord::of(&figures),
            // A model that a choice does not fit is not there: choices of a record fit it.
            || ModelKind::fit_all(kinds, &figures, choices).unwrap_or_default(),
        );
        let topo = Topology::new(&record.header.machine);
        Self { record, figures, topo, show, models, unavailable, profiled: None, program: None }
    }
}

/// The result of each model, where the record has it.
macro_rules! results {
    ($($name:ident: $Model:ident of $Variant:ident),* $(,)?) => {
        impl Sources<'_> {
            $(pub fn $name(&self) -> Option<&nearfar_model::$Model> {
                self.models.iter().find_map(|model| match model {
                    FittedModel::$Variant(model) => Some(&**model),
                    _ => None,
                })
            })*
        }
    };
}

results!(
    classes: Classes of Classes,
    latency: Latency of Latency,
    exchanges: Exchanges of Exchange,
    sharing: Sharing of Sharing,
    roofline: Roofline of Roofline,
    hybrid: Hybrid of Hybrid,
    distribution: Distribution of Distribution,
    strategy: Strategy of Strategy,
    devices: Devices of Devices,
    network: Network of Network,
    flow: FlowSummary of Flow,
    workloads: Workloads of Workloads,
);
