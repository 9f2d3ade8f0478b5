//! Why rates could not be worked out or a machine not be read.

use std::io;
use std::path::PathBuf;

/// Why a system has no rates, or a simulated machine's file was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlowError {
    /// A number of a system or of a machine's capacities makes no sense.
    #[error("these capacities cannot be solved: {0}; correct that number")]
    System(String),
    /// The solver did not come to rest.
    #[error(
        "the rates still change after {sweeps} sweeps; the capacities lie too far apart, or the \
         saturation exponent is too large"
    )]
    NotSettled {
        /// Sweeps made.
        sweeps: u32,
    },
    /// A load names something that the machine does not have.
    #[error("this load cannot be put on the machine: {0}")]
    Load(String),
    /// There is no built-in machine of that name.
    #[error(
        "there is no built-in simulated machine {name:?}; there are {known}, and a file's name ends \
         in .toml or has a / in it"
    )]
    UnknownMachine {
        name: String,
        /// The names that there are.
        known: String,
    },
    /// A file extends what is no built-in machine.
    #[error(
        "{file}: extends {name:?}, which is no built-in machine, and no file can be extended; there \
         are {known}"
    )]
    UnknownBase {
        file: String,
        /// What it extends.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// The file does not exist or may not be read.
    #[error("cannot read {}; check the path and its permissions", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is larger than any machine needs.
    #[error(
        "{file} is larger than {} KiB, the most that is read of a simulated machine",
        limit_bytes >> 10
    )]
    TooLarge { file: String, limit_bytes: usize },
    /// Not TOML, or not with the keys of a simulated machine.
    #[error(
        "{file}{}: {why}; docs/simulated-machines.md lists the keys",
        line.map_or_else(String::new, |line| format!(", line {line}"))
    )]
    NotAMachine {
        file: String,
        /// The line, from 1, where known.
        line: Option<usize>,
        /// What the reader said.
        why: String,
    },
    /// A key's value is not allowed.
    #[error("{file}: {key} {why}")]
    Key {
        file: String,
        /// The key, as in `noise.within_round`.
        key: String,
        /// What it is and what is allowed.
        why: String,
    },
}
