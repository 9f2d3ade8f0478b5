//! `model sharing` of simulated machines, by the command line.
