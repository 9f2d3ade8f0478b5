//! What a suite asks for where nothing else was said.

use std::time::Duration;

use nearfar_machine::InitiatorKind;
use nearfar_record::{Inputs, Pages, Suite};
use nearfar_units::nanoseconds;

/// Half-width of a case's 95 % interval, as a fraction of its median, at which it is done.
const TARGET: f64 = 0.01;

/// A suite's own inputs: all its kernels and variants, every cluster, no budget.
#[must_use]
pub fn suite_inputs(suite: Suite) -> Inputs {
    let (window, windows_per_round, min_rounds, max_rounds) = match suite {
        Suite::Quick => (Duration::from_millis(50), 1, 6, 7),
        Suite::Standard => (Duration::from_millis(100), 2, 6, 7),
        Suite::Full => (Duration::from_millis(100), 3, 10, 12),
    };
    Inputs {
        suite,
        experiments: vec!["pairs".into()],
        initiator: InitiatorKind::Cluster,
        kernels: None,
        variant: None,
        pages: Pages::Transparent,
        working_set_bytes: None,
        window_ns: nanoseconds(window),
        windows_per_round,
        min_rounds,
        max_rounds,
        target: TARGET,
        budget_ns: None,
        seed: 1,
    }
}
