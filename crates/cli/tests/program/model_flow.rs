//! `model flow` of simulated machines, by the command line.
