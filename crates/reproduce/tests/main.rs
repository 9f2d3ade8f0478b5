//! What is reproduced of the papers, and the models on simulated machines, in one program: to link a
//! program takes longer than most of these tests.

mod changed_file;
mod denoyelle2019;
mod devices;
mod flow;
mod hybrid;
mod overlap;
mod printed_matrix;
mod ribeiro2010;
mod rows;
mod saad2022;
mod twins;
mod vladimirov2012;
