//! What the program itself costs: `nearfar topo` beside lstopo, and the time and
//! memory of a quick suite beside what its dry run promises.

use std::env;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};
use nearfar_record::read_record;
use nearfar_stats::{median, ratio_of_medians, relative_spread};
use serde_json::Value;

use crate::surroundings::in_turns;

const LSTOPO: &str = "lstopo-no-graphics";

/// Runs of each program, in turns.
const RUNS: usize = 15;

/// `nearfar topo` may take this many times what lstopo takes.
const MOST_TIMES_LSTOPO: f64 = 2.0;

/// Memory that the program may hold beside its arrays, MiB.
const MOST_MIB_BESIDE_ARRAYS: f64 = 64.0;

/// The programs that are run.
#[derive(Debug)]
pub struct Programs {
    nearfar: PathBuf,
}

impl Programs {
    /// Finds nearfar beside this bench, and lstopo.
    ///
    /// # Errors
    /// When one is missing.
    pub fn find() -> anyhow::Result<Self> {
        // This bench is TARGET/release/deps/likwid-HASH.
        let own = env::current_exe()?;
        let release = own.parent().and_then(Path::parent).context("the bench has no folder")?;
        let nearfar = release.join("nearfar");
        ensure!(
            nearfar.is_file(),
            "there is no {}; build it first: cargo build --release -p nearfar (or name other parts by --part)",
            nearfar.display()
        );
        Command::new(LSTOPO).arg("--version").output().with_context(|| {
            format!(
                "cannot start {LSTOPO}; install it (Debian package hwloc-nox) or name other \
                 parts by --part"
            )
        })?;
        Ok(Self { nearfar })
    }

    /// Times `nearfar topo --json` beside lstopo; gives 1 when it is too slow.
    ///
    /// # Errors
    /// When one of them fails, or nothing can be written.
    pub fn compare_topo(&self, out: &mut impl Write) -> anyhow::Result<usize> {
        let ours = || time(Command::new(&self.nearfar).args(["topo", "--json"]));
        let lstopo = || time(Command::new(LSTOPO).args(["--of", "xml"]));
        let (mut our_times, mut lstopo_times) = (Vec::new(), Vec::new());
        for run in 0..RUNS {
            let [ours, lstopo] = in_turns(run % 2 == 0, [&mut || ours(), &mut || lstopo()])?;
            our_times.push(ours);
            lstopo_times.push(lstopo);
        }
        let estimate =
            ratio_of_medians(&our_times, &lstopo_times, 1).context("no time was taken")?;
        let (low, high) = estimate.interval;
        let too_slow = low > MOST_TIMES_LSTOPO;
        let text = |times: &[f64]| {
            let spread = relative_spread(times).unwrap_or(f64::NAN) * 100.0;
            format!("{:.1} ms (spread {spread:.0} %)", median(times).unwrap_or(f64::NAN) * 1e3)
        };
        writeln!(
            out,
            "\nnearfar topo --json {}, {LSTOPO} --of xml {}, {RUNS} runs each in turns:\n\
             ratio {:.2}, 95 % interval {low:.2} - {high:.2}, at most {MOST_TIMES_LSTOPO:.1}: {}",
            text(&our_times),
            text(&lstopo_times),
            estimate.ratio,
            if too_slow { "ABOVE" } else { "ok" }
        )?;
        Ok(usize::from(too_slow))
    }

    /// Measures a quick suite beside its dry run's bound; gives how many of time and
    /// memory exceed theirs.
    ///
    /// # Errors
    /// When a program fails, its answers are not understood, or nothing can be written.
    pub fn weigh_quick_suite(&self, out: &mut impl Write) -> anyhow::Result<usize> {
        let folder = tempfile::tempdir()?;
        let record = folder.path().join("quick.jsonl");
        let dry = self.characterize(&["--dry-run"])?;
        let bound = dry["seconds_at_most"].as_f64().context("no seconds_at_most")?;
        let buffers = dry["buffers_bytes"].as_f64().context("no buffers_bytes")?;

        let started = Instant::now();
        self.characterize(&["--out", &record.display().to_string()])?;
        let seconds = started.elapsed().as_secs_f64();
        let finished = read_record(File::open(&record)?)?.finished;
        let resident = finished.context("the record has no end")?.peak_resident_bytes;

        let late = seconds > bound;
        writeln!(
            out,
            "\ncharacterize --suite quick: {seconds:.1} s, dry run's bound {bound:.1} s, ratio {:.2}: {}",
            seconds / bound,
            if late { "ABOVE" } else { "ok" }
        )?;
        let Some(resident) = resident else {
            writeln!(out, "peak resident memory: not known, the kernel did not say")?;
            return Ok(usize::from(late));
        };
        let beside = (resident as f64 - buffers) / f64::from(1 << 20);
        let heavy = beside > MOST_MIB_BESIDE_ARRAYS;
        writeln!(
            out,
            "peak resident memory beside the arrays: {beside:.1} MiB, at most \
             {MOST_MIB_BESIDE_ARRAYS}: {}",
            if heavy { "ABOVE" } else { "ok" }
        )?;
        Ok(usize::from(late) + usize::from(heavy))
    }

    fn characterize(&self, arguments: &[&str]) -> anyhow::Result<Value> {
        let output = Command::new(&self.nearfar)
            .args(["characterize", "--suite", "quick", "--json"])
            .args(arguments)
            .output()?;
        ensure!(
            output.status.success(),
            "characterize {} ended with {}: {}",
            arguments.join(" "),
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}

/// Wall time of a program from its start to its end, seconds.
fn time(command: &mut Command) -> anyhow::Result<f64> {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let status = command.status()?;
    let seconds = started.elapsed().as_secs_f64();
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(seconds)
}
