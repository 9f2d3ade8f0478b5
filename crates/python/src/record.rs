//! A record: read or simulated, and what is asked of it.

use std::fmt::Display;
use std::fs::File;
use std::path::{Path, PathBuf};

use nearfar_advise::{AdviceError, Demand, Pattern, advise_device, advise_each, declared_program};
use nearfar_document::{
    AdvisedDevice, AdvisedPlacement, Comparison, Format, Frame, ModelResult, Origin,
    PredictedAccesses, ReportChoices, ShowChoice, accesses_beside_traffic, changed_machine,
    model_answer, placements_over_two_memories, predicted_streams, program_at_placements,
    programs_below_roofs, show_answer, write_document,
};
use nearfar_flow::read_machine;
use nearfar_machine::{Binding, BindingError, TheoreticalMaximum};
use nearfar_measure::simulated::simulate as measured;
use nearfar_measure::suite_inputs;
use nearfar_model::{
    Beside, Change, ChangeError, ClassAlphas, ClassRule, ComparedRecord, CurveQuestion,
    GFLOP_RATES, INTENSITIES, Inapplicable, IntensityKind, LARGEST_FLOOR, MOST_COPIES,
    ModelChoices, ModelKind, OverlapBounds, PRACTICAL_FLOOR, ProgramPoint, ProgramQuestion,
    RecordFigures, classes, flow, hybrid, latency, measuring_command, predict_program,
    reach_of_nodes, roofline, what_if,
};
use nearfar_record::{Experiment, Record, Suite, read_program_profile};
use nearfar_sys::{WritableFile, is_same_file};
use nearfar_units::{BytesPerSecond, FlopsPerSecond, did_you_mean, from_word, words_of};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::answer::{Told, json, text, told};
use crate::failure::{failed, interruptible};
use crate::frame::RecordFrame;
use crate::ranking::PyRanking;

/// A loss that does not matter.
pub fn checked_floor(floor: f64) -> Result<f64, String> {
    match (0.0..LARGEST_FLOOR).contains(&floor) {
        true => Ok(floor),
        false => Err(format!(
            "floor: {floor} is no loss: give a fraction from 0 to below {LARGEST_FLOOR}"
        )),
    }
}

/// Traffic beside a program or an access.
fn beside(bytes_per_s: f64, read_share: f64) -> Result<Beside, String> {
    /// Far beyond any memory.
    const MOST: f64 = 1e15;
    if !(0.0..=1.0).contains(&read_share) {
        return Err(format!("a share of reads is between 0 and 1, and not {read_share}"));
    }
    if !(0.0..=MOST).contains(&bytes_per_s) {
        return Err(format!("{} GB/s are no traffic", bytes_per_s / 1e9));
    }
    Ok(Beside { traffic: bytes_per_s, read_share })
}

/// A record in memory.
#[pyclass(frozen, name = "ReadRecord", module = "nearfar")]
pub struct ReadRecord {
    record: Record,
}

/// Reads a record.
#[pyfunction]
pub fn read_record(py: Python<'_>, path: PathBuf) -> PyResult<ReadRecord> {
    py.detach(|| read_file(&path)).map(|record| ReadRecord { record }).map_err(failed)
}

/// # Errors
/// Where it cannot be read, in the program's words.
pub fn read_file(path: &Path) -> Result<Record, String> {
    let mut record = read_as("record", path, nearfar_record::read_record)?;
    record.file = Some(path.into());
    Ok(record)
}

fn read_as<T, E: Display>(
    kind: &str,
    path: &Path,
    read: impl FnOnce(File) -> Result<T, E>,
) -> Result<T, String> {
    let file = File::open(path)
        .map_err(|error| format!("cannot open the {kind} {}: {error}", path.display()))?;
    read(file).map_err(|error| format!("{}: {error}", path.display()))
}

/// Measures a simulated machine, into memory only.
#[pyfunction]
#[pyo3(signature = (machine, suite, experiments, seed, noise))]
pub fn simulate_record(
    py: Python<'_>,
    machine: &str,
    suite: &str,
    experiments: Option<Vec<String>>,
    seed: Option<u64>,
    noise: bool,
) -> PyResult<ReadRecord> {
    let (machine, suite) = (machine.to_owned(), suite.to_owned());
    interruptible(py, move || {
        let mut inputs = suite_inputs(named::<Suite>("suite", &suite)?);
        if let Some(names) = experiments {
            if names.is_empty() {
                return Err(format!(
                    "only: name an experiment, or leave it out; there are {}",
                    words_of::<Experiment>().join(", ")
                ));
            }
            let chosen = names.iter().map(|name| named::<Experiment>("experiment", name));
            let chosen: Vec<Experiment> = chosen.collect::<Result<_, _>>()?;
            // In the order in which they are measured.
            inputs.experiments =
                Experiment::OF_MACHINE.into_iter().filter(|it| chosen.contains(it)).collect();
        }
        inputs.seed = seed.unwrap_or(inputs.seed);
        let machine = read_machine(&machine).map_err(|error| error.to_string())?;
        let record = measured(&machine, inputs, noise).map_err(|error| error.to_string())?;
        Ok(ReadRecord { record })
    })
}

/// The variant with this word, or what there is instead.
fn named<T: for<'de> Deserialize<'de>>(what: &str, word: &str) -> Result<T, String> {
    from_word(word).ok_or_else(|| {
        let words = words_of::<T>();
        let meant = did_you_mean(word, words.iter().copied());
        format!("there is no {what} '{word}'{meant}; there are {}", words.join(", "))
    })
}

#[pymethods]
impl ReadRecord {
    #[getter]
    fn host(&self) -> &str {
        &self.record.header.host
    }

    #[getter]
    fn started(&self) -> &str {
        &self.record.header.started
    }

    /// Whether a machine was measured or simulated.
    #[getter]
    fn is_simulated(&self) -> bool {
        self.record.header.simulation.is_some()
    }

    #[getter]
    fn suite(&self) -> &str {
        self.record.header.inputs.suite.as_str()
    }

    /// Whether the last line is torn and was left out.
    #[getter]
    fn torn(&self) -> bool {
        self.record.torn
    }

    /// Whether the record is as it was written: `fit`, `edited` or `absent`.
    #[getter]
    fn seals(&self) -> &'static str {
        Origin::new(&self.record).sealing.seals
    }

    /// What must be known before any figure is believed, in sentences.
    #[getter]
    fn cautions(&self) -> Vec<String> {
        let origin = Origin::new(&self.record);
        let cautions = origin.simulated().into_iter().chain(origin.broken_seals());
        cautions.map(String::from).collect()
    }

    fn machine(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| json(&self.record.header.machine)).map_err(failed)
    }

    /// What `show` prints.
    fn text(&self, py: Python<'_>) -> String {
        let choice = ShowChoice { experiments: Vec::new(), remarks: false, full: false };
        py.detach(|| text(&show_answer(&self.record, &choice)))
    }

    fn samples(&self, py: Python<'_>) -> PyResult<RecordFrame> {
        py.detach(|| RecordFrame::new(Frame::Samples, &self.record))
    }

    fn figures(&self, py: Python<'_>) -> PyResult<RecordFrame> {
        py.detach(|| RecordFrame::new(Frame::Figures, &self.record))
    }

    fn absent(&self, py: Python<'_>) -> PyResult<RecordFrame> {
        py.detach(|| RecordFrame::new(Frame::Absent, &self.record))
    }

    fn model(&self, py: Python<'_>, name: &str) -> PyResult<Told> {
        py.detach(|| {
            let kind = named::<ModelKind>("model", name)?;
            let figures = RecordFigures::new(&self.record);
            let fitted = kind.fit(&figures, &ModelChoices::default());
            let fitted = fitted.map_err(|error| error.to_string())?;
            let model = fitted.map_err(|without| without.without_model(name))?;
            let answer = Origin::new(&self.record).answer().and_gap();
            let answer = answer.and_answer(model_answer(&self.record, &model));
            told(&ModelResult::of(&self.record, &model), &answer)
        })
        .map_err(failed)
    }

    #[pyo3(signature = (threads, initiators, working_set, load_share, pattern))]
    fn advise(
        &self,
        py: Python<'_>,
        threads: Option<u32>,
        initiators: Option<Vec<u32>>,
        working_set: Option<u64>,
        load_share: Option<f64>,
        pattern: Option<String>,
    ) -> PyResult<Told> {
        py.detach(|| {
            let pattern = pattern.map(|word| named::<Pattern>("pattern", &word)).transpose()?;
            let patterns = pattern.map_or_else(|| Pattern::UNKNOWN.to_vec(), |only| vec![only]);
            let demand = Demand {
                threads,
                initiators,
                working_set_bytes: working_set,
                load_share,
                pattern: pattern.unwrap_or(Pattern::Private),
                seen: None,
            };
            let each = advise_each(&RecordFigures::new(&self.record), &demand, &patterns);
            let each = each.map_err(|error| match &error {
                AdviceError::NoModel(without) => format!("{error}{}", without.tried()),
                AdviceError::Demand(demand) => demand.to_string(),
            })?;
            let advised = AdvisedPlacement::new(&self.record, &demand, &each, None);
            told(&advised, &advised.answer())
        })
        .map_err(failed)
    }

    /// What streams get that run at the same time.
    fn predict_streams(&self, py: Python<'_>, streams: Vec<String>) -> PyResult<Told> {
        py.detach(|| {
            let parse =
                |text: &String| text.parse().map_err(|error: BindingError| error.to_string());
            let streams = streams.iter().map(parse).collect::<Result<Vec<Binding>, String>>()?;
            let model = flow(&RecordFigures::new(&self.record)).map_err(no_model("flow"))?;
            let prediction = model.predict(&self.record.header.machine, &streams);
            let prediction = prediction.map_err(|error| error.to_string())?;
            let view = ModelResult::new("nearfar.predict-flow/2", &self.record, prediction);
            told(&view, &predicted_streams(&view))
        })
        .map_err(failed)
    }

    /// What accesses take beside traffic, bytes/s.
    #[pyo3(signature = (read_share, bytes_per_s, initiator, memory_node))]
    fn predict_curve(
        &self,
        py: Python<'_>,
        read_share: f64,
        bytes_per_s: f64,
        initiator: Option<u32>,
        memory_node: Option<u32>,
    ) -> PyResult<Told> {
        py.detach(|| {
            let Beside { traffic, read_share } = beside(bytes_per_s, read_share)?;
            let model = latency(&RecordFigures::new(&self.record)).map_err(no_model("latency"))?;
            if model.families.is_empty() {
                let latency = [Experiment::Latency];
                let command = measuring_command(&self.record, &latency, Suite::Standard);
                return Err(format!("the record holds no latency beside traffic; try `{command}`"));
            }
            let traffic = BytesPerSecond(traffic);
            let asked = CurveQuestion { read_share, traffic, initiator, memory_node };
            let answer = model.beside_traffic(&asked)?;
            let view = ModelResult::new("nearfar.predict-curve/1", &self.record, answer);
            told(&view, &accesses_beside_traffic(&view))
        })
        .map_err(failed)
    }

    /// What loads and stores get over a fast and a slow memory.
    fn predict_hybrid(
        &self,
        py: Python<'_>,
        load_share: f64,
        fast_shares: Vec<f64>,
    ) -> PyResult<Told> {
        py.detach(|| {
            let figures = RecordFigures::new(&self.record);
            let model = hybrid(&figures, OverlapBounds::NotNegative).map_err(no_model("hybrid"))?;
            let answer = model.answer(load_share, &fast_shares);
            let answer = answer.ok_or("a share is not between 0 and 1")?;
            let view = ModelResult::new("nearfar.predict-hybrid/2", &self.record, answer);
            told(&view, &placements_over_two_memories(&view))
        })
        .map_err(failed)
    }

    /// What a change of the machine would do; what its memory and its link are now.
    #[pyo3(signature = (change, gamma, phi))]
    fn predict_change(
        &self,
        py: Python<'_>,
        change: &str,
        gamma: Option<String>,
        phi: Option<String>,
    ) -> PyResult<Told> {
        py.detach(|| {
            let change: Change = change.parse().map_err(|error: ChangeError| error.to_string())?;
            let given = gamma.map(|name| TheoreticalMaximum::memory(&name)).transpose();
            let given = given.map_err(|error| error.to_string())?;
            let machine = &self.record.header.machine;
            let maximum = TheoreticalMaximum::given_or_of_memory(given, machine);
            let link = phi.map(|name| TheoreticalMaximum::link(&name)).transpose();
            let link = link.map_err(|error| error.to_string())?;
            let figures = RecordFigures::new(&self.record);
            let found = what_if(&figures, &change, &maximum, link.as_ref());
            let found = found.map_err(|why| why.without_answer(&change))?;
            let view = ModelResult::new("nearfar.predict-what-if/1", &self.record, found);
            told(&view, &changed_machine(&view))
        })
        .map_err(failed)
    }

    /// Where programs lie below the roofs, by FLOPs per byte and, where known, GFLOP/s.
    fn predict_points(&self, py: Python<'_>, points: Vec<(f64, Option<f64>)>) -> PyResult<Told> {
        py.detach(|| {
            if points.is_empty() {
                return Err("no point is given: FLOPs per byte, or these and GFLOP/s".into());
            }
            let within = |number: f64, what: &str, (least, most): (f64, f64)| match (least..=most)
                .contains(&number)
            {
                true => Ok(number),
                false => {
                    Err(format!("{number} is no {what}: give a number from {least} to {most}"))
                }
            };
            let point = |(intensity, gflop): (f64, Option<f64>)| -> Result<ProgramPoint, String> {
                let gflop =
                    gflop.map(|gflop| within(gflop, "rate in GFLOP/s", GFLOP_RATES)).transpose()?;
                Ok(ProgramPoint {
                    kind: IntensityKind::Arithmetic,
                    intensity: within(
                        intensity,
                        "arithmetic intensity in FLOPs per byte",
                        INTENSITIES,
                    )?,
                    flops: gflop.map(|gflop| FlopsPerSecond(gflop * 1e9)),
                })
            };
            let points: Vec<ProgramPoint> =
                points.into_iter().map(point).collect::<Result<_, _>>()?;
            let figures = RecordFigures::new(&self.record);
            let model = roofline(&figures).map_err(no_model("roofline"))?;
            let placed = model.place(&points, None);
            let view = ModelResult::new("nearfar.predict-roofline/2", &self.record, placed);
            told(&view, &programs_below_roofs(&view))
        })
        .map_err(failed)
    }

    /// A program's time at every placement: of a profile's file, or of a workload (`@cg.A`).
    #[pyo3(signature = (program, copies, bytes_per_s, read_share))]
    fn predict_program(
        &self,
        py: Python<'_>,
        program: PathBuf,
        copies: u32,
        bytes_per_s: f64,
        read_share: f64,
    ) -> PyResult<Told> {
        py.detach(|| {
            if !(1..=MOST_COPIES).contains(&copies) {
                return Err(format!("copies: {copies} is not between 1 and {MOST_COPIES}"));
            }
            let beside = beside(bytes_per_s, read_share)?;
            let named = program.to_str().and_then(|name| name.strip_prefix('@'));
            let profile = match named {
                Some(workload) => declared_program(workload, &self.record, copies)?,
                None => read_as("profile", &program, read_program_profile)?,
            };
            let asked = ProgramQuestion { copies, beside };
            let answer = predict_program(&RecordFigures::new(&self.record), &profile, &asked)?;
            let view = ModelResult::new("nearfar.predict-program/1", &self.record, answer);
            told(&view, &program_at_placements(&view))
        })
        .map_err(failed)
    }

    /// What processes get by the record's classes, the data of each on one of these nodes.
    fn predict_data(&self, py: Python<'_>, nodes: Vec<u32>) -> PyResult<Told> {
        py.detach(|| {
            let figures = RecordFigures::new(&self.record);
            let found = classes(&figures, &ClassRule::default());
            let found = found.map_err(|why| why.to_string())?;
            let set = found.sets.first().ok_or("the record has no classes")?;
            let reach = reach_of_nodes(&found, set, &nodes)?;
            let alphas = ClassAlphas::of(&set.classes, &found.gamma);
            let prediction = alphas.processes(reach).map_err(|error| error.to_string())?;
            let view = PredictedAccesses::new(Some(&self.record), prediction);
            told(&view, &view.answer())
        })
        .map_err(failed)
    }

    /// The memory nodes for a device or a network adapter.
    fn advise_device(&self, py: Python<'_>, device: &str) -> PyResult<Told> {
        py.detach(|| {
            let advice = advise_device(&RecordFigures::new(&self.record), device)
                .map_err(|error| error.of(&self.record))?;
            let advised = AdvisedDevice::new(&self.record, advice);
            told(&advised, &advised.answer())
        })
        .map_err(failed)
    }

    /// What differs in another record, by more than noise and this floor explain.
    #[pyo3(signature = (other, floor))]
    fn compare(&self, py: Python<'_>, other: &Self, floor: Option<f64>) -> PyResult<Told> {
        py.detach(|| {
            let (a, b) = (ComparedRecord::new(&self.record), ComparedRecord::new(&other.record));
            let floor = floor.unwrap_or(PRACTICAL_FLOOR);
            let view = Comparison::new(&a, &b, checked_floor(floor)?);
            view.comparable()?;
            told(&view, &view.answer())
        })
        .map_err(failed)
    }

    /// Writes a document, in the form that the file's ending asks for.
    fn report(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| {
            let format = Format::of(&path).ok_or_else(|| Format::unnamed(&path))?;
            if let Some(why) = format.unavailable() {
                return Err(format!("{}: {why}", path.display()));
            }
            if self.record.file.as_deref().is_some_and(|record| is_same_file(record, &path)) {
                return Err(format!(
                    "{} is the record itself; choose another file",
                    path.display()
                ));
            }
            WritableFile::find(&path)
                .and_then(|out| {
                    out.write_by(|out| {
                        write_document(format, &self.record, &ReportChoices::default(), out)
                    })
                })
                .map_err(|error| format!("cannot write {}: {error}", path.display()))
        })
        .map_err(failed)
    }

    /// A ranking; of tasks beside others where that is asked for.
    fn ranking(&self, py: Python<'_>, beside: bool) -> PyResult<PyRanking> {
        py.detach(|| PyRanking::new(&self.record, beside)).map_err(failed)
    }
}

/// Why there is no such model.
pub fn no_model(name: &'static str) -> impl Fn(Inapplicable) -> String {
    move |without| without.without_model(name)
}
