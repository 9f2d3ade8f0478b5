//! Headers that this program cannot have written.

use nearfar_machine::MemoryModule;

use crate::header::{Executor, Header};

/// Far above what any suite asks for; the engine makes room for so many.
const MOST_WINDOWS: u32 = 10_000;

/// Says what in a header cannot be.
pub(crate) fn check_header(header: &Header) -> Result<(), String> {
    let inputs = &header.inputs;
    let mut modules = header.machine.memory_modules.iter().flatten();
    if let Some(absurd) = modules.find_map(MemoryModule::absurdity) {
        return Err(absurd);
    }
    if header.fingerprint != header.machine.fingerprint() {
        return Err("the fingerprint is not that of the machine beside it".into());
    }
    if inputs.min_rounds == 0 || inputs.max_rounds < inputs.min_rounds {
        return Err(format!("{} to {} rounds", inputs.min_rounds, inputs.max_rounds));
    }
    if inputs.windows_per_round == 0 || inputs.windows_per_round > MOST_WINDOWS {
        return Err(format!("{} windows a round", inputs.windows_per_round));
    }
    match (header.executor, &header.simulation) {
        (Executor::Native, Some(_)) => Err("a machine was measured, yet one is simulated".into()),
        (Executor::Simulated, _) | (Executor::Native, None) => Ok(()),
    }
}
