//! Runs of programs on a machine of four nodes.

use nearfar_machine::Machine;
use nearfar_model::{
    Class, ClassPair, ClassSet, PlacementChoice, ReferenceClasses, command_placements,
};
use nearfar_record::{
    Actor, Better, Case, Command, CommandCoordinates, CommandInputs, CommandPlacement,
    CommandProgram, CommandRun, Coordinates, Experiment, Metric, PageNodes, ProofMethod, Record,
    Sample, read_record,
};
use serde_json::json;

/// Node n has the CPUs 2n and 2n + 1. From cluster c node c is reached in class 0, node c ^ 1 in
/// class 1, the others in class 2, of half and a quarter of the bandwidth.
pub struct Machine4(pub Machine);

const ALPHAS: [f64; 3] = [1.0, 0.5, 0.25];

fn class_of(cluster: u32, node: u32) -> usize {
    match (cluster ^ node) & 3 {
        0 => 0,
        1 => 1,
        _ => 2,
    }
}

/// A program whose time is so many seconds at home, of which a share moves data.
#[derive(Clone, Copy)]
pub struct Program {
    pub share: f64,
    pub seconds: f64,
    /// Times are up to this fraction longer.
    pub noise: f64,
    /// Whether its time or its inverse as a metric is what counts.
    pub better: Better,
}

impl Machine4 {
    pub fn new() -> Self {
        let cpus = |node: u32| format!("{}-{}", 2 * node, 2 * node + 1);
        let nodes: Vec<_> = (0..4_u32)
            .map(|node| {
                json!({"os_index": node, "kind": "dram", "cpus": cpus(node),
                    "locality": cpus(node), "memory_bytes": 1 << 30})
            })
            .collect();
        let cores: Vec<_> = (0..8).map(|cpu| json!({"cpus": format!("{cpu}")})).collect();
        let machine = json!({"source": "live", "packages": [], "nodes": nodes, "cores": cores,
            "caches": [], "firmware_figures": [], "devices": [], "allowed_cpus": "0-7",
            "allowed_nodes": "0-3", "notes": [],
            "distances": {"nodes": [0, 1, 2, 3], "values":
                [[10, 16, 22, 22], [16, 10, 22, 22], [22, 22, 10, 16], [22, 22, 16, 10]]}});
        Self(serde_json::from_value(machine).unwrap())
    }

    pub fn classes(&self) -> ReferenceClasses {
        let pair = |cluster, memory_node| ClassPair {
            initiator: cluster,
            cluster,
            cpu_node: Some(cluster),
            memory_node,
            best: 1.0,
            median: 1.0,
            interval: (1.0, 1.0),
            kernel: "triad".into(),
            variant: "avx2".into(),
            threads: 1,
            rounds: 6,
        };
        let class = |(class, alpha): (usize, &f64)| Class {
            class,
            max: alpha * 10e9,
            min: alpha * 10e9,
            wide: false,
            widened_by_noise: false,
            border_within_noise: false,
            pairs: (0..4)
                .flat_map(|cluster| (0..4).map(move |node| (cluster, node)))
                .filter(|&(cluster, node)| class_of(cluster, node) == class)
                .map(|(cluster, node)| pair(cluster, node))
                .collect(),
            others: Vec::new(),
        };
        let classes = ALPHAS.iter().enumerate().map(class).collect();
        ReferenceClasses::of(&ClassSet { initiator: None, classes })
    }

    /// Ten runs of each program at every placement.
    pub fn record(
        &self,
        programs: &[(&str, Program)],
        matrix: bool,
        random: &mut fastrand::Rng,
    ) -> Record {
        let choice =
            if matrix { PlacementChoice::Matrix } else { PlacementChoice::Classes(Some(0)) };
        let placements = command_placements(&self.0, choice, Some(&self.classes())).unwrap();
        let better = programs[0].1.better;
        let mut record = self.empty_record(CommandInputs {
            programs: programs.iter().map(|(label, _)| program(label)).collect(),
            placements: placements.clone(),
            metric: (better == Better::Higher).then(|| Metric {
                pattern: "(.*)".into(),
                unit: None,
                better,
            }),
            timeout_ns: None,
            counters: None,
        });
        for (label, program) in programs {
            for at in &placements {
                add_case(&mut record, label, at);
                let time = program.time(at);
                for round in 0..10 {
                    let seconds = time * (1.0 + program.noise * random.f64());
                    let metric = (better == Better::Higher).then_some(1.0 / seconds);
                    let case = record.cases.last().unwrap().id.clone();
                    record.samples.push(sample(case, round, seconds, metric));
                }
            }
        }
        record
    }

    pub fn empty_record(&self, commands: CommandInputs) -> Record {
        let header = json!({"header": {
            "schema": "nearfar.record/1", "versions": {"nearfar": "test"}, "host": "test",
            "started": "2026-01-01T00:00:00Z", "executor": "native",
            "inputs": {"suite": "quick", "experiments": [], "initiator": "cluster",
                "pages": "transparent", "window_ns": 0, "windows_per_round": 1, "runs": 1,
                "grid": "sparse", "min_rounds": 1, "max_rounds": 20, "target": 0.01, "seed": 0},
            "fingerprint": self.0.fingerprint(), "machine": self.0,
            "environment": {"cpu": {}, "firmware": {}, "architecture": "x86_64", "cgroup": {},
                "unknown": {}}}});
        let mut record = read_record(format!("{header}\n").as_bytes()).unwrap();
        record.header.inputs.experiments = vec![Experiment::Commands];
        record.header.inputs.commands = Some(commands);
        record
    }
}

impl Program {
    /// Data on several nodes wait for each other.
    fn time(&self, at: &CommandPlacement) -> f64 {
        let nodes = at.binding.memory.nodes().unwrap();
        let inverse: f64 =
            nodes.iter().map(|node| 1.0 / ALPHAS[class_of(at.cluster, node)]).sum::<f64>();
        let slower = inverse / f64::from(u32::try_from(nodes.len()).unwrap());
        self.seconds * (1.0 - self.share + self.share * slower)
    }
}

pub fn program(label: &str) -> CommandProgram {
    CommandProgram { label: label.into(), program: "./it".into(), arguments: Vec::new() }
}

pub fn add_case(record: &mut Record, label: &str, at: &CommandPlacement) {
    record.cases.push(Case {
        id: format!("commands/{label}/{}", record.cases.len()),
        coordinates: vec![Coordinates::Commands(CommandCoordinates {
            command: label.into(),
            cluster: at.cluster,
            cpu_node: at.cpu_node,
            memory_node: at.memory_node,
        })],
        actors: vec![Actor::Command(Command {
            label: label.into(),
            program: "./it".into(),
            arguments: Vec::new(),
            binding: at.binding.clone(),
        })],
    });
}

pub fn sample(case: String, round: u32, seconds: f64, metric: Option<f64>) -> Sample {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds")]
    let window_ns = (seconds * 1e9) as u64;
    let pages = PageNodes {
        method: ProofMethod::NumaMaps,
        page_bytes: 4096,
        pages: [(0, 1000)].into(),
        unknown: 0,
    };
    Sample {
        case,
        sequence: 0,
        round,
        window: 0,
        start_ns: 0,
        window_ns,
        actors: Vec::new(),
        run: Some(CommandRun {
            metric,
            pages: Some(pages),
            pages_unknown: None,
            cpus_seen: "0-1".parse().unwrap(),
            counts: Vec::new(),
        }),
        disturbances: Vec::new(),
    }
}
