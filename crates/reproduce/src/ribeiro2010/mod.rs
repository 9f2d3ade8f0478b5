//! C. Pousa Ribeiro and others, Explorando Afinidade de Memoria em Arquiteturas NUMA (2010): its
//! machines, the gains of its strategies, and its conclusion.

mod facts;
mod findings;
mod machines;
mod reason;
mod reproduction;
mod times;

pub use facts::{Facts, facts};
pub use machines::Machines;
pub use reproduction::{reproduce, reproduce_on};

/// The paper's key, which is the name of its file in `papers/`.
pub const KEY: &str = "ribeiro2010";
