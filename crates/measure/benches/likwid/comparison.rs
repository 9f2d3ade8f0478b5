//! The kernels beside likwid-bench: rounds over all cells, in turns, and the table.

use std::io::{self, Write};
use std::time::Instant;

use anyhow::{Context, ensure};
use nearfar_kernels::{Kernel, find};
use nearfar_measure::experiment::lay_out_steps;
use nearfar_measure::native::NativeExecutor;
use nearfar_measure::{Executor, Interrupt, store_method};
use nearfar_stats::{RatioEstimate, median, ratio_of_medians, relative_spread};

use crate::cell::{Cell, Level, run_window};
use crate::likwid_bench::{LikwidBench, Run, Workgroup};
use crate::options::{Options, ROUNDS_PER_ROUND_OF_ALL};
use crate::surroundings::Surroundings;

/// The kernels that have a counterpart in likwid-bench.
const KERNELS: [&str; 8] =
    ["load", "store", "store_nt", "copy", "copy_nt", "triad", "triad_nt", "ddot"];

/// With fewer rounds no interval holds a median with 95 %: the smallest and the
/// largest of five values do with 94 %.
pub const FEWEST_JUDGED_ROUNDS: usize = 6;

/// Of our data, and of the resampling.
const SEED: u64 = 1;

/// Both tools on the same cells.
pub struct Contest<'a> {
    surroundings: &'a Surroundings,
    likwid: &'a LikwidBench,
    executor: NativeExecutor,
    entries: Vec<Entry>,
    /// What is not compared, and why.
    omitted: Vec<String>,
}

/// A cell and what both tools reached in it.
struct Entry {
    cell: Cell,
    /// Whether it is of one thread: those of all are shown and not judged.
    is_judged: bool,
    /// Passes that make a run of likwid as long as ours.
    iterations: u64,
    /// Bytes/s.
    ours: Vec<f64>,
    likwid: Vec<Run>,
    disturbed: usize,
}

/// What is said of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Ok,
    /// The interval of ours/likwid lies below 1 as a whole.
    Below,
    NotJudged,
}

impl<'a> Contest<'a> {
    /// Lays out the cells.
    ///
    /// # Errors
    /// When nothing is left to compare.
    pub fn new(surroundings: &'a Surroundings, likwid: &'a LikwidBench) -> anyhow::Result<Self> {
        let environment = &surroundings.environment;
        let mut contest = Self {
            surroundings,
            likwid,
            executor: NativeExecutor::new(
                surroundings.machine.clone(),
                store_method(&environment.cpu),
                environment.memory_bytes,
                SEED,
                Interrupt::default(),
            ),
            entries: Vec::new(),
            omitted: Vec::new(),
        };
        for level in Level::ALL {
            contest.add_cells(level, &surroundings.one);
            if surroundings.all.cpus.len() > 1 {
                contest.add_cells(level, &surroundings.all);
            }
        }
        ensure!(!contest.entries.is_empty(), "nothing to compare: {}", contest.omitted.join("; "));
        Ok(contest)
    }

    fn add_cells(&mut self, level: Level, workgroup: &Workgroup) {
        let working_set = match level.working_set(self.surroundings, &workgroup.cpus) {
            Ok(working_set) => working_set,
            Err(reason) => return self.omitted.push(format!("{level}: {reason}")),
        };
        for name in KERNELS {
            let found: Option<(&'static Kernel, _)> =
                find(name).and_then(|kernel| Some((kernel, self.likwid.counterpart(kernel)?)));
            match found {
                Some((kernel, (variant, test))) => {
                    let widths = vec![1; kernel.arrays()];
                    let slices = lay_out_steps(working_set, &widths, workgroup.cpus.len() as u64);
                    let cell = Cell {
                        level,
                        kernel,
                        variant,
                        test: test.into(),
                        workgroup: workgroup.clone(),
                        working_set_bytes: slices.total_bytes,
                    };
                    self.entries.push(Entry::new(cell));
                }
                None => {
                    let reason = format!("{name}: likwid-bench has no test of it for this CPU");
                    if !self.omitted.contains(&reason) {
                        self.omitted.push(reason);
                    }
                }
            }
        }
    }

    /// Runs all rounds. How far they are is said on standard error.
    ///
    /// # Errors
    /// When one of the tools fails.
    pub fn run(&mut self, options: &Options) -> anyhow::Result<()> {
        let started = Instant::now();
        for entry in &mut self.entries {
            entry.calibrate(self.likwid)?;
        }
        for round in 0..options.rounds {
            for index in 0..self.entries.len() {
                let in_turn = round.is_multiple_of(ROUNDS_PER_ROUND_OF_ALL);
                if self.entries[index].is_judged || in_turn {
                    self.run_both(index)?;
                }
            }
            let seconds = started.elapsed().as_secs();
            writeln!(io::stderr(), "round {} of {}, {seconds} s", round + 1, options.rounds)?;
        }
        Ok(())
    }

    fn run_both(&mut self, index: usize) -> anyhow::Result<()> {
        let ours_first = (index + self.entries[index].ours.len()).is_multiple_of(2);
        if ours_first {
            self.run_ours(index)?;
        }
        let entry = &mut self.entries[index];
        let Cell { test, workgroup, .. } = &entry.cell;
        let kilobytes = entry.cell.kilobytes();
        let run = self.likwid.run(test, workgroup, kilobytes, entry.iterations)?;
        entry.likwid.push(run);
        if !ours_first {
            self.run_ours(index)?;
        }
        Ok(())
    }

    fn run_ours(&mut self, index: usize) -> anyhow::Result<()> {
        let entry = &mut self.entries[index];
        let case = entry.cell.case(self.surroundings);
        self.executor.begin_round(&[&case]);
        let window = run_window(&case, &mut self.executor, entry.cell.level.run_time());
        // Lets go of the memory before likwid's turn.
        self.executor.begin_round(&[]);
        let (rate, disturbed) = window?;
        entry.disturbed += usize::from(disturbed);
        entry.ours.push(rate);
        Ok(())
    }

    /// Prints the table; gives the number of judged cells that are below.
    ///
    /// # Errors
    /// When nothing can be written.
    pub fn print(&self, out: &mut impl Write) -> anyhow::Result<usize> {
        let clocks: Vec<f64> = self.likwid_runs().map(|run| run.clock_hz).collect();
        let clock_hz = median(&clocks).context("likwid-bench was never run")?;
        writeln!(
            out,
            "\n{:<6} {:>3} {:<8} {:<7} {:<20} {:>9} {:>9} {:>6} {:>15} {:>7} {:>7}",
            "level",
            "thr",
            "kernel",
            "isa",
            "likwid's test",
            "ours GB/s",
            "likwid",
            "ratio",
            "95 % interval",
            "spread",
            "likwid"
        )?;
        let mut verdicts = Vec::new();
        for entry in &self.entries {
            verdicts.push(entry.print(clock_hz, out)?);
        }
        let runs: usize = self.entries.iter().map(|entry| entry.ours.len()).sum();
        let disturbed: usize = self.entries.iter().map(|entry| entry.disturbed).sum();
        writeln!(
            out,
            "\nSwitches, stolen time or faults were seen in {disturbed} of our {runs} runs; likwid's \
             cannot be seen into.\nlikwid's clock calibrations: median {:.6} GHz, spread {}.",
            clock_hz / 1e9,
            relative_spread(&clocks)
                .map_or("not known".into(), |spread| format!("{:.2} %", spread * 100.0))
        )?;
        for reason in &self.omitted {
            writeln!(out, "not compared: {reason}")?;
        }
        let judged = verdicts.iter().filter(|&&verdict| verdict != Verdict::NotJudged).count();
        let below = verdicts.iter().filter(|&&verdict| verdict == Verdict::Below).count();
        writeln!(
            out,
            "{below} of {judged} judged cells are BELOW. (If both tools were equal, chance alone would \
             put {:.1} of {judged} there.) Judged: one thread, with at least {FEWEST_JUDGED_ROUNDS} \
             rounds.",
            0.025 * judged as f64
        )?;
        Ok(below)
    }

    fn likwid_runs(&self) -> impl Iterator<Item = &Run> {
        self.entries.iter().flat_map(|entry| &entry.likwid)
    }
}

impl Entry {
    fn new(cell: Cell) -> Self {
        let (ours, likwid) = (Vec::new(), Vec::new());
        let is_judged = cell.threads() == 1;
        Self { cell, is_judged, iterations: 0, ours, likwid, disturbed: 0 }
    }

    /// Finds out how many passes of likwid last as long as a run of ours.
    fn calibrate(&mut self, likwid: &LikwidBench) -> anyhow::Result<()> {
        // Some milliseconds in the fastest cache, some tenths of a second in slow memory.
        const FIRST_BYTES: u64 = 2_000_000_000;
        let Cell { test, workgroup, level, .. } = &self.cell;
        let kilobytes = self.cell.kilobytes();
        let first = (FIRST_BYTES / (1000 * kilobytes)).max(1);
        let run = likwid.run(test, workgroup, kilobytes, first)?;
        let pass = run.cycles / run.clock_hz / run.iterations as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and a run has far fewer than 2^53 passes"
        )]
        let passes = (level.run_time().as_secs_f64() / pass).round() as u64;
        self.iterations = passes.max(1);
        Ok(())
    }

    fn print(&self, clock_hz: f64, out: &mut impl Write) -> anyhow::Result<Verdict> {
        let Cell { level, kernel, variant, test, .. } = &self.cell;
        let likwid: Vec<f64> = self.likwid.iter().map(|run| run.rate(clock_hz)).collect();
        let estimate = ratio_of_medians(&self.ours, &likwid, SEED).context("no round was run")?;
        let verdict = self.judge(estimate);
        let figure = |values: &[f64]| median(values).map_or(f64::NAN, |rate| rate / 1e9);
        let spread = |values: &[f64]| relative_spread(values).map_or(f64::NAN, |s| s * 100.0);
        let (low, high) = estimate.interval;
        writeln!(
            out,
            "{level:<6} {:>3} {:<8} {variant:<7} {test:<20} {:>9.2} {:>9.2} {:>6.3} {:>15} {:>5.1} % \
             {:>5.1} %{}",
            self.cell.threads(),
            kernel.name,
            figure(&self.ours),
            figure(&likwid),
            estimate.ratio,
            format!("{low:.3} - {high:.3}"),
            spread(&self.ours),
            spread(&likwid),
            match verdict {
                Verdict::Ok => "  ok",
                Verdict::Below => "  BELOW",
                Verdict::NotJudged => "",
            }
        )?;
        Ok(verdict)
    }

    fn judge(&self, estimate: RatioEstimate) -> Verdict {
        if !self.is_judged || self.ours.len() < FEWEST_JUDGED_ROUNDS {
            return Verdict::NotJudged;
        }
        if estimate.interval.1 < 1.0 { Verdict::Below } else { Verdict::Ok }
    }
}
