//! `make bench`: the kernels beside likwid-bench, the declared work beside the
//! CPU's counters, pages in turn beside all who copy, generated arithmetic beside likwid-bench, the chase beside a plain loop,
//! `nearfar topo` beside lstopo, and what a quick suite costs.
//!
//! Status 1 when a judged figure misses its mark, 2 when the bench could not run.

mod arithmetic;
mod cell;
mod chase;
mod comparison;
mod counters;
mod likwid_bench;
mod options;
mod program_cost;
mod surroundings;
mod turns;
mod yardstick;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use nearfar_measure::HostLock;

use comparison::Contest;
use likwid_bench::LikwidBench;
use options::{Options, Part};
use program_cost::Programs;
use surroundings::Surroundings;
use yardstick::Yardstick;

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(error) => {
            // Nothing is left to be done when not even this can be written.
            writeln!(io::stderr(), "error: {error:#}").ok();
            ExitCode::from(2)
        }
    }
}

/// All parts one after the other; gives the number of figures that miss their mark.
fn run(options: &Options) -> anyhow::Result<usize> {
    let mut out = io::stdout();
    if !options.bench {
        writeln!(out, "this is a benchmark: run it by `cargo bench` or `make bench`")?;
        return Ok(0);
    }
    // What is missing is said before minutes are spent.
    let likwid = LikwidBench::find()?;
    let programs = options.wants(Part::Tools).then(Programs::find).transpose()?;
    let yardstick = options.wants(Part::Turns).then(Yardstick::compile).transpose()?;
    let surroundings = Surroundings::read(&likwid)?;

    let lock = HostLock::take()?;
    surroundings.print(&likwid, options, &mut out)?;
    let mut missed = 0;
    if options.wants(Part::Catalog) {
        let mut contest = Contest::new(&surroundings, &likwid)?;
        contest.run(options)?;
        missed += contest.print(&mut out)?;
        missed += counters::check(&surroundings, &mut out)?;
    }
    if let Some(yardstick) = &yardstick {
        missed += turns::compare(&surroundings, (&likwid, yardstick), options, &mut out)?;
    }
    if options.wants(Part::Arithmetic) {
        missed += arithmetic::compare(&surroundings, &likwid, options, &mut out)?;
    }
    if options.wants(Part::Chase) {
        missed += chase::compare(&surroundings, options, &mut out)?;
    }
    drop(lock);

    if let Some(programs) = programs {
        missed += programs.compare_topo(&mut out)?;
        missed += programs.weigh_quick_suite(&mut out).context("characterize --suite quick")?;
    }
    writeln!(out)?;
    match missed {
        0 => writeln!(out, "every judged figure meets its mark")?,
        _ => writeln!(out, "{missed} judged figures miss their mark")?,
    }
    Ok(missed)
}
