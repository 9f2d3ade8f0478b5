//! Who is compared with whom, and what is made of it.

use fastrand::Rng;
use nearfar_fleet::{
    FLEET_FLOOR, FleetChoices, FleetComparison, MachineName, MachinePart, MachineSummary,
    VerdictKind,
};

use crate::simulated::{Fault, Machine, NOW, name};

pub fn choices() -> FleetChoices<'static> {
    FleetChoices { floor: FLEET_FLOOR, target: None, now: NOW }
}

/// A machine of a model with a fault at a node or between packages.
fn machine(model: u32, fault: Fault, at: (u32, u32)) -> Machine {
    Machine { model, common: 0.0, fault, at }
}

fn fleet(machines: &[Machine], rng: &mut Rng) -> Vec<(MachineName, Vec<MachineSummary>)> {
    let measured = machines.iter().enumerate();
    measured
        .map(|(number, machine)| (name(number), vec![machine.measure(&name(number), rng)]))
        .collect()
}

fn sound(model: u32, count: usize) -> Vec<Machine> {
    (0..count).map(|_| machine(model, Fault::None, (0, 0))).collect()
}

#[test]
fn a_fault_is_named_by_its_part_and_bad_when_it_is_seen_again() {
    for (model, fault, at, part) in [
        (0, Fault::Memory(0.15), (6, 0), MachinePart::Memory(6)),
        (2, Fault::Link(0.15), (1, 3), MachinePart::Link(1, 3)),
    ] {
        let mut rng = Rng::with_seed(3);
        let mut machines = sound(model, 30);
        machines[7] = machine(model, fault, at);
        let mut fleet = fleet(&machines, &mut rng);
        let compared = FleetComparison::of_summaries(fleet.clone(), &choices());
        let found = &compared.machines.iter().find(|it| it.machine == name(7)).unwrap();
        assert_eq!(
            (found.verdict, &found.shortfalls[0].part),
            (VerdictKind::Again, &part),
            "{found:?}"
        );
        assert!((found.shortfalls[0].ratio - 0.85).abs() < 0.03, "{found:?}");

        let again = machines[7].measure(&name(7), &mut rng);
        fleet[7].1.push(again);
        let compared = FleetComparison::of_summaries(fleet.clone(), &choices());
        let bad: Vec<&MachineName> =
            compared.with(VerdictKind::Bad).map(|it| &it.machine).collect();
        assert_eq!(bad, [&name(7)]);

        // A first measurement that something disturbed does not stand against later ones.
        let quiet = machine(model, Fault::None, at);
        fleet[7].1.truncate(1);
        fleet[7].1.extend([quiet.measure(&name(7), &mut rng), quiet.measure(&name(7), &mut rng)]);
        let compared = FleetComparison::of_summaries(fleet, &choices());
        assert_eq!(
            compared.machines.iter().find(|it| it.machine == name(7)).unwrap().verdict,
            VerdictKind::Good
        );
    }
}

/// A model that is half as fast stands beside its own kind alone.
#[test]
fn kinds_are_not_mixed() {
    let mut rng = Rng::with_seed(4);
    let mut machines = sound(0, 12);
    machines.extend((0..12).map(|_| Machine { common: -0.7, ..machine(1, Fault::None, (0, 0)) }));
    let compared = FleetComparison::of_summaries(fleet(&machines, &mut rng), &choices());
    assert_eq!(compared.groups.len(), 2);
    assert_eq!(compared.with(VerdictKind::Good).count(), 24, "{:?}", compared.verdicts);
    assert!(compared.groups.iter().all(|group| group.joined.is_none() && group.cells.len() == 64));
}

#[test]
fn few_join_the_nearest_kind_and_alone_they_say_nothing() {
    let mut rng = Rng::with_seed(5);
    let mut machines = sound(0, 20);
    machines.push(machine(0, Fault::Memory(0.2), (2, 0)));
    machines.push(machine(1, Fault::None, (0, 0)));
    let mut fleet = fleet(&machines, &mut rng);
    fleet[20].1[0].kind.as_mut().unwrap().stepping = Some(2);
    // It measured more: what the others never had is nothing that they lack.
    let own = fleet[20].1[0].cells.clone();
    for more in ["a", "b"] {
        let cells = own.iter().cloned().map(|mut cell| {
            cell.case += more;
            cell
        });
        fleet[20].1[0].cells.extend(cells);
    }
    let compared = FleetComparison::of_summaries(fleet, &choices());
    let of = |number| compared.machines.iter().find(|it| it.machine == name(number)).unwrap();
    let small =
        compared.groups.iter().find(|group| Some(&group.id) == of(20).group.as_ref()).unwrap();
    assert_eq!(small.joined.as_ref().unwrap().differs_in, ["stepping"]);
    assert_eq!(of(20).verdict, VerdictKind::Again);
    assert_eq!(of(20).shortfalls[0].part, MachinePart::Memory(2));
    assert_eq!(compared.with(VerdictKind::Good).count(), 20, "{:?}", compared.verdicts);
    let large = compared.groups.iter().find(|group| group.machines == 20).unwrap();
    assert!(large.cells.len() == 64 && large.cells.iter().all(|cell| cell.median.is_finite()));
    assert_eq!(of(21).verdict, VerdictKind::Unknown);
    assert!(of(21).unknown.as_ref().unwrap().contains("only 1 of its kind"), "{:?}", of(21));
}

/// A whole fleet that lost a tenth since its standard was taken.
#[test]
fn a_standard_takes_the_place_of_peers() {
    let mut rng = Rng::with_seed(6);
    let standard = machine(0, Fault::None, (0, 0)).measure(&name(0), &mut rng);
    let machines: Vec<Machine> =
        (0..10).map(|_| Machine { common: -0.1, ..machine(0, Fault::None, (0, 0)) }).collect();
    let fleet = fleet(&machines, &mut rng);
    let among_themselves = FleetComparison::of_summaries(fleet.clone(), &choices());
    assert_eq!(among_themselves.with(VerdictKind::Good).count(), 10);
    let choices = FleetChoices { target: Some(("standard.jsonl", &standard)), ..choices() };
    let compared = FleetComparison::of_summaries(fleet, &choices);
    assert_eq!(compared.with(VerdictKind::Again).count(), 10, "{:?}", compared.verdicts);
    assert!(compared.machines.iter().all(|it| it.shortfalls[0].part == MachinePart::Machine));
}

/// Cells that were not measured are no zeros.
#[test]
fn what_was_not_measured_is_not_judged() {
    let mut rng = Rng::with_seed(7);
    let mut fleet = fleet(&sound(0, 12), &mut rng);
    fleet[3].1[0].cells.truncate(10);
    fleet[4].1[0].cells.retain(|cell| cell.to != Some(5));
    let compared = FleetComparison::of_summaries(fleet, &choices());
    let of = |number| compared.machines.iter().find(|it| it.machine == name(number)).unwrap();
    assert_eq!((of(3).verdict, of(4).verdict), (VerdictKind::Unknown, VerdictKind::Good));
    assert!(of(4).cells.iter().filter(|cell| cell.is_nan()).count() == 8);
}
