//! Records of runs beside loads.

use nearfar_model::{ProgramRuns, RecordFigures, home_family, pressure_runs, sensitivity};
use nearfar_record::{
    CommandCoordinates, CommandInputs, CommandProgram, Coordinates, CpuDistance, Experiment,
    LatencyLoad, Record, StreamsAlone,
};
use nearfar_specimen::{case_at, evenly, machine, record_of, run_of};

fn place(load: Option<LatencyLoad>) -> CommandCoordinates {
    let command = "it".into();
    CommandCoordinates { command, initiator: 0, cpu_node: Some(0), memory_node: Some(0), load }
}

fn load() -> LatencyLoad {
    LatencyLoad {
        kernel: "copy_nt".into(),
        variant: "avx2".into(),
        threads: 1,
        pause_cycles: 0,
        loads: 1,
        stores: 1,
    }
}

/// Alone and beside a copy, by round.
fn record(alone: &[f64], beside: &[f64]) -> Record {
    record_beside(alone, [(load(), beside)])
}

/// Alone and beside several loads.
fn record_beside<const N: usize>(alone: &[f64], beside: [(LatencyLoad, &[f64]); N]) -> Record {
    let machine = machine(1, 1, 2);
    let mut record = record_of(machine.clone(), &[Experiment::Commands]);
    record.header.environment.hypervisor = Some("KVM".into());
    record.header.inputs.commands = Some(CommandInputs {
        programs: vec![CommandProgram::new("it", "./it", Vec::new())],
        placements: Vec::new(),
        metric: None,
        timeout_ns: None,
        counters: None,
        pressures: Vec::new(),
    });
    let beside = beside.into_iter().map(|(load, times)| (Some(load), times));
    for (load, times) in std::iter::once((None, alone)).chain(beside) {
        let case = case_at(&machine, Coordinates::Commands(place(load.clone())));
        for (round, &seconds) in (0..).zip(times) {
            let mut sample = run_of(&case.id, round, seconds, None);
            if load.is_some() {
                let bytes = 10e9 * seconds;
                sample.actors = vec![evenly(&case.actors[0], bytes)];
                let before = StreamsAlone {
                    window_ns: 100_000_000,
                    actors: vec![evenly(&case.actors[0], 1.25e9)],
                };
                sample.run.as_mut().unwrap().before = Some(before);
            }
            record.samples.push(sample);
        }
        record.cases.push(case);
    }
    record
}

/// What drifts from round to round is in no slowdown.
#[test]
fn slowdowns_are_of_the_same_round() {
    let record = record(&[1.0, 2.0, 4.0], &[1.5, 3.0, 6.0]);
    let ProgramRuns { runs, moved, .. } = pressure_runs(&RecordFigures::new(&record)).unwrap();
    assert_eq!((runs.len(), moved), (2, None));
    assert!(runs[0].load.is_none() && runs[1].load.is_some());
    assert!((runs[1].slowdown - 1.5).abs() < 1e-9);
    assert!((runs[1].traffic_gb_per_s - 10.0).abs() < 0.01, "{:?}", runs[1]);
    assert!((runs[1].traffic_before_gb_per_s - 12.5).abs() < 0.01, "{:?}", runs[1]);
    assert!((runs[1].read_share - 0.5).abs() < 1e-9);
}

/// Of such a record the runs alone are its placements.
#[test]
fn runs_beside_loads_are_no_placements() {
    let record = record(&[1.0; 3], &[1.5; 3]);
    let found = sensitivity(&RecordFigures::new(&record), None).unwrap();
    assert_eq!(found.programs[0].placements.len(), 1);
}

#[test]
fn what_is_missing_is_said() {
    let alone = record(&[1.0; 3], &[]);
    let why = pressure_runs(&RecordFigures::new(&alone)).unwrap_err();
    assert!(why.contains("beside"), "{why}");
    assert!(home_family(&alone, 0, 0).is_err());
}

/// Two times say nothing of how far such times scatter: an error of 0 would be a promise.
#[test]
fn few_runs_have_no_error_and_are_refused() {
    let record = record(&[1.0, 1.1], &[1.5, 2.9]);
    let why = pressure_runs(&RecordFigures::new(&record)).unwrap_err();
    assert!(why.contains("alone 2 of its runs") && why.contains("--budget"), "{why}");
}

/// Three runs that agree by chance: beside other loads such runs scatter by a fifth.
#[test]
fn runs_that_agree_by_chance_are_not_sure() {
    let pausing = |pause_cycles| LatencyLoad { pause_cycles, ..load() };
    let scattered: &[f64] = &[1.5, 1.2, 1.9];
    let record = record_beside(
        &[1.0; 3],
        [(load(), scattered), (pausing(384), &[1.3, 1.3, 1.3]), (pausing(1024), scattered)],
    );
    let ProgramRuns { runs, .. } = pressure_runs(&RecordFigures::new(&record)).unwrap();
    let errors: Vec<f64> = runs.iter().map(|it| it.slowdown_error).collect();
    assert!(errors[0] < 1e-9, "{errors:?}");
    assert!(errors[2] > 0.5 * errors[1] && errors[2] < errors[1], "{errors:?}");
    assert!((errors[3] / errors[1] - 1.0).abs() < 0.2, "{errors:?}");
}

/// What ran beside other loads says all the same what the program's time is made of.
#[test]
fn a_load_with_too_few_runs_is_left_out_and_told() {
    let pausing = LatencyLoad { pause_cycles: 384, ..load() };
    for (times, told) in [(&[1.5; 2][..], "2 of its runs count"), (&[], "0 of its runs count")] {
        let few = record_beside(&[1.0; 4], [(load(), times), (pausing.clone(), &[1.3; 4])]);
        let ProgramRuns { runs, left_out, .. } = pressure_runs(&RecordFigures::new(&few)).unwrap();
        let loads: Vec<_> = runs.iter().map(|it| it.load.as_ref()).collect();
        assert_eq!(loads, [None, Some(&pausing)]);
        assert_eq!(left_out.iter().map(|it| &it.load).collect::<Vec<_>>(), [&load()]);
        assert!(left_out[0].why.contains(told), "{left_out:?}");
    }
}

/// Between caches of a host a line takes six times as long as within one: what ran beside a load there is of
/// another machine.
#[test]
fn runs_on_other_cores_do_not_count() {
    let mut record = record(&[1.0; 6], &[1.5, 1.5, 1.5, 1.0, 1.0, 1.5]);
    let apart =
        |record: &mut Record, rounds: std::ops::Range<u32>, [before_ns, after_ns]: [f64; 2]| {
            let beside = record.samples.iter_mut().filter(|it| !it.actors.is_empty());
            for sample in beside.filter(|it| rounds.contains(&it.round)) {
                sample.cpu_distance = Some(CpuDistance { cpus: [0, 1], before_ns, after_ns });
            }
        };
    apart(&mut record, 0..6, [25.0, 31.0]);
    // Moved for all of a run, and during it.
    apart(&mut record, 3..4, [155.0, 160.0]);
    apart(&mut record, 4..5, [26.0, 158.0]);
    let ProgramRuns { runs, moved, .. } = pressure_runs(&RecordFigures::new(&record)).unwrap();
    assert_eq!(runs.iter().map(|it| it.seconds.len()).collect::<Vec<_>>(), [6, 4]);
    assert!((runs[1].slowdown - 1.5).abs() < 1e-9);
    let moved = moved.unwrap();
    assert_eq!((moved.left_out, moved.of), (2, 6));
    assert!((moved.usual_ns - 28.0).abs() < 1e-9, "{moved:?}");
    assert!((moved.other_ns - 158.0).abs() < 1e-9, "{moved:?}");
    // Nobody moves the CPUs of a machine that is none's guest.
    record.header.environment.hypervisor = Some("none".into());
    let all = pressure_runs(&RecordFigures::new(&record)).unwrap();
    assert_eq!((all.runs[1].seconds.len(), all.moved), (6, None));
    record.header.environment.hypervisor = Some("KVM".into());
    // Those that are left may be too few.
    apart(&mut record, 1..3, [9.0; 2]);
    let why = pressure_runs(&RecordFigures::new(&record)).unwrap_err();
    assert!(why.contains("beside copy_nt 2 of its runs"), "{why}");
    assert!(why.contains("4 of 6 runs"), "{why}");
    // Where none is of the usual cores nothing says more than they do.
    let mut all = self::record(&[1.0; 6], &[1.5; 6]);
    apart(&mut all, 0..6, [25.0; 2]);
    for sample in &mut all.samples {
        sample.cpu_distance = sample.cpu_distance.map(|it| match sample.round % 2 {
            0 => CpuDistance { after_ns: 155.0, ..it },
            _ => CpuDistance { before_ns: 155.0, ..it },
        });
    }
    let ProgramRuns { runs, moved, .. } = pressure_runs(&RecordFigures::new(&all)).unwrap();
    assert_eq!((runs[1].seconds.len(), moved), (6, None));
}

/// Within a cache of a host some cores are twice as far from each other as others.
#[test]
fn lines_within_a_cache_differ_without_a_move() {
    const ROUNDS: u32 = 40;
    let times = [1.5; ROUNDS as usize];
    let mut record = record(&[1.0; ROUNDS as usize], &times);
    let beside = record.samples.iter_mut().filter(|it| !it.actors.is_empty());
    for sample in beside {
        // 24 to 61 ns, in no order; three rounds between caches, and a look that something disturbed.
        let near = |step: u32| 24.0 + f64::from((sample.round * 7 + step) % ROUNDS) * 37.0 / 39.0;
        let [before_ns, after_ns] = match sample.round {
            10..13 => [146.0, 169.0],
            20 => [near(0), 95.0],
            _ => [near(0), near(13)],
        };
        sample.cpu_distance = Some(CpuDistance { cpus: [0, 1], before_ns, after_ns });
    }
    let ProgramRuns { runs, moved, .. } = pressure_runs(&RecordFigures::new(&record)).unwrap();
    assert_eq!(runs[1].seconds.len(), 36);
    assert_eq!(moved.map(|it| (it.left_out, it.of)), Some((4, ROUNDS)));
}
