//! How long a question takes: `cargo bench -p nearfar-runtime --bench rank_time`. Status 1 when the
//! promise is missed.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a program for developers")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use fastrand::Rng;
use nearfar_flow::read_machine;
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::{ClassRule, RecordFigures, flow};
use nearfar_record::Suite;
use nearfar_runtime::{NodeAnswer, PlaceAnswer, Ranking, Running, Touched, User};

const MACHINE: &str = "two-socket-8-nodes";

/// In the median, a question of a task with data on all nodes while all cores are busy.
const MOST: Duration = Duration::from_micros(20);

/// Questions of each kind, every one with other numbers.
const QUESTIONS: usize = 20_000;

/// Cores of an initiator of the machine.
const CORES: u32 = 16;

fn main() -> ExitCode {
    let machine = read_machine(MACHINE).unwrap();
    let record = simulate(&machine, suite_inputs(Suite::Standard), true).unwrap();
    let begin = Instant::now();
    let figures = RecordFigures::new(&record);
    let lone = Ranking::new(&figures, &ClassRule::default()).unwrap();
    let made = begin.elapsed();
    let fitted = flow(&figures).unwrap();
    let ranking = lone.with_flow(&fitted).unwrap();
    println!(
        "\nRanking of {MACHINE}, {} places, {} nodes: made in {:.1} ms, with the flow model in \
         {:.0} ms.\nPromised: a question in {} us (median).\n",
        ranking.places().len(),
        ranking.nodes().len(),
        made.as_secs_f64() * 1e3,
        begin.elapsed().as_secs_f64() * 1e3,
        MOST.as_micros()
    );
    let mut random = Rng::with_seed(1);
    println!("{:56} {:>9} {:>9} {:>9}", "question", "median us", "99 % us", "worst us");
    let mut places = PlaceAnswer::default();
    let mut beside = |running: fn(&Ranking, &mut Rng) -> Vec<Running>| {
        time(|| {
            let (touched, running) =
                (draw_touched(&ranking, &mut random), running(&ranking, &mut random));
            let begin = Instant::now();
            ranking.rank_into(black_box(&touched), black_box(&running), &mut places).unwrap();
            (begin.elapsed(), places.ranked.len())
        })
    };
    let [alone, by_node, busy] = [nobody, on_one_node, everywhere].map(&mut beside);
    let mut nodes = NodeAnswer::default();
    let homes = time(|| {
        let users = draw_users(&ranking, &mut random);
        let begin = Instant::now();
        ranking.rank_nodes_into(black_box(&users), &[], &mut nodes).unwrap();
        (begin.elapsed(), nodes.ranked.len())
    });
    tell("a lone task, data on all nodes", &alone);
    tell("beside threads of each place on one node of its own", &by_node);
    tell("beside threads of each place on every node (64 pairs)", &busy);
    tell("a node for data of threads on all places (no promise)", &homes);
    let kept = [&alone, &by_node, &busy].iter().all(|times| at(times, 50) <= MOST);
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Times of questions, ascending, each of which must rank all eight places or nodes.
fn time(mut ask: impl FnMut() -> (Duration, usize)) -> Vec<Duration> {
    let mut times = Vec::new();
    for _ in 0..QUESTIONS {
        let (time, ranked) = ask();
        assert_eq!(ranked, 8);
        times.push(time);
    }
    times.sort_unstable();
    times
}

fn at(times: &[Duration], percent: usize) -> Duration {
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

fn tell(what: &str, times: &[Duration]) {
    let us = |percent| at(times, percent).as_secs_f64() * 1e6;
    println!("{what:56} {:>9.2} {:>9.2} {:>9.1}", us(50), us(99), us(100));
}

fn draw_touched(ranking: &Ranking, random: &mut Rng) -> Vec<Touched> {
    let data = |&node: &u32| Touched { node, bytes: random.u64(1..1 << 32) };
    ranking.nodes().iter().map(data).collect()
}

fn draw_users(ranking: &Ranking, random: &mut Rng) -> Vec<User> {
    let user = |place| User {
        place,
        threads: f64::from(random.u32(1..=CORES)),
        bytes: random.u64(1..1 << 32),
    };
    (0..ranking.places().len()).map(user).collect()
}

fn nobody(_: &Ranking, _: &mut Rng) -> Vec<Running> {
    Vec::new()
}

fn on_one_node(ranking: &Ranking, random: &mut Rng) -> Vec<Running> {
    let threads = |place| Running {
        place,
        node: ranking.nodes()[random.usize(..ranking.nodes().len())],
        threads: f64::from(random.u32(1..=CORES)),
    };
    (0..ranking.places().len()).map(threads).collect()
}

fn everywhere(ranking: &Ranking, random: &mut Rng) -> Vec<Running> {
    let mut running = Vec::new();
    for place in 0..ranking.places().len() {
        for &node in ranking.nodes() {
            running.push(Running { place, node, threads: f64::from(random.u32(1..=CORES)) / 8.0 });
        }
    }
    running
}
