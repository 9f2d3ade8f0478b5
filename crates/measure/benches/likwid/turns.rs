//! load, copy_nt and triad_nt from memory by one thread, in order and by pages in turn, beside all who do
//! the same: likwid-bench, STREAM's loops, glibc's memcpy.

use std::io::{self, Write};

use anyhow::Context;
use nearfar_kernels::{Kernel, Variant, find};
use nearfar_measure::experiment::lay_out_steps;
use nearfar_measure::native::NativeExecutor;
use nearfar_measure::{Executor, Interrupt, store_method};
use nearfar_record::Case;
use nearfar_stats::{median, median_interval};

use crate::cell::{Cell, Level, run_window};
use crate::comparison::FEWEST_JUDGED_ROUNDS;
use crate::likwid_bench::LikwidBench;
use crate::options::Options;
use crate::surroundings::Surroundings;
use crate::yardstick::Yardstick;

/// Our kernels; of each the tests of likwid-bench and the kernels of the yardstick that do the same.
const KERNELS: [(&str, &[&str], &[&str]); 3] = [
    ("load", &["load_avx512", "load_avx"], &[]),
    ("copy_nt", &["copy_mem_avx512", "copy_mem_avx"], &["memcpy", "copy"]),
    ("triad_nt", &["stream_mem_avx512", "stream_mem_avx_fma"], &["triad"]),
];

/// By this it is told how many passes of the others last about as long as a window of ours.
const ANY_LOOP: &str = "memcpy";

/// Of ours over the best of the others.
const AIM: f64 = 1.05;

/// Of our data.
const SEED: u64 = 1;

/// Who copies.
enum Contestant {
    Ours(Variant, Box<Case>),
    Likwid(String),
    Yardstick(&'static str),
}

/// One of them and what it reached, bytes/s.
struct Entry {
    who: Contestant,
    rates: Vec<f64>,
}

/// One kernel's contest.
struct Turns<'a> {
    surroundings: &'a Surroundings,
    likwid: &'a LikwidBench,
    yardstick: &'a Yardstick,
    kernel: &'static Kernel,
    entries: Vec<Entry>,
    /// Of all arrays.
    bytes: u64,
    /// Of the others, so that they run about as long as we do.
    passes: u64,
}

/// Runs and prints the contests; gives how many of them the others win.
///
/// # Errors
/// When one of the programs fails, or nothing can be written.
pub fn compare(
    surroundings: &Surroundings,
    (likwid, yardstick): (&LikwidBench, &Yardstick),
    options: &Options,
    out: &mut impl Write,
) -> anyhow::Result<usize> {
    let environment = &surroundings.environment;
    let mut executor = NativeExecutor::new(
        surroundings.machine.clone(),
        store_method(&environment.cpu),
        environment.memory_bytes,
        SEED,
        Interrupt::default(),
    );
    writeln!(
        out,
        "\nPages in turn, from memory, one thread, {} rounds, all in turns; STREAM's loops by {} -O3 \
         -march=native, whose stores read their lines first. A page is 4096 bytes; memory is of huge pages \
         where Linux has them. Ratios are taken round by round; intervals run between two order statistics.",
        options.rounds, yardstick.compiler
    )?;
    let mut missed = 0;
    for (name, tests, loops) in KERNELS {
        let kernel = find(name).context("a kernel of the catalog")?;
        let mut turns = Turns::new(surroundings, (likwid, yardstick), kernel, (tests, loops))?;
        for round in 0..options.rounds {
            turns.run_round(round as usize, &mut executor)?;
            let last: Vec<String> = turns.entries.iter().map(Entry::last).collect();
            let (round, of, last) = (round + 1, options.rounds, last.join(" "));
            writeln!(io::stderr(), "{name}: round {round} of {of}: {last}")?;
        }
        missed += usize::from(!turns.print(out)?);
    }
    Ok(missed)
}

impl<'a> Turns<'a> {
    fn new(
        surroundings: &'a Surroundings,
        (likwid, yardstick): (&'a LikwidBench, &'a Yardstick),
        kernel: &'static Kernel,
        (tests, loops): (&[&str], &'static [&'static str]),
    ) -> anyhow::Result<Self> {
        let cpus = &surroundings.one.cpus;
        let set = Level::Memory.working_set(surroundings, cpus).map_err(anyhow::Error::msg)?;
        let bytes = lay_out_steps(set, &vec![1; kernel.arrays()], 1).total_bytes;
        let of_variant = |variant| {
            let cell = Cell {
                level: Level::Memory,
                kernel,
                variant,
                test: String::new(),
                workgroup: surroundings.one.clone(),
                working_set_bytes: bytes,
            };
            Contestant::Ours(variant, Box::new(cell.case(surroundings)))
        };
        let tests = tests.iter().filter(|test| likwid.has(test));
        // On a CPU without AVX-512 likwid-bench lists what it could not run.
        let runs = |test: &&&str| !test.contains("avx512") || Variant::Avx512.is_available();
        let variants = kernel.variants().into_iter();
        let widest = variants.clone().take(1);
        let in_turn = variants.filter(|variant| variant.pages_in_turn() > 1);
        let who = (widest.chain(in_turn).map(of_variant))
            .chain(tests.filter(runs).map(|test| Contestant::Likwid((*test).into())))
            .chain(loops.iter().map(|name| Contestant::Yardstick(name)));
        let entries = who.map(|who| Entry { who, rates: Vec::new() }).collect();
        let mut turns = Self { surroundings, likwid, yardstick, kernel, entries, bytes, passes: 1 };
        let pass = bytes as f64 / turns.yardstick.run(ANY_LOOP, cpus[0], bytes, 2)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and far below 2^53"
        )]
        let passes = (Level::Memory.run_time().as_secs_f64() / pass).round() as u64;
        turns.passes = passes.max(1);
        Ok(turns)
    }

    /// Each once, beginning with another in each round.
    fn run_round(&mut self, round: usize, executor: &mut NativeExecutor) -> anyhow::Result<()> {
        let cases: Vec<Case> = self.entries.iter().filter_map(Entry::case).cloned().collect();
        executor.begin_round(&cases.iter().collect::<Vec<_>>());
        let count = self.entries.len();
        for place in 0..count {
            // Forward, then backward, so that nobody always runs after the same one.
            let step = if round.is_multiple_of(2) { place } else { count - 1 - place };
            let index = (step + round / 2) % count;
            let rate = self.run(index, executor)?;
            self.entries[index].rates.push(rate);
        }
        executor.begin_round(&[]);
        Ok(())
    }

    fn run(&self, index: usize, executor: &mut NativeExecutor) -> anyhow::Result<f64> {
        let (bytes, passes) = (self.bytes, self.passes);
        match &self.entries[index].who {
            Contestant::Ours(_, case) => {
                Ok(run_window(case, executor, Level::Memory.run_time())?.0)
            }
            Contestant::Likwid(test) => {
                let run = self.likwid.run(test, &self.surroundings.one, bytes / 1000, passes)?;
                Ok(run.rate(run.clock_hz))
            }
            Contestant::Yardstick(name) => {
                self.yardstick.run(name, self.surroundings.one.cpus[0], bytes, passes)
            }
        }
    }

    /// Prints the table; gives whether ours is not below the others.
    fn print(&self, out: &mut impl Write) -> anyhow::Result<bool> {
        let (ours, others): (Vec<&Entry>, Vec<&Entry>) =
            self.entries.iter().partition(|entry| entry.case().is_some());
        let best = |entries: &[&Entry]| {
            let best = entries.iter().max_by(|a, b| a.median().total_cmp(&b.median()));
            best.map(|entry| (entry.name(), entry.rates.clone()))
        };
        let (other_name, other) = best(&others).context("nobody to compare with")?;
        let (our_name, our) = best(&ours).context("no variant of ours")?;
        writeln!(
            out,
            "\n{:<9} {:<26} {:>7} {:>15} {:>7} {:>7} {:>9} {:>15}",
            self.kernel.name,
            "GB/s",
            "median",
            "95 % interval",
            "least",
            "most",
            "/ best",
            "95 % interval"
        )?;
        for entry in &self.entries {
            let [_, low, high] = median_with_ends(&entry.rates);
            let least = entry.rates.iter().copied().fold(f64::INFINITY, f64::min);
            let most = entry.rates.iter().copied().fold(0.0, f64::max);
            let [ratio, least_ratio, most_ratio] =
                median_with_ends(&by_round(&entry.rates, &other));
            writeln!(
                out,
                "{:<9} {:<26} {:>7.2} {:>15} {:>7.2} {:>7.2} {:>9.3} {:>15}",
                "",
                entry.name(),
                entry.median() / 1e9,
                format!("{:.2} - {:.2}", low / 1e9, high / 1e9),
                least / 1e9,
                most / 1e9,
                ratio,
                format!("{least_ratio:.3} - {most_ratio:.3}")
            )?;
        }
        let [ratio, low, high] = median_with_ends(&by_round(&our, &other));
        let verdict = match () {
            () if our.len() < FEWEST_JUDGED_ROUNDS => "not judged by so few rounds",
            () if high < 1.0 => "BELOW the others",
            () if low >= AIM => "the aim is reached",
            () if high < AIM => "the aim is missed",
            () => "the interval does not tell whether the aim is reached",
        };
        writeln!(
            out,
            "{}: {our_name} / {other_name} {ratio:.3}, 95 % interval {low:.3} - {high:.3}, aim {AIM}: {verdict}. \
             Each is the best of several medians, which is a little too high.",
            self.kernel.name
        )?;
        Ok(high >= 1.0 || our.len() < FEWEST_JUDGED_ROUNDS)
    }
}

impl Entry {
    fn case(&self) -> Option<&Case> {
        match &self.who {
            Contestant::Ours(_, case) => Some(case),
            Contestant::Likwid(_) | Contestant::Yardstick(_) => None,
        }
    }

    fn name(&self) -> String {
        match &self.who {
            Contestant::Ours(variant, _) => format!("ours {variant}"),
            Contestant::Likwid(test) => format!("likwid {test}"),
            Contestant::Yardstick("memcpy") => "glibc memcpy".into(),
            Contestant::Yardstick(name) => format!("STREAM {name}"),
        }
    }

    /// What it reached last, GB/s.
    fn last(&self) -> String {
        self.rates.last().map_or_else(String::new, |rate| format!("{:.2}", rate / 1e9))
    }

    fn median(&self) -> f64 {
        median(&self.rates).unwrap_or(f64::NAN)
    }
}

/// One divided by the other in each round, so that what slows a machine for a while drops out.
fn by_round(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(one, other)| one / other).collect()
}

/// The median and the ends of its 95 % interval.
fn median_with_ends(values: &[f64]) -> [f64; 3] {
    let (low, high) = median_interval(values, 0.95).map_or((f64::NAN, f64::NAN), |(ends, _)| ends);
    [median(values).unwrap_or(f64::NAN), low, high]
}
