//! `model latency` of simulated machines, by the command line.
