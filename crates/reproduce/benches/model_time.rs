//! How long the models of a full record take, reading not counted: `cargo bench -p nearfar-reproduce
//! --bench model_time`. Status 1 when the promise is missed.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a program for developers")]

use std::process::ExitCode;
use std::thread::scope;
use std::time::{Duration, Instant};

use nearfar_flow::read_machine;
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::{
    ClassRule, OverlapBounds, RecordFigures, classes, distribution, flow, hybrid, latency,
    roofline, sharing, strategy,
};
use nearfar_record::Suite;

/// A machine with eight memory nodes.
const MACHINE: &str = "two-socket-8-nodes";

/// All models together may take so long.
const MOST: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let machine = read_machine(MACHINE).unwrap();
    let record = simulate(&machine, suite_inputs(Suite::Full), true).unwrap();
    println!(
        "\nModels of a full record of {MACHINE}: {} cases, {} samples. Promised: all in {} s.\n",
        record.cases.len(),
        record.samples.len(),
        MOST.as_secs()
    );
    let begin = Instant::now();
    let (figures, sorting) = timed(|| RecordFigures::new(&record));
    let times = times(&figures);
    let all = begin.elapsed();
    println!("{:14} {:>7.3} s", "sorting", sorting.as_secs_f64());
    for (name, is_there, time) in times {
        let note = if is_there { "" } else { "  (no model)" };
        println!("{name:14} {:>7.3} s{note}", time.as_secs_f64());
    }
    println!("{:14} {:>7.3} s", "all", all.as_secs_f64());
    if all <= MOST { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Each model by its name, whether the record has it, and how long that took, side by side as
/// `nearfar model` does it.
fn times(figures: &RecordFigures<'_>) -> Vec<(&'static str, bool, Duration)> {
    let models: [(&str, &(dyn Fn() -> bool + Sync)); 8] = [
        ("classes", &|| classes(figures, &ClassRule::default()).is_ok()),
        ("latency", &|| latency(figures).is_ok()),
        ("sharing", &|| sharing(figures).is_ok()),
        ("roofline", &|| roofline(figures).is_ok()),
        ("hybrid", &|| hybrid(figures, OverlapBounds::NotNegative).is_ok()),
        ("distribution", &|| distribution(figures).is_ok()),
        ("flow", &|| flow(figures).is_ok()),
        ("strategy", &|| strategy(figures).is_ok()),
    ];
    scope(|scope| {
        let running = models.map(|(name, model)| (name, scope.spawn(move || timed(model))));
        let ended = running.map(|(name, thread)| (name, thread.join().unwrap()));
        ended.map(|(name, (is_there, time))| (name, is_there, time)).into()
    })
}

fn timed<Answer>(work: impl FnOnce() -> Answer) -> (Answer, Duration) {
    let begin = Instant::now();
    let answer = work();
    (answer, begin.elapsed())
}
