//! The flow model of simulated machines' records against what the machines do, on sets of streams
//! that no record holds.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers as well")]

use nearfar_flow::{KernelLoad, Load, SimulatedMachine, read_machine};
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::{Flow, FlowCase, FlowStream, RecordFigures, flow};
use nearfar_record::{Experiment, Inputs, Suite};

fn fit(simulated: &SimulatedMachine) -> Flow {
    let experiments =
        vec![Experiment::Pairs, Experiment::Links, Experiment::Roofs, Experiment::Mixes];
    let inputs = Inputs { seed: 3, experiments, ..suite_inputs(Suite::Standard) };
    let record = simulate(simulated, inputs, true).unwrap();
    flow(&RecordFigures::new(&record)).unwrap()
}

/// Numbers in some order (Knuth's linear congruential generator).
struct Draws(u64);

impl Draws {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

/// Mean error of streams of sets that are drawn here.
fn error_on_unseen(simulated: &SimulatedMachine, model: &Flow, sets: usize) -> f64 {
    let mut random = Draws(11);
    let nodes: Vec<u32> = simulated.machine.nodes.iter().map(|node| node.os_index).collect();
    let clusters = simulated.machine.clusters();
    let mut sizes = Vec::new();
    for _ in 0..sets {
        let mut loads = Vec::new();
        for cluster in &clusters {
            let cores = simulated.machine.allowed_cores(&cluster.cpus).len();
            let threads = u32::try_from(1 + random.below(cores)).unwrap();
            let node = nodes[random.below(nodes.len())];
            loads.push(Load { cluster: cluster.index, threads, shares: vec![(node, 1.0)] });
        }
        let (kernel, variant) = (&model.layout.kernels[0], &model.variants[0]);
        let of_kernel =
            |load: &Load| KernelLoad::new(kernel.clone(), variant.clone(), load.clone());
        let truth = simulated.rates(&loads.iter().map(of_kernel).collect::<Vec<_>>()).unwrap();
        let stream = |(load, rate)| FlowStream { load, kernel: 0, rate, noise: 0.01 };
        let streams = loads.into_iter().zip(truth.iter().copied()).map(stream).collect();
        let rates = model.fitted.rates(&FlowCase { experiment: Experiment::Mixes, streams });
        sizes.extend(rates.unwrap().iter().zip(truth).map(|(it, truth)| (it / truth - 1.0).abs()));
    }
    sizes.iter().sum::<f64>() / sizes.len() as f64
}

#[test]
fn machines_of_the_law_are_foretold_from_a_noisy_record() {
    for (name, most) in [("joe0", 0.02), ("itanium2", 0.02), ("two-socket-8-nodes", 0.03)] {
        let simulated = read_machine(name).unwrap();
        let model = fit(&simulated);
        let error = error_on_unseen(&simulated, &model, 40);
        assert!(error < most, "{name}: {error}");
        assert!(model.left_out.mean < most, "{name}: {:?}", model.left_out);
        // The error that is told is of the size of the error that there is.
        assert!(error < 3.0 * model.left_out.mean + 0.01, "{name}: {error} {:?}", model.left_out);
    }
}

/// Where another law holds, the error that is told says so.
#[test]
fn a_machine_of_another_law_has_a_large_error_that_is_told() {
    let simulated = read_machine("e5520").unwrap();
    let model = fit(&simulated);
    let error = error_on_unseen(&simulated, &model, 40);
    assert!(model.left_out.mean > 0.03, "{:?}", model.left_out);
    assert!(error < 3.0 * model.left_out.mean, "{error} {:?}", model.left_out);
}
