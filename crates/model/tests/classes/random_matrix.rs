//! Random machines whose classes are known.

use fastrand::Rng;
use nearfar_model::{ClassPair, Classes};
use nearfar_record::{Coordinates, Record};
use nearfar_specimen::{add_alone, pair, record};

/// What random machines have in common.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// Fewest and most memory nodes, each with one group of CPUs.
    pub nodes: (u32, u32),
    /// Distance between neighbouring classes, as a fraction of the upper one.
    pub gap: (f64, f64),
    /// How far below its class a pair can truly be.
    pub spread: f64,
    /// Standard deviation of a run / its true value.
    pub noise: f64,
    /// Whether runs are only lowered: by abs(z) for z normal with that deviation.
    pub one_sided: bool,
    /// Share of the runs that something makes slower, by 5 to 40 %.
    pub disturbed: f64,
    /// Runs of each pair.
    pub runs: u32,
}

/// What the promised rates are of, unless a row says otherwise.
pub const FAMILY: Family = Family {
    nodes: (4, 16),
    gap: (0.15, 0.45),
    spread: 0.0,
    noise: 0.02,
    one_sided: false,
    disturbed: 0.0,
    runs: 5,
};

/// A machine: the true class of each pair, by group of CPUs, then by node, and its record.
pub struct RandomMatrix {
    pub class_of: Vec<usize>,
    pub classes: usize,
    pub record: Record,
}

impl Family {
    /// Draws a machine of 2 to 6 classes. Local pairs are in class 0; a pair has the same class in
    /// both directions, drawn evenly; every class has a pair.
    pub fn draw(&self, random: &mut Rng) -> RandomMatrix {
        let classes = random.usize(2..=6);
        let nodes = random.u32(self.nodes.0..=self.nodes.1);
        let class_of = draw_classes(nodes, classes, random);
        let mut levels = vec![5e9 * (1.0 + 9.0 * random.f64())];
        for _ in 1..classes {
            let gap = self.gap.0 + (self.gap.1 - self.gap.0) * random.f64();
            levels.push(levels[levels.len() - 1] * (1.0 - gap));
        }
        let mut record = record();
        let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
        for ((cpu_group, node), &class) in pairs.zip(&class_of) {
            let truth = levels[class] * (1.0 - self.spread * random.f64());
            let rounds: Vec<f64> = (0..self.runs).map(|_| truth * self.draw_run(random)).collect();
            let place = Coordinates::Pairs(pair(cpu_group, node, "triad"));
            add_alone(&mut record, place, &rounds);
        }
        RandomMatrix { class_of, classes, record }
    }

    fn draw_run(&self, random: &mut Rng) -> f64 {
        let z = draw_normal(random);
        let noisy = 1.0 + self.noise * if self.one_sided { -z.abs() } else { z };
        let slower = random.f64() < self.disturbed;
        if slower { noisy * (0.95 - 0.35 * random.f64()) } else { noisy }
    }
}

fn draw_classes(nodes: u32, classes: usize, random: &mut Rng) -> Vec<usize> {
    let nodes = usize::try_from(nodes).unwrap();
    loop {
        let mut class_of = vec![0; nodes * nodes];
        for from in 0..nodes {
            for to in from + 1..nodes {
                let class = random.usize(0..classes);
                class_of[from * nodes + to] = class;
                class_of[to * nodes + from] = class;
            }
        }
        if (0..classes).all(|class| class_of.contains(&class)) {
            return class_of;
        }
    }
}

/// By Box and Muller.
pub fn draw_normal(random: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}

/// What the classes of a drawn machine came to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Verdict {
    /// As many as there truly are.
    pub number: bool,
    /// And every pair in its own.
    pub pairs: bool,
}

impl RandomMatrix {
    /// Compares classes with the true ones, each given by its pairs: their places in
    /// the matrix, row by row.
    pub fn judge(&self, found: &[Vec<usize>]) -> Verdict {
        let number = found.len() == self.classes;
        let placed = found
            .iter()
            .enumerate()
            .all(|(class, pairs)| pairs.iter().all(|&pair| self.class_of[pair] == class));
        Verdict { number, pairs: number && placed }
    }

    /// The same for the classes that the library finds.
    pub fn judge_classes(&self, found: &Classes) -> Verdict {
        let nodes = self.class_of.len().isqrt();
        let place = |pair: &ClassPair| {
            usize::try_from(pair.cpu_group).unwrap() * nodes
                + usize::try_from(pair.memory_node).unwrap()
        };
        let found: Vec<Vec<usize>> = found.sets[0]
            .classes
            .iter()
            .map(|class| class.pairs.iter().map(place).collect())
            .collect();
        self.judge(&found)
    }
}
