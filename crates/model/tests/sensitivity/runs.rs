//! Runs of programs on a machine of four nodes.

use nearfar_machine::{Distances, Machine};
use nearfar_model::{
    ClassRule, PlacementChoice, RecordFigures, ReferenceClasses, Sensitivity, classes,
    command_placements, sensitivity,
};
use nearfar_record::{
    Better, CommandCoordinates, CommandInputs, CommandPlacement, CommandProgram, Coordinates,
    Experiment, Metric, Record,
};
use nearfar_specimen::{add_alone, case_at, machine, pair, record_of, run_of};

/// Node n has the CPUs 2n and 2n + 1. From initiator c node c is reached in class 0, node c ^ 1 in
/// class 1, the others in class 2, of half and a quarter of the bandwidth.
pub struct Machine4(pub Machine);

const ALPHAS: [f64; 3] = [1.0, 0.5, 0.25];

fn class_of(initiator: u32, node: u32) -> usize {
    match (initiator ^ node) & 3 {
        0 => 0,
        1 => 1,
        _ => 2,
    }
}

/// A program whose time is this many seconds at home, of which a share moves data.
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
        let mut machine = machine(2, 2, 2);
        let values = [[10, 16, 22, 22], [16, 10, 22, 22], [22, 22, 10, 16], [22, 22, 16, 10]];
        machine.distances =
            Some(Distances { nodes: (0..4).collect(), values: values.map(Vec::from).into() });
        Self(machine)
    }

    pub fn classes(&self) -> ReferenceClasses {
        let mut record = record_of(self.0.clone(), &[Experiment::Pairs]);
        for (initiator, node) in (0..4).flat_map(|of| (0..4).map(move |node| (of, node))) {
            let best = 10e9 * ALPHAS[class_of(initiator, node)];
            let place = Coordinates::Pairs(pair(initiator, node, "triad"));
            add_alone(&mut record, place, &[best; 6]);
        }
        let found = classes(&RecordFigures::new(&record), &ClassRule::default()).unwrap();
        ReferenceClasses::of(&found.sets[0])
    }

    /// What a record says beside the machine's classes.
    pub fn sensitivity(&self, record: &Record) -> Sensitivity {
        sensitivity(&RecordFigures::new(record), Some(&self.classes())).unwrap()
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
        let mut record = record_of(self.0.clone(), &[Experiment::Commands]);
        record.header.inputs.commands = Some(CommandInputs {
            programs: programs.iter().map(|(label, _)| program(label)).collect(),
            placements: placements.clone(),
            metric: (better == Better::Higher).then(|| Metric {
                pattern: "(.*)".into(),
                unit: None,
                better,
            }),
            timeout_ns: None,
            counters: None,
            pressures: Vec::new(),
        });
        for (label, program) in programs {
            for at in &placements {
                let case = case_at(&self.0, coordinates(label, at));
                let time = program.time(at);
                record.samples.extend((0..10).map(|round| {
                    let seconds = time * (1.0 + program.noise * random.f64());
                    let metric = (better == Better::Higher).then_some(1.0 / seconds);
                    run_of(&case.id, round, seconds, metric)
                }));
                record.cases.push(case);
            }
        }
        record
    }
}

impl Program {
    /// Data on several nodes wait for each other.
    fn time(&self, at: &CommandPlacement) -> f64 {
        let nodes = at.binding.memory.nodes().unwrap();
        let inverse: f64 =
            nodes.iter().map(|node| 1.0 / ALPHAS[class_of(at.initiator, node)]).sum::<f64>();
        let slower = inverse / f64::from(u32::try_from(nodes.len()).unwrap());
        self.seconds * (1.0 - self.share + self.share * slower)
    }
}

fn program(label: &str) -> CommandProgram {
    CommandProgram::new(label, "./it", Vec::new())
}

fn coordinates(label: &str, at: &CommandPlacement) -> Coordinates {
    Coordinates::Commands(CommandCoordinates {
        command: label.into(),
        initiator: at.initiator,
        cpu_node: at.cpu_node,
        memory_node: at.memory_node,
        load: None,
    })
}
