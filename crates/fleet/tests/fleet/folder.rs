//! The run's folder: nothing is lost in it, and no two measurements get in each other's way.

use std::collections::BTreeSet;
use std::fs;
use std::thread;

use fastrand::Rng;
use nearfar_fleet::{FleetComparison, Measurement, ProblemKind, RunFolder};

use crate::comparison::choices;
use crate::simulated::{Fault, Machine, name};

#[test]
fn measurements_that_begin_at_once_get_places_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunFolder::new(folder.path());
    let begun: Vec<Measurement> = thread::scope(|scope| {
        let all: Vec<_> = (0..8).map(|_| scope.spawn(|| run.begin(&name(7)).unwrap())).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let records: BTreeSet<String> = begun.iter().map(Measurement::record_name).collect();
    assert_eq!(records.len(), 8, "{records:?}");
    assert!(records.contains("n7.jsonl.zst") && records.contains("n7~8.jsonl.zst"), "{records:?}");
    let (found, others) = run.measurements().unwrap();
    assert_eq!((found.len(), others.len()), (8, 0));
    assert!(found.iter().all(|it| it.running.is_some() && it.summary.is_none()));
}

#[test]
fn what_a_killed_writer_left_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunFolder::new(folder.path());
    let mut rng = Rng::with_seed(1);
    for number in 0..9 {
        let machine = Machine { model: 0, common: 0.0, fault: Fault::None, at: (0, 0) };
        let measurement = run.begin(&name(number)).unwrap();
        if number < 8 {
            assert!(!measurement.keep_record().unwrap());
            measurement.write_summary(&machine.measure(&name(number), &mut rng)).unwrap();
        } else {
            fs::write(measurement.running(), "a part of a record").unwrap();
        }
    }
    let stray = folder.path().join("aa");
    fs::create_dir_all(&stray).unwrap();
    fs::write(stray.join("notes.txt"), "mine").unwrap();
    let compared = FleetComparison::read(&run, &choices()).unwrap();
    let kinds: Vec<ProblemKind> = compared.problems.iter().map(|problem| problem.kind).collect();
    assert!(
        kinds.contains(&ProblemKind::Unended) && kinds.contains(&ProblemKind::ForeignFile),
        "{:?}",
        compared.problems
    );
    assert!(compared.machines.iter().any(|it| it.machine == name(8) && it.unknown.is_some()));
    assert_eq!(fs::read_to_string(stray.join("notes.txt")).unwrap(), "mine");
}
