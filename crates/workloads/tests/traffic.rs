//! What workloads declare to move between memory and a cache, beside what a cache moves that Valgrind
//! simulates: lines that it fetches, for stores too, and lines that it writes back.

#![expect(clippy::unwrap_used, reason = "a test that shows a table")]

use std::path::Path;
use std::process::Stdio;

use nearfar_workloads::{
    Array, Bfs, Bt, Cg, ChaseK, Class, Clock, Ddot, Dgemm, Elastic, Ep, Ft, Gups, HashJoin, Is, Lu,
    LuleshFill, LuleshHourglass, LuleshStress, Mg, PhaseTraffic, Program, Sp, Team, WorkloadName,
    counts_of, simulating,
};

/// Names the workload that [`a_run`] runs.
const VARIABLE: &str = "NEARFAR_SIMULATED_WORKLOAD";

/// How far the declared bytes may be off.
const BOUND: f64 = 0.2;

/// Of a program that declares none: bytes a FLOP.
const NEXT_TO_NOTHING: f64 = 1e-3;

/// Each with the KiB of a cache that is a quarter of its arrays at most, but for the deviates of EP.
fn program(name: WorkloadName) -> (Box<dyn Program>, u64) {
    match name {
        WorkloadName::Cg => (Box::new(Cg::new(Class::W)), 1024),
        WorkloadName::Mg => (Box::new(Mg::new(Class::S)), 128),
        WorkloadName::Ft => (Box::new(Ft::new(Class::S)), 1024),
        WorkloadName::Is => (Box::new(Is::new(Class::W)), 1024),
        WorkloadName::Ep => (Box::new(Ep::new(Class::S)), 4096),
        WorkloadName::Bt => (Box::new(Bt::new(Class::W).of_steps(2)), 256),
        WorkloadName::Sp => (Box::new(Sp::new(Class::W).of_steps(2)), 512),
        WorkloadName::Lu => (Box::new(Lu::new(Class::W).of_steps(2)), 512),
        WorkloadName::Bfs => (Box::new(Bfs::of_scale(14)), 512),
        WorkloadName::Elastic => (Box::new(Elastic::new(Class::S)), 256),
        WorkloadName::Ddot => (Box::new(Ddot::new(Class::S)), 256),
        WorkloadName::Dgemm => (Box::new(Dgemm::of_rows(776, 1)), 3072),
        WorkloadName::LuleshStress => (Box::new(LuleshStress::of_edge(20, 3)), 256),
        WorkloadName::LuleshHourglass => (Box::new(LuleshHourglass::of_edge(20, 3)), 256),
        WorkloadName::LuleshFill => (Box::new(LuleshFill::of_edge(20, 3)), 256),
        WorkloadName::Gups => (Box::new(Gups::of_log_words(20)), 1024),
        WorkloadName::HashJoin => (Box::new(HashJoin::of_log_keys(16)), 512),
        WorkloadName::ChaseK => (Box::new(ChaseK::of_log_lines(16, 8)), 1024),
    }
}

/// Bytes and FLOPs that a workload declares, and the bytes that a simulated cache moves in its timed part.
fn moved(name: WorkloadName, folder: &Path) -> [f64; 3] {
    let (program, kib) = program(name);
    let counts = folder.join(name.as_str());
    let status = simulating(kib << 10, &counts)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "a_run", "--ignored"])
        .env(VARIABLE, name.as_str())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.unwrap().success(), "{name}");
    let phases = counts_of(&std::fs::read_to_string(&counts).unwrap()).unwrap();
    #[expect(clippy::cast_precision_loss, reason = "a few MiB")]
    let traffic = program.traffic((kib << 10) as f64);
    // A sum of nothing is -0.
    let declared = traffic.iter().map(PhaseTraffic::bytes).fold(0.0, |sum, it| sum + it);
    let flops = traffic.iter().map(|phase| phase.flops).sum();
    [declared, flops, phases.iter().map(|(_, counts)| counts.bytes()).sum()]
}

#[test]
#[ignore = "minutes: every workload below Valgrind; `make outer` runs it"]
fn declared_traffic_is_what_a_simulated_cache_moves() {
    let folder = tempfile::tempdir().unwrap();
    println!("| workload | cache, KiB | declared, MB | simulated, MB | ratio |");
    let mut off = Vec::new();
    let at_a_time = std::thread::available_parallelism().map_or(1, Into::into);
    for names in WorkloadName::ALL.chunks(at_a_time) {
        let found = std::thread::scope(|scope| {
            let folder = folder.path();
            let of = |&name| scope.spawn(move || moved(name, folder));
            let running: Vec<_> = names.iter().map(of).collect();
            running.into_iter().map(|it| it.join().unwrap()).collect::<Vec<_>>()
        });
        for (&name, [declared, flops, simulated]) in names.iter().zip(found) {
            let (ratio, kib) = (declared / simulated, program(name).1);
            let [declared_mb, simulated_mb] = [declared, simulated].map(|bytes| bytes / 1e6);
            println!("| `{name}` | {kib} | {declared_mb:.1} | {simulated_mb:.1} | {ratio:.2} |");
            let is_near = match declared > 0.0 {
                true => (ratio - 1.0).abs() <= BOUND,
                false => simulated <= NEXT_TO_NOTHING * flops,
            };
            off.extend((!is_near).then_some(name));
        }
    }
    assert!(off.is_empty(), "more than {BOUND} off: {off:?}");
}

/// The timed part has counts of its own only where this runs below Valgrind.
#[test]
#[ignore = "one workload, which the test above runs below Valgrind"]
fn a_run() {
    let name = std::env::var(VARIABLE).map_or(WorkloadName::Cg, |name| name.parse().unwrap());
    let (program, _) = program(name);
    let team = Team::of_threads(1).unwrap();
    let plans = program.arrays(1);
    let mut arrays: Vec<Array> = plans.into_iter().map(|plan| Array::map(plan).unwrap()).collect();
    let mut clock = Clock::default();
    team.lead(|| program.run(&mut arrays, &team, &mut clock));
    assert!(!clock.phases().is_empty());
}
