//! How much of what a machine could give the first-ranked placement leaves, where the truth is
//! known: `cargo bench -p nearfar-advise --bench regret`. Status 1 when a promise is missed.
//! `REGRET_MACHINES` is another number of random machines than 200, `REGRET_FROM` the seed of the first
//! where that is not 0, and `REGRET_NOISE` the one noise of a case to look at, in percent.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a program for developers that cannot go on panics; the table is the result"
)]

#[path = "../../../model/benches/accuracy/flow/machine.rs"]
mod machine;
mod papers;
#[path = "../../../model/benches/accuracy/flow/queueing.rs"]
mod queueing;
mod random;
#[path = "../../../model/benches/accuracy/flow/sets.rs"]
mod sets;
mod truth;

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use truth::Outcome;

const MACHINES: u64 = 200;

/// Promised of shared data: mean, 95th percentile and worst regret, by the noise of a record.
const PROMISED: [(f64, [Option<f64>; 3]); 2] =
    [(0.05, [Some(0.01), Some(0.03), Some(0.08)]), (0.02, [None, None, Some(0.05)])];
/// The recommendation may lose this beside the gain that is too small to be recommended.
const BESIDE_FLOOR: f64 = 0.05;

fn main() -> ExitCode {
    let number = |name| std::env::var(name).ok().map(|it| it.parse::<u64>().unwrap());
    let count = number("REGRET_MACHINES").unwrap_or(MACHINES);
    let from = number("REGRET_FROM").unwrap_or(0);
    let only = number("REGRET_NOISE").map(|percent| percent as f64 / 100.0);
    println!(
        "Regret: 1 - throughput / that of the best placement found on the truth (threads x the \
         slowest thread). Random\nmachines of 2 to 8 nodes, a third by laws that the flow model \
         lacks, and the machines of papers; threads on a\nrandom set of initiators. In percent: mean, \
         95th percentile, worst; in brackets what is promised.\n"
    );
    let mut kept = true;
    let is_wanted = |noise: f64| only.is_none_or(|only| (only - noise).abs() < 1e-9);
    assert!(PROMISED.iter().any(|it| is_wanted(it.0)), "nothing is promised at that noise");
    for (noise, promised) in PROMISED.into_iter().filter(|it| is_wanted(it.0)) {
        let mut all = in_parallel(count, |place| random::trial(from + place, noise));
        all.extend(in_parallel(papers::COUNT, |place| papers::trials(place, noise)));
        let all: Vec<Outcome> = all.into_iter().flatten().collect();
        kept &= print_table(noise, promised, &all);
        print_beyond(promised[2], &all);
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn print_table(noise: f64, promised: [Option<f64>; 3], all: &[Outcome]) -> bool {
    println!(
        "noise of a case {:.0} %, {} questions            mean     95th    worst",
        100.0 * noise,
        all.len()
    );
    // Mean, 95th percentile, worst; `None` where no question is of the kind.
    let of = |pick: &dyn Fn(&Outcome) -> Option<f64>| -> Option<[f64; 3]> {
        let mut values: Vec<f64> = all.iter().filter_map(pick).collect();
        values.sort_by(f64::total_cmp);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let at = |part: usize| values.get(values.len().saturating_sub(1) * part / 100).copied();
        Some([mean, at(95)?, at(100)?])
    };
    let none = [None; 3];
    print_line("largest prediction", of(&|it| Some(it.largest)), none);
    let first = of(&|it| Some(it.first));
    let mut kept = print_line("first-ranked", first, promised);
    for (name, regrets) in [
        ("  machines of the model's law", of(&|it| it.is_own_law.then_some(it.first))),
        ("  machines of other laws", of(&|it| it.is_foreign_law.then_some(it.first))),
        ("  machines of papers", of(&|it| it.is_of_paper().then_some(it.first))),
        ("recommended", of(&|it| Some(it.recommended))),
    ] {
        print_line(name, regrets, none);
    }
    let beyond = of(&|it| Some((it.recommended - it.floor).max(0.0)));
    kept &= print_line("  beyond the least gain", beyond, [None, None, Some(BESIDE_FLOOR)]);
    let gained = || all.iter().filter_map(|it| it.gained);
    println!(
        "    other than the default {}, slower than it {}, by {:.2} at worst",
        gained().count(),
        gained().filter(|gain| *gain < 0.0).count(),
        100.0 * gained().fold(0.0_f64, |worst, gain| worst.max(-gain))
    );
    for (place, name) in truth::RULES.iter().enumerate() {
        let regrets = of(&|it| Some(it.by_rule[place]));
        print_line(name, regrets, none);
        let is_ahead = first.zip(regrets).is_some_and(|(first, regrets)| first[0] < regrets[0]);
        if !is_ahead {
            println!("    MISSED: the first-ranked is not ahead of it on the mean");
        }
        kept &= is_ahead;
    }
    print_line("private data, first-ranked", of(&|it| it.private.map(|it| it.0)), none);
    print_line("private data, local", of(&|it| it.private.map(|it| it.1)), none);
    println!();
    kept
}

/// Names the questions whose answers lose more than the worst that is promised.
fn print_beyond(worst: Option<f64>, all: &[Outcome]) {
    for it in all {
        let beyond = it.recommended - it.floor;
        if beyond > BESIDE_FLOOR || worst.is_some_and(|worst| it.first > worst) {
            println!(
                "  beyond: {}: first-ranked {:.2}, largest prediction {:.2}, recommended {:.2}, of \
                 a least gain of {:.2}",
                it.asked,
                100.0 * it.first,
                100.0 * it.largest,
                100.0 * it.recommended,
                100.0 * it.floor
            );
        }
    }
    println!();
}

/// Prints regrets beside what is promised of them; whether that is kept, which it is not where there
/// are none.
fn print_line(name: &str, regrets: Option<[f64; 3]>, promised: [Option<f64>; 3]) -> bool {
    let Some(regrets) = regrets else {
        println!("  {name:38} no question");
        return promised == [None; 3];
    };
    let mut kept = true;
    let cells = regrets.iter().zip(promised).map(|(found, promised)| {
        let is_missed = promised.is_some_and(|promised| *found > promised);
        kept &= !is_missed;
        let promised = promised.map_or_else(String::new, |it| format!("({:.0})", 100.0 * it));
        format!("{:6.2} {promised:4}{}", 100.0 * found, if is_missed { " MISSED" } else { "" })
    });
    println!("  {name:38} {}", cells.collect::<Vec<_>>().join(" "));
    kept
}

/// What work gives for the numbers below a count, on all cores.
fn in_parallel<T: Send>(count: u64, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let next = AtomicU64::new(0);
    let turn = || {
        let mut own = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            if place >= count {
                return own;
            }
            own.push((place, work(place)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<(u64, T)> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(turn)).collect();
        handles.into_iter().flat_map(|it| it.join().unwrap()).collect()
    });
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, of)| of).collect()
}
