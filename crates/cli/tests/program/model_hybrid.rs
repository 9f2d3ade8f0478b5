//! `model hybrid` of simulated machines, by the command line.
