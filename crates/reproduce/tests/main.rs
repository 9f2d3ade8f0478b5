//! What is reproduced of the papers, and the models on simulated machines, in one program: to link a
//! program takes longer than most of these tests.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod changed_file;
mod devices;
mod families;
mod flow;
mod hybrid;
mod overlap;
mod printed_matrix;
mod rows;
mod twins;
mod wrong_numbers;
