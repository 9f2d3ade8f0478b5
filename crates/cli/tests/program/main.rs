//! The program as a whole, by its command line.

mod interruption;
mod refusals;
mod support;
mod topologies;
