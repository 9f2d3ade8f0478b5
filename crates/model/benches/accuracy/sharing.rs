//! How well the sharing model predicts cells that it has not seen: on the table of saad2022, which
//! is promised, and on tables that other mechanisms make, which are only shown.
#![expect(clippy::print_stdout, reason = "a program for developers")]

mod mechanisms;
#[path = "../../tests/sharing/paper_table.rs"]
mod paper_table;

use nearfar_model::{Law, RecordFigures, SharedGrid, Shares, sharing};

use crate::random_matrix::draw_normal;

use self::mechanisms::{MECHANISMS, Table};
use self::paper_table::{FOUR, LOCAL, REMOTE, mixed, printed, record_of};

/// The paper's cells that are fitted, with 3 and 1 for 4 and 1.
const OTHER_FOUR: [(u32, u32); 4] = [(1, 1), (3, 1), (2, 2), (4, 4)];

/// What is promised of the paper's twelve cells, fractions.
const TOTALS_MEAN: f64 = 0.015;
const TOTALS_WORST: f64 = 0.03;
const GROUPS_WORST: f64 = 0.04;
const BETA_WORST: f64 = 0.02;

const CHOICES: usize = 150;
const TABLES: usize = 60;

/// Errors over the cells that were not fitted.
#[derive(Clone, Copy, Default)]
struct Errors {
    totals_mean: f64,
    totals: f64,
    local: f64,
    remote: f64,
    groups_mean: f64,
    beta: f64,
}

/// Whether a law is the one that speaks.
type Speaker = fn(&Law) -> bool;

const REPORTED: Speaker = |_| false;

/// The law that is reported speaks where the other one is not asked.
const SPEAKERS: [(&str, Speaker); 3] = [
    ("reported", REPORTED),
    ("pressure", |law| matches!(law, Law::Pressure { .. })),
    ("saturation", |law| matches!(law, Law::Saturation { .. })),
];

pub fn print_errors() -> bool {
    println!(
        "\nSharing: saad2022's table, 8 lone and 4 mixed cells fitted, 12 predicted. Errors in percent, \
         of beta absolute.\nPromised for the first line: totals {} on average, {} at worst, groups \
         {}, beta {BETA_WORST}.\n",
        TOTALS_MEAN * 100.0,
        TOTALS_WORST * 100.0,
        GROUPS_WORST * 100.0,
    );
    println!("{HEADING}");
    let mut kept = true;
    for (name, four) in [("(1,1) (2,2) (4,1) (4,4)", FOUR), ("(1,1) (3,1) (2,2) (4,4)", OTHER_FOUR)]
    {
        let found = errors(&LOCAL, &REMOTE, &LOCAL, &REMOTE, &four, REPORTED);
        println!("{name:44} {}", found.line());
        kept &= found.totals_mean <= TOTALS_MEAN
            && found.totals <= TOTALS_WORST
            && found.local.max(found.remote) <= GROUPS_WORST
            && found.beta <= BETA_WORST;
    }
    print_choices();
    print_mechanisms();
    kept
}

const HEADING: &str =
    "                                              mean  worst  local remote groups   beta";

/// Random choices of the four cells.
fn print_choices() {
    for (name, speaker) in SPEAKERS {
        let mut random = fastrand::Rng::with_seed(2022);
        let found: Vec<Errors> = (0..CHOICES)
            .map(|_| {
                let four = random.choose_multiple(mixed(), 4);
                errors(&LOCAL, &REMOTE, &LOCAL, &REMOTE, &four, speaker)
            })
            .collect();
        println!(
            "{:44} {}",
            format!("{CHOICES} random choices, {name}, median"),
            at(&found, 0.5).line()
        );
        println!("{:44} {}", "   9 of 10 below", at(&found, 0.9).line());
        println!("{:44} {}", "   worst", at(&found, 1.0).line());
        let promised = found.iter().filter(|errors| errors.totals <= TOTALS_WORST).count();
        println!("   totals within {} % at worst: {promised} of {CHOICES}", TOTALS_WORST * 100.0);
    }
}

/// Tables of other mechanisms, the first choice of cells, noise 1 %.
fn print_mechanisms() {
    println!(
        "\n{TABLES} tables of each mechanism, 1 % noise, (1,1) (2,2) (4,1) (4,4); not promised\n"
    );
    println!("{HEADING}");
    for (mechanism, make) in MECHANISMS {
        for (name, speaker) in SPEAKERS {
            let mut random = fastrand::Rng::with_seed(180);
            let found: Vec<Errors> = (0..TABLES)
                .map(|_| {
                    let (local, remote) = make(&mut random);
                    let noise = &mut random;
                    let mut noisy = |table: &Table| {
                        table.map(|row| row.map(|it| it * (1.0 + 0.01 * draw_normal(noise))))
                    };
                    let seen = (noisy(&local), noisy(&remote));
                    errors(&seen.0, &seen.1, &local, &remote, &FOUR, speaker)
                })
                .collect();
            println!("{:44} {}", format!("{mechanism}, {name}, median"), at(&found, 0.5).line());
            println!("{:44} {}", "   9 of 10 below", at(&found, 0.9).line());
        }
    }
}

/// What is seen is fitted; the cells that are left are held against the truth.
fn errors(
    seen_local: &Table,
    seen_remote: &Table,
    local: &Table,
    remote: &Table,
    four: &[(u32, u32)],
    speaker: Speaker,
) -> Errors {
    let record = record_of(seen_local, seen_remote, four);
    let model = sharing(&RecordFigures::new(&record)).unwrap();
    let mut found = Errors::default();
    let mut count = 0.0;
    for (n, m) in mixed().filter(|at| !four.contains(at)) {
        let shares = spoken(&model.grids[0], n, m, speaker);
        let (near, far) = (printed(local, n, m) * 1e6, printed(remote, n, m) * 1e6);
        let [total, of_local, of_remote] =
            [(shares.total(), near + far), (shares.local, near), (shares.remote, far)]
                .map(|(ours, truth)| (ours.0 / truth - 1.0).abs());
        found.totals_mean += total;
        found.groups_mean += f64::midpoint(of_local, of_remote);
        found.totals = found.totals.max(total);
        found.local = found.local.max(of_local);
        found.remote = found.remote.max(of_remote);
        found.beta = found.beta.max((shares.beta() - far / (near + far)).abs());
        count += 1.0;
    }
    found.totals_mean /= count;
    found.groups_mean /= count;
    found
}

fn spoken(grid: &SharedGrid, n: u32, m: u32, speaker: Speaker) -> Shares {
    let cell = grid.cell(n, m).unwrap();
    if speaker(&grid.other.law) { cell.by_other_law } else { cell.predicted }.unwrap()
}

/// Each error's quantile over tables.
fn at(found: &[Errors], part: f64) -> Errors {
    let quantile = |of: fn(&Errors) -> f64| {
        let mut sorted: Vec<f64> = found.iter().map(of).collect();
        sorted.sort_by(f64::total_cmp);
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a position in a short list"
        )]
        let position = ((sorted.len() - 1) as f64 * part).round() as usize;
        sorted[position]
    };
    Errors {
        totals_mean: quantile(|it| it.totals_mean),
        totals: quantile(|it| it.totals),
        local: quantile(|it| it.local),
        remote: quantile(|it| it.remote),
        groups_mean: quantile(|it| it.groups_mean),
        beta: quantile(|it| it.beta),
    }
}

impl Errors {
    fn line(&self) -> String {
        let percent = [self.totals_mean, self.totals, self.local, self.remote, self.groups_mean]
            .map(|error| format!("{:6.2}", error * 100.0));
        format!("{} {:6.3}", percent.join(" "), self.beta)
    }
}
