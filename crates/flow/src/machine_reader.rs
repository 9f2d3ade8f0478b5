//! Reads simulated machines: those that the program brings along, and files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use nearfar_units::{did_you_mean, excerpt_of};
use serde::Deserialize as _;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use crate::assembly::assemble;
use crate::bounds::BadKey;
use crate::error::FlowError;
use crate::machine_file::MachineFile;
use crate::origin;
use crate::simulated_machine::SimulatedMachine;

/// Name and file of each built-in machine.
const BUILTIN: [(&str, &str); 22] = [
    ("amd-2p", include_str!("../machines/amd-2p.toml")),
    ("amd-2p-two-hubs", include_str!("../machines/amd-2p-two-hubs.toml")),
    ("intel-2p", include_str!("../machines/intel-2p.toml")),
    ("amd-4p", include_str!("../machines/amd-4p.toml")),
    ("two-socket-8-nodes", include_str!("../machines/two-socket-8-nodes.toml")),
    ("two-socket-8-nodes-degraded", include_str!("../machines/two-socket-8-nodes-degraded.toml")),
    ("two-socket-4-gpus", include_str!("../machines/two-socket-4-gpus.toml")),
    ("two-socket-cxl", include_str!("../machines/two-socket-cxl.toml")),
    ("e5520", include_str!("../machines/e5520.toml")),
    ("joe0", include_str!("../machines/joe0.toml")),
    ("knl-flat", include_str!("../machines/knl-flat.toml")),
    ("knl-cache", include_str!("../machines/knl-cache.toml")),
    ("skylake-hybrid", include_str!("../machines/skylake-hybrid.toml")),
    ("e7-4870", include_str!("../machines/e7-4870.toml")),
    ("itanium2", include_str!("../machines/itanium2.toml")),
    ("opteron-8", include_str!("../machines/opteron-8.toml")),
    ("epyc-7742", include_str!("../machines/epyc-7742.toml")),
    ("xeon-gold-5218", include_str!("../machines/xeon-gold-5218.toml")),
    ("xeon-8480", include_str!("../machines/xeon-8480.toml")),
    ("xeon-8480-highmem", include_str!("../machines/xeon-8480-highmem.toml")),
    ("xeon-max-9480", include_str!("../machines/xeon-max-9480.toml")),
    ("xeon-8568-cxl", include_str!("../machines/xeon-8568-cxl.toml")),
];

/// Machines of published figures: each value is from a source, or said to be assumed.
const PUBLISHED: [(&str, &str); 9] = [
    ("cxl-2s-lisa", include_str!("../machines/published/cxl-2s-lisa.toml")),
    ("ddr4-2s", include_str!("../machines/published/ddr4-2s.toml")),
    ("epyc-9224-nps2-cxl", include_str!("../machines/published/epyc-9224-nps2-cxl.toml")),
    ("epyc-9354p-nps1", include_str!("../machines/published/epyc-9354p-nps1.toml")),
    ("epyc-9354p-nps4", include_str!("../machines/published/epyc-9354p-nps4.toml")),
    ("skylake-uneven", include_str!("../machines/published/skylake-uneven.toml")),
    ("xeon-6240", include_str!("../machines/published/xeon-6240.toml")),
    ("xeon-6548y", include_str!("../machines/published/xeon-6548y.toml")),
    ("xeon-8468-snc4", include_str!("../machines/published/xeon-8468-snc4.toml")),
];

/// Name and title of each built-in machine that is not of published figures alone.
///
/// # Errors
/// None in a build whose tests pass: each file is tested to be read.
pub fn builtin_machines() -> Result<Vec<(String, String)>, FlowError> {
    let read = |(name, text): &(&str, &str)| parse_machine(name, text);
    BUILTIN.iter().map(read).map(|machine| machine.map(|it| (it.name, it.title))).collect()
}

/// The built-in machines whose files name the sources of their figures.
///
/// # Errors
/// As [`builtin_machines`].
pub fn published_machines() -> Result<Vec<SimulatedMachine>, FlowError> {
    let mut machines: Vec<SimulatedMachine> =
        builtin().map(|(name, text)| parse_machine(name, text)).collect::<Result<_, _>>()?;
    machines.retain(|machine| !machine.origin.sources.is_empty());
    Ok(machines)
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
            meant: did_you_mean(name_or_path, builtin_names()),
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
    builtin().find(|(known, _)| *known == name).map(|(_, text)| text)
}

/// The names of the built-in machines.
pub fn builtin_names() -> Vec<&'static str> {
    builtin().map(|(known, _)| known).collect()
}

fn builtin() -> impl Iterator<Item = (&'static str, &'static str)> {
    BUILTIN.into_iter().chain(PUBLISHED)
}

/// The same in a row.
fn known_names() -> String {
    builtin_names().join(", ")
}

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
const LARGEST_FILE: usize = 1 << 20;

/// Of what the TOML reader says so much is passed on: it repeats keys and values, and lists the
/// keys that there are.
const LONGEST_REASON: usize = 600;

/// Of a name that is not known so much is repeated.
const LONGEST_NAME: usize = 80;

/// The keys of a file over those of the machines that it extends.
fn read_keys(file: &str, text: &str) -> Result<MachineFile, FlowError> {
    let own = DeTable::parse(text).map_err(not_a_machine(file, text))?;
    let keys = machine_file(own.clone()).map_err(not_a_machine(file, text))?;
    if keys.extends.is_none() && keys.source.is_empty() {
        return Ok(keys);
    }
    let span = own.span();
    let table = over_bases(file, own.into_inner())?;
    origin::check(&table).map_err(|BadKey { key, why }| FlowError::Key {
        file: file.into(),
        key,
        why,
    })?;
    // Lines are of one file or of another.
    machine_file(Spanned::new(span, table)).map_err(|error| refusal(file, None, &error))
}

/// All tables are read from this form: what reads [`MachineFile`] is compiled once.
fn machine_file(table: Spanned<DeTable<'_>>) -> Result<MachineFile, toml::de::Error> {
    MachineFile::deserialize(Deserializer::from(table))
}

fn not_a_machine(file: &str, text: &str) -> impl Fn(toml::de::Error) -> FlowError {
    |error| refusal(file, error.span().map(|span| line_at(text, span.start)), &error)
}

fn refusal(file: &str, line: Option<usize>, error: &toml::de::Error) -> FlowError {
    let why = excerpt_of(error.message().trim_end(), LONGEST_REASON);
    FlowError::NotAMachine { file: file.into(), line, why }
}

/// A file whose own keys are known to be those of a machine, over the one that it extends.
fn over_bases<'i>(file: &str, mut own: DeTable<'i>) -> Result<DeTable<'i>, FlowError> {
    let extends = own.remove("extends").map(Spanned::into_inner);
    let Some(DeValue::String(base)) = extends else { return Ok(own) };
    // Only built-in machines can be extended, so that no file opens others and none
    // extends itself; the built-in ones are tested to come to an end.
    let text = builtin_text(&base).ok_or_else(|| FlowError::UnknownBase {
        file: file.into(),
        name: base.chars().take(LONGEST_NAME).collect(),
        known: known_names(),
    })?;
    let table = DeTable::parse(text).map_err(not_a_machine(&base, text))?;
    let mut table = over_bases(&base, table.into_inner())?;
    for key in ["name", "title", "left_out", "source"] {
        table.remove(key);
    }
    // What a file without sources changes of another's figures is from none of these.
    if !own.contains_key("source") {
        table.remove("assumed");
    }
    for (key, value) in own {
        match (table.get_mut(&key).map(Spanned::get_mut), value.get_ref()) {
            (Some(DeValue::Table(below)), DeValue::Table(above)) => below.extend(above.clone()),
            // Entries of repeated tables come after those of the base and so prevail over them.
            (Some(DeValue::Array(below)), DeValue::Array(above))
                if key.get_ref() != "node" && below.iter().all(|it| it.get_ref().is_table()) =>
            {
                above.iter().cloned().for_each(|entry| below.push(entry));
            }
            _ => {
                table.insert(key, value);
            }
        }
    }
    Ok(table)
}

fn line_at(text: &str, byte: usize) -> usize {
    1 + text.bytes().take(byte).filter(|&byte| byte == b'\n').count()
}
