//! Times of an access: NUMA factors, levels, loaded curves.

mod any_record;
mod curves;
mod factors;
