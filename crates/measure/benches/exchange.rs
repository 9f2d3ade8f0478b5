//! How near the time of a hand-over comes to what a plain C++ program sees (two threads, one
//! std::atomic): `cargo bench -p nearfar-measure --bench exchange`. Needs two CPUs and g++.
//! Status 1 when the promise is missed, 2 when the bench could not run.
//!
//! Both run in turns, so that neighbours disturb them alike; a figure is the median over turns.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use nearfar_machine::{Binding, Machine, MemoryPolicy};
use nearfar_measure::native::NativeExecutor;
use nearfar_measure::{
    Executor, Failure, Interrupt, Window, WindowRequest, read_environment, store_method,
};
use nearfar_record::{Actor, Case, Coordinates, Exchange, ExchangeCoordinates, HandOver, Pages};
use nearfar_stats::median;

/// The program's median / ours is within this of 1.
const MOST_ERROR: f64 = 0.05;

const TURNS: u32 = 25;
const WINDOW: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    match compared() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            // Nothing is left to be done when not even this can be written.
            writeln!(io::stderr(), "error: {why:#}").ok();
            ExitCode::from(2)
        }
    }
}

fn compared() -> anyhow::Result<bool> {
    let folder = tempfile::tempdir()?;
    let program = compile(folder.path())?;
    let machine = nearfar_topology::read_live(Path::new("/"))?;
    let cpus: Vec<u32> = machine.allowed_cpus.iter().collect();
    let (Some(&first), Some(&last)) = (cpus.first(), cpus.last()) else { bail!("no CPU") };
    ensure!(first != last, "one CPU: nobody is there to hand a line to");
    let stores = store_method(&read_environment(Path::new("/")).cpu);
    let mut kept = true;
    for by in HandOver::ALL {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let case = case(&machine, [first, last], by)?;
        let mut executor =
            NativeExecutor::new(machine.clone(), stores, None, 1, Interrupt::default());
        for turn in 0..TURNS {
            executor.begin_round(&[&case]);
            let request = WindowRequest { round: turn, first: 0, count: 1, shortest: WINDOW };
            match executor.run(&case, request) {
                Ok(windows) => ours.extend(windows.iter().map(hand_over_ns)),
                Err(Failure::Refused(reason)) => bail!("{}", reason.text),
                Err(Failure::Interrupted) => bail!("interrupted"),
            }
            theirs.push(run(&program, [first, last], by)?);
        }
        let (ours, theirs) = (median(&ours), median(&theirs));
        let (ours, theirs) = ours.zip(theirs).context("no turns")?;
        let ratio = ours / theirs;
        kept &= (ratio - 1.0).abs() <= MOST_ERROR;
        writeln!(
            io::stdout(),
            "CPU {first} and {last}, {by}: {ours:.2} ns, C++ {theirs:.2} ns, ratio {ratio:.3} \
             (promised: within {} % of 1)",
            100.0 * MOST_ERROR
        )?;
    }
    Ok(kept)
}

#[expect(clippy::cast_precision_loss, reason = "times and counts of a window")]
fn hand_over_ns(window: &Window) -> f64 {
    window.length.as_nanos() as f64 / window.actors[0].accesses as f64
}

fn case(machine: &Machine, cpus: [u32; 2], by: HandOver) -> anyhow::Result<Case> {
    let [first_cpu, second_cpu] = cpus;
    let memory_node = machine.allowed_nodes.first().context("no memory node")?;
    let exchange = Exchange {
        binding: Binding {
            cpus: cpus.into_iter().collect(),
            memory: MemoryPolicy::Preferred(memory_node),
        },
        thread_cpus: cpus.to_vec(),
        by,
        pages: Pages::Small,
    };
    let place = ExchangeCoordinates { first_cpu, second_cpu, memory_node, by };
    Ok(Case {
        id: "exchange/bench".into(),
        coordinates: vec![Coordinates::Exchange(place)],
        actors: vec![Actor::Exchange(exchange)],
    })
}

fn compile(folder: &Path) -> anyhow::Result<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/programs/ping_pong.cpp");
    let program = folder.join("ping_pong");
    let mut compiler = Command::new("g++");
    compiler.args(["-O2", "-pthread", "-o"]).arg(&program).arg(source);
    ensure!(compiler.status().context("g++")?.success(), "g++ failed");
    Ok(program)
}

fn run(program: &Path, cpus: [u32; 2], by: HandOver) -> anyhow::Result<f64> {
    let way = match by {
        HandOver::StoreLoad => "load",
        HandOver::CompareSwap => "swap",
    };
    let output = Command::new(program).args(cpus.map(|cpu| cpu.to_string())).arg(way).output()?;
    ensure!(output.status.success(), "the C++ program failed");
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}
