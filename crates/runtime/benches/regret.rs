//! What ranking by progressive filling costs against the flow law itself: `cargo bench -p
//! nearfar-runtime --bench regret`. Status 1 when a promise is missed.
//!
//! Random threads run, a task comes with data on one to three nodes, and places with a free core
//! are asked. Its time at each of them is computed by the law's solver with everything that runs;
//! regret is time at the chosen place / time at the best one - 1.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a program for developers")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of threads, from 0 to those of a machine"
)]

use std::process::ExitCode;

use fastrand::Rng;
use nearfar_flow::{Capacities, Load, read_machine};
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::{ClassRule, RecordFigures, flow};
use nearfar_record::Suite;
use nearfar_runtime::{Ranking, Running, Touched};

const MACHINES: [&str; 4] = ["two-socket-8-nodes", "joe0", "itanium2", "e7-4870"];

/// Questions on each machine.
const QUESTIONS: usize = 500;

/// Promised of a machine: mean regret, 95 % of the questions.
const MOST_MEAN: f64 = 0.03;
const MOST_USUAL: f64 = 0.20;

fn main() -> ExitCode {
    println!(
        "\nRegret of the place that is ranked first, against the flow law's solver, {QUESTIONS} \
         questions a machine, percent.\nPromised of `ranked`: mean {:.0}, 95th percentile {:.0}.\n",
        MOST_MEAN * 100.0,
        MOST_USUAL * 100.0
    );
    println!("{:20} {:22} {:>6} {:>6} {:>6}", "machine", "chosen by", "mean", "95 %", "worst");
    let mut kept = true;
    for name in MACHINES {
        let regrets = regrets(name);
        for (way, mut sizes) in
            ["ranked", "as if alone", "most data", "first free core"].into_iter().zip(regrets)
        {
            sizes.sort_by(f64::total_cmp);
            let mean = sizes.iter().sum::<f64>() / QUESTIONS as f64;
            let usual = sizes[QUESTIONS * 95 / 100];
            let worst = sizes[QUESTIONS - 1];
            println!(
                "{name:20} {way:22} {:>6.1} {:>6.1} {:>6.1}",
                mean * 100.0,
                usual * 100.0,
                worst * 100.0
            );
            kept &= way != "ranked" || (mean <= MOST_MEAN && usual <= MOST_USUAL);
        }
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// By this crate beside what runs, by it as if nothing ran, by where most of the data is, by number.
fn regrets(name: &str) -> [Vec<f64>; 4] {
    let simulated = read_machine(name).unwrap();
    let record = simulate(&simulated, suite_inputs(Suite::Standard), true).unwrap();
    let figures = RecordFigures::new(&record);
    let model = flow(&figures).unwrap();
    // Of one kernel, so that nothing but the law differs.
    let rule = ClassRule { kernels: vec![model.layout.kernels[0].clone()], ..ClassRule::default() };
    let ranking = Ranking::new(&figures, &rule).unwrap().with_flow(&model).unwrap();
    let mut random = Rng::with_seed(7);
    let mut found: [Vec<f64>; 4] = Default::default();
    while found[0].len() < QUESTIONS {
        let running = draw_running(&ranking, &mut random);
        let touched = draw_touched(&ranking, &mut random);
        let free = |place: usize| {
            let on: f64 = running.iter().filter(|it| it.place == place).map(|it| it.threads).sum();
            on < f64::from(u32::try_from(ranking.places()[place].cpus.len()).unwrap())
        };
        let candidates: Vec<usize> = (0..ranking.places().len()).filter(|&it| free(it)).collect();
        let times: Vec<Option<f64>> = (0..ranking.places().len())
            .map(|place| {
                let wanted = candidates.contains(&place);
                wanted.then(|| exact(&model.fitted.capacities, &ranking, place, &touched, &running))
            })
            .collect();
        let Some(best) = times.iter().flatten().copied().reduce(f64::min) else { continue };
        let first = |running: &[Running]| {
            let answer = ranking.rank(&touched, running).unwrap();
            answer.ranked.iter().map(|it| it.place).find(|it| candidates.contains(it)).unwrap()
        };
        let most = touched.iter().max_by_key(|it| it.bytes).unwrap().node;
        let local =
            candidates.iter().copied().find(|&it| ranking.places()[it].cpu_node == Some(most));
        let chosen = [first(&running), first(&[]), local.unwrap_or(candidates[0]), candidates[0]];
        for (sizes, place) in found.iter_mut().zip(chosen) {
            sizes.push(times[place].unwrap() / best - 1.0);
        }
    }
    found
}

/// Time of the task at a place by the law, seconds.
fn exact(
    capacities: &Capacities,
    ranking: &Ranking,
    place: usize,
    touched: &[Touched],
    running: &[Running],
) -> f64 {
    let initiator = |place: usize| ranking.places()[place].initiator;
    let mut loads: Vec<Load> = running
        .iter()
        .map(|it| Load {
            initiator: initiator(it.place),
            threads: it.threads as u32,
            shares: vec![(it.node, 1.0)],
        })
        .collect();
    let mut seconds = 0.0;
    for data in touched {
        loads.push(Load {
            initiator: initiator(place),
            threads: 1,
            shares: vec![(data.node, 1.0)],
        });
        let rates = capacities.rates(&loads).unwrap();
        seconds += data.bytes as f64 / rates[loads.len() - 1];
        loads.pop();
    }
    seconds
}

/// Each place has threads on up to three nodes.
fn draw_running(ranking: &Ranking, random: &mut Rng) -> Vec<Running> {
    let mut running = Vec::new();
    let share = random.f64();
    for (place, at) in ranking.places().iter().enumerate() {
        let mut left = (at.cpus.len() as f64 * share * random.f64() * 2.0) as usize;
        for _ in 0..3 {
            let threads = random.usize(0..=left.min(at.cpus.len() - 1));
            left -= threads;
            let node = ranking.nodes()[random.usize(..ranking.nodes().len())];
            let is_known = ranking.lone_rate(place, node).is_some();
            if threads > 0 && is_known {
                running.push(Running { place, node, threads: threads as f64 });
            }
        }
    }
    running
}

fn draw_touched(ranking: &Ranking, random: &mut Rng) -> Vec<Touched> {
    let count = random.usize(1..=3);
    let data = |_| Touched {
        node: ranking.nodes()[random.usize(..ranking.nodes().len())],
        bytes: random.u64(1..1 << 30),
    };
    (0..count).map(data).collect()
}
