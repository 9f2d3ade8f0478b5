//! Why runs of many machines cannot be compared.

use std::io;
use std::path::PathBuf;

use crate::manifest::ManifestError;

/// Why a run could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    #[error("cannot read the folder {folder}: {cause}")]
    Folder { folder: PathBuf, cause: io::Error },
    #[error("{path}: {cause}")]
    Manifest { path: PathBuf, cause: ManifestError },
    #[error("{0} holds no measurement of any machine; `nearfar fleet plan` says how to start one")]
    Empty(PathBuf),
    #[error(
        "the standard {0} is of other CPUs or nodes than every machine of the run; give the record of a \
         sound machine like them by --target, or leave that out"
    )]
    OtherTarget(PathBuf),
    #[error("{0} is named twice, and would count as two runs: name it once")]
    Twice(PathBuf),
    #[error("cannot write the verdict {path}: {cause}")]
    Verdict { path: PathBuf, cause: io::Error },
}
