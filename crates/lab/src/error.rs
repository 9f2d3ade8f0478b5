//! Why a guest could not be run.

use std::io;
use std::path::PathBuf;

/// Why a guest could not be run.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A program that the lab needs is not installed.
    #[error("{0} is not installed; `scripts/install-packages guest` installs what guests need")]
    Missing(&'static str),
    /// A program of apt is not there, as on machines that are not Debian's kin.
    #[error("{0} is not installed, and without apt no kernel can be fetched")]
    NoApt(&'static str),
    /// This machine's programs cannot run in guests.
    #[error(
        "guests are x86-64 machines and run this machine's programs, but this one is {0}; run \
         them on an x86-64 machine"
    )]
    Host(&'static str),
    /// A program that the lab calls failed.
    #[error("{what} failed: {said}")]
    Failed {
        /// What was called.
        what: String,
        said: String,
    },
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A machine's file is not one.
    #[error("lab/machines/{name}.toml: {why}")]
    Machine {
        /// The machine.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// A kernel is neither in the cache nor to be had.
    #[error(
        "no kernel of the suite {suite}: {source}\nput a whole vmlinuz-* of Debian's linux-image-cloud-amd64 \
         into {folder}, or name a Debian archive that has the suite by NEARFAR_LAB_MIRROR"
    )]
    NoKernel {
        suite: String,
        /// Its folder in the cache.
        folder: PathBuf,
        /// What happened when it was fetched.
        source: Box<LabError>,
    },
    /// A filter of system calls is not one.
    #[error("the filter '{text}': {why}; write for instance mbind=EPERM,move_pages=OK")]
    Filter {
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// The guest took too long.
    #[error("the guest ran longer than {seconds} s; the kernel's last messages:\n{log}")]
    TooLong {
        /// Its limit.
        seconds: u64,
        /// What its kernel said.
        log: String,
    },
    /// The guest died.
    #[error("the guest died {when}; the kernel's last messages:\n{log}")]
    Died {
        /// Before or after the program began.
        when: &'static str,
        /// What its kernel said.
        log: String,
    },
}

impl LabError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |source| Self::File { path, source }
    }
}
