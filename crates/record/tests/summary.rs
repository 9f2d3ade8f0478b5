//! What a case's samples say, on samples written by hand.

use std::collections::BTreeMap;

use nearfar_record::{
    ActorSample, Aggregate, Disturbance, PageNodes, PageSizes, Proof, ProofMethod, Sample,
    ThreadSample, TrafficMethod, round_values, summarize_case,
};

/// A window of one second in which the threads moved so many bytes.
fn sample(round: u32, window: u32, threads: &[u64], disturbed: bool) -> Sample {
    let pages = PageNodes {
        method: ProofMethod::MovePages,
        page_bytes: 4096,
        pages: BTreeMap::from([(0, 10)]),
        unknown: 0,
    };
    let useful_bytes = threads.iter().sum();
    Sample {
        case: "c".into(),
        sequence: 0,
        round,
        window,
        start_ns: 0,
        window_ns: 1_000_000_000,
        actors: vec![ActorSample {
            kernel: "load".into(),
            variant: "portable".into(),
            unroll: 1,
            useful_bytes,
            traffic_bytes_min: useful_bytes,
            traffic_bytes_max: useful_bytes,
            traffic_method: TrafficMethod::Nt,
            flops: 0,
            accesses: 0,
            threads: threads
                .iter()
                .map(|&useful_bytes| ThreadSample {
                    cpu_before: Some(0),
                    cpu_after: Some(0),
                    useful_bytes,
                    passes: 1,
                    involuntary_switches: 0,
                    off_cpu_ns: 0,
                    minor_faults: 0,
                })
                .collect(),
            proof: Proof { before: pages.clone(), after: pages },
            page_sizes: PageSizes { huge_bytes: None, resident_bytes: None },
        }],
        disturbances: disturbed
            .then_some(Disturbance::Switched { times: 1, microseconds: 900 })
            .into_iter()
            .collect(),
    }
}

/// saad2022's point: two fast and two slow threads.
#[test]
fn sum_adds_up_and_pace_waits_for_the_slowest() {
    let sample = sample(0, 0, &[400, 400, 100, 100], false);
    assert_eq!(sample.rate(Aggregate::Sum).to_bits(), 1000.0_f64.to_bits());
    assert_eq!(sample.rate(Aggregate::Paced).to_bits(), 400.0_f64.to_bits());
}

#[test]
fn a_round_is_worth_the_median_of_its_quiet_windows() {
    let samples = [
        sample(0, 0, &[100], false),
        sample(0, 1, &[300], false),
        sample(0, 2, &[5], true),
        sample(1, 0, &[900], true),
        sample(2, 0, &[400], false),
    ];
    // Round 1 was disturbed throughout and has no value.
    assert_eq!(round_values(&samples, Aggregate::Sum), [200.0, 400.0]);
    let summary = summarize_case(&samples.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!((summary.samples, summary.disturbed, summary.sum.count), (5, 2, 2));
    assert!(!summary.only_disturbed);
    assert_eq!(summary.spread_within_rounds, Some(1.0));
    assert_eq!(summary.best_sum.to_bits(), 400.0_f64.to_bits());
    // 200 and 400: standard deviation 141.4 over a mean of 300.
    let deviation = summary.deviation_between_rounds.unwrap();
    assert!((deviation - 200.0 / 2.0_f64.sqrt() / 300.0).abs() < 1e-12);
    let one = summarize_case(&[&samples[0]]).unwrap();
    assert_eq!(one.deviation_between_rounds, None);
}

#[test]
fn when_nothing_was_quiet_all_counts_and_is_said() {
    let samples = [sample(0, 0, &[100], true), sample(1, 0, &[200], true)];
    let summary = summarize_case(&samples.iter().collect::<Vec<_>>()).unwrap();
    assert!(summary.only_disturbed);
    assert_eq!(summary.sum.count, 2);
}

#[test]
fn nothing_measured_is_nothing() {
    assert_eq!(summarize_case(&[]), None);
}
