//! Why rates could not be computed or a machine not be read.

use std::io;
use std::path::PathBuf;

/// Why a system has no rates, or a simulated machine's file was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlowError {
    #[error("these capacities cannot be solved: {0}; correct that number")]
    System(String),
    #[error(
        "the rates still change after {sweeps} sweeps; the capacities lie too far apart, or the \
         saturation exponent is too large"
    )]
    NotSettled { sweeps: u32 },
    #[error("this load cannot be put on the machine: {0}")]
    Load(String),
    #[error(
        "there is no built-in simulated machine {name:?}{meant}; there are {known}, and a file's name \
         ends in .toml or has a / in it"
    )]
    UnknownMachine { name: String, meant: String, known: String },
    #[error(
        "{file}: extends {name:?}, which is no built-in machine, and no file can be extended; there \
         are {known}"
    )]
    UnknownBase { file: String, name: String, known: String },
    #[error("cannot read {}; check the path and its permissions", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error(
        "{file} is larger than {} KiB, the most that is read of a simulated machine",
        limit_bytes >> 10
    )]
    TooLarge { file: String, limit_bytes: usize },
    #[error(
        "{file}{}: {why}; docs/simulated-machines.md lists the keys",
        line.map_or_else(String::new, |line| format!(", line {line}"))
    )]
    NotAMachine {
        file: String,
        /// The line, from 1, where known.
        line: Option<usize>,
        why: String,
    },
    #[error("{file}: {key} {why}")]
    Key {
        file: String,
        /// The key, as in `noise.within_round`.
        key: String,
        why: String,
    },
}
