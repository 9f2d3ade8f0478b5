//! Programs of this machine, fitted on three loads and busy cores and predicted beside loads that the fit has
//! not seen:
//!
//!     scripts/program-runs FOLDER
//!     cargo bench -p nearfar-place --bench programs -- MACHINE.jsonl FOLDER/*.jsonl
//!
//! MACHINE.jsonl has the machine's latency over traffic, the others are the runs that
//! `profile --pressure` left, of which the fit takes those beside its own loads where it has
//! them. Judged is the time beside a
//! load / the time alone in the same round.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for developers")]

use std::fs::File;
use std::io::BufReader;

use nearfar_model::{
    FamilyLaw, MemoryLaw, ProgramRuns, RecordFigures, fit_program, home_family, memory_runs,
    pressure_runs, solve,
};
use nearfar_record::{PressureRuns, Record, read_record};

/// Loads that the fit takes, with their pauses: those of a profile where nothing else is said.
const TAKEN: [(&str, u32); 4] = [("load", 1_000_000), ("load", 0), ("copy_nt", 0), ("2l1nt", 1024)];
/// A mean error is so much of a standard deviation, where errors are normal.
const MEAN_OF_DEVIATION: f64 = 0.798;
/// A slowdown from which on the error is judged as a part of it.
const MUCH: f64 = 0.10;

fn read(path: &str) -> Record {
    read_record(BufReader::new(File::open(path).unwrap())).unwrap()
}

/// Errors of the law, of the rule of alpha and of no change, and what noise alone makes; each a mean.
#[derive(Default)]
struct Judged {
    errors: [f64; 3],
    noise: f64,
    loads: usize,
    /// Of slowdowns of more than a tenth: errors of the law, and slowdowns, added up.
    much: [f64; 2],
}

fn is_taken(runs: &PressureRuns) -> bool {
    runs.load.as_ref().is_none_or(|it| TAKEN.contains(&(it.kernel.as_str(), it.pause_cycles)))
}

fn judge(runs: &[PressureRuns], family: &FamilyLaw) -> Option<Judged> {
    let (taken, unseen): (Vec<PressureRuns>, Vec<PressureRuns>) =
        runs.iter().cloned().partition(is_taken);
    let taken = memory_runs(&taken);
    let fitted = fit_program(&taken, family)?;
    let ratio = fitted.parts.capacity_ratio;
    let memory = MemoryLaw { law: family.law(), capacity_ratio: ratio };
    let times = memory_runs(&unseen);
    let alone = solve(&fitted.parts, &memory, taken[0].beside, 1)?.seconds;
    let mut judged = Judged::default();
    for (runs, time) in unseen.iter().zip(&times) {
        let beside = solve(&fitted.parts, &memory, time.beside, 1).map(|it| it.seconds / alone);
        let capacity = memory.capacity(time.beside.read_share)?;
        let by_alpha = 1.0 / (1.0 - time.beside.traffic / capacity).max(0.01);
        let off = |found: f64| (found / runs.slowdown - 1.0).abs();
        let law = beside.map_or(1.0, off);
        for (sum, error) in judged.errors.iter_mut().zip([law, off(by_alpha), off(1.0)]) {
            *sum += error;
        }
        judged.noise += MEAN_OF_DEVIATION * runs.slowdown_error;
        judged.loads += 1;
        if runs.slowdown > 1.0 + MUCH {
            judged.much[0] += law;
            judged.much[1] += runs.slowdown - 1.0;
        }
    }
    Some(judged)
}

fn print(name: &str, of: &Judged, slowdowns: &str) {
    let mean = |sum: f64| 100.0 * sum / of.loads as f64;
    println!(
        "  {name:<26} {:>6.1} {:>6.1} {:>9.1} {:>6.1}   {slowdowns}",
        mean(of.errors[0]),
        mean(of.errors[1]),
        mean(of.errors[2]),
        mean(of.noise)
    );
}

fn main() {
    let paths: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with("--")).collect();
    let Some((machine, of_programs)) = paths.split_first() else {
        println!(
            "programs: give the machine's record and those of runs; scripts/program-runs makes them"
        );
        return;
    };
    let machine = read(machine);
    println!("programs: mean error of the time beside loads that were not fitted, %");
    println!(
        "  {:<26} {:>6} {:>6} {:>9} {:>6}   slowdowns",
        "program", "law", "alpha", "no change", "noise"
    );
    let mut all = Judged::default();
    for path in of_programs {
        let record = read(path);
        let name = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".jsonl");
        let at = &record.header.inputs.commands.as_ref().unwrap().placements[0];
        let family = home_family(&machine, at.initiator, at.memory_node.unwrap()).unwrap();
        let ProgramRuns { runs, left_out, moved } =
            match pressure_runs(&RecordFigures::new(&record)) {
                Ok(runs) => runs,
                Err(why) => {
                    println!("  {name:<26} not judged: {why}");
                    continue;
                }
            };
        let Some(judged) = judge(&runs, &family) else {
            println!("  {name:<26} no law fits it");
            continue;
        };
        let slowdowns: Vec<String> = runs
            .iter()
            .filter(|it| !is_taken(it))
            .map(|it| format!("{:.2}", it.slowdown))
            .collect();
        let moved = moved.map_or(String::new(), |it| {
            format!("; {} of {} runs on other cores", it.left_out, it.of)
        });
        let left_out: Vec<String> = (left_out.iter())
            .map(|it| format!("; not beside {} ({})", it.load.kernel, it.why))
            .collect();
        print(name, &judged, &format!("{}{moved}{}", slowdowns.join(" "), left_out.concat()));
        for (sum, of) in all.errors.iter_mut().zip(judged.errors) {
            *sum += of;
        }
        all.noise += judged.noise;
        all.loads += judged.loads;
        all.much.iter_mut().zip(judged.much).for_each(|(sum, of)| *sum += of);
    }
    print("all", &all, "");
    if all.much[1] > 0.0 {
        println!(
            "  of slowdowns above {:.0} %: error / slowdown {:.2}",
            100.0 * MUCH,
            all.much[0] / all.much[1]
        );
    }
}
