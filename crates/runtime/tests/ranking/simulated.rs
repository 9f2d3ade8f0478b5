//! Records of simulated machines.

use nearfar_flow::read_machine;
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::{ClassRule, Flow, RecordFigures, flow};
use nearfar_record::{Experiment, Inputs, Record, Suite};
use nearfar_runtime::{Ranking, Touched};

/// The triad of a machine of the thesis, whose figures are printed: 9.3 GB/s local, 5.6 in the
/// same package, 3.1 in the other. Without noise.
pub fn amd_2p() -> Record {
    let inputs = Inputs {
        kernels: Some(vec!["triad".into()]),
        windows_per_round: 1,
        min_rounds: 5,
        max_rounds: 5,
        experiments: vec![Experiment::Pairs],
        ..suite_inputs(Suite::Full)
    };
    simulate(&read_machine("amd-2p").unwrap(), inputs, false).unwrap()
}

/// What the flow model needs of a machine, with noise.
pub fn shared(name: &str) -> Record {
    let experiments = vec![Experiment::Pairs, Experiment::Links, Experiment::Mixes];
    let inputs = Inputs { experiments, ..suite_inputs(Suite::Standard) };
    simulate(&read_machine(name).unwrap(), inputs, true).unwrap()
}

/// A ranking of tasks that run alone.
pub fn lone(record: &Record) -> Ranking {
    Ranking::new(&RecordFigures::new(record), &ClassRule::default()).unwrap()
}

/// A ranking of the flow model's own kernel, so that nothing but the law differs from it.
pub fn with_flow(record: &Record) -> (Ranking, Flow) {
    let figures = RecordFigures::new(record);
    let model = flow(&figures).unwrap();
    let rule = ClassRule { kernels: vec![model.layout.kernels[0].clone()], ..ClassRule::default() };
    (Ranking::new(&figures, &rule).unwrap().with_flow(&model).unwrap(), model)
}

pub fn on(node: u32, bytes: u64) -> Touched {
    Touched { node, bytes }
}
