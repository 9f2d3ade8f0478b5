//! Records that somebody damaged: a ranking or a reason, never a panic, never no number.

use fastrand::Rng;
use nearfar_machine::CpuSet;
use nearfar_model::{ClassRule, RecordFigures, flow};
use nearfar_record::{Coordinates, Record};
use nearfar_runtime::{Ranking, Running, Touched, User};

use crate::questions::{check_nodes, check_places};
use crate::simulated::{amd_2p, shared};

fn damage(record: &mut Record, random: &mut Rng) {
    for _ in 0..random.u32(1..5) {
        match random.u32(0..7) {
            0 => {
                let kept = random.u32(0..3);
                record.samples.retain(|_| random.u32(0..2) < kept);
            }
            1 => record.cases.retain(|_| random.u32(0..4) > 0),
            2 => record.header.machine.nodes.truncate(random.usize(0..4)),
            3 => record.header.machine.cores.clear(),
            4 => record.header.machine.allowed_cpus = CpuSet::new(),
            5 => renumber(record, random),
            _ => change_bytes(record, random),
        }
    }
}

fn renumber(record: &mut Record, random: &mut Rng) {
    for case in &mut record.cases {
        for coordinates in &mut case.coordinates {
            if let Coordinates::Pairs(pair) = coordinates
                && random.u32(0..8) == 0
            {
                let any = [0, 1, 7, 65_535, u32::MAX];
                pair.index = any[random.usize(..5)];
                pair.initiator = any[random.usize(..5)];
                pair.memory_node = any[random.usize(..5)];
            }
        }
    }
}

fn change_bytes(record: &mut Record, random: &mut Rng) {
    for sample in &mut record.samples {
        if random.u32(0..4) > 0 {
            continue;
        }
        let bytes = [0, 1, u64::MAX, random.u64(..)][random.usize(..4)];
        sample.window_ns = [0, 1, sample.window_ns, u64::MAX][random.usize(..4)];
        for actor in &mut sample.actors {
            actor.useful_bytes = bytes;
            for thread in &mut actor.threads {
                thread.useful_bytes = bytes;
            }
        }
    }
}

/// Asks what there is to ask; whether the record had a ranking.
fn ask(record: &Record, random: &mut Rng, fits: bool) -> bool {
    let figures = RecordFigures::new(record);
    let Ok(mut ranking) = Ranking::new(&figures, &ClassRule::default()) else { return false };
    if fits && let Ok(model) = flow(&figures) {
        ranking = ranking.clone().with_flow(&model).unwrap_or(ranking);
    }
    let (places, nodes) = (ranking.places().len(), ranking.nodes().len());
    for _ in 0..20 {
        let node = ranking.nodes()[random.usize(..nodes)];
        let place = random.usize(..places);
        let threads = f64::from(random.u32(1..9));
        let touched = [
            Touched { node, bytes: random.u64(..) },
            Touched { node: ranking.nodes()[0], bytes: 9 },
        ];
        let running = [Running { place, node, threads }];
        let users = [User { place, threads: 1.0, bytes: random.u64(..) }];
        for running in [&running[..0], &running[..]] {
            if let Ok(answer) = ranking.rank(&touched, running) {
                assert_eq!(check_places(&answer, places), Ok(()));
                for unknown in &answer.absent {
                    assert!(ranking.why_unknown(*unknown).is_some_and(|why| !why.is_empty()));
                }
            }
            if let Ok(answer) = ranking.rank_nodes(&users, running) {
                assert_eq!(check_nodes(&answer, nodes), Ok(()));
            }
        }
    }
    true
}

#[test]
fn damaged_records_of_pairs_have_a_ranking_or_a_reason() {
    let whole = amd_2p();
    let mut random = Rng::with_seed(5);
    let mut ranked = 0;
    for _ in 0..200 {
        let mut record = whole.clone();
        damage(&mut record, &mut random);
        ranked += u32::from(ask(&record, &mut random, false));
    }
    assert!((20..200).contains(&ranked), "{ranked} of 200 could be ranked");
}

#[test]
fn damaged_records_with_mixes_have_a_ranking_or_a_reason() {
    let whole = shared("itanium2");
    let mut random = Rng::with_seed(6);
    let mut ranked = 0;
    for _ in 0..12 {
        let mut record = whole.clone();
        damage(&mut record, &mut random);
        ranked += u32::from(ask(&record, &mut random, true));
    }
    assert!(ranked > 0);
}

/// More places than any machine has would take the memory of one.
#[test]
fn endless_machines_are_refused() {
    let mut record = amd_2p();
    let node = record.header.machine.nodes[0].clone();
    for os_index in 4..60_000 {
        let none = CpuSet::new();
        let locality = none.clone();
        record.header.machine.nodes.push(nearfar_machine::MemoryNode {
            os_index,
            cpus: none,
            locality,
            ..node.clone()
        });
    }
    for (number, case) in (0..).zip(&mut record.cases) {
        for coordinates in &mut case.coordinates {
            if let Coordinates::Pairs(pair) = coordinates {
                pair.index = number;
            }
        }
    }
    let error = Ranking::new(&RecordFigures::new(&record), &ClassRule::default()).unwrap_err();
    assert!(error.why.contains("cannot be ranked"), "{error}");
}
