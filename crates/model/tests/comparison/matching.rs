//! Which cases are compared, and why others are not.

use nearfar_model::{CaseStanding, environment_differences};
use nearfar_record::{
    Absence, Absent, Coordinates, Disturbance, Executor, Reason, ReasonCode, Record, Suite,
};

use crate::comparison::compare;
use crate::twins::drawn_record::{PLAN, Plan, machine, record};

fn small(seed: u64) -> Record {
    let plan = Plan { kernels: &["load", "triad"], threads: &[1], seed, ..PLAN };
    record(&machine(1, 2), &plan, |_, _, _| 1.0)
}

const FIRST: &str = "pairs/initiator0/node0/load/avx2/t1";

/// How the first case stands in both records.
fn standing(a: &Record, b: &Record) -> (CaseStanding, CaseStanding) {
    let found = compare(a, b);
    assert_eq!((found.cases.len(), found.not_compared.len()), (7, 1));
    let case = &found.not_compared[0];
    assert_eq!(case.id, FIRST);
    (case.a.clone(), case.b.clone())
}

fn without_samples(seed: u64) -> Record {
    let mut record = small(seed);
    record.samples.retain(|sample| sample.case != FIRST);
    record
}

#[test]
fn cases_without_a_figure_say_why() {
    use CaseStanding::{FewRounds, Measured, NoSample, NoWork, OnlyDisturbed, OtherActors};
    let a = small(1);
    assert_eq!(standing(&a, &without_samples(2)), (Measured, NoSample));
    assert_eq!(standing(&without_samples(2), &a), (NoSample, Measured));

    let mut few = small(2);
    few.samples.retain(|sample| sample.case != FIRST || sample.round < 2);
    assert_eq!(standing(&a, &few), (Measured, FewRounds));

    let mut idle = small(2);
    let of_first = idle.samples.iter_mut().find(|sample| sample.case == FIRST).unwrap();
    of_first.actors[0].useful_bytes = 0;
    of_first.actors[0].threads[0].useful_bytes = 0;
    assert_eq!(standing(&a, &idle), (Measured, NoWork));

    let mut disturbed = small(2);
    for sample in disturbed.samples.iter_mut().filter(|sample| sample.case == FIRST) {
        sample.disturbances = vec![Disturbance::Stolen { microseconds: 9 }];
    }
    assert_eq!(standing(&a, &disturbed), (Measured, OnlyDisturbed));

    let mut other = small(2);
    let stream = other.cases[0].actors[0].clone();
    other.cases[0].actors.push(stream);
    assert_eq!(standing(&a, &other), (Measured, OtherActors));
}

#[test]
fn what_was_refused_or_never_planned_is_told() {
    let a = small(1);
    let why = |absence| Absent {
        case: FIRST.into(),
        coordinates: a.cases[0].coordinates.clone(),
        absence,
        reason: Reason { code: ReasonCode::NoRoom, text: "no room".into() },
        round: None,
    };
    let mut refused = without_samples(2);
    refused.absent.push(why(Absence::Refused));
    let expected = (CaseStanding::Measured, CaseStanding::Refused("no room".into()));
    assert_eq!(standing(&a, &refused), expected);
    // Refused before it could be planned.
    refused.cases.remove(0);
    assert_eq!(standing(&a, &refused), expected);
    let back = compare(&refused, &a);
    assert_eq!(back.not_compared[0].a, expected.1);
    refused.absent[0] = why(Absence::Omitted);
    assert_eq!(standing(&a, &refused).1, CaseStanding::Omitted("no room".into()));
    refused.absent.clear();
    assert_eq!(standing(&a, &refused), (CaseStanding::Measured, CaseStanding::NotPlanned));
}

/// Ids may differ; where cases stand may not.
#[test]
fn cases_are_matched_by_their_coordinates() {
    let a = small(1);
    let mut b = small(2);
    let rename = |id: &mut String| *id = id.replace("pairs/", "renamed/");
    b.cases.iter_mut().for_each(|case| rename(&mut case.id));
    b.samples.iter_mut().for_each(|sample| rename(&mut sample.case));
    b.cases.reverse();
    let found = compare(&a, &b);
    assert_eq!((found.cases.len(), found.not_compared.len()), (8, 0));
    for case in &found.cases {
        assert_eq!(case.b_id, case.a_id.replace("pairs/", "renamed/"));
    }

    for case in &mut b.cases {
        let Coordinates::Pairs(place) = &mut case.coordinates[0] else { unreachable!() };
        place.memory_node += 100;
    }
    let found = compare(&a, &b);
    assert_eq!((found.cases.len(), found.not_compared.len()), (0, 16));
    assert_eq!(found.resolution, None);

    // At the same coordinates twice: one of them has no partner.
    let mut twice = small(2);
    let mut second = twice.cases[0].clone();
    second.id = "second".into();
    twice.cases.push(second);
    assert_eq!(compare(&a, &twice).not_compared.len(), 1);
    assert_eq!(compare(&twice, &a).not_compared.len(), 1);
}

#[test]
fn the_environment_is_compared_by_what_both_know() {
    let a = small(1).header;
    assert_eq!(environment_differences(&a, &a), []);
    let mut b = a.clone();
    b.host = "another".into();
    b.started = "2027-01-01T00:00:00Z".into();
    assert_eq!(environment_differences(&a, &b), [], "what the heading says");
    b.executor = Executor::Simulated;
    b.environment.cpu.microcode = Some("0x2b".into());
    b.environment.transparent_huge_pages = Some("never".into());
    b.inputs.suite = Suite::Full;
    b.machine.nodes.pop();
    let found = environment_differences(&a, &b);
    let names: Vec<&str> = found.iter().map(|difference| difference.name).collect();
    let expected =
        ["executor", "microcode", "memory_nodes", "node_bytes", "transparent_huge_pages", "suite"];
    assert_eq!(names, expected);
    assert_eq!((found[1].a.as_deref(), found[1].b.as_deref()), (None, Some("0x2b")));
    assert_eq!((found[2].a.as_deref(), found[2].b.as_deref()), (Some("2"), Some("1")));
}
