//! `model`: what a record means.

use std::panic::resume_unwind;
use std::path::Path;
use std::thread::{ScopedJoinHandle, scope};

use anyhow::{anyhow, bail};
use clap::ValueEnum;
use nearfar_machine::{Machine, TheoreticalMaximum};
use nearfar_model::{
    Inapplicable, NoClasses, OverlapBounds, RecordFigures, classes, distribution, flow, hybrid,
    latency, roofline, sharing, strategy,
};
use nearfar_record::{Experiment, Record};
use nearfar_report::{
    ClassesView, DistributionView, FittedView, FlowView, HybridModelView, LatencyModelView,
    ModelView, RooflineView, SharingModelView, StrategyView, UnavailableView, printable,
};

use crate::args::{ClassArguments, ModelArguments, ModelName};
use crate::exit_status::ExitStatus;
use crate::{output, record_file};

pub fn run(arguments: &ModelArguments) -> anyhow::Result<ExitStatus> {
    let (named, model) = record_and_model(arguments);
    let (path, record) = record_file::read_named_or_newest(named)?;
    let answer = Answer { arguments, record: &record, figures: RecordFigures::new(&record) };
    let text = match model {
        None => answer.all()?,
        Some(model) => answer.one(model)?,
    };
    output::print(&text)?;
    if !arguments.json {
        output::print(&format!("\nrecord: {}\n", printable(&path.display().to_string())))?;
    }
    Ok(ExitStatus::Done)
}

/// `nearfar model classes` asks for a model of the newest record: a single argument
/// that names a model is the model (a record of such a name is `./classes`).
fn record_and_model(arguments: &ModelArguments) -> (Option<&Path>, Option<ModelName>) {
    let record = arguments.record.as_deref();
    if arguments.model.is_some() {
        return (record, arguments.model);
    }
    let named =
        record.and_then(Path::to_str).and_then(|name| ModelName::from_str(name, false).ok());
    if named.is_some() { (None, named) } else { (record, None) }
}

/// What is asked of which record.
struct Answer<'a> {
    arguments: &'a ModelArguments,
    record: &'a Record,
    figures: RecordFigures<'a>,
}

impl Answer<'_> {
    /// One model; an error where the record does not hold what it needs.
    fn one(&self, model: ModelName) -> anyhow::Result<String> {
        let view = self.fitted(model)?.map_err(|Inapplicable { why, remedy }| {
            let remedy = remedy.map_or_else(String::new, |command| format!("; try `{command}`"));
            anyhow!("no {} model: {why}{remedy}", word(model))
        })?;
        Ok(if self.arguments.json { serde_json::to_string(&view)? + "\n" } else { view.text() })
    }

    /// All models that the record holds something for.
    fn all(&self) -> anyhow::Result<String> {
        let mut fitted = Vec::new();
        let mut unavailable = Vec::new();
        // Side by side: the models of a full record of a large machine take longer than its reader
        // waits gladly.
        let models = ModelName::value_variants();
        let answers: Vec<_> = scope(|scope| {
            let running: Vec<_> =
                models.iter().map(|&model| scope.spawn(move || self.fitted(model))).collect();
            let ended = running.into_iter().map(ScopedJoinHandle::join);
            ended.map(|answer| answer.unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        for (&model, answer) in models.iter().zip(answers) {
            match answer? {
                Ok(view) => fitted.push(view),
                Err(why) => unavailable.push(UnavailableView::new(word(model), why)),
            }
        }
        if fitted.is_empty() {
            bail!(
                "the record holds nothing that a model needs; measure by `nearfar characterize \
                 --suite standard`"
            );
        }
        let all = ModelView::new(self.record, &fitted, unavailable);
        if !self.arguments.json {
            return Ok(all.text(&fitted));
        }
        let mut lines = serde_json::to_string(&all)? + "\n";
        for view in &fitted {
            lines += &(serde_json::to_string(view)? + "\n");
        }
        Ok(lines)
    }

    /// A model; the outer error is that of an option.
    fn fitted(&self, model: ModelName) -> anyhow::Result<Result<FittedView, Inapplicable>> {
        let (record, figures) = (self.record, &self.figures);
        Ok(match model {
            ModelName::Classes => return self.classes(),
            ModelName::Latency => latency(figures)
                .map(|model| FittedView::Latency(Box::new(LatencyModelView::new(record, &model)))),
            ModelName::Sharing => sharing(figures)
                .map(|model| FittedView::Sharing(Box::new(SharingModelView::new(record, &model)))),
            ModelName::Roofline => roofline(figures)
                .map(|model| FittedView::Roofline(Box::new(RooflineView::new(record, &model)))),
            ModelName::Hybrid => hybrid(figures, self.overlap_bounds())
                .map(|model| FittedView::Hybrid(Box::new(HybridModelView::new(record, &model)))),
            ModelName::Distribution => distribution(figures).map(|model| {
                FittedView::Distribution(Box::new(DistributionView::new(record, &model)))
            }),
            ModelName::Flow => {
                flow(figures).map(|model| FittedView::Flow(Box::new(FlowView::new(record, &model))))
            }
            ModelName::Strategy => strategy(figures)
                .map(|model| FittedView::Strategy(Box::new(StrategyView::new(record, &model)))),
        })
    }

    fn classes(&self) -> anyhow::Result<Result<FittedView, Inapplicable>> {
        let ModelArguments { classes: asked, per_initiator, .. } = self.arguments;
        match classes(&self.figures, &asked.rule(*per_initiator)) {
            Ok(classes) => {
                let gamma = gamma(asked, &self.record.header.machine);
                let view = ClassesView::new(self.record, &classes, &gamma);
                Ok(Ok(FittedView::Classes(Box::new(view))))
            }
            Err(NoClasses::NoPairs) => {
                Ok(Err(Inapplicable::without(self.record, Experiment::Pairs)))
            }
            Err(option) => Err(option.into()),
        }
    }

    fn overlap_bounds(&self) -> OverlapBounds {
        if self.arguments.unbounded { OverlapBounds::None } else { OverlapBounds::NotNegative }
    }
}

fn word(name: ModelName) -> &'static str {
    match name {
        ModelName::Classes => "classes",
        ModelName::Latency => "latency",
        ModelName::Sharing => "sharing",
        ModelName::Roofline => "roofline",
        ModelName::Hybrid => "hybrid",
        ModelName::Distribution => "distribution",
        ModelName::Flow => "flow",
        ModelName::Strategy => "strategy",
    }
}

/// The theoretical maximum: as given, else by the memory modules, else why there is none.
pub fn gamma(arguments: &ClassArguments, machine: &Machine) -> Result<TheoreticalMaximum, String> {
    match &arguments.gamma {
        Some(given) => Ok(given.clone()),
        None => TheoreticalMaximum::of_memory(machine),
    }
}
