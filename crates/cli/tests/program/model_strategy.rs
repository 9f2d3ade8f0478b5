//! `model strategy` of simulated machines, by the command line.
