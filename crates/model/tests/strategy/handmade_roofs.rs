//! Roofs whose rounds are written by hand.

use nearfar_machine::MemoryKind;
use nearfar_record::{Case, Coordinates, Record, Roof, RoofCoordinates, RoofPurpose};

use crate::handmade_record::{sample, stream};

/// A roof of a cluster: useful bytes/s of its two threads in each round.
fn add_roof(record: &mut Record, cluster: u32, roof: Roof, rounds: &[f64]) {
    let id = format!("roofs/cluster{cluster}/{roof:?}");
    let place = RoofCoordinates {
        cluster,
        actor: 0,
        roof,
        kernel: "load".into(),
        variant: "avx2".into(),
        threads: 2,
        purpose: RoofPurpose::Roof,
    };
    let actors = vec![stream(cluster, cluster, 0)];
    record.cases.push(Case {
        id: id.clone(),
        coordinates: vec![Coordinates::Roofs(place)],
        actors,
    });
    for (round, &rate) in rounds.iter().enumerate() {
        record.samples.push(sample(&id, round, cluster, &[rate]));
    }
}

/// Every roof of a machine with so many nodes that the strategies need, the same for all.
pub fn add_roofs(record: &mut Record, nodes: u32, rates: [f64; 4]) {
    add_noisy_roofs(record, nodes, rates, &[1.0]);
}

/// The same, with rounds that are so many times these.
pub fn add_noisy_roofs(record: &mut Record, nodes: u32, rates: [f64; 4], rounds: &[f64]) {
    let [own, remote, central, spread] =
        rates.map(|rate| rounds.iter().map(|round| rate * round).collect::<Vec<f64>>());
    for cluster in 0..nodes {
        add_roof(record, cluster, Roof::AllLocal { node: cluster }, &own);
        add_roof(record, cluster, Roof::Congested { kind: MemoryKind::Dram }, &spread);
        for node in 0..nodes {
            add_roof(record, cluster, Roof::Contended { node, clusters: nodes }, &central);
            if node != cluster {
                add_roof(record, cluster, Roof::Memory { node }, &remote);
            }
        }
    }
}
