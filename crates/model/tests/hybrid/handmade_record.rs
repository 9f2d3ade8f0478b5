//! Records of a fast and a slow memory whose truth is known, written by hand.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_flow::{HybridBytes, Overlap};
use nearfar_machine::{Binding, CpuSet, MemoryPolicy};
use nearfar_record::{
    Actor, ActorSample, Case, Coordinates, HybridCoordinates, HybridPoint, PageNodes, PageSizes,
    PageSplit, Pages, Pinning, Proof, ProofMethod, Record, Sample, Stream, ThreadSample,
    TrafficMethod, TransferKind, read_record,
};

/// A header with what the format asks for, of a machine without anything.
const HEADER: &str = r#"{"header": {
    "schema": "nearfar.record/1", "versions": {"nearfar": "test"}, "host": "test",
    "started": "2026-01-01T00:00:00Z", "executor": "simulated",
    "inputs": {"suite": "quick", "experiments": ["hybrid"], "initiator": "cluster",
        "pages": "transparent", "window_ns": 1000000000, "windows_per_round": 1,
        "runs": 1,
        "grid": "sparse", "min_rounds": 1, "max_rounds": 1, "target": 0.01, "seed": 0},
    "fingerprint": "cbf29ce484222325",
    "machine": {"source": "live", "packages": [], "nodes": [], "cores": [], "caches": [],
        "firmware_figures": [], "devices": [], "allowed_cpus": "", "allowed_nodes": "",
        "notes": []},
    "environment": {"cpu": {}, "firmware": {}, "architecture": "x86_64", "cgroup": {},
        "unknown": {}}}}"#;

/// The fast node and the slow one.
pub const NODES: (u32, u32) = (1, 0);

/// A record without cases.
pub fn empty_record() -> Record {
    read_record(format!("{}\n", HEADER.replace('\n', " ")).as_bytes()).unwrap()
}

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
    let clusters = BTreeSet::from([0]);
    Overlap { clusters, fast: NODES.0, slow: NODES.1, rates, overlap_theta }
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
/// a surface of so many points a side off the edges; each with these rounds around the truth.
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

/// A record of points, of one cluster.
pub fn record(points: &[Point]) -> Record {
    let mut record = empty_record();
    for (number, point) in points.iter().enumerate() {
        add_case(&mut record, &format!("hybrid/{number}"), point);
    }
    record
}

/// Pages for a share of them.
const PAGES: u32 = 1_000_000;

fn split(share: f64) -> PageSplit {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a million"
    )]
    let fast = (share * f64::from(PAGES)).round() as u32;
    PageSplit { fast, slow: PAGES - fast }
}

pub fn add_case(record: &mut Record, id: &str, point: &Point) {
    let PageSplit { fast: loads, slow: stores } = split(point.load_share);
    let place = HybridCoordinates {
        cluster: 0,
        fast_node: NODES.0,
        slow_node: NODES.1,
        point: point.point,
        loads,
        stores,
        load_pages: (loads > 0).then(|| split(point.fast.0)),
        store_pages: (stores > 0).then(|| split(point.fast.1)),
        kernel: "mix".into(),
        variant: "avx512".into(),
        threads: 1,
    };
    record.cases.push(Case {
        id: id.into(),
        coordinates: vec![Coordinates::Hybrid(place)],
        actors: vec![Actor::Stream(Stream {
            kernel: "mix".into(),
            variant: "avx512".into(),
            binding: Binding {
                cpus: [0].into_iter().collect::<CpuSet>(),
                memory: MemoryPolicy::FirstTouch,
            },
            write_memory: None,
            threads: 1,
            pinning: Pinning::OnePerCore,
            thread_cpus: vec![0],
            working_set_bytes: 1 << 30,
            llc_multiple: Some(4.0),
            pages: Pages::Transparent,
            pause_cycles: 0,
        })],
    });
    let (read, written) = point.fast;
    for (round, &rate) in (0..).zip(&point.rounds) {
        record.samples.push(sample(id, round, rate, (read, written)));
    }
}

fn proof(fast_share: f64) -> Proof {
    let PageSplit { fast, slow } = split(fast_share);
    let pages = PageNodes {
        method: ProofMethod::Simulated,
        page_bytes: 4096,
        pages: BTreeMap::from([(NODES.0, u64::from(fast)), (NODES.1, u64::from(slow))]),
        unknown: 0,
    };
    Proof { before: pages.clone(), after: pages }
}

fn sample(id: &str, round: u32, rate: f64, (read, written): (f64, f64)) -> Sample {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates in tests are below 1e13, and none is made of what is negative"
    )]
    let useful_bytes = rate as u64;
    Sample {
        case: id.into(),
        sequence: 0,
        round,
        window: 0,
        start_ns: 0,
        window_ns: 1_000_000_000,
        actors: vec![ActorSample {
            kernel: "mix".into(),
            variant: "avx512".into(),
            unroll: 1,
            useful_bytes,
            traffic_bytes_min: useful_bytes,
            traffic_bytes_max: useful_bytes,
            traffic_method: TrafficMethod::Nt,
            flops: 0,
            accesses: 0,
            threads: vec![ThreadSample {
                cpu_before: None,
                cpu_after: None,
                useful_bytes,
                flops: 0,
                passes: 1,
                core_ghz: None,
                involuntary_switches: 0,
                off_cpu_ns: 0,
                minor_faults: 0,
            }],
            proof: Some(proof(read)),
            write_proof: Some(proof(written)),
            page_sizes: PageSizes { huge_bytes: None, resident_bytes: None },
            transfer: None,
        }],
        disturbances: Vec::new(),
        run: None,
    }
}
