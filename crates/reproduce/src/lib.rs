//! The papers' tables, computed again by the code that serves a record: the
//! printed value, ours, the error, and how it stands.
//!
//! Begin with [`reproduce`]. A paper's numbers lie in `papers/KEY.json` at the
//! root of the repository and its rows in a module of its own, such as
//! [`braithwaite2012`]. Printed tables become records ([`PrintedTable`]), and
//! simulated machines are measured into records by the engine
//! ([`measure_simulated`]); models see nothing but those records.

pub mod braithwaite2012;
pub mod denoyelle2019;
pub mod ribeiro2010;
pub mod saad2022;
pub mod vladimirov2012;

mod error;
mod paper;
mod papers;
mod printed;
mod printed_table;
mod row;
mod simulated_record;

pub use error::ReproduceError;
pub use paper::{Paper, PaperFacts, PaperFile};
pub use papers::{papers, reproduce};
pub use printed_table::{PrintedOf, PrintedTable, PrintedValue};
pub use row::{FROM_INPUTS, Measure, ROUND_TRIP, Row, Status};
pub use simulated_record::{Machines, measure_simulated, measure_simulated_devices};
