//! How near loops of known arithmetic intensity come to the roofs of this machine, one thread,
//! from the first cache to memory: `cargo bench -p nearfar-measure --bench roofline_validation`.
//! Status 1 when a promise is missed, 2 when the bench could not run.
//! Source: denoyelle2019, section 4.3, which validates its roofs in the same way.
//!
//! The engine measures the cases of `roofs` in the suite `full`, on one CPU, in many short
//! rounds, each in an order of its own: a roof and the points below it are then spread alike over
//! all that neighbours do meanwhile.
//!
//! A figure is the best window, as STREAM's is the best pass: a roof says what the hardware gives,
//! and what disturbs a window only lowers it. Roof, ceiling and point have as many windows. A roof
//! is `load` from that level, the ceiling `fma_dp`, a point its mix, all in one instruction set:
//! of those with fused operations the one that loads fastest from memory, by a short measurement
//! before, since the widest need not.
//! No point is left out, and no roof is chosen by what its points say.
//! Beside that the errors by medians over rounds are
//! printed, as `nearfar model RECORD roofline` gives them.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::Parser;
use nearfar_kernels::Variant;
use nearfar_machine::CpuSet;
use nearfar_measure::native::NativeExecutor;
use nearfar_measure::{
    Engine, HostLock, Interrupt, before_measuring, now_utc, read_environment, store_method,
    suite_inputs,
};
use nearfar_model::{
    RecordFigures, RoofErrors, RoofFigures, RoofValidation, roof_errors, roofline, roofs,
};
use nearfar_record::{
    Absence, Aggregate, Executor, Experiment, Header, Inputs, Part, Record, RecordWriter, Roof,
    Sample, Suite, Work,
};
use nearfar_units::nanoseconds;

/// The true relative RMS of the points below a roof, at most.
const MOST_ERROR: f64 = 0.03;

/// Points below each roof (`nearfar_measure::experiment`, `roofs/validation.rs`).
const POINTS: usize = 11;

/// Short, so that windows fit between two disturbances, and there are many; but so long that each
/// of the 400 blocks that one has is long beside its begin with an empty pipeline.
const WINDOW: Duration = Duration::from_millis(10);
const WINDOWS_PER_ROUND: u32 = 2;

/// After this no round is begun.
const BUDGET: Duration = Duration::from_secs(80);

/// Rounds of each instruction set before one is chosen.
const ROUNDS_OF_CHOICE: u32 = 30;

/// Parts of the rounds that are also judged alone: whether the figures come out again.
const PARTS: u32 = 3;

/// Points of known intensity below the roofs of one core.
#[derive(Debug, Parser)]
#[command(name = "cargo bench -p nearfar-measure --bench roofline_validation --")]
struct Options {
    /// Rounds, each over all roofs and points
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(3..))]
    rounds: u32,
    /// The CPU; without this the last that may be used, since the first has most interrupts
    #[arg(long, value_name = "CPU")]
    cpu: Option<u32>,
    /// The instruction set; without this the one that loads fastest from memory
    #[arg(long, value_name = "ISA")]
    isa: Option<Variant>,
    /// Keep the record in a file that must not exist yet
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Given by cargo bench, and not by cargo test, which must not measure
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            // Nothing is left to be done when not even this can be written.
            writeln!(io::stderr(), "error: {error:#}").ok();
            ExitCode::from(2)
        }
    }
}

/// Measures and prints; whether every roof keeps the promise.
fn run(options: &Options) -> anyhow::Result<bool> {
    let mut out = io::stdout();
    if !options.bench {
        writeln!(out, "this is a benchmark: run it by `cargo bench` or `make accuracy`")?;
        return Ok(true);
    }
    let lock = HostLock::take()?;
    let variant = match options.isa {
        Some(variant) => variant.to_string(),
        None => fastest_variant(options, &mut out)?,
    };
    let record = measure(options.out.as_deref(), new_record(options, roofs_of(options, variant))?)?;
    drop(lock);

    let figures = RecordFigures::new(&record);
    let all = roofs(&figures);
    let charts = roofline(&figures)?.charts;
    let validations: Vec<&RoofValidation> =
        charts.iter().flat_map(|chart| &chart.validations).collect();
    print_heading(&record, &mut out)?;
    let mut kept = !validations.is_empty();
    for validation in &validations {
        kept &= print_validation(&record, validation, &all, &mut out)?;
    }
    for refused in record.absent.iter().filter(|absent| absent.absence == Absence::Refused) {
        writeln!(out, "refused: {}: {}", refused.case, refused.reason.text)?;
        kept = false;
    }
    let verdict = if kept { "every roof keeps its promise" } else { "a promise is missed" };
    writeln!(out, "{verdict}")?;
    Ok(kept)
}

/// Roofs of one thread and the points below them, in a variant.
fn roofs_of(options: &Options, variant: String) -> Inputs {
    Inputs {
        experiments: vec![Experiment::Roofs],
        kernels: Some(vec!["load".into()]),
        variant: Some(variant),
        window_ns: nanoseconds(WINDOW),
        windows_per_round: WINDOWS_PER_ROUND,
        min_rounds: options.rounds,
        max_rounds: options.rounds,
        budget_ns: Some(nanoseconds(BUDGET)),
        ..suite_inputs(Suite::Full)
    }
}

/// Of the variants that fuse multiplication and addition, as points do, the one whose `load` from
/// memory has the best window.
fn fastest_variant(options: &Options, out: &mut impl Write) -> anyhow::Result<String> {
    writeln!(out, "\nWhich instruction set loads fastest from memory, one thread:")?;
    let mut rates: Vec<(f64, String)> = Vec::new();
    let fuses = |variant: &Variant| !matches!(variant, Variant::Sse2 | Variant::Portable);
    for variant in Variant::available().into_iter().filter(fuses) {
        let inputs = Inputs {
            experiments: vec![Experiment::Pairs],
            kernels: Some(vec!["load".into()]),
            variant: Some(variant.to_string()),
            window_ns: nanoseconds(WINDOW),
            windows_per_round: WINDOWS_PER_ROUND,
            min_rounds: ROUNDS_OF_CHOICE,
            max_rounds: ROUNDS_OF_CHOICE,
            ..suite_inputs(Suite::Quick)
        };
        let record = measure(None, new_record(options, inputs)?)?;
        let calm = record.samples.iter().filter(|sample| !sample.is_disturbed());
        let of = |sample: &Sample| sample.rate(Part::Case, Work::UsefulBytes, Aggregate::Sum);
        let Some(best) = calm.map(of).max_by(f64::total_cmp) else { continue };
        writeln!(out, "  {variant:8} {:.2} GB/s", best / 1e9)?;
        rates.push((best, variant.to_string()));
    }
    let best = rates.into_iter().max_by(|one, other| one.0.total_cmp(&other.0));
    Ok(best.context("no instruction set with fused operations has an undisturbed window: use an idle machine, or name one by --isa")?.1)
}

/// A record of one CPU of this machine with nothing measured yet.
fn new_record(options: &Options, inputs: Inputs) -> anyhow::Result<Record> {
    let usable = nearfar_sys::thread_cpus()?;
    let cpu = options.cpu.or_else(|| usable.iter().last()).context("no CPU may be used")?;
    ensure!(usable.contains(cpu), "CPU {cpu} may not be used; these may: {usable}");
    // What this process may use is what the machine is read with.
    nearfar_sys::pin_thread(&CpuSet::single(cpu))?;
    let root = Path::new("/");
    let machine = nearfar_topology::read_live(root)?;
    if let Some(variant) = options.isa {
        ensure!(Variant::available().contains(&variant), "this CPU does not run {variant}");
    }
    let mut header = Header::new("here", now_utc(), Executor::Native, inputs, machine);
    header.versions.hwloc = Some(nearfar_topology::hwloc_version());
    header.environment = read_environment(root);
    Ok(Record::new(header))
}

fn measure(kept: Option<&Path>, record: Record) -> anyhow::Result<Record> {
    let header = &record.header;
    let interrupt = Interrupt::default();
    let mut executor = NativeExecutor::new(
        header.machine.clone(),
        store_method(&header.environment.cpu),
        header.environment.memory_bytes,
        header.inputs.seed,
        interrupt.clone(),
    );
    let mut writer = match kept {
        Some(path) => RecordWriter::create(path, false)?,
        None => RecordWriter::nowhere(),
    };
    let warnings = before_measuring(&header.machine, &header.environment, &[]);
    let mut watch = |_: nearfar_measure::Status<'_>| {};
    let mut engine = Engine::new(&mut executor, &mut writer, &interrupt, &mut watch, record);
    engine.begin(&warnings)?;
    Ok(engine.measure()?.record)
}

fn print_heading(record: &Record, out: &mut impl Write) -> io::Result<()> {
    let header = &record.header;
    let cpu = header.environment.cpu.model_name.as_deref().unwrap_or("of unknown name");
    let rounds = record.samples.iter().map(|sample| sample.round + 1).max().unwrap_or(0);
    let disturbed = record.samples.iter().filter(|sample| sample.is_disturbed()).count();
    writeln!(
        out,
        "\nRoofline validation: one thread on CPU {} ({cpu}), {}.\n\
         {rounds} rounds of {WINDOWS_PER_ROUND} windows of {} ms; of {} windows {disturbed} were disturbed and \
         are left out.\n\
         Figures are best windows. Error of a point: measured / attainable - 1,\n\
         attainable = min(intensity x load, fma_dp).\n\
         Promised: a true relative RMS, sqrt(mean of squares), of at most {:.0} % below every roof.\n",
        header.machine.allowed_cpus,
        header.inputs.variant.as_deref().unwrap_or("any variant"),
        WINDOW.as_millis(),
        record.samples.len(),
        MOST_ERROR * 100.0
    )
}

/// The cases that a roof is validated by, and the record that holds their samples.
struct Validated<'a> {
    record: &'a Record,
    validation: &'a RoofValidation,
    bandwidth: &'a RoofFigures,
    ceiling: &'a RoofFigures,
    /// In the order of the validation's.
    points: Vec<&'a RoofFigures>,
}

/// The best windows of a roof, its ceiling and its points.
struct Best {
    bandwidth: f64,
    ceiling: f64,
    /// FLOP/s measured, and attainable.
    points: Vec<(f64, f64)>,
    errors: RoofErrors,
}

impl<'a> Validated<'a> {
    /// `None` where the roof or the ceiling was not planned.
    fn of(
        record: &'a Record,
        validation: &'a RoofValidation,
        all: &'a [RoofFigures],
    ) -> Option<Self> {
        let find = |roof: Roof, kernel: &str| {
            all.iter().find(|figures| figures.place.roof == roof && figures.place.kernel == kernel)
        };
        let points = validation.points.iter();
        Some(Self {
            record,
            validation,
            bandwidth: find(validation.roof, "load")?,
            ceiling: ["fma_dp", "mul_add_dp"].iter().find_map(|name| find(Roof::Compute, name))?,
            points: points.filter_map(|point| find(validation.roof, &point.kernel)).collect(),
        })
    }

    /// Of the rounds that are chosen; `None` where a case has no undisturbed window in them.
    fn best(&self, is_chosen: impl Fn(u32) -> bool) -> Option<Best> {
        let best = |figures: &RoofFigures, work: Work| {
            let windows = self.record.samples.iter().filter(|sample| {
                sample.case == figures.case.id && !sample.is_disturbed() && is_chosen(sample.round)
            });
            let rates = windows.map(|sample| sample.rate(Part::Case, work, Aggregate::Sum));
            rates.max_by(f64::total_cmp)
        };
        let bandwidth = best(self.bandwidth, Work::UsefulBytes)?;
        let ceiling = best(self.ceiling, Work::Flops)?;
        let points: Vec<(f64, f64)> = self
            .points
            .iter()
            .zip(&self.validation.points)
            .map(|(figures, point)| {
                let attainable = (point.intensity * bandwidth).min(ceiling);
                Some((best(figures, Work::Flops)?, attainable))
            })
            .collect::<Option<_>>()?;
        let ratios: Vec<f64> =
            points.iter().map(|(flops, attainable)| flops / attainable).collect();
        Some(Best { bandwidth, ceiling, points, errors: roof_errors(&ratios)? })
    }

    /// The RMS of each part of the rounds by itself.
    fn of_parts(&self) -> String {
        let rms = |part| Some(self.best(|round| round % PARTS == part)?.errors.relative_rms);
        let text = |part| rms(part).map_or_else(|| "none".into(), percent);
        (0..PARTS).map(text).collect::<Vec<String>>().join(", ")
    }
}

fn percent(fraction: f64) -> String {
    format!("{:.2} %", fraction * 100.0)
}

/// Prints the points below a roof; whether it keeps the promise.
fn print_validation(
    record: &Record,
    validation: &RoofValidation,
    all: &[RoofFigures],
    out: &mut impl Write,
) -> io::Result<bool> {
    let name = match validation.roof {
        Roof::Cache { level } => format!("L{level}"),
        Roof::Memory { node } => format!("memory of node {node}"),
        other => format!("{other:?}"),
    };
    let validated = Validated::of(record, validation, all);
    let best = validated.as_ref().and_then(|validated| validated.best(|_| true));
    let (Some(validated), Some(best)) = (validated, best) else {
        writeln!(
            out,
            "{name}: its roof, the ceiling or a point has no undisturbed window: use an idle machine\n"
        )?;
        return Ok(false);
    };
    writeln!(
        out,
        "{name}: roof {:.2} GB/s, ceiling {:.2} GFLOP/s, ridge at {:.2} FLOPs a byte",
        best.bandwidth / 1e9,
        best.ceiling / 1e9,
        best.ceiling / best.bandwidth
    )?;
    writeln!(
        out,
        "  {:10} {:>10} {:>16} {:>18} {:>8} {:>10}",
        "mix", "FLOPs/byte", "measured GFLOP/s", "attainable GFLOP/s", "error", "by medians"
    )?;
    for (point, (flops, attainable)) in validation.points.iter().zip(&best.points) {
        writeln!(
            out,
            "  {:10} {:>10} {:>16.3} {:>18.3} {:>6.1} % {:>8.1} %",
            point.kernel,
            point.intensity,
            flops / 1e9,
            attainable / 1e9,
            (flops / attainable - 1.0) * 100.0,
            (point.ratio - 1.0) * 100.0
        )?;
    }
    let (points, planned) = (best.points.len(), validation.planned);
    let kept = best.errors.relative_rms <= MOST_ERROR && points == planned && points == POINTS;
    let by_medians =
        validation.errors.map_or_else(|| "none".into(), |errors| percent(errors.relative_rms));
    writeln!(
        out,
        "  {points} of {planned} points: relative RMS {} (thirds of the rounds alone: {}; by medians \
         {by_medians}),\n  mean {:+.2} %, the paper's measure {}: {}\n",
        percent(best.errors.relative_rms),
        validated.of_parts(),
        best.errors.mean * 100.0,
        percent(best.errors.paper),
        if kept { "kept" } else { "MISSED" }
    )?;
    Ok(kept)
}
