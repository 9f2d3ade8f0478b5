//! `model`: what a record means.

use std::path::Path;

use anyhow::bail;
use nearfar_document::{
    Answer as Told, ModelResult, ModelsOfRecord, Origin, device_class_answer, model_answer,
    printable,
};
use nearfar_model::{
    FittedModel, ModelChoices, ModelKind, OverlapBounds, RecordFigures, command_on,
    measuring_command,
};
use nearfar_record::{Experiment, Record, Suite};

use super::no_model;
use crate::args::ModelArguments;
use crate::exit_status::ExitStatus;
use crate::progress::Waiting;
use crate::{output, record_file};

pub fn run(arguments: &ModelArguments) -> anyhow::Result<ExitStatus> {
    let (named, model) = record_and_model(arguments);
    if let Some((option, of)) = model.and_then(|kind| arguments.option_of_another(kind)) {
        bail!("{option} is of the model {of}, and says nothing of this one: leave it out");
    }
    let (path, record) = record_file::read_named_or_newest(named)?;
    let answer = Answer { arguments, record: &record, figures: RecordFigures::new(&record) };
    match model {
        None => answer.all()?,
        Some(ModelKind::Classes) => answer.classes()?,
        Some(model) => answer.one(model)?,
    }
    answer.name_record(&path)?;
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
    fn one(&self, kind: ModelKind) -> anyhow::Result<()> {
        let waiting = Waiting::new("fitting the model", None);
        let model = kind.fit(&self.figures, &self.choices())?.map_err(no_model(kind.as_str()))?;
        drop(waiting);
        self.tell(&model, || model_answer(self.record, &model))
    }

    fn tell(&self, model: &FittedModel, told: impl FnOnce() -> Told) -> anyhow::Result<()> {
        let origin = || Origin::new(self.record).answer().and_gap();
        let view = ModelResult::of(self.record, model);
        output::answer(self.arguments.form(), &view, || origin().and_answer(told())).map(drop)
    }

    /// The classes of memory, and where the record holds copies to and from devices, theirs. JSON is
    /// one object: of devices only where there are no others, since `model devices` has them too.
    fn classes(&self) -> anyhow::Result<()> {
        let devices = match ModelKind::Devices.fit(&self.figures, &self.choices())? {
            Ok(FittedModel::Devices(model)) => model,
            _ => return self.one(ModelKind::Classes),
        };
        let memory = ModelKind::Classes.fit(&self.figures, &self.choices())?.ok();
        let told = || {
            let of_memory = memory.as_ref().map(|model| model_answer(self.record, model).and_gap());
            of_memory.unwrap_or_default().and_answer(device_class_answer(&devices))
        };
        match &memory {
            Some(model) => self.tell(model, told),
            None => self.tell(&FittedModel::Devices(devices.clone()), told),
        }
    }

    /// All models that the record holds something for.
    fn all(&self) -> anyhow::Result<()> {
        let waiting = Waiting::new("fitting the models", None);
        let (fitted, unavailable) =
            ModelKind::fit_all(&ModelKind::ALL, &self.figures, &self.choices())?;
        drop(waiting);
        let commands = self.record.header.inputs.commands.as_ref().filter(|_| fitted.is_empty());
        if commands.is_some_and(|commands| !commands.pressures.is_empty()) {
            bail!(
                "the record holds the runs of `profile --pressure`, whose --out has what follows from them"
            );
        }
        if commands.is_some() {
            let command = command_on(self.record, "sensitivity --from", "");
            bail!("the record holds runs of programs; `{command}` tells of them");
        }
        if fitted.is_empty() {
            let standard = [Experiment::Pairs, Experiment::Latency, Experiment::Roofs];
            let command = measuring_command(self.record, &standard, Suite::Standard);
            bail!("the record holds nothing that a model needs; `{command}` adds what most need");
        }
        let all = ModelsOfRecord::new(self.record, &fitted, unavailable);
        output::answer(self.arguments.form(), &all, || all.answer(self.record, &fitted))?;
        if self.arguments.json {
            for model in &fitted {
                output::print(&output::json_line(&ModelResult::of(self.record, model))?)?;
            }
        }
        Ok(())
    }

    /// Which record it was, where that was not said.
    fn name_record(&self, path: &Path) -> anyhow::Result<()> {
        if self.arguments.json {
            return Ok(());
        }
        output::print(&format!("record: {}\n", printable(&path.display().to_string())))
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
