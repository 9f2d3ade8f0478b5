//! Why a paper could not be worked out again. That a value differs is no error but
//! a row of its own.

use nearfar_flow::FlowError;
use nearfar_machine::TheoreticalMaximumError;
use nearfar_measure::simulated::SimulateError;
use nearfar_model::{DataAccessError, Inapplicable, MappingError, NoClasses};

use crate::paper::papers;

/// Why a paper could not be worked out again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReproduceError {
    /// There is no such paper.
    #[error("there is no paper '{key}'; there are: {}", papers().join(", "))]
    UnknownPaper { key: String },
    /// The file of the paper's numbers is not of its form.
    #[error("papers/{key}.json is not of the form that the program knows; correct the file")]
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
    #[error("the simulated machine {machine} cannot be read")]
    Machine {
        machine: String,
        /// What is wrong with it.
        source: Box<FlowError>,
    },
    /// The record of a simulated machine cannot be made.
    #[error("the record of the simulated machine {machine} cannot be made")]
    Simulate {
        machine: String,
        /// Why.
        source: SimulateError,
    },
    /// A record has no classes.
    #[error("{what} has no classes")]
    Classes {
        /// The table or the machine.
        what: String,
        /// Why.
        source: NoClasses,
    },
    /// A record does not hold what a model needs.
    #[error("{what} has no {model} model")]
    Model {
        /// The table or the machine.
        what: String,
        model: &'static str,
        /// Why.
        source: Inapplicable,
    },
    /// A figure for data access cannot be worked out.
    #[error("{what} cannot be worked out")]
    DataAccess {
        /// The equation.
        what: String,
        /// Why.
        source: DataAccessError,
    },
    /// A what-if table cannot be worked out.
    #[error("{what} cannot be worked out")]
    Mapping {
        /// The equation.
        what: String,
        /// Why.
        source: MappingError,
    },
    /// The paper's theoretical maximum is not known.
    #[error("the theoretical maximum {key} is not known")]
    Maximum {
        /// Its name.
        key: String,
        /// Why.
        source: TheoreticalMaximumError,
    },
}
