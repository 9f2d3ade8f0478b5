//! `model roofline` of simulated machines, by the command line.
