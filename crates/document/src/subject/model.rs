//! The models of a record as `model` prints them.

use nearfar_model::{FittedModel, ModelKind, Unavailable, advising_command, command_on};
use nearfar_record::Record;
use serde::Serialize;

use super::origin::Origin;
use super::who::Who;
use super::{
    classes, devices, distribution, exchange, flow, hybrid, latency, latency_advice, network,
    roofline, roofline_advice, sharing, strategy, workloads,
};
use crate::answer::{Answer, Part, Shown};
use crate::document::Section;

/// Which models a record has; `model RECORD --json` prints it on its first line, and each model on
/// a line of its own behind it, whose `schema` names its format.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelsOfRecord {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: Origin,
    /// The models that there are, in the order of their lines.
    pub models: Vec<ModelKind>,
    /// The models that say nothing of this record, and why.
    pub unavailable: Vec<Unavailable>,
}

/// A model of a record for people.
pub fn model_answer(record: &Record, model: &FittedModel) -> Answer {
    let who = Who::new(&record.header.machine);
    match model {
        FittedModel::Classes(model) => classes::told(model, &who),
        FittedModel::Exchange(model) => {
            let section = exchange::section(model);
            let section = section.map(|it| Answer::default().and_section(it, FIRST_ROWS));
            section.unwrap_or_default().and_next([(
                command_on(record, "report", "-o FILE.html").as_str(),
                "every pair of CPUs as a map",
            )])
        }
        other => section_of(other, &who)
            .map(|section| Answer::default().and_section(section, FIRST_ROWS))
            .unwrap_or_default(),
    }
}

/// Rows of the first screen.
const FIRST_ROWS: usize = 10;

fn section_of(model: &FittedModel, who: &Who) -> Option<Section> {
    match model {
        FittedModel::Classes(model) => Some(classes::section(model, who)),
        FittedModel::Exchange(model) => exchange::section(model),
        FittedModel::Latency(model) => latency::section(&[], Some(model), who),
        FittedModel::Sharing(model) => sharing::section(&[], Some(model), who),
        FittedModel::Roofline(model) => roofline::section(&[], Some(model), who),
        FittedModel::Hybrid(model) => hybrid::section(&[], Some(model), who),
        FittedModel::Distribution(model) => Some(distribution::section(model)),
        FittedModel::Flow(model) => Some(flow::section(&[], Some(model), who)),
        FittedModel::Strategy(model) => Some(strategy::section(model)),
        FittedModel::Devices(model) => devices::section(&[], Some(model)),
        FittedModel::Network(model) => Some(network::section(model, who)),
        FittedModel::Workloads(model) => Some(workloads::section(model, who)),
    }
}

/// What it says, in a sentence or two.
fn gist(model: &FittedModel, who: &Who) -> Option<String> {
    match model {
        FittedModel::Classes(model) => classes::answer(model),
        FittedModel::Latency(model) => latency::answer(model, who),
        FittedModel::Exchange(model) => exchange::answer(model),
        FittedModel::Sharing(model) => sharing::answer(model),
        FittedModel::Roofline(model) => roofline::answer(model, who),
        FittedModel::Flow(model) => flow::answer(model),
        FittedModel::Network(model) => network::answer(model, who),
        FittedModel::Strategy(model) => Some(strategy::answer(model)),
        FittedModel::Hybrid(_)
        | FittedModel::Distribution(_)
        | FittedModel::Devices(_)
        | FittedModel::Workloads(_) => None,
    }
    .or_else(|| model_findings(model, who).into_iter().next())
}

/// What a reader can do by a model, in sentences: those that end its text; none where it only shows
/// figures.
pub(crate) fn model_findings(model: &FittedModel, who: &Who) -> Vec<String> {
    match model {
        FittedModel::Classes(_) => Vec::new(),
        FittedModel::Latency(model) => latency_advice::findings(model, who),
        FittedModel::Exchange(model) => exchange::findings(model),
        FittedModel::Sharing(model) => sharing::findings(model, who),
        FittedModel::Roofline(model) => roofline_advice::findings(model, who),
        FittedModel::Hybrid(model) => hybrid::findings(model, who),
        FittedModel::Distribution(model) => distribution::findings(model),
        FittedModel::Flow(model) => flow::findings(model, who),
        FittedModel::Strategy(model) => strategy::findings(model),
        FittedModel::Devices(model) => devices::findings(model),
        FittedModel::Network(model) => network::findings(model, who),
        FittedModel::Workloads(model) => workloads::findings(model),
    }
}

impl ModelsOfRecord {
    pub fn new(record: &Record, fitted: &[FittedModel], unavailable: Vec<Unavailable>) -> Self {
        Self {
            schema: "nearfar.model/1",
            measured: Origin::new(record),
            models: fitted.iter().map(FittedModel::kind).collect(),
            unavailable,
        }
    }

    /// For people: what each model says; every model whole with `--full`.
    pub fn answer(&self, record: &Record, fitted: &[FittedModel]) -> Answer {
        let name = |kind: ModelKind| format!("{:14}", kind.as_str());
        let who = &self.measured.who;
        let said = fitted.iter().map(|model| {
            let gist = gist(model, who);
            let gist = gist.unwrap_or_else(|| "figures alone".into());
            Part::words(name(model.kind()), gist)
        });
        let lacking = self.unavailable.iter().flat_map(|Unavailable { model, why }| {
            let why_not = Part::words(name(*model), format!("no model: {}", why.why));
            let remedy = why.remedy.as_ref();
            let remedy = remedy.map(|it| Part::words(format!("{:14}-> ", ""), format!("`{it}`")));
            std::iter::once(why_not).chain(remedy)
        });
        let lacking: Vec<Part> = lacking.collect();
        let first = self
            .measured
            .answer()
            .and(Shown::Always, Part::Gap)
            .and_all(Shown::First, said)
            .and_all(Shown::First, lacking.iter().cloned());
        let whole = fitted.iter().fold(first, |answer, model| {
            let title = Part::Title(model.kind().as_str().into());
            let answer = answer.and_all(Shown::Full, [Part::Gap, title]);
            answer.and_all(Shown::Full, model_answer(record, model).full())
        });
        let one = command_on(record, "model", "NAME");
        let advise = advising_command(record);
        let advise = advise.as_deref().map(|it| (it, "where to put a program"));
        let next = [(one.as_str(), "one model: its tables, errors and advice")];
        let next = next.into_iter().chain(advise);
        whole.and_all(Shown::Full, [Part::Gap]).and_all(Shown::Full, lacking).and_next(next)
    }
}
