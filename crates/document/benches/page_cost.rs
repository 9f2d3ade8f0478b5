//! What the page of a full record costs beside the record itself: `cargo bench -p nearfar-document
//! --bench page_cost`. Status 1 when the promise is missed.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a program for developers")]

use std::fs;
use std::process::ExitCode;
use std::time::Instant;

use nearfar_document::write_page;
use nearfar_flow::read_machine;
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::ModelChoices;
use nearfar_record::Suite;

/// A machine with eight memory nodes.
const MACHINE: &str = "two-socket-8-nodes";

/// A reader waits no longer for the page, its models included, and so much memory may be used
/// beside the record.
const MOST_SECONDS: f64 = 1.0;
const MOST_MB: f64 = 300.0;

/// A page is no larger, so that it can be mailed.
const LARGEST_MB: f64 = 5.0;

fn main() -> ExitCode {
    let machine = read_machine(MACHINE).unwrap();
    let record = simulate(&machine, suite_inputs(Suite::Full), true).unwrap();
    println!(
        "\nPage of a full record of {MACHINE}: {} cases, {} samples. Promised: {MOST_SECONDS} s \
         with its models, {MOST_MB} MB beside the record, {LARGEST_MB} MB on disk.\n",
        record.cases.len(),
        record.samples.len(),
    );
    let before = resident("VmRSS:");
    // What follows counts from here: Linux' proc(5), clear_refs.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let begin = Instant::now();
    let mut page = Vec::new();
    write_page(&record, &ModelChoices::default(), None, &mut page).unwrap();
    let seconds = begin.elapsed().as_secs_f64();
    let most = resident("VmHWM:") - before;
    println!("record  {before:>8.0} MB");
    println!(
        "page    {:>8.1} MB, {seconds:.2} s, {most:.0} MB at most beside the record",
        mb(page.len())
    );
    let is_kept = seconds <= MOST_SECONDS && most <= MOST_MB && mb(page.len()) <= LARGEST_MB;
    if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
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
