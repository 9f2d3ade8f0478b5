//! The machines that the program brings along, and machines from files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::FlowError;
use crate::machine_reader::{LARGEST_FILE, parse_machine};
use crate::simulated_machine::SimulatedMachine;

/// Name and file of each built-in machine.
const BUILTIN: [(&str, &str); 16] = [
    ("amd-2p", include_str!("../../../machines/amd-2p.toml")),
    ("amd-2p-two-hubs", include_str!("../../../machines/amd-2p-two-hubs.toml")),
    ("intel-2p", include_str!("../../../machines/intel-2p.toml")),
    ("amd-4p", include_str!("../../../machines/amd-4p.toml")),
    ("two-socket-8-nodes", include_str!("../../../machines/two-socket-8-nodes.toml")),
    (
        "two-socket-8-nodes-degraded",
        include_str!("../../../machines/two-socket-8-nodes-degraded.toml"),
    ),
    ("two-socket-4-gpus", include_str!("../../../machines/two-socket-4-gpus.toml")),
    ("two-socket-cxl", include_str!("../../../machines/two-socket-cxl.toml")),
    ("e5520", include_str!("../../../machines/e5520.toml")),
    ("joe0", include_str!("../../../machines/joe0.toml")),
    ("knl-flat", include_str!("../../../machines/knl-flat.toml")),
    ("knl-cache", include_str!("../../../machines/knl-cache.toml")),
    ("skylake-hybrid", include_str!("../../../machines/skylake-hybrid.toml")),
    ("e7-4870", include_str!("../../../machines/e7-4870.toml")),
    ("itanium2", include_str!("../../../machines/itanium2.toml")),
    ("opteron-8", include_str!("../../../machines/opteron-8.toml")),
];

/// Name and title of each built-in machine.
///
/// # Errors
/// None in a build whose tests pass: each file is tested to be read.
pub fn builtin_machines() -> Result<Vec<(String, String)>, FlowError> {
    let read = |(name, text): &(&str, &str)| parse_machine(name, text);
    BUILTIN.iter().map(read).map(|machine| machine.map(|it| (it.name, it.title))).collect()
}

/// A built-in machine by its name, or one from a file: what has a `/` or ends in
/// `.toml` is a path.
///
/// # Errors
/// [`FlowError::UnknownMachine`], [`FlowError::Unreadable`], [`FlowError::TooLarge`], and
/// those of [`parse_machine`].
pub fn read_machine(name_or_path: &str) -> Result<SimulatedMachine, FlowError> {
    if !name_or_path.contains('/') && !name_or_path.ends_with(".toml") {
        let text = builtin_text(name_or_path).ok_or_else(|| FlowError::UnknownMachine {
            name: name_or_path.into(),
            known: known_names(),
        })?;
        return parse_machine(name_or_path, text);
    }
    let path = Path::new(name_or_path);
    let unreadable = |source| FlowError::Unreadable { path: path.into(), source };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    // One byte more than allowed: parse_machine then refuses it.
    file.take(LARGEST_FILE as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|error| FlowError::NotAMachine {
        file: name_or_path.escape_debug().to_string(),
        line: None,
        why: format!("it is not UTF-8 text ({error})"),
    })?;
    parse_machine(name_or_path, &text)
}

/// The file of a built-in machine.
pub fn builtin_text(name: &str) -> Option<&'static str> {
    BUILTIN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The names of the built-in machines, in a row.
pub(crate) fn known_names() -> String {
    BUILTIN.map(|(known, _)| known).join(", ")
}
