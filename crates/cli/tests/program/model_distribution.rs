//! `model distribution` of simulated machines, by the command line.
