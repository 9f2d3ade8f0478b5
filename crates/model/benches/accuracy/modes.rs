//! How often several modes are told where there is one, and how often their number is right.

mod shapes;

use fastrand::Rng;
use nearfar_stats::{Modes, find_modes};

use shapes::{SINGLE, normal, skewed};

/// Samples of each shape and count.
const SAMPLES: u32 = 1000;

/// Of other samples than the thresholds were chosen on.
const SEED: u64 = 20_000;

/// Counts that a record can have: the suites' 30, and up to `--runs 1000`.
const COUNTS: [usize; 4] = [30, 100, 300, 1000];

/// Promised of every shape with a single mode, of this many values.
const MOST_FALSE: f64 = 0.03;

/// Modes of equal width: this many standard deviations from one to the next, their shares, and the rate
/// that is promised of each of [`COUNTS`]; 0 where nothing is.
type Row = (f64, &'static [f64], [f64; 4]);

const ROWS: [Row; 14] = [
    (4.0, &[0.5, 0.5], [0.0, 0.0, 0.0, 0.92]),
    (4.0, &[0.7, 0.3], [0.0, 0.0, 0.0, 0.92]),
    (4.0, &[0.8, 0.2], [0.0; 4]),
    (4.0, &[0.9, 0.1], [0.0; 4]),
    (5.0, &[0.5, 0.5], [0.0, 0.0, 0.0, 0.97]),
    (5.0, &[0.8, 0.2], [0.0, 0.0, 0.0, 0.97]),
    (6.0, &[0.5, 0.5], [0.0, 0.9, 0.97, 0.97]),
    (6.0, &[0.7, 0.3], [0.0, 0.9, 0.97, 0.97]),
    (6.0, &[0.9, 0.1], [0.0, 0.0, 0.0, 0.97]),
    (8.0, &[0.5, 0.5], [0.95, 0.9, 0.97, 0.97]),
    (4.0, &[0.4, 0.3, 0.3], [0.0, 0.0, 0.0, 0.92]),
    (6.0, &[0.25; 4], [0.0, 0.0, 0.97, 0.97]),
    (6.0, &[0.6, 0.15, 0.15, 0.1], [0.0, 0.0, 0.0, 0.97]),
    (20.0, &[0.02, 0.44, 0.48, 0.06], [0.0; 4]),
];

/// Prints the rates; whether all that are promised were reached.
pub fn print_rates() -> bool {
    let single = print_false_rates();
    let several = print_right_rates();
    single && several
}

/// The number of modes that a sample shows.
fn shown(values: &[f64]) -> usize {
    match find_modes(values, 0.0).unwrap() {
        Modes::Shown(_, modes) => modes.len(),
        Modes::NotShown(_) | Modes::TooFew => 1,
    }
}

#[expect(clippy::print_stdout, reason = "the table is the result")]
fn print_false_rates() -> bool {
    println!(
        "Modes: samples with a single mode that show more than one, of {SAMPLES} of each, percent \
         (promised of each: at most {})",
        100.0 * MOST_FALSE
    );
    println!("{:<28} {}", "", columns(&COUNTS.map(|count| count.to_string())));
    let mut kept = true;
    for (name, draw) in SINGLE {
        let rates = COUNTS.map(|count| {
            let mut random = Rng::with_seed(SEED + u64::try_from(count).unwrap());
            let several = (0..SAMPLES).filter(|_| {
                let values: Vec<f64> = (0..count).map(|_| draw(&mut random)).collect();
                shown(&values) > 1
            });
            rate(several.count())
        });
        let missed = rates.iter().any(|&rate| rate > MOST_FALSE);
        kept &= !missed;
        let cells = columns(&rates.map(percent));
        println!("{name:<28} {cells}{}", if missed { "  MISSED" } else { "" });
    }
    kept
}

#[expect(clippy::print_stdout, reason = "the table is the result")]
fn print_right_rates() -> bool {
    println!(
        "\nModes: the right number, of {SAMPLES} samples each, percent; modes are normal / have a \
         long tail to the left; * promised"
    );
    println!("{:<28} {}", "", columns(&COUNTS.map(|count| count.to_string())));
    let mut kept = true;
    for (apart, shares, promised) in ROWS {
        let mut missed = false;
        let mut cell = |count: usize, promised: f64| {
            let rates = [normal, skewed].map(|draw| right_rate(count, apart, shares, draw));
            missed |= rates.iter().any(|&rate| rate < promised);
            let star = if promised > 0.0 { "*" } else { "" };
            format!("{} / {}{star}", percent(rates[0]), percent(rates[1]))
        };
        let cells: [String; 4] = std::array::from_fn(|at| cell(COUNTS[at], promised[at]));
        kept &= !missed;
        let shares: Vec<String> =
            shares.iter().map(|share| format!("{:.0}", 100.0 * share)).collect();
        let what = format!("{}, {apart} sd, {}", shares.len(), shares.join("/"));
        println!("{what:<28} {}{}", columns(&cells), if missed { "  MISSED" } else { "" });
    }
    kept
}

fn right_rate(count: usize, apart: f64, shares: &[f64], draw: fn(&mut Rng) -> f64) -> f64 {
    let mut random = Rng::with_seed(SEED);
    let right = (0..SAMPLES).filter(|_| {
        let values: Vec<f64> = (0..count)
            .map(|_| {
                let (mut left, mut middle) = (random.f64(), 0.0);
                for share in shares {
                    left -= share;
                    if left < 0.0 {
                        break;
                    }
                    middle += apart;
                }
                middle + draw(&mut random)
            })
            .collect();
        shown(&values) == shares.len()
    });
    rate(right.count())
}

fn rate(count: usize) -> f64 {
    count as f64 / f64::from(SAMPLES)
}

fn percent(rate: f64) -> String {
    format!("{:.1}", 100.0 * rate)
}

fn columns(cells: &[String; 4]) -> String {
    cells.iter().map(|cell| format!("{cell:>15}")).collect()
}
