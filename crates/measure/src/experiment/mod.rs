//! The experiments: each a function from a machine to cases. Nothing else decides
//! what is measured.

pub mod pairs;
mod thread_spread;
mod working_set;

pub use thread_spread::spread_over_l3_domains;
pub use working_set::{
    Slices, WorkingSet, cache_bytes, lay_out_slices, memory_working_set, node_memory_is_known,
    slice_stride,
};
