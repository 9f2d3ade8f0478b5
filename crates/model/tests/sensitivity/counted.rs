//! What counters say of runs, from counts that are written by hand.

use nearfar_model::{CountedRuns, RecordFigures, sensitivity};
use nearfar_record::{
    Better, CountedQuantity, CounterCheck, Disturbance, Outcome, Record, RunCount, TriedCounter,
};
use nearfar_stats::Estimate;

use crate::sensitivity::runs::{Machine4, Program};

/// Of a run at home: 2e9 instructions in 4e9 cycles, 1e8 requests, 2e7 misses.
const AT_HOME: [f64; 4] = [4e9, 2e9, 1e8, 2e7];

fn tried(unavailable: &[CountedQuantity]) -> Vec<TriedCounter> {
    let counter = |quantity| TriedCounter {
        quantity,
        events: vec!["event".into()],
        meaning: Some("what it counts".into()),
        source: Some("a manual".into()),
        check: Some(CounterCheck { work: "work".into(), expected: 1e6, counted: 1e6 }),
        unavailable: unavailable.contains(&quantity).then(|| "not believed".into()),
    };
    TriedCounter::QUANTITIES.map(counter).into()
}

fn count(quantity: CountedQuantity, count: f64) -> RunCount {
    RunCount { quantity, count: Some(count), counted_share: Some(1.0), unavailable: None }
}

/// Ten runs at each of four placements; the counts of each run by placement and round.
fn record(unavailable: &[CountedQuantity], counts: impl Fn(usize, u32) -> [f64; 4]) -> Record {
    let mut random = fastrand::Rng::with_seed(1);
    let program = Program { share: 0.5, seconds: 1.0, noise: 0.0, better: Better::Lower };
    let mut record = Machine4::new().record(&[("it", program)], false, &mut random);
    record.header.inputs.commands.as_mut().unwrap().counters = Some(tried(unavailable));
    for (number, sample) in record.samples.iter_mut().enumerate() {
        let of = TriedCounter::QUANTITIES.into_iter().zip(counts(number / 10, sample.round));
        let believed = of.filter(|(quantity, _)| !unavailable.contains(quantity));
        sample.run.as_mut().unwrap().counts = believed.map(|(it, of)| count(it, of)).collect();
    }
    record
}

fn counted(record: &Record) -> Vec<Option<CountedRuns>> {
    let found = sensitivity(&RecordFigures::new(record), None).unwrap();
    let placements = found.programs.into_iter().flat_map(|program| program.placements);
    placements.map(|runs| runs.counted).collect()
}

fn near(found: &Outcome<Estimate>, median: f64) {
    let found = found.found().unwrap();
    assert!((found.median / median - 1.0).abs() < 1e-12, "{found:?} instead of {median}");
}

#[test]
fn figures_are_medians_over_runs_at_each_placement() {
    // At placement n a run takes n + 1 times the cycles, and round r has r % more misses.
    let record = record(&[], |placement, round| {
        let [cycles, instructions, requests, misses] = AT_HOME;
        let slower = [1.0, 2.0, 3.0, 4.0][placement];
        [cycles * slower, instructions, requests, misses * (1.0 + f64::from(round) / 100.0)]
    });
    for (placement, counted) in counted(&record).into_iter().enumerate() {
        let counted = counted.unwrap();
        // Rounds 0 to 9: the median is halfway between those of 4 and 5 %.
        near(&counted.llc_miss_rate, 0.2 * 1.045);
        near(&counted.llc_misses_per_1000_instructions, 10.0 * 1.045);
        near(&counted.instructions_per_cycle, [0.5, 0.25, 0.5 / 3.0, 0.125][placement]);
        assert_eq!((counted.counted_runs, counted.runs, counted.uncounted), (10, 10, None));
        assert_eq!(counted.least_counted_share, Some(1.0));
    }
}

#[test]
fn runs_without_a_count_are_told_of_and_left_out() {
    let mut record = record(&[], |_, _| AT_HOME);
    for sample in record.samples.iter_mut().filter(|sample| sample.round < 4) {
        let requests = &mut sample.run.as_mut().unwrap().counts[2];
        (requests.count, requests.counted_share) = (None, None);
        requests.unavailable = Some("it was never its turn to be counted".into());
    }
    for sample in record.samples.iter_mut().filter(|sample| sample.round == 9) {
        // A run that something disturbed is in no figure, as in no time.
        sample.disturbances.push(Disturbance::Clock { microseconds: 1 });
        let counts = &mut sample.run.as_mut().unwrap().counts;
        (counts[0].count, counts[3].counted_share) = (Some(1.0), Some(0.25));
    }
    let counted = counted(&record)[1].clone().unwrap();
    assert_eq!((counted.counted_runs, counted.runs), (6, 10));
    assert_eq!(
        counted.uncounted.as_deref(),
        Some("requests to the last-level cache: it was never its turn to be counted")
    );
    assert_eq!(counted.least_counted_share, Some(0.25));
    assert_eq!(counted.llc_miss_rate.found().unwrap().count, 5);
    assert_eq!(counted.instructions_per_cycle.found().unwrap().count, 9);
    near(&counted.llc_miss_rate, 0.2);
    near(&counted.instructions_per_cycle, 0.5);
}

#[test]
fn what_is_not_believed_leaves_the_other_figures() {
    use CountedQuantity::{Instructions, LlcMisses, LlcRequests};
    let record_of = |unavailable: &[CountedQuantity]| record(unavailable, |_, _| AT_HOME);
    let counted_of = |unavailable| counted(&record_of(unavailable))[0].clone();
    let without_requests = counted_of(&[LlcRequests]).unwrap();
    let why = without_requests.llc_miss_rate.as_result().unwrap_err();
    assert_eq!(why, "requests to the last-level cache: not believed");
    near(&without_requests.llc_misses_per_1000_instructions, 10.0);
    near(&without_requests.instructions_per_cycle, 0.5);
    assert_eq!(without_requests.counted_runs, 10);
    // Without figures there is nothing to show; why stands with the counters.
    assert_eq!(counted_of(&[Instructions, LlcMisses]), None);
    assert_eq!(counted_of(&CountedQuantity::ALL), None);
    let mut record = record_of(&[]);
    record.header.inputs.commands.as_mut().unwrap().counters = None;
    assert_eq!(counted(&record)[0], None);
    let mut record = record_of(&[]);
    record.samples.clear();
    assert!(counted(&record).iter().all(Option::is_none));
}

/// Counts of strangers give no share above all, and no number that is none.
#[test]
fn counts_that_cannot_be_give_reasons() {
    let contradictory = record(&[], |_, _| [4e9, 2e9, 1e8, 2e8]);
    let counted_runs = counted(&contradictory)[0].clone().unwrap();
    assert!(counted_runs.llc_miss_rate.as_result().unwrap_err().contains("contradict"));
    near(&counted_runs.llc_misses_per_1000_instructions, 100.0);
    for counts in [[0.0; 4], [f64::MAX; 4], [f64::MIN_POSITIVE, f64::MAX, f64::MIN_POSITIVE, 0.0]] {
        for counted in counted(&record(&[], |_, _| counts)).into_iter().flatten() {
            let figures = [
                counted.llc_miss_rate,
                counted.llc_misses_per_1000_instructions,
                counted.instructions_per_cycle,
            ];
            for figure in figures {
                match figure.as_result() {
                    Ok(figure) => assert!(figure.median.is_finite(), "{figure:?}"),
                    Err(why) => assert!(why.len() > 10, "{why}"),
                }
            }
        }
    }
    // A record that lacks counts where its header promises them, as only a reader refuses.
    let mut bare = record(&[], |_, _| AT_HOME);
    bare.samples.iter_mut().for_each(|sample| sample.run.as_mut().unwrap().counts.clear());
    let why = counted(&bare)[0].clone().unwrap().instructions_per_cycle;
    assert_eq!(why.as_result().unwrap_err(), "instructions: it was not counted");
}
