//! Files of simulated machines.

mod answers;

use std::hash::{DefaultHasher, Hash, Hasher};

use nearfar_flow::{FlowError, SimulatedMachine, parse_machine};

use super::{Outcome, rejected, text};

/// Files of simulated machines: what is read describes a machine that is sound and answers.
pub fn machine_file(input: &[u8]) -> Outcome {
    let text = match text(input) {
        Ok(text) => text,
        Err(outcome) => return outcome,
    };
    match parse_machine("machine.toml", text) {
        Ok(machine) => {
            assert_sound(&machine);
            Outcome::Accepted
        }
        Err(error) => {
            let outcome = rejected(&error);
            let says_where = match &error {
                // A file without a key that it must have has no line to name.
                FlowError::NotAMachine { line, why, .. } => line.is_some() || !why.is_empty(),
                FlowError::Key { key, .. } => !key.is_empty(),
                FlowError::TooLarge { .. } | FlowError::UnknownBase { .. } => true,
                _ => false,
            };
            assert!(says_where, "no place is named: {error:?}");
            outcome
        }
    }
}

fn assert_sound(simulated: &SimulatedMachine) {
    let wrong = simulated.machine.check();
    assert!(wrong.is_empty(), "{wrong:?}");
    // As a resumed record does it.
    let again = parse_machine("machine.toml", &simulated.text);
    assert!(again.is_ok_and(|again| again == *simulated), "its own text is another machine");
    match simulated.look_rate() {
        Ok(rate) => assert!(rate.is_finite() && rate > 0.0, "{rate} bytes/s"),
        Err(error) => {
            rejected(&error);
        }
    }
    if let Err(error) = answers::assert_sound(simulated, &mut draws(&simulated.text)) {
        assert!(matches!(error, FlowError::NotSettled { .. }), "its own loads: {error:?}");
        rejected(&error);
    }
}

/// Numbers that follow from a text, so that the same file is always asked the same; each is
/// below what is given.
fn draws(text: &str) -> impl FnMut(u32) -> u32 {
    let hash = |of: &dyn Fn(&mut DefaultHasher)| {
        let mut hasher = DefaultHasher::new();
        of(&mut hasher);
        hasher.finish()
    };
    let mut state = hash(&|hasher| text.hash(hasher));
    move |below| {
        state = hash(&|hasher| state.hash(hasher));
        u32::try_from(state % u64::from(below)).unwrap_or_default()
    }
}
