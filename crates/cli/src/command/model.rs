//! `model`: what a record means.

use std::path::Path;

use anyhow::bail;
use nearfar_document::{
    ModelResult, ModelsOfRecord, Origin, device_classes_text, model_text, printable,
};
use nearfar_model::{FittedModel, ModelChoices, ModelKind, OverlapBounds, RecordFigures};
use nearfar_record::Record;

use super::no_model;
use crate::args::ModelArguments;
use crate::exit_status::ExitStatus;
use crate::progress::Waiting;
use crate::{output, record_file};

pub fn run(arguments: &ModelArguments) -> anyhow::Result<ExitStatus> {
    let (named, model) = record_and_model(arguments);
    let (path, record) = record_file::read_named_or_newest(named)?;
    let answer = Answer { arguments, record: &record, figures: RecordFigures::new(&record) };
    let waiting = Waiting::new("fitting the models", None);
    let text = match model {
        None => answer.all()?,
        Some(ModelKind::Classes) => answer.classes()?,
        Some(model) => answer.one(model)?,
    };
    drop(waiting);
    output::print(&text)?;
    if !arguments.json {
        output::print(&format!("\nrecord: {}\n", printable(&path.display().to_string())))?;
    }
    Ok(ExitStatus::Done)
}

/// `nearfar model classes` asks for a model of the newest record: a single argument
/// that names a model is the model (a record of such a name is `./classes`).
fn record_and_model(arguments: &ModelArguments) -> (Option<&Path>, Option<ModelKind>) {
    let record = arguments.record.as_deref();
    if arguments.model.is_some() {
        return (record, arguments.model);
    }
    let is_named = |kind: &ModelKind| record.is_some_and(|name| name == Path::new(kind.as_str()));
    let named = ModelKind::ALL.into_iter().find(is_named);
    if named.is_some() { (None, named) } else { (record, None) }
}

struct Answer<'a> {
    arguments: &'a ModelArguments,
    record: &'a Record,
    figures: RecordFigures<'a>,
}

impl Answer<'_> {
    /// One model; an error where the record does not hold what it needs.
    fn one(&self, kind: ModelKind) -> anyhow::Result<String> {
        let model = kind.fit(&self.figures, &self.choices())?.map_err(no_model(kind.as_str()))?;
        if self.arguments.json {
            self.json(&model)
        } else {
            Ok(self.heading() + &model_text(self.record, &model))
        }
    }

    fn heading(&self) -> String {
        Origin::new(self.record).heading()
    }

    fn json(&self, model: &FittedModel) -> anyhow::Result<String> {
        output::json_line(&ModelResult::of(self.record, model))
    }

    /// The classes of memory, and where the record holds copies to and from devices, theirs. JSON is
    /// one object: of devices only where there are no others, since `model devices` has them too.
    fn classes(&self) -> anyhow::Result<String> {
        let devices = match ModelKind::Devices.fit(&self.figures, &self.choices())? {
            Ok(FittedModel::Devices(model)) => model,
            _ => return self.one(ModelKind::Classes),
        };
        let memory = ModelKind::Classes.fit(&self.figures, &self.choices())?.ok();
        if self.arguments.json {
            return self.json(&memory.unwrap_or(FittedModel::Devices(devices)));
        }
        let of_memory =
            memory.map_or_else(String::new, |model| model_text(self.record, &model) + "\n");
        Ok(self.heading() + &of_memory + &device_classes_text(&devices))
    }

    /// All models that the record holds something for.
    fn all(&self) -> anyhow::Result<String> {
        let (fitted, unavailable) =
            ModelKind::fit_all(&ModelKind::ALL, &self.figures, &self.choices())?;
        if fitted.is_empty() {
            bail!(
                "the record holds nothing that a model needs; measure by `nearfar characterize \
                 --suite standard`"
            );
        }
        let all = ModelsOfRecord::new(self.record, &fitted, unavailable);
        if !self.arguments.json {
            return Ok(all.text(&fitted));
        }
        let mut lines = output::json_line(&all)?;
        for model in &fitted {
            lines += &self.json(model)?;
        }
        Ok(lines)
    }

    fn choices(&self) -> ModelChoices {
        let ModelArguments { classes: asked, per_group, unbounded, .. } = self.arguments;
        ModelChoices {
            class_rule: asked.rule(*per_group),
            device_rule: asked.device_rule(),
            overlap_bounds: if *unbounded {
                OverlapBounds::None
            } else {
                OverlapBounds::NotNegative
            },
        }
    }
}
