//! Who is expected in a run, written before it: a machine that never began leaves nothing else to be missed by.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use nearfar_units::{excerpt, excerpt_of};
use serde::{Deserialize, Serialize};

use crate::launch::Engine;
use crate::machine_name::MachineName;
use crate::run_folder::write_whole;
use crate::summary::MOST_OF_ERROR;

/// Name and version of the format.
pub const MANIFEST_SCHEMA: &str = "nearfar.fleet-manifest/1";

/// Of such a file: names of a million machines.
const MAX_BYTES: u64 = 64 << 20;

/// What is expected in a run's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub schema: String,
    /// When it was planned: RFC 3339, UTC.
    pub created: String,
    /// How it was to be started.
    pub engine: Engine,
    /// Arguments of `characterize` behind `--run DIR`.
    pub arguments: Vec<String>,
    /// All machines that are expected, each once.
    pub machines: Vec<MachineName>,
}

/// Why a manifest could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    #[error("its format is '{}', this program reads {MANIFEST_SCHEMA}", excerpt(.0))]
    OtherVersion(String),
    #[error("{0}")]
    Invalid(String),
}

impl Manifest {
    /// Reads one.
    ///
    /// # Errors
    /// Where it is of another version, or torn.
    pub fn read(bytes: &[u8]) -> Result<Self, ManifestError> {
        #[derive(Deserialize)]
        struct OfVersion {
            schema: String,
        }
        let invalid = |error: serde_json::Error| {
            ManifestError::Invalid(excerpt_of(&error.to_string(), MOST_OF_ERROR))
        };
        let version: OfVersion = serde_json::from_slice(bytes).map_err(invalid)?;
        if version.schema != MANIFEST_SCHEMA {
            return Err(ManifestError::OtherVersion(version.schema));
        }
        serde_json::from_slice(bytes).map_err(invalid)
    }

    /// Reads the manifest at a path; `None` where there is none.
    ///
    /// # Errors
    /// As [`Manifest::read`], or where it cannot be opened.
    pub fn read_at(path: &Path) -> Result<Option<Self>, ManifestError> {
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes));
        match read {
            Ok(_) => Self::read(&bytes).map(Some),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ManifestError::Invalid(error.to_string())),
        }
    }

    /// Expects these machines as well.
    pub fn expect(&mut self, machines: &[MachineName]) {
        self.machines.extend_from_slice(machines);
        self.machines.sort();
        self.machines.dedup();
    }

    /// Writes it as a whole.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        write_whole(path, &text)
    }
}
