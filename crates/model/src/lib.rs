//! What records mean. One file per model, pure functions from a record to
//! figures; nothing here knows how a number was measured or how it is shown.

mod class_notes;
mod classes;
mod data_access;
mod evidence;
mod mapping;
mod memory_limit;
mod pairs;
mod shortfall;
mod twins;

pub use classes::{
    Alphas, Class, ClassFigure, ClassPair, ClassRule, ClassSet, Classes, NoClasses, ThreadChoice,
    alphas, classes,
};
pub use data_access::{DataAccess, DataAccessError, data_access};
pub use evidence::{Evidence, weigh_evidence};
pub use mapping::{Mapping, MappingError, Reach, Target, mappings, reach_of_data};
pub use memory_limit::{AboveLimit, MemoryLimit, NoMemoryLimit, memory_limit};
pub use pairs::{Cell, Figure, InitiatorRow, Pairs, pairs};
pub use shortfall::{Place, Shortfall};
pub use twins::{FEWEST_CELLS, FEWEST_ROUNDS, FLOOR, NotCompared, SCORE, Twins, twins};
