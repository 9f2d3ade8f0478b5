//! Machines over weeks.

use fastrand::Rng;
use nearfar_fleet::{ChangeShape, FleetDrift, MachinePart, RunFolder};

use crate::simulated::{Fault, Machine, name};

const WEEKS: u32 = 20;

/// 20 weekly runs of 10 machines, changed as asked.
fn drift(
    change: impl Fn(usize, u32, &mut Machine, &mut nearfar_fleet::MachineSummary),
) -> FleetDrift {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = Rng::with_seed(9);
    let mut runs = Vec::new();
    for week in 0..WEEKS {
        let run = RunFolder::new(&folder.path().join(format!("week{week}")));
        for number in 0..10 {
            let mut machine =
                Machine { model: 0, common: 0.01 * number as f64, fault: Fault::None, at: (0, 0) };
            let mut summary = machine.measure(&name(number), &mut rng.clone());
            change(number, week, &mut machine, &mut summary);
            let of_change = machine.measure(&name(number), &mut rng);
            summary.cells = of_change.cells;
            summary.started =
                format!("2026-{:02}-{:02}T00:00:00Z", 1 + week / 4, 1 + 7 * (week % 4));
            summary.ended.clone_from(&summary.started);
            run.begin(&name(number)).unwrap().write_summary(&summary).unwrap();
        }
        runs.push(run);
    }
    runs.reverse();
    FleetDrift::read(&runs, "2026-12-31T00:00:00Z").unwrap()
}

/// Also a large one, and its size: single cells are held down where machines are compared.
#[test]
fn a_step_of_one_memory_is_found_with_its_week() {
    step_of_one_memory(0.1);
    step_of_one_memory(0.6);
}

fn step_of_one_memory(loss: f64) {
    let drift = drift(move |number, week, machine, _| {
        if number == 3 && week >= 12 {
            machine.fault = Fault::Memory(loss);
            machine.at = (5, 0);
        }
    });
    assert_eq!(drift.runs.len(), WEEKS as usize);
    assert!(drift.runs[0].folder.ends_with("week0"));
    let changed: Vec<_> = drift.machines.iter().filter(|it| !it.changes.is_empty()).collect();
    assert_eq!(changed.len(), 1, "{changed:?}");
    assert_eq!(changed[0].machine, name(3));
    let change = &changed[0].changes[0];
    assert_eq!(
        (&change.part, change.shape, change.run),
        (&MachinePart::Memory(5), ChangeShape::Step, 12),
        "{change:?}"
    );
    assert!((change.ratio - (1.0 - loss)).abs() < 0.02 && change.found_at <= 14, "{change:?}");
}

/// Other firmware makes another machine of it: what it does to figures is no drift.
#[test]
fn a_changed_configuration_closes_a_segment() {
    let drift = drift(|number, week, machine, summary| {
        summary.configuration.insert(
            "bios_version".into(),
            if number == 4 && week >= 10 { "2" } else { "1" }.into(),
        );
        if number == 4 && week >= 10 {
            machine.common -= 0.2;
        }
    });
    let of_4 = drift.machines.iter().find(|it| it.machine == name(4)).unwrap();
    assert_eq!(of_4.breaks.len(), 1);
    assert_eq!(
        (of_4.breaks[0].run, of_4.breaks[0].changed.clone()),
        (10, vec!["bios_version: 1 -> 2".to_string()])
    );
    assert!(of_4.changes.is_empty(), "{:?}", of_4.changes);
    assert!(of_4.ratios[9].unwrap() > 0.98 && of_4.ratios[11].unwrap() < 0.9, "{:?}", of_4.ratios);
}

/// What all have in common is told once, of the fleet.
#[test]
fn a_change_of_all_is_no_machines_drift() {
    let drift = drift(|_, week, machine, _| {
        if week >= 8 {
            machine.common -= 0.1;
        }
    });
    assert!(drift.machines.iter().all(|it| it.changes.is_empty()));
    let shifts: Vec<usize> = drift.fleet_shifts.iter().map(|shift| shift.run).collect();
    assert_eq!(shifts, [8], "{:?}", drift.fleet_shifts);
}
