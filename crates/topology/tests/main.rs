//! Machines read from hwloc, in one program: to link a program takes longer than most of these tests.

mod amended;
mod exported;
mod memory_modules;
mod recorded;
mod zoo;
