//! The solver and simulated machines, in one program: to link a program takes longer than most of
//! these tests.

mod answers;
mod capacities;
mod machine_answers;
mod machine_file;
mod machines;
mod paper_tables;
mod slopes;
mod solver;
