//! Whether the default working set contains cache: the bandwidth at the size that `characterize` chooses over that
//! at four times this size, in turns, and ours over STREAM's at the same size:
//! `cargo bench -p nearfar-measure --bench working_set`. Needs a quiet machine and gcc with OpenMP.
//! Status 1 when a ratio of sizes is above its mark, 2 when the bench could not run.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use nearfar_machine::GroupBy;
use nearfar_measure::experiment::plan;
use nearfar_measure::native::NativeExecutor;
use nearfar_measure::{
    Executor, Failure, HostLock, Interrupt, WindowRequest, now_utc, read_environment, screen_sizes,
    store_method, suite_inputs,
};
use nearfar_record::{
    Actor, Case, Coordinates, Executor as Kind, Experiment, Header, Inputs, Record, Suite,
};
use nearfar_stats::median;
use nearfar_units::Bytes;

/// The default size is as fast as four times the size within this.
const MARK: f64 = 1.02;
const TURNS: u32 = 6;
const TIMES: u32 = 4;
const KERNELS: [&str; 4] = ["load", "triad", "triad_nt", "copy"];
const WINDOW: Duration = Duration::from_millis(100);
const SOURCE: &str = include_str!("stream.c");

fn main() -> ExitCode {
    if !std::env::args().any(|word| word == "--bench") {
        return ExitCode::SUCCESS;
    }
    match compare() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            // Nothing is left to be done when not even this can be written.
            writeln!(io::stderr(), "error: {why:#}").ok();
            ExitCode::from(2)
        }
    }
}

/// Kernel and threads, with the rates of each turn at the default size and at the larger one.
type Rates = BTreeMap<(String, u32), (u64, Vec<f64>, Vec<f64>)>;

fn compare() -> anyhow::Result<bool> {
    let folder = tempfile::tempdir()?;
    let stream = compile(folder.path())?;
    let machine = nearfar_topology::read_live(Path::new("/"))?;
    let environment = read_environment(Path::new("/"));
    let inputs = Inputs {
        experiments: vec![Experiment::Pairs],
        group_by: GroupBy::Memory,
        kernels: Some(KERNELS.map(String::from).to_vec()),
        ..suite_inputs(Suite::Quick)
    };
    let mut header = Header::new("bench", now_utc(), Kind::Native, inputs, machine.clone());
    let stores = store_method(&environment.cpu);
    header.environment = environment;
    let _lock = HostLock::take()?;
    let memory = header.environment.memory_bytes;
    let mut executor = NativeExecutor::new(machine, stores, memory, 1, Interrupt::default());
    let rates = executor.look().map_err(|reason| anyhow::anyhow!(reason.text))?;
    let sizes = match screen_sizes(&mut executor, &header, rates, Duration::from_secs(6)) {
        Ok(sizes) => sizes.context("no size was looked for")?,
        Err(_) => bail!("the sizes could not be measured"),
    };
    let mut out = io::stdout();
    let settled = if sizes.screen.is_settled { "settled" } else { "not settled" };
    writeln!(out, "default size: {} times the caches, {settled}", sizes.multiple)?;
    for ratio in &sizes.screen.ratios {
        writeln!(
            out,
            "  {} by {} at {} times over twice that: {:.3} ({:.3} to {:.3})",
            ratio.kernel, ratio.threads, ratio.multiple, ratio.ratio, ratio.low, ratio.high
        )?;
    }
    let multiple = sizes.multiple;
    header.inputs = sizes.applied(header.inputs);
    let of = |multiple: u32| cases(&header, &executor, multiple);
    let (default, larger) = (of(multiple), of(multiple * TIMES));
    ensure!(!default.is_empty(), "no case is planned");
    let mut seen = Rates::new();
    for turn in 0..TURNS {
        let all: Vec<&Case> = default.iter().chain(&larger).map(|(_, case)| case).collect();
        executor.begin_round(&all);
        for ((place, small), (_, large)) in default.iter().zip(&larger) {
            let bytes = small.actors.iter().map(Actor::working_set_bytes).sum();
            let (_, at, beyond) = seen.entry(place.clone()).or_insert((bytes, vec![], vec![]));
            at.push(rate(&mut executor, small, turn)?);
            beyond.push(rate(&mut executor, large, turn)?);
        }
    }
    writeln!(out, "kernel    threads       size   GB/s  at {TIMES}x size  ratio  over STREAM")?;
    let mut kept = true;
    for ((kernel, threads), (bytes, at, beyond)) in &seen {
        let ratios: Vec<f64> = at.iter().zip(beyond).map(|(one, other)| one / other).collect();
        let (Some(ratio), Some(here), Some(there)) = (median(&ratios), median(at), median(beyond))
        else {
            continue;
        };
        kept &= ratio <= MARK;
        let theirs = run_stream(&stream, kernel, *bytes, *threads)?;
        let over = theirs.map_or_else(String::new, |theirs| format!("{:.3}", here / theirs));
        writeln!(
            out,
            "{kernel:9} {threads:7} {:>10} {:6.1} {:11.1} {ratio:6.3}  {over}",
            Bytes(*bytes).to_string(),
            here / 1e9,
            there / 1e9
        )?;
    }
    writeln!(
        out,
        "{}",
        if kept { "every ratio is at most 1.02" } else { "a ratio is above 1.02" }
    )?;
    Ok(kept)
}

/// The cases of the first initiator on its own memory at a multiple of the caches, by kernel and threads.
fn cases(header: &Header, executor: &NativeExecutor, multiple: u32) -> Vec<((String, u32), Case)> {
    let inputs = Inputs { cache_multiple: Some(multiple), ..header.inputs.clone() };
    let record = Record::new(Header { inputs, ..header.clone() });
    let machine = &record.header.machine;
    let home = machine.initiators().first().and_then(|own| machine.home_memory(own));
    let planned = plan(Experiment::Pairs, 1, &executor.variants(), &record);
    let own = planned.cases.into_iter().filter_map(|mut case| {
        let Some(Coordinates::Pairs(place)) = case.coordinates.first() else { return None };
        let is_own = place.initiator == 0 && Some(place.memory_node) == home;
        let key = (place.kernel.clone(), place.threads);
        case.id = format!("{multiple}/{}", case.id);
        is_own.then_some((key, case))
    });
    own.collect()
}

fn rate(executor: &mut NativeExecutor, case: &Case, round: u32) -> anyhow::Result<f64> {
    let request = WindowRequest { round, first: 0, count: 1, shortest: WINDOW };
    match executor.run(case, request) {
        Ok(windows) => {
            let window = windows.first().context("no window")?;
            let bytes: u64 = window.actors.iter().map(|actor| actor.useful_bytes).sum();
            Ok(bytes as f64 / window.length.as_secs_f64())
        }
        Err(Failure::Refused(reason)) => bail!("{}: {}", case.id, reason.text),
        Err(Failure::Interrupted) => bail!("interrupted"),
    }
}

fn compile(folder: &Path) -> anyhow::Result<PathBuf> {
    let (source, program) = (folder.join("stream.c"), folder.join("stream"));
    std::fs::write(&source, SOURCE)?;
    let made = Command::new("gcc")
        .args(["-O3", "-march=native", "-fopenmp", "-o"])
        .args([&program, &source])
        .output()
        .context("cannot start gcc")?;
    ensure!(made.status.success(), "gcc: {}", String::from_utf8_lossy(&made.stderr));
    Ok(program)
}

/// STREAM's rate of a kernel that it has.
fn run_stream(
    program: &Path,
    kernel: &str,
    bytes: u64,
    threads: u32,
) -> anyhow::Result<Option<f64>> {
    if !["copy", "triad"].contains(&kernel) {
        return Ok(None);
    }
    let output = Command::new(program)
        .args([kernel.to_string(), bytes.to_string(), "10".into()])
        .env("OMP_NUM_THREADS", threads.to_string())
        .env("OMP_PROC_BIND", "close")
        .output()?;
    ensure!(output.status.success(), "stream {kernel}: {}", output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(Some(text.trim().parse().with_context(|| format!("stream said {text:?}"))?))
}
