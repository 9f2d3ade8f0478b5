//! Machines and their memory, in one program: to link a program takes longer than these tests.

mod initiators;
mod memory_modules;
mod theoretical_maximum;
