//! Records with roofs whose rounds are made by hand.

use nearfar_record::{Coordinates, Record, Roof, RoofCoordinates, RoofPurpose};
use nearfar_specimen::{add, case_at, evenly, with_flops};

/// A roof of an initiator, or a point below one, by seven threads.
#[derive(Debug, Clone)]
pub struct Made {
    pub place: RoofCoordinates,
    /// Useful bytes/s and FLOP/s of each round.
    pub rounds: Vec<(f64, f64)>,
}

fn made(roof: Roof, kernel: &str, rounds: Vec<(f64, f64)>) -> Made {
    Made {
        place: RoofCoordinates { threads: 7, ..nearfar_specimen::roof(0, roof, kernel) },
        rounds,
    }
}

/// A roof of useful bytes/s.
pub fn roof(roof: Roof, kernel: &str, rounds: &[f64]) -> Made {
    made(roof, kernel, rounds.iter().map(|&bytes| (bytes, 0.0)).collect())
}

/// What the cores compute at most, FLOP/s.
pub fn compute(kernel: &str, variant: &str, flops: f64) -> Made {
    let Made { place, rounds } = made(Roof::Compute, kernel, vec![(0.0, flops)]);
    Made { place: RoofCoordinates { variant: variant.into(), ..place }, rounds }
}

/// A point that validates a roof.
pub fn point(roof: Roof, kernel: &str, bytes: f64, flops: f64) -> Made {
    let Made { place, rounds } = made(roof, kernel, vec![(bytes, flops)]);
    Made { place: RoofCoordinates { purpose: RoofPurpose::Validation, ..place }, rounds }
}

/// A record of these; its machine has no initiators, so that no node is anybody's own.
pub fn record(made: &[Made]) -> Record {
    let mut record = nearfar_specimen::record();
    for (number, Made { place, rounds }) in made.iter().enumerate() {
        let mut case = case_at(&record.header.machine, Coordinates::Roofs(place.clone()));
        case.id = format!("roofs/{number}");
        let seen =
            |&(bytes, flops): &(f64, f64)| vec![with_flops(evenly(&case.actors[0], bytes), flops)];
        let windows: Vec<_> = rounds.iter().map(seen).collect();
        add(&mut record, case, windows);
    }
    record
}
