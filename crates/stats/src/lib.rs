//! Statistics for repeated measurements on machines that are never quite quiet.
