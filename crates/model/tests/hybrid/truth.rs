//! Records of a fast and a slow memory whose truth is known, written by hand.

use std::collections::BTreeSet;

use nearfar_flow::{HybridBytes, Overlap};
use nearfar_record::{
    Coordinates, HybridCoordinates, HybridPoint, PageSplit, Record, TransferKind,
};
use nearfar_specimen::{add_alone, hybrid};

/// The fast node and the slow one.
const NODES: (u32, u32) = (1, 0);

/// The two memories of denoyelle2019's table 6, with the rates that its machines are simulated
/// with.
pub fn truth(machine: &str) -> Overlap {
    let (rates, overlap_theta) = match machine {
        "skylake" => (
            [100e9, 60e9, 35e9, 25e9],
            [
                [0.0, 0.966, 0.600, -0.102],
                [0.912, 0.0, 0.067, 0.337],
                [0.294, 0.465, 0.0, 0.373],
                [0.540, 0.059, 0.293, 0.0],
            ],
        ),
        "knl" => (
            [92e9, 60e9, 38.1e9, 30e9],
            [
                [0.0, 0.238, 0.722, 0.985],
                [0.183, 0.0, 0.953, 0.797],
                [0.611, 0.956, 0.0, 0.564],
                [0.650, 0.726, 0.571, 0.0],
            ],
        ),
        other => panic!("{other}"),
    };
    let initiators = BTreeSet::from([0]);
    Overlap { initiators, fast: NODES.0, slow: NODES.1, rates, overlap_theta }
}

/// What a machine gives by these shares of lf, sf, ls, ss, useful bytes/s.
pub fn bandwidth(truth: &Overlap, shares: [f64; 4]) -> f64 {
    let [fast_loads, fast_stores, slow_loads, slow_stores] = shares;
    let bytes = HybridBytes { fast_loads, fast_stores, slow_loads, slow_stores };
    truth.seconds(bytes).recip()
}

/// One case, shared out so finely that rounding does not show.
#[derive(Debug, Clone)]
pub struct Point {
    pub point: HybridPoint,
    pub load_share: f64,
    /// Share of what is read, and of what is written, on the fast node.
    pub fast: (f64, f64),
    /// Useful bytes/s of each round.
    pub rounds: Vec<f64>,
}

impl Point {
    pub fn shares(&self) -> [f64; 4] {
        let (loads, stores) = (self.load_share, 1.0 - self.load_share);
        let (read, written) = self.fast;
        [loads * read, stores * written, loads * (1.0 - read), stores * (1.0 - written)]
    }
}

/// The corners, the twelve pairs of which the kind beside takes nine tenths of the other's time, and
/// a surface of this many points a side off the edges; each with these rounds around the truth.
pub fn points(truth: &Overlap, side: u32, mut rounds: impl FnMut(f64) -> Vec<f64>) -> Vec<Point> {
    let mut points = Vec::new();
    let mut add = |point, load_share, fast| {
        let mut new = Point { point, load_share, fast, rounds: Vec::new() };
        new.rounds = rounds(bandwidth(truth, new.shares()));
        points.push(new);
    };
    let of_bytes = |bytes: [f64; 4]| {
        let [lf, sf, ls, ss] = bytes;
        let share = |fast: f64, slow: f64| if fast > 0.0 { fast / (fast + slow) } else { 0.0 };
        ((lf + ls) / (lf + sf + ls + ss), (share(lf, ls), share(sf, ss)))
    };
    for (one, of) in TransferKind::ALL.into_iter().enumerate() {
        let mut bytes = [0.0; 4];
        bytes[one] = 1.0;
        let (load_share, fast) = of_bytes(bytes);
        add(HybridPoint::Corner { of }, load_share, fast);
    }
    for (one, dominating) in TransferKind::ALL.into_iter().enumerate() {
        for (other, beside) in TransferKind::ALL.into_iter().enumerate() {
            if one != other {
                let mut bytes = [0.0; 4];
                (bytes[one], bytes[other]) = (truth.rates[one], 0.9 * truth.rates[other]);
                let (load_share, fast) = of_bytes(bytes);
                add(HybridPoint::Pair { dominating, beside }, load_share, fast);
            }
        }
    }
    for loads in 1..=side {
        for fast in 1..=side {
            let share = |step: u32| f64::from(step) / f64::from(side + 1);
            add(HybridPoint::Surface, share(loads), (share(fast), share(fast)));
        }
    }
    points
}

/// A record of points, of one initiator.
pub fn record(points: &[Point]) -> Record {
    let mut record = nearfar_specimen::record();
    for Point { point, load_share, fast: (read, written), rounds } in points {
        let PageSplit { fast: loads, slow: stores } = split(*load_share);
        let place = hybrid(*point, (loads, stores), split(*read), split(*written));
        let place = HybridCoordinates { kernel: "mix".into(), variant: "avx512".into(), ..place };
        add_alone(&mut record, Coordinates::Hybrid(place), rounds);
    }
    record
}

/// So many of a million.
fn split(share: f64) -> PageSplit {
    const PAGES: u32 = 1_000_000;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
    let fast = (share * f64::from(PAGES)).round() as u32;
    PageSplit { fast, slow: PAGES - fast }
}
