//! The flow model on unseen sets of streams: machines of its own family, machines that obey another
//! law, and what papers print.
#![expect(clippy::print_stdout, reason = "the table is the result")]

mod machine;
mod printed;
mod queueing;
mod sets;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use fastrand::Rng;
use nearfar_model::{FlowCase, fit_flow};

use machine::{Family, Machine};
use sets::{measured, sets, unseen};

/// Promised of machines of its own family.
const PROMISED_MEAN: f64 = 0.025;
/// Promised of machines that serve by another law.
const PROMISED_FOREIGN: f64 = 0.08;
/// Relative noise of a stream in a case.
const NOISE: f64 = 0.03;
const UNSEEN_SETS: usize = 40;
const MACHINES: usize = 100;
const FOREIGN_MACHINES: usize = 40;

/// Prints the errors and says whether they keep the promises. `FLOW_MACHINES` is another number of
/// machines than 100.
pub fn print_errors() -> bool {
    println!("flow: errors on {UNSEEN_SETS} unseen sets a machine, against truth without noise");
    println!("{HEADER}");
    let count = std::env::var("FLOW_MACHINES").ok().and_then(|it| it.parse().ok());
    let own = count.unwrap_or(MACHINES);
    let foreign = count.unwrap_or(FOREIGN_MACHINES);
    let mixes = 8;
    let smooth = errors_of(own, Family::Own, mixes);
    smooth.print("own family, 8 mixes");
    errors_of(foreign, Family::Own, 32).print("own family, 32 mixes");
    errors_of(foreign, Family::Hard, mixes).print("hard limits (p = 60)");
    let mut kept = smooth.mean() <= PROMISED_MEAN;
    for (family, name) in [
        (Family::Queueing, "closed queueing, approximate MVA"),
        (Family::PerThread, "fair to threads, hard limits"),
        (Family::Turnaround, "turning between packages costs"),
    ] {
        let errors = errors_of(foreign, family, mixes);
        errors.print(name);
        kept &= errors.mean() <= PROMISED_FOREIGN;
    }
    kept & printed::print_errors()
}

const HEADER: &str = "machines                         | n   | stream mean | 95th pct | worst machine | totals | left out | s a fit";

/// Errors of machines.
struct Errors {
    machines: Vec<OfMachine>,
}

/// Of one machine.
struct OfMachine {
    /// Sizes of the errors of streams.
    streams: Vec<f64>,
    /// Of the totals of sets.
    totals: Vec<f64>,
    /// Mean error on mixes that were left out of the fit.
    left_out: f64,
    seconds: f64,
}

impl Errors {
    fn mean(&self) -> f64 {
        mean(self.machines.iter().map(|machine| mean(machine.streams.iter().copied())))
    }

    fn print(&self, name: &str) {
        let mut streams: Vec<f64> =
            self.machines.iter().flat_map(|machine| machine.streams.iter().copied()).collect();
        streams.sort_by(f64::total_cmp);
        let highest = streams[(streams.len() - 1) * 95 / 100];
        let worst = self.machines.iter().map(|it| mean(it.streams.iter().copied()));
        let totals = mean(self.machines.iter().map(|it| mean(it.totals.iter().copied())));
        let left_out = mean(self.machines.iter().map(|machine| machine.left_out));
        let seconds = mean(self.machines.iter().map(|machine| machine.seconds));
        println!(
            "{name:32} | {:3} | {:9.2} % | {:6.2} % | {:11.2} % | {:4.2} % | {:6.2} % | {seconds:.3}",
            self.machines.len(),
            100.0 * self.mean(),
            100.0 * highest,
            100.0 * worst.fold(0.0, f64::max),
            100.0 * totals,
            100.0 * left_out,
        );
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    sum / count
}

/// Machines are dealt out to as many threads as there are CPUs.
fn errors_of(count: usize, family: Family, mixes: usize) -> Errors {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let of_thread = || {
        let mut machines = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= count {
                return machines;
            }
            machines.push(of_machine(seed as u64, family, mixes));
        }
    };
    let machines = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(of_thread)).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    Errors { machines }
}

fn of_machine(seed: u64, family: Family, mixes: usize) -> OfMachine {
    let mut random = Rng::with_seed(seed);
    let machine = Machine::random(family, &mut random);
    let cases = measured(&machine, sets(&machine, mixes, &mut random), NOISE, &mut random);
    let begun = Instant::now();
    let is_mix = |case: &FlowCase| case.experiment == nearfar_record::Experiment::Mixes;
    let fitted = fit_flow(&machine.layout(), &cases, is_mix).unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    let mut of_machine =
        OfMachine { streams: Vec::new(), totals: Vec::new(), left_out: 0.0, seconds };
    for set in unseen(&machine, UNSEEN_SETS, &mut random) {
        let case = machine.case(nearfar_record::Experiment::Mixes, &set, NOISE);
        let rates = fitted.rates(&case).unwrap();
        let truth: Vec<f64> = case.streams.iter().map(|stream| stream.rate).collect();
        let pairs = rates.iter().zip(&truth);
        of_machine.streams.extend(pairs.map(|(rate, truth)| (rate / truth - 1.0).abs()));
        let (rates, truth): (f64, f64) = (rates.iter().sum(), truth.iter().sum());
        of_machine.totals.push((rates / truth - 1.0).abs());
    }
    let left_out = fitted.left_out.iter().flat_map(|(_, errors)| errors);
    of_machine.left_out = mean(left_out.map(|error| error.abs()));
    of_machine
}
