//! What a suite asks for where nothing else was said.

use std::time::Duration;

use nearfar_machine::GroupBy;
use nearfar_record::{Experiment, Grid, Inputs, Pages, Suite};
use nearfar_units::nanoseconds;

/// Half-width of a case's 95 % interval, as a fraction of its median, at which it is done.
const TARGET: f64 = 0.01;

/// A suite's own inputs: all its experiments, kernels and variants, every initiator, no budget.
pub fn suite_inputs(suite: Suite) -> Inputs {
    let (window, windows_per_round, min_rounds, max_rounds) = match suite {
        Suite::Quick => (Duration::from_millis(50), 1, 6, 7),
        Suite::Standard => (Duration::from_millis(100), 1, 6, 6),
        Suite::Full => (Duration::from_millis(100), 2, 8, 10),
    };
    Inputs {
        suite,
        experiments: suite_experiments(suite),
        group_by: GroupBy::Memory,
        kernels: None,
        variant: None,
        pages: Pages::Transparent,
        working_set_bytes: None,
        cache_multiple: None,
        chase_multiple: None,
        size_screen: None,
        window_ns: nanoseconds(window),
        windows_per_round,
        runs: match suite {
            Suite::Quick => 5,
            Suite::Standard => 10,
            Suite::Full => 30,
        },
        grid: if suite == Suite::Full { Grid::Full } else { Grid::Sparse },
        min_rounds,
        max_rounds,
        target: TARGET,
        budget_ns: None,
        seed: 1,
        commands: None,
        devices: None,
        network: None,
    }
}

/// The experiments of a suite where none was chosen.
pub fn suite_experiments(suite: Suite) -> Vec<Experiment> {
    match suite {
        Suite::Quick => vec![Experiment::Pairs, Experiment::Latency],
        // Programs take minutes: they are measured where they are asked for.
        Suite::Standard | Suite::Full => {
            let wanted = |experiment: &Experiment| {
                !matches!(
                    experiment,
                    Experiment::Workloads | Experiment::Exchange | Experiment::Network
                )
            };
            Experiment::OF_MACHINE.into_iter().filter(wanted).collect()
        }
    }
}
