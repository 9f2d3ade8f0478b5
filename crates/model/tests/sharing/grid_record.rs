//! A record of one `sharing` grid whose rounds are written by hand.

use std::collections::BTreeMap;

use nearfar_machine::{Binding, MemoryPolicy};
use nearfar_record::{
    Actor, ActorSample, Case, Coordinates, PageNodes, PageSizes, Pages, Pinning, Proof,
    ProofMethod, Record, Sample, SharingCoordinates, Stream, ThreadSample, TrafficMethod,
};

/// One cell: n threads of cluster 0 beside m of cluster 1, on node 0.
pub struct Cell<'a> {
    pub local_threads: u32,
    pub remote_threads: u32,
    /// Useful bytes/s of the local and the remote group in each round.
    pub rounds: &'a [(f64, f64)],
}

/// Adds a cell; threads of a group get equal parts.
pub fn add_cell(record: &mut Record, cell: &Cell<'_>) {
    let Cell { local_threads: n, remote_threads: m, rounds } = *cell;
    let groups = [(0, n), (1, m)].into_iter().filter(|(_, threads)| *threads > 0);
    let id = format!("sharing/node0/cluster0x{n}+cluster1x{m}/triad/avx2");
    let place = SharingCoordinates {
        memory_node: 0,
        local_cluster: 0,
        remote_cluster: 1,
        local_threads: n,
        remote_threads: m,
        kernel: "triad".into(),
        variant: "avx2".into(),
    };
    record.cases.push(Case {
        id: id.clone(),
        coordinates: vec![Coordinates::Sharing(place)],
        actors: groups.map(|(cluster, threads)| stream(cluster, threads)).collect(),
    });
    for (round, &(local, remote)) in (0..).zip(rounds) {
        let groups = [(n, local), (m, remote)].into_iter().filter(|(threads, _)| *threads > 0);
        record.samples.push(Sample {
            case: id.clone(),
            sequence: 0,
            round,
            window: 0,
            start_ns: 0,
            window_ns: 1_000_000_000,
            actors: groups.map(|(threads, rate)| moved(threads, rate)).collect(),
            disturbances: Vec::new(),
            run: None,
        });
    }
}

fn stream(cluster: u32, threads: u32) -> Actor {
    let first = 64 * cluster;
    Actor::Stream(Stream {
        kernel: "triad".into(),
        variant: "avx2".into(),
        binding: Binding {
            cpus: (first..first + threads).collect(),
            memory: MemoryPolicy::Preferred(0),
        },
        write_memory: None,
        threads,
        pinning: Pinning::OnePerCore,
        thread_cpus: (first..first + threads).collect(),
        working_set_bytes: 1 << 30,
        llc_multiple: Some(4.0),
        pages: Pages::Transparent,
        pause_cycles: 0,
    })
}

fn moved(threads: u32, rate: f64) -> ActorSample {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates in tests are positive and below 1e13"
    )]
    let of_each = (rate / f64::from(threads)).round() as u64;
    let useful_bytes = of_each * u64::from(threads);
    let pages = PageNodes {
        method: ProofMethod::Simulated,
        page_bytes: 4096,
        pages: BTreeMap::from([(0, 1)]),
        unknown: 0,
    };
    let thread = ThreadSample {
        cpu_before: None,
        cpu_after: None,
        useful_bytes: of_each,
        flops: 0,
        passes: 1,
        core_ghz: None,
        involuntary_switches: 0,
        off_cpu_ns: 0,
        minor_faults: 0,
    };
    ActorSample {
        kernel: "triad".into(),
        variant: "avx2".into(),
        unroll: 1,
        useful_bytes,
        traffic_bytes_min: useful_bytes,
        traffic_bytes_max: useful_bytes,
        traffic_method: TrafficMethod::Nt,
        flops: 0,
        accesses: 0,
        threads: (0..threads).map(|_| thread.clone()).collect(),
        proof: Some(Proof { before: pages.clone(), after: pages }),
        write_proof: None,
        page_sizes: PageSizes { huge_bytes: None, resident_bytes: None },
        transfer: None,
    }
}
