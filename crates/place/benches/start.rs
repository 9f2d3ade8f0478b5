//! What it costs to start a program under a placement: `nearfar run` beside numactl, in turns.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};
use nearfar_stats::{median, ratio_of_medians};

/// Runs of each program.
const RUNS: usize = 200;

/// `nearfar run -- true` may take so many times what `numactl --localalloc true` takes.
const MOST_TIMES_NUMACTL: f64 = 3.0;

fn main() -> anyhow::Result<ExitCode> {
    // This bench is TARGET/release/deps/start-HASH.
    let own = env::current_exe()?;
    let release = own.parent().and_then(Path::parent).context("the bench has no folder")?;
    let nearfar = release.join("nearfar");
    let advice = "build it first: cargo build --release -p nearfar";
    ensure!(nearfar.is_file(), "there is no {}; {advice}", nearfar.display());
    // A linker writes here and there, which leaves a file in small pieces in memory: as it is installed
    // a program is one run of bytes, and starts faster.
    let installed = release.join("start-bench");
    fs::create_dir_all(&installed)?;
    let installed = installed.join("nearfar");
    fs::copy(&nearfar, &installed)?;
    let ours = || seconds(Command::new(&installed).args(["run", "--", "true"]));
    let numactl = || {
        seconds(Command::new("numactl").args(["--localalloc", "true"]))
            .context("numactl is needed: scripts/install-packages bench")
    };
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    for run in 0..RUNS {
        if run % 2 == 0 {
            our_times.push(ours()?);
            their_times.push(numactl()?);
        } else {
            their_times.push(numactl()?);
            our_times.push(ours()?);
        }
    }
    let found = ratio_of_medians(&our_times, &their_times, 1).context("no time was taken")?;
    let (low, high) = found.interval;
    let is_too_slow = low > MOST_TIMES_NUMACTL;
    let ms = |times: &[f64]| median(times).map_or(f64::NAN, |seconds| 1e3 * seconds);
    writeln!(
        io::stdout(),
        "nearfar run -- true: {:.2} ms; numactl --localalloc true: {:.2} ms; ratio {:.2} ({low:.2} to \
         {high:.2}), at most {MOST_TIMES_NUMACTL}: {}",
        ms(&our_times),
        ms(&their_times),
        found.ratio,
        if is_too_slow { "missed" } else { "kept" }
    )?;
    Ok(if is_too_slow { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn seconds(command: &mut Command) -> anyhow::Result<f64> {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let status = command.status()?;
    let seconds = begun.elapsed().as_secs_f64();
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(seconds)
}
