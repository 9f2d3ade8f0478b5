//! What a case's samples say, on samples written by hand.

use nearfar_record::{
    Actor, ActorSample, Aggregate, Disturbance, PageSizes, Part, Sample, Work, round_values,
    summarize, summarize_case,
};
use nearfar_specimen::{done, stream, window as window_of, with_flops};

/// A window of one second in which the threads moved this many bytes.
fn sample(round: u32, window: u32, threads: &[f64], disturbed: bool) -> Sample {
    sample_of(vec![actor(threads, 0.0)], round, window, disturbed)
}

fn sample_of(actors: Vec<ActorSample>, round: u32, window: u32, disturbed: bool) -> Sample {
    let disturbance = Disturbance::Switched { times: 1, microseconds: 900 };
    let disturbances = disturbed.then_some(disturbance).into_iter().collect();
    Sample { window, disturbances, ..window_of("c", round, actors) }
}

/// An actor whose threads moved this many bytes, with this many operations each.
fn actor(threads: &[f64], flops: f64) -> ActorSample {
    let memory = nearfar_machine::MemoryPolicy::Preferred(0);
    let stream =
        Actor::Stream(stream("load", "portable", nearfar_machine::CpuSet::single(0), memory));
    with_flops(done(&stream, threads), flops * threads.len() as f64)
}

/// saad2022's point: two fast and two slow threads.
#[test]
fn sum_adds_up_and_pace_waits_for_the_slowest() {
    let sample = sample(0, 0, &[400.0, 400.0, 100.0, 100.0], false);
    let rate = |aggregate| sample.rate(Part::Case, Work::UsefulBytes, aggregate);
    assert_eq!(rate(Aggregate::Sum).to_bits(), 1000.0_f64.to_bits());
    assert_eq!(rate(Aggregate::Paced).to_bits(), 400.0_f64.to_bits());
}

/// Groups that run at the same time are told apart by their actors.
#[test]
fn each_actor_has_its_part_of_a_case() {
    let sample =
        sample_of(vec![actor(&[400.0, 400.0], 0.0), actor(&[100.0, 90.0, 80.0], 0.0)], 0, 0, false);
    let rate = |part, aggregate| sample.rate(part, Work::UsefulBytes, aggregate);
    for (part, sum, paced) in [
        (Part::Actor(0), 800.0, 800.0),
        (Part::Actor(1), 270.0, 240.0),
        (Part::Case, 1070.0, 5.0 * 80.0),
    ] {
        let found = [rate(part, Aggregate::Sum), rate(part, Aggregate::Paced)];
        assert_eq!(found.map(f64::to_bits), [sum, paced].map(f64::to_bits), "{part:?}");
    }
    let of = |part| summarize(&[sample.totals()], part, Work::UsefulBytes).unwrap().sum.median;
    assert_eq!(of(Part::Actor(1)).to_bits(), 270.0_f64.to_bits());
    assert_eq!(of(Part::Case).to_bits(), 1070.0_f64.to_bits());
}

#[test]
fn what_an_actor_is_there_for_follows_from_what_it_counts() {
    // Arithmetic on registers moves nothing.
    let computes = actor(&[0.0, 0.0], 7.0);
    // A stream in a window in which it moved nothing is still one.
    let idles = actor(&[0.0], 0.0);
    let moves = actor(&[8.0], 2.0);
    let sample = sample_of(vec![computes.clone(), idles, moves], 0, 0, false);
    let work = |position| sample.work_of(Part::Actor(position));
    assert_eq!([0, 1, 2].map(work), [Work::Flops, Work::UsefulBytes, Work::UsefulBytes]);
    assert_eq!(sample.work_of(Part::Case), Work::UsefulBytes);
    let alone = sample_of(vec![computes.clone(), computes], 0, 0, false);
    assert_eq!(alone.work_of(Part::Case), Work::Flops);
    let flops = summarize(&[alone.totals()], Part::Case, Work::Flops).unwrap();
    assert_eq!(flops.sum.median.to_bits(), 28.0_f64.to_bits());
}

#[test]
fn huge_pages_are_a_share_of_what_is_known() {
    let sized = |huge_bytes, resident_bytes| ActorSample {
        page_sizes: PageSizes { huge_bytes, resident_bytes },
        ..actor(&[1.0], 0.0)
    };
    let share = |actors| summarize_case(&[sample_of(actors, 0, 0, false)]).unwrap().huge_page_share;
    // Of 300 bytes 150; an actor of which the system does not say is in neither.
    let half = || vec![sized(Some(100), Some(100)), sized(Some(50), Some(200))];
    assert_eq!(share(half()), Some(0.5));
    assert_eq!(share([half(), vec![sized(None, Some(700))]].concat()), Some(0.5));
    assert_eq!(share(vec![sized(Some(0), Some(0)), sized(None, None)]), None);
}

#[test]
fn a_round_is_worth_the_median_of_its_quiet_windows() {
    let samples = [
        sample(0, 0, &[100.0], false),
        sample(0, 1, &[300.0], false),
        sample(0, 2, &[5.0], true),
        sample(1, 0, &[900.0], true),
        sample(2, 0, &[400.0], false),
    ];
    // Round 1 was disturbed throughout and has no value.
    let totals = samples.each_ref().map(Sample::totals);
    let values = round_values(&totals, Part::Case, Work::UsefulBytes, Aggregate::Sum);
    assert_eq!(values, [200.0, 400.0]);
    let summary = summarize_case(&samples).unwrap();
    assert_eq!((summary.samples, summary.disturbed, summary.sum.count), (5, 2, 2));
    assert!(!summary.only_disturbed);
    assert_eq!(summary.spread_within_rounds, Some(1.0));
    assert_eq!(summary.best_sum.to_bits(), 400.0_f64.to_bits());
    // 200 and 400: standard deviation 141.4 over a mean of 300.
    let deviation = summary.deviation_between_rounds.unwrap();
    assert!((deviation - 200.0 / 2.0_f64.sqrt() / 300.0).abs() < 1e-12);
    let one = summarize_case(&samples[..1]).unwrap();
    assert_eq!(one.deviation_between_rounds, None);
}

#[test]
fn when_nothing_was_quiet_all_counts_and_is_said() {
    let samples = [sample(0, 0, &[100.0], true), sample(1, 0, &[200.0], true)];
    let summary = summarize_case(&samples).unwrap();
    assert!(summary.only_disturbed);
    assert_eq!(summary.sum.count, 2);
}

#[test]
fn nothing_measured_is_nothing() {
    assert_eq!(summarize_case([]), None);
}
