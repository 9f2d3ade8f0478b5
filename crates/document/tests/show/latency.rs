//! Chases.

use nearfar_record::{Actor, ChaseWalk, Experiment, LatencyCoordinates, Pages, Record};
use nearfar_specimen::{disturb, latency};

use crate::{record, set_first_thread};

const MEMORY: u64 = 1 << 30;

/// Six rounds of a chase whose accesses take this many ns, at 2.5 GHz.
fn add_chase(
    record: &mut Record,
    node: u32,
    (bytes, pages, walk): (u64, Pages, ChaseWalk),
    ns: f64,
    load: Option<(u32, f64)>,
) {
    let (pause, gb_per_s) = load.unzip();
    let place = LatencyCoordinates { pages, walk, ..latency(0, node, bytes, pause) };
    let beside = gb_per_s.map_or(Vec::new(), |gb_per_s| vec![1e9 * gb_per_s; 6]);
    let before = record.samples.len();
    nearfar_specimen::add_chase(record, place, &[ns; 6], &beside);
    for sample in &mut record.samples[before..] {
        sample.actors[0].threads[0].core_ghz = Some(2.5);
    }
}

fn handmade() -> Record {
    use ChaseWalk::{Anywhere, PageGroups};
    use Pages::{Small, Transparent};
    let mut record = record(&[Experiment::Latency]);
    add_chase(&mut record, 1, (MEMORY, Transparent, PageGroups), 160.0, None);
    for (bytes, ns) in [(32 << 10, 1.6), (1 << 20, 5.6), (MEMORY, 100.0)] {
        add_chase(&mut record, 0, (bytes, Transparent, PageGroups), ns, None);
    }
    add_chase(&mut record, 0, (MEMORY, Transparent, Anywhere), 105.0, None);
    add_chase(&mut record, 0, (MEMORY, Small, PageGroups), 101.0, None);
    add_chase(&mut record, 0, (MEMORY, Small, Anywhere), 131.0, None);
    for (pause, ns, gb_per_s) in [(0, 250.0, 20.0), (4096, 104.0, 2.0), (256, 130.0, 15.0)] {
        let walk = (MEMORY, Transparent, PageGroups);
        add_chase(&mut record, 0, walk, ns, Some((pause, gb_per_s)));
    }
    record
}

/// The matrix, the curve by size and the one under load.
pub fn curves() -> Record {
    let mut record = handmade();
    let remote = record.cases[0].id.clone();
    disturb(&mut record, &remote);
    record
}

/// Rounds of both walks lie between 97 and 101 ns.
pub fn faster_by_noise() -> Record {
    let mut record = record(&[Experiment::Latency]);
    for walk in [ChaseWalk::PageGroups, ChaseWalk::Anywhere] {
        add_chase(&mut record, 0, (MEMORY, Pages::Transparent, walk), 100.0, None);
    }
    for (sample, ns) in
        record.samples.iter_mut().zip([100, 98, 101, 99, 100, 101, 97, 98, 101, 99, 100, 98])
    {
        sample.actors[0].threads[0].useful_bytes = 8_000_000_000 / ns;
    }
    record
}

/// Only the remote chase and a loaded one vary: tables that show intervals have no part in the line
/// below one that does not.
pub fn intervals_elsewhere() -> Record {
    let mut record = handmade();
    for case in [0, 8] {
        set_first_thread(&mut record, case, |round| round * 10_000_000);
    }
    record
}

/// The local chase varies as well.
pub fn intervals() -> Record {
    let mut record = intervals_elsewhere();
    set_first_thread(&mut record, 1, |round| 5_000_000_000 + round * 100_000_000);
    record
}

/// One chase's set is smaller than twice the caches. Set / caches of streams beside it is another
/// measure.
pub fn caches() -> Record {
    let mut record = handmade();
    for actor in record.cases.iter_mut().flat_map(|case| &mut case.actors) {
        match actor {
            Actor::Chase(chase) => chase.llc_multiple = Some(2.0),
            Actor::Stream(stream) => stream.llc_multiple = Some(1.0),
            Actor::Compute(_)
            | Actor::Exchange(_)
            | Actor::Transfer(_)
            | Actor::Messages(_)
            | Actor::Command(_)
            | Actor::Workload(_) => {}
        }
    }
    let Actor::Chase(chase) = &mut record.cases[0].actors[0] else { panic!() };
    chase.llc_multiple = Some(1.8);
    record
}

/// The rounds that had an access would say too little.
pub fn one_round_without_access() -> Record {
    let mut record = handmade();
    record.samples[0].actors[0].threads[0].useful_bytes = 0;
    record
}

/// No chase has a time.
pub fn without_access() -> Record {
    let mut record = handmade();
    for case in 0..record.cases.len() {
        set_first_thread(&mut record, case, |_| 0);
    }
    record
}
