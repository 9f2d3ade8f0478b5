//! What `nearfar run` costs programs that live on processes, threads and small calls, beside the same
//! programs alone, in turns: what Linux inherits, and a look from outside, may cost nothing that
//! can be told; what is followed costs by the thread and the process.

use std::env;
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
/// Inherited, or looked at, it may take so many times as long as alone.
const MOST_TIMES: f64 = 1.05;

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
    let mut is_kept = true;
    for (work, units, most_us) in WORK {
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
        let once = alone(1)?.max(alone(1)?);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small positive number"
        )]
        let repeats = (SHORTEST / once).ceil() as usize;
        let report = format!("--report={}", folder.path().join("report.json").display());
        let (mut plain, mut inherited, mut looked_at, mut followed) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for turn in 0..TURNS {
            let placement = PLACEMENTS[turn % PLACEMENTS.len()];
            // Whoever comes first comes last in the next turn.
            for way in if turn % 2 == 0 { [0, 1, 2] } else { [2, 1, 0] } {
                match way {
                    0 => plain.push(alone(repeats)?),
                    1 => inherited.push(under(repeats, placement, &[])?),
                    _ => looked_at.push(under(repeats, placement, &[&report])?),
                }
            }
            if most_us.is_some() {
                let options = ["--follow", "--report=/dev/null"];
                #[expect(clippy::cast_precision_loss, reason = "a small number")]
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
        is_kept &= is_inherited && is_looked_at;
        let mut line = format!(
            "{work:15} x {repeats}: alone {:.2} s, run {inherited}, --report {looked_at}",
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
        "at most x {MOST_TIMES} for run and --report: {}",
        if is_kept { "kept" } else { "missed" }
    )?;
    Ok(if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn seconds(command: &mut Command) -> anyhow::Result<f64> {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let begun = Instant::now();
    let status = command.status()?;
    let seconds = begun.elapsed().as_secs_f64();
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(seconds)
}
