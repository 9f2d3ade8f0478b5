//! What records mean. One file per model, pure functions from a record to
//! figures; nothing here knows how a number was measured or how it is shown.

mod class_notes;
mod classes;
mod data_access;
mod evidence;
mod hidden_level;
mod mapping;
mod memory_limit;
mod pairs;
mod place;
mod shortfall;
mod twin_cell;
mod twin_comparison;
mod twins;
mod unmeasured;
mod unsteadiness;

pub use class_notes::LeftOut;
pub use classes::{
    Alphas, Class, ClassFigure, ClassPair, ClassRule, ClassSet, Classes, NoClasses, ThreadChoice,
    alphas, classes,
};
pub use data_access::{DataAccess, DataAccessError, data_access};
pub use evidence::{Evidence, weigh_evidence};
pub use hidden_level::{Between, HiddenLevel};
pub use mapping::{Mapping, MappingError, MappingPlace, Reach, Target, mappings, reach_of_data};
pub use memory_limit::{AboveLimit, MemoryLimit, NoMemoryLimit, memory_limit};
pub use pairs::{Cell, Figure, InitiatorRow, Pairs, pairs};
pub use place::Place;
pub use shortfall::{Against, Shortfall};
pub use twins::{
    FEWEST_CELLS, FEWEST_ROUNDS, FLOOR, MOST_FINDINGS, NotCompared, SCORE, SCORE_OF_ONE, Twins,
    twins,
};
pub use unmeasured::{Unmeasured, WhyUnmeasured, unmeasured};
pub use unsteadiness::{UNSTEADY, Unsteadiness};
