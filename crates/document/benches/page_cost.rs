//! What the page of a record costs beside the record itself: `cargo bench -p nearfar-document --bench
//! page_cost`. Status 1 when a promise is missed.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a program for developers")]

use std::fs;
use std::process::ExitCode;
use std::time::Instant;

use nearfar_document::{ReportChoices, write_page};
use nearfar_flow::read_machine;
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_record::Suite;

/// A machine with eight memory nodes.
const MACHINE: &str = "two-socket-8-nodes";

/// A reader waits no longer for the page, its models included,
const MOST_SECONDS: [(Suite, f64); 2] = [(Suite::Standard, 1.0), (Suite::Full, 2.0)];
/// and so much memory may be used beside the record.
const MOST_MB: f64 = 300.0;

/// A page is no larger, so that it can be mailed.
const LARGEST_MB: f64 = 5.0;

fn main() -> ExitCode {
    let kept = MOST_SECONDS.map(|(suite, most_seconds)| keeps_promise(suite, most_seconds));
    if kept.into_iter().all(|kept| kept) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Measures and prints.
fn keeps_promise(suite: Suite, most_seconds: f64) -> bool {
    let machine = read_machine(MACHINE).unwrap();
    let record = simulate(&machine, suite_inputs(suite), true).unwrap();
    println!(
        "\nPage of a {suite} record of {MACHINE}: {} cases, {} samples. Promised: {most_seconds} s \
         with its models, {MOST_MB} MB beside the record, {LARGEST_MB} MB on disk.\n",
        record.cases.len(),
        record.samples.len(),
    );
    let before = resident("VmRSS:");
    // What follows counts from here: Linux' proc(5), clear_refs.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let begin = Instant::now();
    let mut page = Vec::new();
    write_page(&record, &ReportChoices::default(), &mut page).unwrap();
    let seconds = begin.elapsed().as_secs_f64();
    let most = resident("VmHWM:") - before;
    println!("record  {before:>8.0} MB");
    println!(
        "page    {:>8.1} MB, {seconds:.2} s, {most:.0} MB at most beside the record",
        mb(page.len())
    );
    seconds <= most_seconds && most <= MOST_MB && mb(page.len()) <= LARGEST_MB
}

/// A line of this process's status, in MB.
fn resident(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() * 1024.0 / 1e6
}

fn mb(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}
