//! Generated arithmetic beside likwid-bench's peakflops, one thread.

use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use nearfar_kernels::{FlopLoop, Flops, Variant, add_in_sequence};
use nearfar_stats::{median, ratio_of_medians};

use crate::likwid_bench::{LikwidBench, Run};
use crate::options::Options;
use crate::surroundings::{Surroundings, on_cpu};

/// A judged figure reaches this share of likwid's.
const MARK: f64 = 0.98;

/// How long each run of either side lasts.
const RUN: Duration = Duration::from_millis(100);

/// Size of likwid's array: it loads one number per fifteen operations, from the first-level cache.
const KILOBYTES: u64 = 16;

/// Of the resampling.
const SEED: u64 = 1;

/// One row: ours, and what it is set beside.
struct Row {
    ours: FlopLoop,
    /// likwid's test, and the passes that make a run of it as long as ours.
    likwid: Option<(String, u64)>,
    /// Turns of a run.
    turns: usize,
    /// What every run must give.
    result: u64,
    /// FLOP/s.
    rates: Vec<f64>,
    /// Operations on vectors per cycle, at the clock found before and after each run.
    per_cycle: Vec<f64>,
    likwid_runs: Vec<Run>,
}

/// Runs both sides in turns and prints the table; gives the number of judged figures below the
/// mark.
///
/// # Errors
/// When one side fails, or nothing can be written.
pub fn compare(
    surroundings: &Surroundings,
    likwid: &LikwidBench,
    options: &Options,
    out: &mut (impl Write + Send),
) -> anyhow::Result<usize> {
    on_cpu(surroundings.one.cpus[0], || {
        let mut rows = rows(likwid)?;
        for row in &mut rows {
            row.calibrate(surroundings, likwid)?;
        }
        for round in 0..options.rounds {
            for (index, row) in (0..).zip(&mut rows) {
                row.run(surroundings, likwid, (round + index) % 2 == 0)?;
            }
        }
        print(&rows, out)
    })
}

/// Everything that this CPU can do, beside the test of likwid that does the same.
fn rows(likwid: &LikwidBench) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for text in ["fma", "fma_add", "mul_add", "mul", "add"] {
        for precision in ["dp", "sp"] {
            let flops: Flops = format!("{text}_{precision}").parse()?;
            for variant in Variant::available() {
                let Ok(ours) = flops.generate(variant) else { continue };
                let infix = if precision == "sp" { "_sp" } else { "" };
                // likwid's tests without fused multiply-add do both kinds in turns, as ours.
                let suffix = match (variant, text) {
                    (Variant::Avx512, "fma") => "avx512_fma",
                    (Variant::Avx2, "fma") => "avx_fma",
                    (Variant::Avx512, "mul_add") => "avx512",
                    (Variant::Avx2, "mul_add") => "avx",
                    (Variant::Sse2, "mul_add") => "sse",
                    _ => "",
                };
                let test = format!("peakflops{infix}_{suffix}");
                let likwid = likwid.has(&test).then_some((test, 0));
                rows.push(Row {
                    ours,
                    likwid,
                    turns: 0,
                    result: 0,
                    rates: Vec::new(),
                    per_cycle: Vec::new(),
                    likwid_runs: Vec::new(),
                });
            }
        }
    }
    ensure!(!rows.is_empty(), "this CPU runs none of the generated arithmetic");
    Ok(rows)
}

impl Row {
    /// Finds the lengths of runs, and checks a short one number by number.
    fn calibrate(
        &mut self,
        surroundings: &Surroundings,
        likwid: &LikwidBench,
    ) -> anyhow::Result<()> {
        const CHECKED: usize = 1000;
        const FIRST: usize = 1_000_000;
        let (kind, variant) = (self.ours.kind(), self.ours.variant());
        ensure!(
            self.ours.run(CHECKED) == kind.expected(variant, CHECKED as u64),
            "{kind} in {variant} computes wrong numbers"
        );
        let started = Instant::now();
        black_box(self.ours.run(FIRST));
        let first = started.elapsed().as_secs_f64();
        self.turns = times(FIRST as f64 * RUN.as_secs_f64() / first);
        self.result = self.ours.run(self.turns);
        if let Some((test, passes)) = &mut self.likwid {
            const FIRST_PASSES: u64 = 10_000;
            let run = likwid.run(test, &surroundings.one, KILOBYTES, FIRST_PASSES)?;
            let seconds = run.cycles / run.clock_hz;
            *passes = times(FIRST_PASSES as f64 * RUN.as_secs_f64() / seconds) as u64;
        }
        Ok(())
    }

    fn run(
        &mut self,
        surroundings: &Surroundings,
        likwid: &LikwidBench,
        ours_first: bool,
    ) -> anyhow::Result<()> {
        if ours_first {
            self.run_ours()?;
        }
        if let Some((test, passes)) = &self.likwid {
            self.likwid_runs.push(likwid.run(test, &surroundings.one, KILOBYTES, *passes)?);
        }
        if !ours_first {
            self.run_ours()?;
        }
        Ok(())
    }

    fn run_ours(&mut self) -> anyhow::Result<()> {
        // The core gets used to the width of the vectors.
        black_box(self.ours.run(self.turns / 10));
        let before = clock_hz();
        let started = Instant::now();
        let result = self.ours.run(self.turns);
        let seconds = started.elapsed().as_secs_f64();
        let after = clock_hz();
        ensure!(result == self.result, "{} gave two results", self.ours.kind());
        let turns = self.turns as u64;
        self.rates.push(self.ours.flops(turns) as f64 / seconds);
        if let (Some(before), Some(after)) = (before, after) {
            let operations =
                u64::from(self.ours.kind().operations_per_turn(self.ours.variant())) * turns;
            self.per_cycle.push(operations as f64 / seconds / ((before + after) / 2.0));
        }
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and positive")]
fn times(value: f64) -> usize {
    value.round().max(1.0) as usize
}

/// The clock of this core, by additions of one cycle each. About a millisecond.
fn clock_hz() -> Option<f64> {
    let started = Instant::now();
    let additions = add_in_sequence(3_000_000)?;
    Some(additions as f64 / started.elapsed().as_secs_f64())
}

fn print(rows: &[Row], out: &mut impl Write) -> anyhow::Result<usize> {
    let runs = rows.iter().flat_map(|row| &row.likwid_runs);
    let clocks: Vec<f64> = runs.map(|run| run.clock_hz).collect();
    writeln!(
        out,
        "\n{:<11} {:<7} {:<26} {:>9} {:>9} {:>6} {:>15} {:>10}",
        "arithmetic",
        "isa",
        "likwid's test",
        "ours GF/s",
        "likwid",
        "ratio",
        "95 % interval",
        "ops/cycle"
    )?;
    let mut below = 0;
    for row in rows {
        let ours = median(&row.rates).context("no round was run")? / 1e9;
        let per_cycle = median(&row.per_cycle)
            .map_or_else(|| "unknown".into(), |operations| format!("{operations:.3}"));
        let (kind, variant) = (row.ours.kind(), row.ours.variant());
        write!(out, "{kind:<11} {variant:<7} ")?;
        let Some((test, _)) = &row.likwid else {
            writeln!(
                out,
                "{:<26} {ours:>9.2} {:>9} {:>6} {:>15} {per_cycle:>10}",
                "-", "-", "-", "-"
            )?;
            continue;
        };
        let clock = median(&clocks).context("likwid-bench was never run")?;
        let likwid: Vec<f64> = row.likwid_runs.iter().map(|run| run.flop_rate(clock)).collect();
        let estimate = ratio_of_medians(&row.rates, &likwid, SEED).context("no round was run")?;
        let (low, high) = estimate.interval;
        let missed = high < MARK;
        below += usize::from(missed);
        writeln!(
            out,
            "{test:<26} {ours:>9.2} {:>9.2} {:>6.3} {:>15} {per_cycle:>10}{}",
            median(&likwid).unwrap_or(f64::NAN) / 1e9,
            estimate.ratio,
            format!("{low:.3} - {high:.3}"),
            if missed { "  BELOW" } else { "  ok" }
        )?;
    }
    writeln!(
        out,
        "ops/cycle: operations on vectors per cycle of the clock that dependent additions found \
         before and\nafter each run; what the ports can do at most is a whole number.\nJudged: \
         those with a test of likwid, ok unless the interval lies below {MARK} as a whole."
    )?;
    Ok(below)
}
