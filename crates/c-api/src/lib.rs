//! The ranking of `nearfar-runtime` for programs in C. `include/nearfar.h` is the contract and
//! documents every function; here stands what keeps it: pointers and lengths are looked at before
//! they are used, no panic crosses the border, and every failure leaves a code and a sentence.

mod arrays;
mod failure;
mod places;
mod questions;
mod record;

pub use failure::{Code, nearfar_error_detail, nearfar_error_text};
pub use nearfar_runtime::{RankedNode, RankedPlace, Running, Touched, User};
pub use places::{
    NO_CPU_NODE, PlaceDescription, nearfar_describe_place, nearfar_least_difference,
    nearfar_lone_rate, nearfar_nodes, nearfar_noise, nearfar_place_count, nearfar_place_cpus,
};
pub use questions::{nearfar_rank, nearfar_rank_nodes};
pub use record::{
    Caution, OpenRanking, nearfar_cautions, nearfar_free, nearfar_open, nearfar_version,
};
