//! A scheduler that runs tasks near their data: `cargo run -p nearfar-runtime --example schedule --
//! RECORD [TASKS]` (8 where none are named). It gives each task the best place that has a CPU left, and compares what the flow
//! model says of all of them together with giving them out in turn.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example shows what it does")]

use std::error::Error;
use std::fs::File;
use std::process::ExitCode;

use fastrand::Rng;
use nearfar_flow::Load;
use nearfar_model::{ClassRule, Flow, RecordFigures, flow};
use nearfar_record::read_record;
use nearfar_runtime::{PlaceAnswer, Ranking, Running, Touched};

/// Where each task runs, by its position.
type Schedule = Vec<usize>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [record] => report(compare(record, 8)),
        [record, tasks] => match tasks.parse() {
            Ok(tasks) => report(compare(record, tasks)),
            Err(_) => report(Err(format!("'{tasks}' is no number of tasks").into())),
        },
        _ => report(Err("give a record of the suite standard, and how many tasks".into())),
    }
}

fn report(outcome: Result<(), Box<dyn Error>>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("schedule: {error}");
            ExitCode::from(2)
        }
    }
}

fn compare(path: &str, tasks: usize) -> Result<(), Box<dyn Error>> {
    let record = read_record(File::open(path)?)?;
    let figures = RecordFigures::new(&record);
    let model = flow(&figures)?;
    let ranking = Ranking::new(&figures, &ClassRule::default())?.with_flow(&model)?;
    let room: usize = ranking.places().iter().map(|place| place.cpus.len()).sum();
    if tasks == 0 || tasks > room {
        return Err(format!("{tasks} tasks: the record's machine has CPUs for 1 to {room}").into());
    }
    let tasks = draw_tasks(&ranking, tasks);
    let near = near_data(&ranking, &tasks)?;
    let in_turn = in_turn(&ranking, tasks.len());
    let shown =
        record.header.simulation.map_or_else(String::new, |it| format!(" (simulated {})", it.name));
    println!("{} tasks on {} places{shown}", tasks.len(), ranking.places().len());
    println!("{:12} {:>12} {:>14}", "placed", "all, GB/s", "last ends, ms");
    for (name, schedule) in [("near data", near), ("in turn", in_turn)] {
        let (together, last) = predict(&model, &ranking, &tasks, &schedule)?;
        println!("{name:12} {:>12.1} {:>14.1}", together / 1e9, last * 1e3);
    }
    Ok(())
}

/// Tasks with 16 to 256 MiB on one to three nodes: most of it on the first.
fn draw_tasks(ranking: &Ranking, tasks: usize) -> Vec<Vec<Touched>> {
    let mut random = Rng::with_seed(1);
    let mut task = || {
        let nodes = random.usize(1..=3);
        let mut bytes = random.u64(16..=256) << 20;
        let mut data = Vec::new();
        for _ in 0..nodes {
            let node = ranking.nodes()[random.usize(..ranking.nodes().len())];
            data.push(Touched { node, bytes });
            bytes /= 3;
        }
        data
    };
    (0..tasks).map(|_| task()).collect()
}

/// Each task in turn on the best place with a CPU left, beside those that were placed before.
fn near_data(ranking: &Ranking, tasks: &[Vec<Touched>]) -> Result<Schedule, Box<dyn Error>> {
    let mut left: Vec<usize> = ranking.places().iter().map(|place| place.cpus.len()).collect();
    let mut running: Vec<Running> = Vec::new();
    let mut answer = PlaceAnswer::default();
    let mut schedule = Vec::new();
    for task in tasks {
        ranking.rank_into(task, &running, &mut answer)?;
        let free = answer.ranked.iter().map(|it| it.place).find(|&place| left[place] > 0);
        let place = free.ok_or("no place with a CPU left has figures of a task's data")?;
        left[place] -= 1;
        schedule.push(place);
        running.extend(shares(task).map(|(node, threads)| Running { place, node, threads }));
    }
    Ok(schedule)
}

/// One after the other over the places with a CPU left.
fn in_turn(ranking: &Ranking, tasks: usize) -> Schedule {
    let rounds = ranking.places().iter().map(|place| place.cpus.len()).max().unwrap_or(0);
    let round = |round: usize| {
        let places = ranking.places().iter().enumerate();
        places.filter(move |(_, place)| round < place.cpus.len()).map(|(index, _)| index)
    };
    (0..rounds).flat_map(round).take(tasks).collect()
}

/// The share of a task's bytes on each node.
fn shares(task: &[Touched]) -> impl Iterator<Item = (u32, f64)> {
    let all: f64 = task.iter().map(|data| data.bytes as f64).sum();
    task.iter().map(move |data| (data.node, data.bytes as f64 / all))
}

/// What all tasks move together, bytes/s, and when the last ends if nothing changes, seconds.
fn predict(
    model: &Flow,
    ranking: &Ranking,
    tasks: &[Vec<Touched>],
    schedule: &Schedule,
) -> Result<(f64, f64), Box<dyn Error>> {
    let load = |(task, &place): (&Vec<Touched>, &usize)| Load {
        initiator: ranking.places()[place].initiator,
        threads: 1,
        shares: shares(task).collect(),
    };
    let loads: Vec<Load> = tasks.iter().zip(schedule).map(load).collect();
    let rates = model.fitted.capacities.rates(&loads)?;
    let bytes = tasks.iter().map(|task| task.iter().map(|data| data.bytes as f64).sum::<f64>());
    let last = bytes.zip(&rates).map(|(bytes, rate)| bytes / rate).fold(0.0, f64::max);
    Ok((rates.iter().sum(), last))
}
