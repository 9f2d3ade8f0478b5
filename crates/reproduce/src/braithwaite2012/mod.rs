//! R. K. Braithwaite, NUMA Data-Access Bandwidth Characterization and Modeling (2012):
//! tables 3.2 to 6.1 and A.2 to A.6, equations 4.10 to 4.18.

mod alphas;
mod cbench;
mod data_access;
mod facts;
mod machines;
mod reason;
mod reproduction;
mod run_statistics;
mod stream_classes;

pub use facts::Facts;
pub use machines::Machines;
pub use reproduction::{KEY, facts, reproduce};
