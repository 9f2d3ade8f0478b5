//! What is said beside figures: proofs, marks, and reasons where there are none.

use nearfar_document::{Origin, Room};
use nearfar_machine::MemoryPolicy;
use nearfar_record::{
    Absence, Actor, Coordinates, Experiment, Proof, ProofMethod, ReasonCode, Record, Stream,
};
use nearfar_specimen::{absent, add_at, case_at, compute, disturb, pages, sharing};

use crate::{add, mix, record, stream};

/// Of few rounds, some of them all disturbed.
pub fn mixes() -> Record {
    let mut record = record(&[Experiment::Mixes]);
    let both = MemoryPolicy::Interleave("0-1".parse().unwrap());
    let actors =
        vec![stream("triad", "0-1", MemoryPolicy::Preferred(1)), stream("load", "2", both)];
    add(&mut record, mix(1, actors), 6, &[&[2.0, 2.5], &[8.0]]);
    let across = vec![stream("copy_nt", "1-2", MemoryPolicy::Preferred(0))];
    add(&mut record, mix(0, across.clone()), 2, &[&[3.0, 3.0]]);
    add(&mut record, mix(2, across), 2, &[&[3.0, 3.0]]);
    disturb(&mut record, "mixes/2");
    record
}

/// What a command says before its figures of a record like this.
#[test]
fn half_of_the_windows_disturbed_is_said_before_any_figure() {
    let mut record = mixes();
    let said = |record: &Record| Origin::new(record).answer().text(Room { width: 80, full: false });
    assert!(!said(&record).contains("something else ran"), "{}", said(&record));
    disturb(&mut record, "mixes/1");
    assert!(said(&record).contains("something else ran in half"), "{}", said(&record));
    assert!(Origin::new(&record).is_disturbed);
}

/// A stream with an array of its own policy that is written, another beside it, and arithmetic in
/// a case of its own. A sample counts once, by its weakest proof.
pub fn proofs() -> Record {
    let mut record = on_both_nodes();
    record.samples[1].actors[0].write_proof.as_mut().unwrap().after.method = ProofMethod::NumaMaps;
    record.samples[2].actors[1].proof = None;
    record
}

fn on_both_nodes() -> Record {
    let mut record = record(&[Experiment::Mixes]);
    let written = Stream {
        write_memory: Some(MemoryPolicy::Preferred(1)),
        ..nearfar_specimen::stream(
            "copy",
            "avx2",
            "0-1".parse().unwrap(),
            MemoryPolicy::Interleave("0-1".parse().unwrap()),
        )
    };
    let other = stream("load", "2", MemoryPolicy::Preferred(0));
    add(&mut record, mix(0, vec![Actor::Stream(written), other]), 3, &[&[1.0, 1.0], &[1.0]]);
    let half = |on_node_1| pages([(0, 100 - on_node_1), (1, on_node_1)]);
    for sample in &mut record.samples {
        sample.actors[0].proof = Some(Proof { before: half(50), after: half(47) });
    }
    let arithmetic = compute("fma_dp", "avx2", "0".parse().unwrap());
    add(&mut record, mix(1, vec![arithmetic]), 2, &[&[1.0]]);
    record
}

/// Half of the pages are not on the node that was asked for.
pub fn misplaced() -> Record {
    let mut record = on_both_nodes();
    for actor in record.cases.iter_mut().flat_map(|case| &mut case.actors) {
        if let Actor::Stream(stream) = actor {
            stream.binding.memory = MemoryPolicy::Preferred(0);
        }
    }
    record
}

/// A reason that several experiments share hides none of them.
pub fn absences() -> Record {
    let mut record = record(&Experiment::OF_MACHINE);
    for (case, code, text) in [
        ("sharing", ReasonCode::OneInitiator, "the machine has one initiator"),
        ("roofs", ReasonCode::OnePackage, "the machine has one package"),
        ("hybrid/node1", ReasonCode::NodeNotAllowed, "give it node 1"),
        ("hybrid", ReasonCode::OneNode, "the machine has\u{1b}[31m one node"),
        ("links/a", ReasonCode::Budget, "the budget ended"),
        ("links/b", ReasonCode::Budget, "the budget ended"),
        ("mixes", ReasonCode::Budget, "the budget ended"),
    ] {
        absent(&mut record, case, Absence::Omitted, code, text);
    }
    record
}

/// A case that the budget did not reach, one that a signal came before, one that was refused before
/// it could be planned, and one that was measured.
pub fn cells_without_figures() -> Record {
    let mut record = record(&[Experiment::Sharing]);
    let place = |n, m| Coordinates::Sharing(sharing(n, m));
    add_at(&mut record, place(1, 1), vec![[7.6e9, 3.8e9]; 6]);
    for n in [1, 2, 3] {
        let case = case_at(&record.header.machine, place(n, 0));
        record.cases.push(case);
    }
    let omitted = record.cases[1].id.clone();
    absent(&mut record, &omitted, Absence::Omitted, ReasonCode::Budget, "the budget ended");
    let unplanned = record.cases.pop().unwrap();
    absent(&mut record, &unplanned.id, Absence::Refused, ReasonCode::NoRoom, "no room");
    record.absent[1].coordinates = unplanned.coordinates;
    record
}
