//! `predict`: what programs get.

use std::path::Path;

use anyhow::{Context, anyhow, bail};
use nearfar_advise::{InstanceQuestion, Step};
use nearfar_document::{
    Answer, ModelResult, PredictedAccesses, accesses_beside_traffic, changed_machine,
    placements_over_two_memories, predicted_streams, printable, program_at_placements,
    programs_below_roofs, splits_of_processes,
};
use nearfar_machine::{Binding, TheoreticalMaximum};
use nearfar_model::{
    AccessPrediction, Beside, Change, ClassAlphas, CurveQuestion, DeviceClasses, DevicePair,
    Inapplicable, IntensityKind, OverlapBounds, ProgramPoint, ProgramQuestion, ProgramShares,
    RecordFigures, SplitQuestion, Target, WorkSharing, classes, device_classes, flow, hybrid,
    latency, measuring_command, profiled_point, reach_of_devices, reach_of_nodes,
    reach_of_positions, roofline, sharing, what_if,
};
use nearfar_record::{Experiment, Record, Suite};
use nearfar_units::{Bytes, BytesPerSecond, FlopsPerSecond};
use serde::Serialize;

use super::advise::tell_instances;
use super::named_program::predicted_program;
use super::no_model;
use crate::args::{LatencyQuestion, Point, PredictArguments, Split, StepQuestion};
use crate::exit_status::ExitStatus;
use crate::progress::Waiting;
use crate::{output, record_file};

pub fn run(arguments: &PredictArguments) -> anyhow::Result<ExitStatus> {
    if arguments.sharing.processes.is_some() || !arguments.sharing.split.is_empty() {
        of_splits(arguments)
    } else if let Some(profile) = &arguments.profile {
        of_profile(arguments, profile)
    } else if let Some(program) = &arguments.program {
        of_program(arguments, program)
    } else if !arguments.point.is_empty() {
        below_roofs(arguments)
    } else if let Some(load_share) = arguments.hybrid.load_share {
        over_two_memories(arguments, load_share)
    } else if !arguments.stream.is_empty() {
        of_streams(arguments)
    } else if let Some(change) = &arguments.what_if {
        of_change(arguments, change)
    } else if let Some(bytes) = arguments.step.bytes_per_step {
        of_steps(arguments, bytes)
    } else if let (Some(read_share), Some(traffic)) =
        (arguments.curve.read_share, arguments.curve.bandwidth)
    {
        beside_traffic(arguments, read_share, traffic)
    } else if !arguments.device.is_empty() {
        of_copies(arguments)
    } else if arguments.share.is_empty() && arguments.reach.is_empty() && arguments.data.is_empty()
    {
        bail!("{QUESTIONS}");
    } else {
        by_classes(arguments)
    }
}

const QUESTIONS: &str = "nothing is asked: give one of --data, --share, --reach, --processes, --split, --stream, \
     --program, --bytes-per-step, --curve, --point, --profile, --load-share, --device and --what-if \
     (`nearfar predict --help`)";

fn read_record(arguments: &PredictArguments) -> anyhow::Result<Record> {
    Ok(record_file::read_named_or_newest(arguments.record.as_deref())?.1)
}

/// What a model answers of a record.
fn tell<Found: Serialize>(
    arguments: &PredictArguments,
    record: &Record,
    (schema, found): (&'static str, Found),
    told: fn(&ModelResult<Found>) -> Answer,
) -> anyhow::Result<ExitStatus> {
    let view = ModelResult::new(schema, record, found);
    output::answer(arguments.form(), &view, || told(&view))
}

/// What programs get by the classes of a record, or by alphas that were given.
fn tell_by_classes(
    arguments: &PredictArguments,
    record: Option<&Record>,
    prediction: AccessPrediction,
) -> anyhow::Result<ExitStatus> {
    let view = PredictedAccesses::new(record, prediction);
    output::answer(arguments.form(), &view, || view.answer())
}

/// Processes that are split over near and far cores.
fn of_splits(arguments: &PredictArguments) -> anyhow::Result<ExitStatus> {
    let asked = &arguments.sharing;
    let splits = asked.split.iter().map(|&Split { near, far }| (near, far));
    let question = SplitQuestion {
        node: asked.node,
        kernels: arguments.classes.kernel.clone(),
        work: asked.work.map_or(WorkSharing::ALL.into(), |work| vec![work]),
        processes: asked.processes,
        splits: splits.collect(),
    };
    let record = read_record(arguments)?;
    let model = sharing(&RecordFigures::new(&record)).map_err(no_model("sharing"))?;
    let answer =
        ("nearfar.predict-sharing/2", model.answer(&question).map_err(anyhow::Error::msg)?);
    tell(arguments, &record, answer, splits_of_processes)
}

/// A mix of loads and stores over a fast and a slow memory.
fn over_two_memories(arguments: &PredictArguments, load_share: f64) -> anyhow::Result<ExitStatus> {
    let record = read_record(arguments)?;
    let model = hybrid(&RecordFigures::new(&record), OverlapBounds::NotNegative)
        .map_err(no_model("hybrid"))?;
    let answer = model.answer(load_share, &arguments.hybrid.fast_share);
    let answer = answer.context("a share is not between 0 and 1")?;
    tell(arguments, &record, ("nearfar.predict-hybrid/2", answer), placements_over_two_memories)
}

/// Streams that run at the same time.
fn of_streams(arguments: &PredictArguments) -> anyhow::Result<ExitStatus> {
    let record = read_record(arguments)?;
    let waiting = Waiting::new("fitting the model", None);
    let model = flow(&RecordFigures::new(&record)).map_err(no_model("flow"))?;
    drop(waiting);
    let machine = &record.header.machine;
    let streams: Vec<Binding> =
        arguments.stream.iter().map(|stream| stream.binding(machine)).collect();
    let prediction = model.predict(machine, &streams)?;
    tell(arguments, &record, ("nearfar.predict-flow/2", prediction), predicted_streams)
}

/// A machine with another memory, mode or link.
fn of_change(arguments: &PredictArguments, change: &Change) -> anyhow::Result<ExitStatus> {
    let record = read_record(arguments)?;
    let (gamma, machine) = (arguments.classes.gamma.clone(), &record.header.machine);
    let maximum = TheoreticalMaximum::given_or_of_memory(gamma, machine);
    let link = arguments.classes.phi.as_ref();
    let waiting = Waiting::new("fitting the model", None);
    let found = what_if(&RecordFigures::new(&record), change, &maximum, link);
    drop(waiting);
    let answer = found.map_err(|why| anyhow!("{}", why.without_answer(change)))?;
    tell(arguments, &record, ("nearfar.predict-what-if/1", answer), changed_machine)
}

/// Accesses beside traffic.
fn beside_traffic(
    arguments: &PredictArguments,
    read_share: f64,
    traffic: BytesPerSecond,
) -> anyhow::Result<ExitStatus> {
    let record = read_record(arguments)?;
    let model = latency(&RecordFigures::new(&record)).map_err(no_model("latency"))?;
    if model.families.is_empty() {
        let command = measuring_command(&record, &[Experiment::Latency], Suite::Standard);
        bail!("the record holds no latency beside traffic; try `{command}`");
    }
    let LatencyQuestion { initiator, memory_node, .. } = arguments.curve;
    let asked = CurveQuestion { read_share, traffic, initiator, memory_node };
    let answer = model.beside_traffic(&asked).map_err(anyhow::Error::msg)?;
    tell(arguments, &record, ("nearfar.predict-curve/1", answer), accesses_beside_traffic)
}

/// A program's time at every placement.
fn of_program(arguments: &PredictArguments, named: &str) -> anyhow::Result<ExitStatus> {
    let record = read_record(arguments)?;
    let beside = match (arguments.curve.bandwidth, arguments.curve.read_share) {
        (Some(traffic), Some(read_share)) => Beside { traffic: traffic.0, read_share },
        _ => Beside::NOTHING,
    };
    let asked = ProgramQuestion { copies: arguments.copies, beside };
    let answer = predicted_program(named, &record, &asked)?;
    tell(arguments, &record, ("nearfar.predict-program/1", answer), program_at_placements)
}

/// Programs that stream their data step by step, which is read and not written.
fn of_steps(arguments: &PredictArguments, bytes: Bytes) -> anyhow::Result<ExitStatus> {
    let StepQuestion { compute_per_step, replicated, .. } = arguments.step;
    let compute_s = compute_per_step.unwrap_or_default().as_secs_f64();
    let asked = InstanceQuestion {
        threads: None,
        load_share: Some(1.0),
        data_bytes: Some(replicated.unwrap_or(bytes).0),
        step: Some(Step { bytes: bytes.0, compute_s }),
    };
    tell_instances(&read_record(arguments)?, &asked, arguments.form())
}

/// Where programs lie below the roofs.
fn below_roofs(arguments: &PredictArguments) -> anyhow::Result<ExitStatus> {
    let points: Vec<ProgramPoint> = arguments.point.iter().map(point).collect();
    let asked = &arguments.hybrid;
    if asked.load_share.is_some() && asked.fast_share.is_empty() {
        bail!(
            "give --fast-share beside --load-share: the roof of a program over two memories needs both"
        );
    }
    let record = read_record(arguments)?;
    let figures = RecordFigures::new(&record);
    let model = roofline(&figures).map_err(no_model("roofline"))?;
    let hybrid = match asked.load_share {
        Some(_) => Some(hybrid(&figures, OverlapBounds::NotNegative).map_err(no_model("hybrid"))?),
        None => None,
    };
    let shares = hybrid.as_ref().zip(asked.load_share).map(|(hybrid, load_share)| ProgramShares {
        hybrid,
        load_share,
        fast_shares: &asked.fast_share,
    });
    let answer = ("nearfar.predict-roofline/2", model.place(&points, shares));
    tell(arguments, &record, answer, programs_below_roofs)
}

fn point(asked: &Point) -> ProgramPoint {
    ProgramPoint {
        kind: IntensityKind::Arithmetic,
        intensity: asked.intensity,
        flops: asked.gflop_per_s.map(|gflop| FlopsPerSecond(gflop * 1e9)),
    }
}

/// A profiled program on the initiator that it used most.
fn of_profile(arguments: &PredictArguments, path: &Path) -> anyhow::Result<ExitStatus> {
    let profile = record_file::read_profile(path)?;
    let profiled = profiled_point(&profile).map_err(|why| anyhow!("{}: {why}", path.display()))?;
    let record = read_record(arguments)?;
    if record.header.host != profile.host {
        output::note(&printable(&format!(
            "note: the program was watched on {} and the record is of {}",
            profile.host, record.header.host
        )));
    }
    let waiting = Waiting::new("fitting the model", None);
    let model = roofline(&RecordFigures::new(&record)).map_err(no_model("roofline"))?;
    drop(waiting);
    let Some(placed) = model.place_profiled(&profile, &profiled) else {
        let command = measuring_command(&record, &[Experiment::Roofs], Suite::Full);
        bail!(
            "the record has no roof of memory of initiator {}, which the program used most; measure \
             by `{command}`",
            profiled.initiator
        );
    };
    tell(arguments, &record, ("nearfar.predict-roofline/2", placed), programs_below_roofs)
}

/// Programs whose accesses are shared out over classes.
fn by_classes(arguments: &PredictArguments) -> anyhow::Result<ExitStatus> {
    if !arguments.alpha.is_empty() {
        let gamma = arguments.classes.gamma.clone();
        let alphas = ClassAlphas::given(arguments.alpha.clone(), gamma);
        return tell_by_classes(arguments, None, of_shares(arguments, alphas)?);
    }
    let record = read_record(arguments)?;
    let classes = classes(&RecordFigures::new(&record), &arguments.classes.rule(false))?;
    let set = classes.sets.first().context("the record has no classes")?;
    let alphas = ClassAlphas::of(&set.classes, &classes.gamma);
    let prediction = if arguments.data.is_empty() {
        of_shares(arguments, alphas)?
    } else {
        let reach = reach_of_nodes(&classes, set, &arguments.data).map_err(anyhow::Error::msg)?;
        alphas.processes(reach)?
    };
    tell_by_classes(arguments, Some(&record), prediction)
}

/// What shares and reaches that were given come to.
fn of_shares(
    arguments: &PredictArguments,
    alphas: ClassAlphas,
) -> anyhow::Result<AccessPrediction> {
    if arguments.share.is_empty() {
        let classes = arguments.reach.iter().map(|reach| &reach.0);
        let target = |of: &Vec<u32>| Target {
            class_from: of.iter().map(|&class| Some(class as usize)).collect(),
        };
        return Ok(alphas.processes(reach_of_positions(classes.map(target).collect()))?);
    }
    let shares: Vec<Vec<f64>> = arguments.share.iter().map(|shares| shares.0.clone()).collect();
    Ok(alphas.programs(&shares)?)
}

/// Processes that copy to or from devices, by the memory nodes with their data.
fn of_copies(arguments: &PredictArguments) -> anyhow::Result<ExitStatus> {
    let record = read_record(arguments)?;
    let classes = device_classes(&RecordFigures::new(&record), &arguments.classes.device_rule());
    let set = of_devices(&record, &classes, arguments)?;
    let alphas = ClassAlphas::of(&set.classes, &set.phi);
    let prediction = alphas.processes(reach_of_devices(set, &arguments.device))?;
    tell_by_classes(arguments, Some(&record), prediction)
}

/// The classes that hold all devices that are asked for.
fn of_devices<'c>(
    record: &Record,
    all: &'c [DeviceClasses],
    arguments: &PredictArguments,
) -> anyhow::Result<&'c DeviceClasses> {
    let direction = arguments.way;
    let of_way: Vec<&DeviceClasses> = all.iter().filter(|it| it.direction == direction).collect();
    let holds = |set: &DeviceClasses, id: &str| pairs(set).any(|pair| pair.device == id);
    if of_way.is_empty() {
        if record.header.inputs.devices.is_none() {
            let without = Inapplicable::without(record, Experiment::Devices);
            bail!("no classes of copies {direction}: {without}{}", without.tried());
        }
        bail!(
            "no classes of copies {direction}: the record holds no pinned copies that way; `nearfar \
             show` says what it holds"
        );
    }
    for id in &arguments.device {
        if !of_way.iter().any(|set| holds(set, id)) {
            let mut known: Vec<&str> =
                of_way.iter().flat_map(|set| pairs(set)).map(|pair| pair.device.as_str()).collect();
            known.sort_unstable();
            known.dedup();
            bail!(
                "the device {id:?} is in no class; the record's classes hold {}",
                known.join(", ")
            );
        }
    }
    let one = of_way.into_iter().find(|set| arguments.device.iter().all(|id| holds(set, id)));
    one.context(
        "these devices are shown by different interfaces, whose classes are not compared; ask for \
         devices of one interface",
    )
}

fn pairs(set: &DeviceClasses) -> impl Iterator<Item = &DevicePair> {
    set.classes.iter().flat_map(|class| &class.pairs)
}
