//! What `nearfar run` costs programs that live on processes, threads and small calls, beside the same
//! programs alone, in turns: what Linux inherits, and a look from outside, may cost nothing that
//! can be told; what is followed costs by the thread and the process. First what the start costs, beside
//! numactl's.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};
use nearfar_lab::build_load;
use nearfar_stats::{median, ratio_of_medians};

/// Alternations of all ways.
const TURNS: usize = 12;
/// A program is repeated until it takes so long alone, s.
const SHORTEST: f64 = 2.0;
/// Inherited, or looked at, it may take this many times as long as alone.
const MOST_TIMES: f64 = 1.05;
/// Of a file that `run --files` puts in place.
const FILE_BYTES: usize = 64 << 20;

/// What a program does, how often a repeat does it, and what following one may cost, us.
const WORK: [(&str, f64, Option<f64>); 6] = [
    ("forks 2000", 2000.0, Some(300.0)),
    ("programs 500", 500.0, Some(300.0)),
    ("waves 1000 10", 1000.0, Some(60.0)),
    ("waves 1000 100", 1000.0, Some(60.0)),
    ("threads 2000", 2000.0, Some(60.0)),
    ("writes 600000", 600_000.0, None),
];

/// Placements that Linux lets a program inherit, one after the other.
const PLACEMENTS: [&str; 6] =
    ["local", "interleave", "first-touch", "parallel-init", "compact", "round-robin"];

/// Starts of each program, and how many times as long as numactl's ours may take.
const STARTS: usize = 200;
const MOST_TIMES_NUMACTL: f64 = 3.0;

/// `nearfar run -- true` beside `numactl --localalloc true`, in turns: whether the promise is kept.
fn compare_starts(nearfar: &Path, folder: &Path) -> anyhow::Result<bool> {
    // A linker writes here and there, which leaves a file in small pieces in memory: as it is installed
    // a program is one run of bytes, and starts faster.
    let installed = folder.join("nearfar");
    fs::copy(nearfar, &installed)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for start in 0..STARTS {
        for is_ours in [start % 2 == 0, start % 2 != 0] {
            if is_ours {
                ours.push(seconds(Command::new(&installed).args(["run", "--", "true"]))?);
            } else {
                let numactl = seconds(Command::new("numactl").args(["--localalloc", "true"]));
                theirs.push(numactl.context("needs numactl: scripts/install-packages bench")?);
            }
        }
    }
    let found = ratio_of_medians(&ours, &theirs, 1).context("no time was taken")?;
    let (low, high) = found.interval;
    let ms = |times: &[f64]| median(times).map_or(f64::NAN, |seconds| 1e3 * seconds);
    writeln!(
        io::stdout(),
        "start: nearfar run -- true {:.2} ms, numactl --localalloc true {:.2} ms: x {:.2} ({low:.2} to \
         {high:.2}), at most {MOST_TIMES_NUMACTL}",
        ms(&ours),
        ms(&theirs),
        found.ratio
    )?;
    Ok(low <= MOST_TIMES_NUMACTL)
}

fn main() -> anyhow::Result<ExitCode> {
    // This bench is TARGET/release/deps/cost-HASH.
    let own = env::current_exe()?;
    let release = own.parent().and_then(Path::parent).context("the bench has no folder")?;
    let nearfar = release.join("nearfar");
    ensure!(
        nearfar.is_file(),
        "there is no {}: cargo build --release -p nearfar",
        nearfar.display()
    );
    let folder = tempfile::tempdir()?;
    let load = build_load(folder.path())?;
    // What an instance is given and has no use for: it is looked for in memory before it starts.
    let file = folder.path().join("file");
    fs::write(&file, vec![1_u8; FILE_BYTES])?;
    let mut is_kept = compare_starts(&nearfar, folder.path())?;
    // Words of its command line choose; cargo adds an option.
    let chosen: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_chosen = |work: &str| chosen.is_empty() || chosen.iter().any(|it| work.contains(it));
    for (work, units, most_us) in WORK.into_iter().filter(|(work, ..)| is_chosen(work)) {
        let alone = |repeats: usize| {
            let mut command = Command::new(&load);
            command.arg(repeats.to_string()).args(work.split(' '));
            seconds(&mut command)
        };
        let under = |repeats: usize, placement: &str, options: &[&str]| {
            let mut command = Command::new(&nearfar);
            command.args(["run", "-q", "--placement", placement]).args(options).arg("--");
            seconds(command.arg(&load).arg(repeats.to_string()).args(work.split(' ')))
        };
        let instances = |repeats: usize| {
            let mut command = Command::new(&nearfar);
            command.args(["run", "-q", "--each-node", "--files", "--"]).arg(&load);
            seconds(command.arg(repeats.to_string()).args(work.split(' ')).arg(&file))
        };
        let once = alone(1)?.max(alone(1)?);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small positive number"
        )]
        let repeats = (SHORTEST / once).ceil() as usize;
        let report = format!("--report={}", folder.path().join("report.json").display());
        let (mut plain, mut inherited, mut looked_at) = (Vec::new(), Vec::new(), Vec::new());
        let (mut of_node, mut followed) = (Vec::new(), Vec::new());
        for turn in 0..TURNS {
            let placement = PLACEMENTS[turn % PLACEMENTS.len()];
            // Whoever comes first comes last in the next turn.
            for way in if turn % 2 == 0 { [0, 1, 2, 3] } else { [3, 2, 1, 0] } {
                match way {
                    0 => plain.push(alone(repeats)?),
                    1 => inherited.push(under(repeats, placement, &[])?),
                    2 => looked_at.push(under(repeats, placement, &[&report])?),
                    _ => of_node.push(instances(repeats)?),
                }
            }
            if most_us.is_some() {
                let options = ["--follow", "--report=/dev/null"];
                let (done, alone) = (units * repeats as f64, plain[turn]);
                followed.push(1e6 * (under(repeats, placement, &options)? - alone) / done);
            }
        }
        let said = |times: &[f64]| -> anyhow::Result<(String, bool)> {
            let found = ratio_of_medians(times, &plain, 1).context("no time was taken")?;
            let (low, high) = found.interval;
            let is_kept = low <= MOST_TIMES;
            Ok((format!("x {:.3} ({low:.3} to {high:.3})", found.ratio), is_kept))
        };
        let (inherited, is_inherited) = said(&inherited)?;
        let (looked_at, is_looked_at) = said(&looked_at)?;
        let (of_node, is_of_node) = said(&of_node)?;
        is_kept &= is_inherited && is_looked_at && is_of_node;
        let mut line = format!(
            "{work:15} x {repeats}: alone {:.2} s, run {inherited}, --report {looked_at}, --each-node --files {of_node}",
            median(&plain).context("no time was taken")?
        );
        if let (Some(most), Some(cost)) = (most_us, median(&followed)) {
            is_kept &= cost <= most;
            line += &format!(", --follow {cost:.0} us each (at most {most})");
        }
        writeln!(io::stdout(), "{line}")?;
    }
    writeln!(
        io::stdout(),
        "at most x {MOST_TIMES} for run and --report; all: {}",
        if is_kept { "kept" } else { "missed" }
    )?;
    Ok(if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn seconds(command: &mut Command) -> anyhow::Result<f64> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let status = command.status()?;
    let seconds = begun.elapsed().as_secs_f64();
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(seconds)
}
