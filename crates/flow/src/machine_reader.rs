//! Reads the file of a simulated machine, over those of the machines that it extends.

use nearfar_units::excerpt_of;

use crate::assembly::assemble;
use crate::bounds::BadKey;
use crate::builtin;
use crate::error::FlowError;
use crate::machine_file::MachineFile;
use crate::simulated_machine::SimulatedMachine;

/// Reads a machine from the text of a file, whose name is for messages.
///
/// # Errors
/// [`FlowError::TooLarge`] above 1 MiB, [`FlowError::NotAMachine`] with the line for
/// text that is not TOML or has unknown keys, [`FlowError::Key`] with the key for a value
/// that is not allowed, [`FlowError::UnknownBase`] when it extends a machine that is not
/// built in.
pub fn parse_machine(file: &str, text: &str) -> Result<SimulatedMachine, FlowError> {
    let file = file.escape_debug().to_string();
    if text.len() > LARGEST_FILE {
        return Err(FlowError::TooLarge { file, limit_bytes: LARGEST_FILE });
    }
    let keys = read_keys(&file, text)?;
    assemble(keys, text).map_err(|BadKey { key, why }| FlowError::Key { file, key, why })
}

/// The most that is read of a file; the built-in ones have 1 to 4 KB.
pub(crate) const LARGEST_FILE: usize = 1 << 20;

/// Of what the TOML reader says so much is passed on: it repeats keys and values, and lists the
/// keys that there are.
const LONGEST_REASON: usize = 600;

/// Of a name that is not known so much is repeated.
const LONGEST_NAME: usize = 80;

/// The keys of a file over those of the machines that it extends.
fn read_keys(file: &str, text: &str) -> Result<MachineFile, FlowError> {
    let keys: MachineFile = toml::from_str(text).map_err(|error| FlowError::NotAMachine {
        file: file.into(),
        line: error.span().map(|span| line_at(text, span.start)),
        why: excerpt_of(error.message().trim_end(), LONGEST_REASON),
    })?;
    match keys.extends.clone() {
        None => Ok(keys),
        // Only built-in machines can be extended, so that no file opens others and none
        // extends itself; the built-in ones are tested to come to an end.
        Some(base) => {
            let text = builtin::builtin_text(&base).ok_or_else(|| FlowError::UnknownBase {
                file: file.into(),
                name: base.chars().take(LONGEST_NAME).collect(),
                known: builtin::known_names(),
            })?;
            Ok(keys.over(read_keys(&base, text)?))
        }
    }
}

fn line_at(text: &str, byte: usize) -> usize {
    1 + text.bytes().take(byte).filter(|&byte| byte == b'\n').count()
}
