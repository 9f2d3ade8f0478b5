//! Why a paper could not be worked out again. That a value differs is no error but
//! a row of its own.

use nearfar_flow::FlowError;
use nearfar_machine::TheoreticalMaximumError;
use nearfar_model::{DataAccessError, MappingError, NoClasses};
use nearfar_record::WriteError;

use crate::paper::papers;

/// Why a paper could not be worked out again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReproduceError {
    /// There is no such paper.
    #[error("there is no paper '{key}'; there are: {}", papers().join(", "))]
    UnknownPaper {
        /// What was asked for.
        key: String,
    },
    /// The file of the paper's numbers is not of its form.
    #[error("papers/{key}.json cannot be understood: {source}; correct the file")]
    Facts {
        /// The paper.
        key: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The numbers contradict each other.
    #[error("papers/{key}.json contradicts itself: {what}; correct the file")]
    Contradiction {
        /// The paper.
        key: String,
        /// What does.
        what: String,
    },
    /// A simulated machine cannot be read.
    #[error("the simulated machine {machine} cannot be read: {source}")]
    Machine {
        /// The machine.
        machine: String,
        /// What is wrong with it.
        source: Box<FlowError>,
    },
    /// The record of a simulated machine cannot be made.
    #[error("the record of the simulated machine {machine} cannot be made: {source}")]
    Write {
        /// The machine.
        machine: String,
        /// Why.
        source: WriteError,
    },
    /// A record has no classes.
    #[error("{what} has no classes: {source}")]
    Classes {
        /// The table or the machine.
        what: String,
        /// Why.
        source: NoClasses,
    },
    /// A figure for data access cannot be worked out.
    #[error("{what} cannot be worked out: {source}")]
    DataAccess {
        /// The equation.
        what: String,
        /// Why.
        source: DataAccessError,
    },
    /// A what-if table cannot be worked out.
    #[error("{what} cannot be worked out: {source}")]
    Mapping {
        /// The equation.
        what: String,
        /// Why.
        source: MappingError,
    },
    /// The paper's theoretical maximum is not known.
    #[error("the theoretical maximum {key} is not known: {source}")]
    Maximum {
        /// Its name.
        key: String,
        /// Why.
        source: TheoreticalMaximumError,
    },
}
