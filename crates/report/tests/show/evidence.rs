use nearfar_machine::{MemoryPolicy, NodeSet};
use nearfar_record::{
    Actor, Case, Coordinates, Experiment, MixCoordinates, Proof, ProofMethod, Record, Stream,
};
use nearfar_report::ShowView;
use nearfar_specimen::{compute, pages};

use crate::{add, record, stream};

/// A stream with an array of its own policy that is written, another beside it, and arithmetic in
/// a case of its own.
fn handmade(nodes: &str) -> Record {
    let mut record = record(&[Experiment::Mixes]);
    let nodes: NodeSet = nodes.parse().unwrap();
    let Actor::Stream(written) = stream("copy", "0-1", MemoryPolicy::Interleave(nodes)) else {
        panic!()
    };
    let written =
        Actor::Stream(Stream { write_memory: Some(MemoryPolicy::Preferred(1)), ..written });
    let set = |index, actors| {
        let coordinates = vec![Coordinates::Mixes(MixCoordinates { index })];
        Case { id: format!("mixes/{index}"), coordinates, actors }
    };
    let other = stream("load", "2", MemoryPolicy::Preferred(0));
    add(&mut record, set(0, vec![written, other]), 3, &[&[1.0, 1.0], &[1.0]]);
    let half = |on_node_1| pages([(0, 100 - on_node_1), (1, on_node_1)]);
    for sample in &mut record.samples {
        sample.actors[0].proof = Some(Proof { before: half(50), after: half(47) });
    }
    let arithmetic = compute("fma_dp", "avx2", "0".parse().unwrap());
    add(&mut record, set(1, vec![arithmetic]), 2, &[&[1.0]]);
    record
}

#[test]
fn samples_are_counted_once_by_their_weakest_proof() {
    let mut record = handmade("0-1");
    record.samples[1].actors[0].write_proof.as_mut().unwrap().after.method = ProofMethod::NumaMaps;
    record.samples[2].actors[1].proof = None;
    let text = ShowView::new(&record).text();
    let line =
        "samples with proven pages: 2 of 3 that touch memory (1 by move_pages, 1 by numa_maps)";
    assert!(text.lines().any(|found| found == line), "{text}");
}

#[test]
fn shares_of_pages_that_are_dealt_out_are_held_against_the_policy() {
    let view = ShowView::new(&handmade("0-1"));
    assert_eq!(view.least_placed, Some(1.0));
    assert!((view.worst_share_deviation.unwrap() - 0.03).abs() < 1e-12);
    let text = view.text();
    assert!(text.contains("dealt out over nodes: shares off by 3.00 % at most"), "{text}");
    let mut record = handmade("0-1");
    for case in &mut record.cases {
        for actor in &mut case.actors {
            if let Actor::Stream(stream) = actor {
                stream.binding.memory = MemoryPolicy::Preferred(0);
            }
        }
    }
    let view = ShowView::new(&record);
    assert_eq!(view.worst_share_deviation, None);
    assert!((view.least_placed.unwrap() - 0.5).abs() < 1e-12);
}
