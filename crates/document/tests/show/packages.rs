//! Packages and initiators on each other's memory.

use nearfar_machine::MemoryPolicy;
use nearfar_record::{
    Absence, Case, Coordinates, Experiment, LinkCoordinates, PairCoordinates, ReasonCode, Record,
    Way,
};
use nearfar_specimen::{absent, add_alone, add_at, case_at, pair};

use crate::{add, record, stream};

/// Two variants of a kernel, whose best differs by the pair; one pair was refused.
pub fn pairs() -> Record {
    let mut record = record(&[Experiment::Pairs]);
    for (initiator, node, variant, gb_per_s) in [
        (0, 0, "avx2", 9.0),
        (0, 0, "avx512", 9.3),
        (0, 1, "avx2", 5.6),
        (0, 1, "avx512", 5.4),
        (1, 1, "avx512", 9.2),
        (0, 2, "avx2", 12.1),
        (1, 2, "avx2", 12.0),
    ] {
        let place = PairCoordinates { variant: variant.into(), ..pair(initiator, node, "load") };
        add_alone(&mut record, Coordinates::Pairs(place), &[1e9 * gb_per_s; 6]);
    }
    let refused = case_at(&record.header.machine, Coordinates::Pairs(pair(1, 0, "load")));
    let id = refused.id.clone();
    record.cases.push(refused);
    absent(&mut record, &id, Absence::Refused, ReasonCode::NoRoom, "node 0 is full");
    record
}

/// Pages in turn are faster and do not stand in the cells.
pub fn pairs_by_turns() -> Record {
    let mut record = record(&[Experiment::Pairs]);
    for (initiator, node, variant, gb_per_s) in [
        (0, 0, "avx512", 20.0),
        (0, 0, "avx512-pages4", 24.4),
        (0, 1, "avx512", 10.0),
        (0, 1, "avx512-pages4", 9.9),
        (1, 1, "avx512", 21.0),
    ] {
        let place = PairCoordinates { variant: variant.into(), ..pair(initiator, node, "copy_nt") };
        add_alone(&mut record, Coordinates::Pairs(place), &[1e9 * gb_per_s; 6]);
    }
    record
}

/// n threads of the first package on its node, m of the second on the same.
fn add_cell(record: &mut Record, (n, local): (u32, f64), (m, remote): (u32, f64)) {
    let groups = [(n, local), (m, remote)].into_iter().filter(|(threads, _)| *threads > 0);
    let bytes: Vec<f64> = groups.map(|(_, gb)| 1e9 * gb).collect();
    add_at(record, Coordinates::Sharing(nearfar_specimen::sharing(n, m)), vec![bytes; 6]);
}

/// The corner of saad2022's tables: its totals and parts in GB/s; one cell was not planned.
pub fn sharing() -> Record {
    let mut record = record(&[Experiment::Sharing]);
    for (local, remote) in [
        ((1, 7.656), (0, 0.0)),
        ((2, 11.024), (0, 0.0)),
        ((0, 0.0), (1, 4.844)),
        ((0, 0.0), (2, 6.998)),
        ((1, 6.776), (1, 4.412)),
        ((2, 8.921), (1, 4.056)),
    ] {
        add_cell(&mut record, local, remote);
    }
    record
}

/// A stranger's record can hold coordinates that make no table.
pub fn sharing_too_large() -> Record {
    let mut record = record(&[Experiment::Sharing]);
    for number in 0..300 {
        let place = Coordinates::Sharing(nearfar_specimen::sharing(number, number));
        let id = number.to_string();
        record.cases.push(Case { id, coordinates: vec![place], actors: Vec::new() });
    }
    record
}

fn link(from: u32, initiator: Option<u32>, way: Way) -> Case {
    let cpus = |package: u32| if package == 0 { "0-1" } else { "2-3" };
    let to = 1 - from;
    let place = LinkCoordinates {
        from_package: from,
        to_package: to,
        initiator,
        way,
        kernel: "load".into(),
        variant: "avx2".into(),
        threads: 2,
    };
    let mut actors = vec![stream("load", cpus(from), MemoryPolicy::Preferred(to))];
    if way == Way::BothWays {
        actors.push(stream("load", cpus(to), MemoryPolicy::Preferred(from)));
    }
    let who = if initiator.is_some() { "initiator" } else { "package" };
    let id = format!("links/{who}{from}-package{to}/{}/load/avx2", way.as_str());
    Case { id, coordinates: vec![Coordinates::Links(place)], actors }
}

/// Packages one way and both, and an initiator alone.
pub fn links() -> Record {
    let mut record = record(&[Experiment::Links]);
    add(&mut record, link(0, None, Way::OneWay), 6, &[&[6.0, 5.0]]);
    add(&mut record, link(1, None, Way::OneWay), 6, &[&[6.0, 6.0]]);
    add(&mut record, link(0, None, Way::BothWays), 6, &[&[5.0, 4.0], &[4.0, 4.5]]);
    add(&mut record, link(1, Some(1), Way::OneWay), 6, &[&[3.5, 3.5]]);
    record
}
